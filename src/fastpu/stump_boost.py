"""Boosting of decision stumps: PNUAUCBoost, RankBoost for the AUC, and PNU-AdaBoost."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastpu import _core
from fastpu._progress import make_callback
from fastpu._text import describe
from fastpu._threads import resolve_n_threads
from fastpu._threshold import balanced_accuracy_threshold
from fastpu._validate import (
    Matrix,
    check_choice,
    check_float,
    check_int,
    check_labels,
    check_matrix,
    check_sample_weight,
    label_counts,
)
from fastpu._warnings import ConvergenceWarning, DegenerateModelWarning
from fastpu.binned_features import _MAX_CUTS, BinnedFeatures
from fastpu.stump_ensemble import StumpEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["BoostRound", "fit_pnu_adaboost", "fit_pnu_auc_boost", "fit_rankboost_auc"]

_STOP_TOL = 1e-9  # the default: met in practice only where nothing is left to gain


@dataclass(frozen=True)
class BoostRound:
    """One round of boosting, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        The number of this round, from 1, and of the rounds asked for.
    feature : int
    threshold : float
    polarity : int
        The stump that was added (see `StumpEnsemble`).
    delta, alpha, z, objective : float
        Its Delta (or edge) and weight, the factor by which it changed the risk, log J after it.
    eval_auc : float, or None
        AUC of the evaluation set after it.
    """

    round: int
    n_rounds: int
    feature: int
    threshold: float
    polarity: int
    delta: float
    alpha: float
    z: float
    objective: float
    eval_auc: float | None


def fit_pnu_auc_boost(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    rho: float = 0.01,
    max_bins: int | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = _STOP_TOL,
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNUAUCBoost: boost stumps for the AUC from positive (P), unlabelled (U) and negative (N) rows.

    Minimises, one stump at a time,

        J(f) = R(f) exp(rho sum_t alpha_t),
        R(f) = gamma E_P[e^-f] E_N[e^f] + (1 - gamma)/2 (E_P[e^-f] E_U[e^f] + E_U[e^-f] E_N[e^f])

    with E_G the mean over group G and f(x) = sum_t alpha_t h_t(x), h_t a decision stump with values in {0, 1}
    and alpha_t > 0. Where a group is missing, only the term of the two others is left. No class prior is
    needed: R orders P above U and U above N, which is right whatever U is made of.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy. NaN counts as -inf; zeros of a
        sparse matrix are values like any other.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; also {1, 0}, bool or {1, nan} (no negatives). {1, -1} means
        positive and negative here. See `fastpu.as_labels`.
    n_rounds : int, default 200
        Number of stumps. The more, the better the fit of the training data.
    gamma : float, default 0.5
        Weight in [0, 1] of the pairs of labelled rows against the pairs with an unlabelled row. 1 ignores U.
    rho : float, default 0.01
        L1 penalty in [0, 1) on the weights of the stumps; stumps with Delta below it are not added.
    max_bins : int, optional
        None searches every threshold. An integer up to 65535 searches at most so many quantiles of each
        feature (see `bin_features`): faster on large data, and hardly less accurate from 32 on. Only for
        X that is not binned yet.
    step : {"jensen", "line_search"}, default "jensen"
        "jensen" takes alpha = atanh(Delta) - atanh(rho), the minimiser of an upper bound. "line_search"
        minimises J along the stump: fewer rounds for the same J, but it generalised worse on every data set
        tried; the shorter step is useful shrinkage.
    eval_set : (X, y), optional
        Judged after every round by the AUC of +1 against -1 (against 0 where there is no -1). `X` may be
        BinnedFeatures with the same cuts (``B[rows]``) if the training `X` is.
    early_stopping_rounds : int, optional
        Stop when the AUC of `eval_set` has not improved for so many rounds, and keep the rounds up to the best.
    stop_tol : float, default 1e-9
        Stop when no stump has Delta > rho + stop_tol.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; equal to repeating rows, thresholds included. Rows of weight 0 count as absent.
    n_threads : int, optional
        Most threads to use; by default the CPUs this process may use. The model is bitwise the same for all.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool``, called after every round; True stops the fit.
    progress : bool, default False
        Show a progress bar (tqdm if installed).

    Returns
    -------
    StumpEnsemble
        Its threshold maximises the balanced accuracy between labelled P and labelled N (between P and U
        where there is no N, between U and N where there is no P) on the training rows, as scores that rank
        are free up to a constant; `StumpEnsemble.with_threshold` matches a class prior instead.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names it.
    MemoryError
        If the working memory cannot be had; the message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If `early_stopping_rounds` is given, or `stop_tol` is above its default, and the rounds run out before
        that rule ends the fit. Running all of `n_rounds` otherwise is the job done, not a failure.
    DegenerateModelWarning
        If no stump is better than `rho`: the model is empty and scores everything 0.

    Notes
    -----
    A round costs one pass over the codes of the rows on the smaller side of the stump just added, and one over
    the histograms, O(n d) at most and never O(pairs); the exact search adds the rows of those bins that could
    hold the best threshold. Memory: two bytes a value for the codes (six with ``max_bins=None``), 32 bytes a row.
    Of thresholds whose Delta differs by less than 1e-12 the first feature's lowest wins.

    References
    ----------
    PNUAUCBoost: boosting for semi-supervised AUC optimisation; objective OP4, algorithms 1 and 2, with the
    criterion of lemma 2 taken one-sided: every stump is turned so that its Delta is positive.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> X = np.array([[0.1], [0.9], [0.8], [0.3], [0.7], [0.2]])
    >>> y = np.array([-1, 1, 1, -1, 0, 0])
    >>> model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=5)
    >>> model.predict([[0.0], [1.0]])
    array([-1,  1])
    """
    options = {"gamma": _check_gamma(gamma), "rho": _check_rho(rho), "step": check_choice("step", step, _STEPS)}
    return _fit(
        _Fit("fit_pnu_auc_boost", "PNUAUCBoost", "auc", options),
        X, y, sample_weight, n_rounds, max_bins, eval_set, early_stopping_rounds, stop_tol, n_threads, callback, progress,
    )  # fmt: skip


def fit_rankboost_auc(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    rho: float = 0.01,
    max_bins: int | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = _STOP_TOL,
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """RankBoost for the AUC (RBAUC): boost stumps on the labelled rows alone.

    Minimises E_P[e^-f] E_N[e^f] exp(rho sum_t alpha_t), which is `fit_pnu_auc_boost` with gamma = 1 on the
    rows with y = +1 and y = -1; unlabelled rows are left out, their values give no thresholds either (binned
    features keep their cuts). RankBoost as first published has ``rho=0``.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
    y : array-like of shape (n,)
        +1 positive, -1 negative, 0 left out. Both +1 and -1 must be there.
    n_rounds, rho, max_bins, step, eval_set, early_stopping_rounds, stop_tol, sample_weight, n_threads, callback, progress
        As in `fit_pnu_auc_boost`.

    Returns
    -------
    StumpEnsemble
        Its threshold maximises the balanced accuracy between labelled P and labelled N.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_pnu_auc_boost`; also if there is no positive or no negative row.

    Warns
    -----
    ConvergenceWarning, DegenerateModelWarning
        As in `fit_pnu_auc_boost`.

    Notes
    -----
    Costs as in `fit_pnu_auc_boost`, with n the number of labelled rows. Few labelled rows are often separable
    by one stump; the fit then ends after it with the status "perfect".

    References
    ----------
    Freund, Iyer, Schapire and Singer (2003), An efficient boosting algorithm for combining preferences.

    Examples
    --------
    >>> import fastpu
    >>> model = fastpu.fit_rankboost_auc([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1], n_rounds=10)
    >>> model.decision_function([[0.0]]) < model.decision_function([[3.0]])
    array([ True])
    """
    options = {"gamma": 1.0, "rho": _check_rho(rho), "step": check_choice("step", step, _STEPS)}
    return _fit(
        _Fit("fit_rankboost_auc", "RankBoost-AUC", "auc", options, labelled_only=True),
        X, y, sample_weight, n_rounds, max_bins, eval_set, early_stopping_rounds, stop_tol, n_threads, callback, progress,
    )  # fmt: skip


def fit_pnu_adaboost(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    max_bins: int | None = None,
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = _STOP_TOL,
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNU-AdaBoost (PNUAB): AdaBoost on P, N and U taken twice, as positives and as negatives.

    Minimises, one stump at a time, with stumps h_t in {-1, +1},

        (1 - gamma)/2 (E_P[e^-f] + E_U[e^f]) + gamma/2 (E_U[e^-f] + E_N[e^f]),

    the exponential loss of P against U and of U against N. Groups that are missing drop out and the rest is
    scaled to sum 1.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; at least two of them.
    n_rounds : int, default 200
    gamma : float, default 0.5
        In [0, 1]: 0 is P against U alone, 1 is U against N alone. It must leave both classes some weight.
    max_bins, eval_set, early_stopping_rounds, stop_tol, sample_weight, n_threads, callback, progress
        As in `fit_pnu_auc_boost`; `stop_tol` is compared with the edge of the best stump.

    Returns
    -------
    StumpEnsemble
        With ``low = -1``, as each stump votes -1 or +1, and threshold 0.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_pnu_auc_boost`.

    Warns
    -----
    ConvergenceWarning, DegenerateModelWarning
        As in `fit_pnu_auc_boost`.

    Notes
    -----
    Costs as in `fit_pnu_auc_boost`.

    References
    ----------
    The baseline PNUAB of the PNUAUCBoost paper, section 5.2; Freund and Schapire (1997).

    Examples
    --------
    >>> import fastpu
    >>> model = fastpu.fit_pnu_adaboost([[0.0], [1.0], [2.0], [3.0]], [-1, 0, 0, 1], n_rounds=3)
    >>> model.predict([[0.0], [3.0]])
    array([-1,  1])
    """
    options: dict[str, Any] = {"gamma": _check_gamma(gamma), "rho": 0.0, "step": "jensen"}
    return _fit(
        _Fit("fit_pnu_adaboost", "PNU-AdaBoost", "ada", options),
        X, y, sample_weight, n_rounds, max_bins, eval_set, early_stopping_rounds, stop_tol, n_threads, callback, progress,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ the common part

_STEPS = ("jensen", "line_search")


def _check_gamma(gamma: object) -> float:
    return check_float("gamma", gamma, low=0, high=1)


def _check_rho(rho: object) -> float:
    return check_float("rho", rho, low=0, high=1, open_high=True)


@dataclass(frozen=True)
class _Fit:
    """What one method asks of the kernel."""

    function: str
    title: str
    loss: Literal["auc", "ada"]
    options: dict[str, Any]
    labelled_only: bool = False


@dataclass(frozen=True)
class _Rows:
    """The rows of a fit: `native` is what the core reads."""

    native: Any
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None

    def labelled(self) -> _Rows:
        """Return the rows whose label is not 0."""
        keep = self.labels != 0
        weights = None if self.weights is None else self.weights[keep]
        return _Rows(_take(self.native, keep), self.labels[keep], weights)


def _take(native: Any, keep: NDArray[np.bool_]) -> Any:
    if not isinstance(native, tuple):
        return native[keep]
    data, indices, indptr, (_, n_cols) = native
    lengths = np.diff(indptr)
    entries = np.repeat(keep, lengths)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[keep])])
    return data[entries], indices[entries], starts, (int(keep.sum()), n_cols)


def _fit(
    fit: _Fit,
    X: object,
    y: object,
    sample_weight: object,
    n_rounds: object,
    max_bins: object,
    eval_set: object,
    early_stopping_rounds: object,
    stop_tol: object,
    n_threads: object,
    callback: Any,
    progress: bool,
) -> StumpEnsemble:
    rounds = check_int("n_rounds", n_rounds, low=1, high=2**31 - 1)
    tolerance = check_float("stop_tol", stop_tol, low=0)
    threads = resolve_n_threads(n_threads)
    patience = 0
    if early_stopping_rounds is not None:
        patience = check_int("early_stopping_rounds", early_stopping_rounds, low=1, high=2**31 - 1)
        if eval_set is None:
            raise ValueError("early_stopping_rounds needs an eval_set to judge the rounds by")
    data = X if isinstance(X, BinnedFeatures) else check_matrix(X, nan="allow", inf="allow")
    cuts = _check_max_bins(max_bins, data)
    labels = check_labels(y, data.n_rows)
    weights = check_sample_weight(sample_weight, data.n_rows)
    _check_groups(fit, labels, weights)
    eval_native, eval_labels = _check_eval_set(eval_set, data)

    rows = _Rows(data._native if isinstance(data, BinnedFeatures) else data.native, labels, weights)
    if fit.labelled_only and not isinstance(data, BinnedFeatures) and not labels.all():
        rows = rows.labelled()
    with make_callback(callback, progress, total=rounds, description=fit.title) as hook:

        def on_round(round_: int, feature: int, threshold: float, polarity: int,
                     delta: float, alpha: float, z: float, objective: float, auc: float) -> bool:  # fmt: skip
            judged = None if eval_native is None else auc
            info = BoostRound(round_, rounds, feature, threshold, polarity, delta, alpha, z, objective, judged)
            return hook is not None and hook(info)

        found = _core.stump_boost(
            rows.native,
            rows.labels,
            rows.weights,
            loss=fit.loss,
            **fit.options,
            n_rounds=rounds,
            stop_tol=tolerance,
            max_bins=cuts or 0,
            eval_features=eval_native,
            eval_labels=eval_labels,
            early_stopping_rounds=patience,
            callback=None if hook is None else on_round,
            n_threads=threads,
            isa=os.environ.get("FASTPU_ISA", ""),
        )
    params = {
        "method": fit.function,
        "n_rounds": rounds,
        **(fit.options if fit.loss == "auc" else {"gamma": fit.options["gamma"]}),
        "max_bins": data.max_bins if isinstance(data, BinnedFeatures) else cuts,
        "early_stopping_rounds": patience or None,
        "stop_tol": tolerance,
    }
    model = _model(fit, found, data, params, has_eval=eval_native is not None)
    _warn(fit, found, model, patience, tolerance)
    return _with_own_threshold(model, fit, rows, threads)


def _model(
    fit: _Fit, found: dict[str, Any], data: Matrix | BinnedFeatures, params: dict[str, Any], *, has_eval: bool
) -> StumpEnsemble:
    kept = found["best_round"]
    history = {name: found[key] for name, key in _HISTORY.items()}
    if has_eval:
        history["eval_auc"] = found["eval_auc"]
    return StumpEnsemble(
        n_features=data.n_features,
        feature_names=data.feature_names,
        threshold=0.0,
        n_iter=kept,
        converged=found["status"] in ("no_gain", "perfect", "early_stopping"),
        status=found["status"],
        history=history,
        params=params,
        low=-1.0 if fit.loss == "ada" else 0.0,
        **{name: found[name][:kept] for name in _STUMP_ARRAYS},
    )


_STUMP_ARRAYS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective")
_HISTORY = {"delta": "deltas", "alpha": "alphas", "z": "z", "objective": "objective"}


def _with_own_threshold(model: StumpEnsemble, fit: _Fit, rows: _Rows, n_threads: int) -> StumpEnsemble:
    """Return the model with the threshold that its scores are cut at."""
    if fit.loss == "ada":
        return model
    has_pos, has_neg = bool((rows.labels > 0).any()), bool((rows.labels < 0).any())
    if has_pos and has_neg and isinstance(rows.native, np.ndarray) and not rows.labels.all():
        rows = rows.labelled()  # the only rows that matter
    scores = model._scores(rows.native, n_threads)
    upper = rows.labels == (1 if has_pos else 0)
    lower = rows.labels == (-1 if has_neg else 0)
    weights = (None, None) if rows.weights is None else (rows.weights[upper], rows.weights[lower])
    names = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
    rule = (
        f"best balanced accuracy between {names[1 if has_pos else 0]} and {names[-1 if has_neg else 0]} training rows"
    )
    threshold = balanced_accuracy_threshold(scores[upper], scores[lower], *weights)
    return replace(model, threshold=threshold, threshold_rule=rule)


def _check_max_bins(max_bins: object, data: Matrix | BinnedFeatures) -> int | None:
    if max_bins is None:
        return None
    if isinstance(data, BinnedFeatures):
        raise ValueError(f"max_bins must be None where X is BinnedFeatures, got {max_bins!r}")
    return check_int("max_bins", max_bins, low=1, high=_MAX_CUTS)


def _check_groups(fit: _Fit, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> None:
    present = labels if weights is None else labels[weights > 0]
    n_pos, n_unl, n_neg = label_counts(present)
    counts = f"{n_pos} positive (+1), {n_unl} unlabelled (0) and {n_neg} negative (-1) rows"
    if weights is not None:
        counts += " of positive weight"
    if fit.labelled_only and not (n_pos and n_neg):
        raise ValueError(f"y must hold positive (+1) and negative (-1) rows for {fit.function}, got {counts}")
    if (n_pos > 0) + (n_unl > 0) + (n_neg > 0) < 2:
        raise ValueError(f"y must hold at least two of +1, 0 and -1 for {fit.function}, got {counts}")


def _check_eval_set(eval_set: object, data: Matrix | BinnedFeatures) -> tuple[Any, NDArray[np.int8] | None]:
    if eval_set is None:
        return None, None
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_set must be a pair (X, y), got {describe(eval_set)}")
    X, y = eval_set
    name = "X of eval_set"
    if isinstance(X, BinnedFeatures):
        if not isinstance(data, BinnedFeatures):
            raise ValueError("eval_set may hold BinnedFeatures only where X is BinnedFeatures too")
        if X.n_features != data.n_features or not X._native.same_cuts(data._native):
            raise ValueError("eval_set must have the cuts of X: bin all rows together and take subsets B[rows]")
        checked: Matrix | BinnedFeatures = X
    else:
        checked = check_matrix(
            X, name=name, nan="allow", inf="allow", n_features=data.n_features, feature_names=data.feature_names
        )
    labels = check_labels(y, checked.n_rows, name="y of eval_set")
    n_pos, n_unl, n_neg = label_counts(labels)
    if not n_pos or not (n_neg or n_unl):
        raise ValueError(
            f"y of eval_set must hold +1 and -1 (or +1 and 0) for an AUC, "
            f"got {n_pos} positive, {n_unl} unlabelled and {n_neg} negative rows"
        )
    return (checked._native if isinstance(checked, BinnedFeatures) else checked.native), labels


def _warn(fit: _Fit, found: dict[str, Any], model: StumpEnsemble, patience: int, tolerance: float) -> None:
    level = 4  # the caller of the fit function
    if not model.features.size:
        warnings.warn(
            f"{fit.function} found no stump to add (the largest Delta exceeds rho by {found['last_gain']:.3g}, "
            f"stop_tol is {tolerance:g}): the model is empty and scores every row 0",
            DegenerateModelWarning,
            stacklevel=level,
        )
    elif found["status"] == "n_rounds" and (patience or tolerance > _STOP_TOL):
        rules = [f"early stopping ({patience} rounds without a better AUC)"] if patience else []
        rules += [f"stop_tol = {tolerance:g}"] if tolerance > _STOP_TOL else []
        warnings.warn(
            f"{fit.function} made all {model.params['n_rounds']} rounds before {' or '.join(rules)} ended it; in the "
            f"last search the largest Delta exceeded rho by {found['last_gain']:.3g}; raise n_rounds",
            ConvergenceWarning,
            stacklevel=level,
        )
