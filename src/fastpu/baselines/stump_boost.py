"""Boosted stumps that the paper of `fastpu.fit_pnu_auc_boost` compares with, through the same engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from fastpu.boosting._stump_boost import STOP_TOL, BoostRound, Method, boost
from fastpu.boosting.stump_boost import pnu_auc_method
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.model._profile import keeps_profile


@answers_unknown_keywords
@keeps_profile
def fit_rankboost_auc(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    rho: float = 0.01,
    max_bins: int | Literal["exact"] | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """RankBoost for the AUC (RBAUC): boost stumps on the labelled rows alone.

    The fit minimises E_P[e^-f] E_N[e^f] exp(rho sum_t alpha_t), which is `fastpu.fit_pnu_auc_boost` with gamma = 1 on
    the rows with y = +1 and y = -1: fit both to see whether unlabelled rows help. Those are left out here, and their
    values give no thresholds either (binned features keep their cuts). RankBoost as first published has ``rho=0``.
    Errors and warnings are those of `fastpu.fit_pnu_auc_boost`.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        Where there are unlabelled rows, the labelled ones are gathered into a copy first, unless `X` is binned.
    y : array-like of shape (n,)
        +1 positive, -1 negative, 0 left out. Both +1 and -1 must be there, or a ValueError says so.
    n_rounds, rho, max_bins, step, eval_set, early_stopping_rounds, n_folds, stop_tol, sample_weight, random_state, \
n_threads, callback, progress
        As in `fastpu.fit_pnu_auc_boost`.

    Returns
    -------
    StumpEnsemble
        Its threshold maximises the balanced accuracy between labelled P and labelled N.

    Notes
    -----
    Costs as in `fastpu.fit_pnu_auc_boost` with n the number of labelled rows, and the copy of these. Few labelled rows
    are often separable by one stump; the fit then ends after it with the status "perfect".

    References
    ----------
    Freund, Iyer, Schapire and Singer (2003), An efficient boosting algorithm for combining preferences.

    Examples
    --------
    >>> import fastpu.baselines
    >>> model = fastpu.baselines.fit_rankboost_auc([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1], n_rounds=10)
    >>> model.decision_function([[0.0]]) < model.decision_function([[3.0]])
    array([ True])
    """
    options = pnu_auc_method(1.0, rho, step).options
    return boost(Method("fit_rankboost_auc", "RankBoost-AUC", options, ("rho", "step"), unused=0), locals())


@answers_unknown_keywords
@keeps_profile
def fit_pnu_adaboost(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    max_bins: int | Literal["exact"] | None = None,
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNU-AdaBoost (PNUAB): AdaBoost on P, N and U taken twice, as positives and as negatives.

    The fit minimises, one stump at a time, with stumps h_t in {-1, +1},

        (1 - gamma)/2 (E_P[e^-f] + E_U[e^f]) + gamma/2 (E_U[e^-f] + E_N[e^f]),

    the exponential loss of P against U and of U against N. Groups that are missing drop out and the rest is
    scaled to sum 1. Errors, warnings and costs are those of `fastpu.fit_pnu_auc_boost`.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; at least two of them.
    n_rounds : int, default 200
    gamma : float, default 0.5
        In [0, 1]: 0 is P against U alone, 1 is U against N alone, for which both groups must be there; rows of the
        third one then count as absent.
    max_bins, eval_set, early_stopping_rounds, n_folds, stop_tol, sample_weight, random_state, n_threads, callback, \
progress
        As in `fastpu.fit_pnu_auc_boost`; `stop_tol` is compared with the edge of the best stump.

    Returns
    -------
    StumpEnsemble
        With ``low = -1``, as each stump votes -1 or +1, and threshold 0.

    References
    ----------
    The baseline PNUAB of the PNUAUCBoost paper, section 5.2; Freund and Schapire (1997).

    Examples
    --------
    >>> import fastpu.baselines
    >>> model = fastpu.baselines.fit_pnu_adaboost([[0.0], [1.0], [2.0], [3.0]], [-1, 0, 0, 1], n_rounds=3)
    >>> model.predict([[0.0], [3.0]])
    array([-1,  1])
    """
    options = {"loss": "ada", "gamma": check_float("gamma", gamma, low=0, high=1)}
    unused = {0.0: -1, 1.0: 1}.get(gamma)
    return boost(Method("fit_pnu_adaboost", "PNU-AdaBoost", options, ("gamma",), unused), locals())
