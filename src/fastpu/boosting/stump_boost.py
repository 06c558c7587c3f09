"""Boosting of decision stumps for the AUC: PNUAUCBoost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from fastpu.boosting._stump_boost import STOP_TOL, BoostRound, Method, boost
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_float
from fastpu.model._profile import keeps_profile

_STEPS = ("jensen", "line_search")


@answers_unknown_keywords
@keeps_profile
def fit_pnu_auc_boost(
    X: object,
    y: object,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    rho: float = 0.01,
    max_bins: int | Literal["exact"] | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: object = None,
    groups: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNUAUCBoost: boost stumps for the AUC from positive (P), unlabelled (U) and negative (N) rows.

    It is for a ranking of many rows by columns that count each on its own, in any units, with missing entries and
    categories. Labelled negatives are used where there are some. It is the fastest of the boosting methods. Where
    labels are few pass `early_stopping_rounds`, as the default of 200 rounds fits the unlabelled rows too closely.

    The fit minimises, one stump at a time,

        J(f) = R(f) exp(rho sum_t alpha_t),
        R(f) = gamma E_P[e^-f] E_N[e^f] + (1 - gamma)/2 (E_P[e^-f] E_U[e^f] + E_U[e^-f] E_N[e^f])

    with E_G the mean over group G and f(x) = sum_t alpha_t h_t(x), h_t a decision stump with values in {0, 1}
    and alpha_t > 0. Where a group is missing, only the term of the two others is left. No class prior is
    needed: R orders P above U and U above N, which is right whatever U is made of.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy. NaN counts as -inf; zeros of a
        sparse matrix are values like any other. Columns of categories (strings, pandas' "category", polars'
        Categorical and Enum) are taken as such: a stump on one has a set of categories in place of a threshold, those
        whose rows gain by more than the standard error of a column that tells nothing. More than 255 categories are
        put in an order that the labels of other rows give, and have thresholds.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; also {1, 0}, bool or {1, nan} (no negatives). {1, -1} means
        positive and negative here. See `fastpu.as_labels`.
    n_rounds : int, default 200
        Number of stumps, or the most of them where `early_stopping_rounds` chooses the number.
    gamma : float, default 0.5
        Weight in [0, 1] of the pairs of labelled rows against the pairs with an unlabelled row. 1 ignores U. Of no
        effect where one of the groups is missing. Validation on real data often chose 0.9 or more where there are
        labelled negatives.
    rho : float, default 0.01
        L1 penalty in [0, 1) on the weights of the stumps; stumps with Delta below it are not added.
    max_bins : int or "exact", optional
        An integer up to 65535 searches at most so many quantiles of each feature (see `bin_features`), which is faster
        on large data, and with 32 or more quantiles hardly less accurate. "exact" searches every threshold. None, the
        default, searches every threshold of a feature that has at most 20,000 distinct values, and 255 quantiles of
        one that has more. Leave it out if `X` is binned.
    step : {"jensen", "line_search"}, default "jensen"
        "jensen" takes alpha = atanh(Delta) - atanh(rho), the minimiser of an upper bound. "line_search"
        minimises J along the stump. It reaches the same J in fewer rounds, but its models were worse on new rows of
        every data set tried: the shorter step of "jensen" acts as shrinkage.
    eval_set : (X, y), optional
        One pair, judged after every round by the unweighted AUC of +1 against -1 (against 0 where there is no -1).
        `X` may be BinnedFeatures with the same cuts (``B[rows]``) if the training `X` is.
    early_stopping_rounds : int, optional
        Stop when the AUC of `eval_set` has not improved for so many rounds, and keep the rounds up to the best. Without
        an `eval_set` the number of rounds is chosen by cross-validation: the rows are cut into `n_folds` folds,
        stratified by label, each fold is judged by a fit to the others, and the mean AUC over the folds (weighted by
        `sample_weight`) is watched in the same way. The model is then fitted to all rows. Its number of rounds is the
        last one whose mean AUC is within one standard error of the best, for the AUC of few labelled rows is noisy, and
        a round too many costs less than one too few. 50 is a good value; with smaller ones the fit often ends before
        its best round.
    n_folds : int, default 5
        Number of folds that `early_stopping_rounds` makes without an `eval_set`, but not more than there are rows of
        the rarest label, or of `groups` with such rows.
    stop_tol : float, default 1e-9
        Stop when no stump has Delta > rho + stop_tol.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A row of weight 2 counts as two equal rows, also for the thresholds that are tried, and one of
        weight 0 as absent. Repeating rows is not the same if folds choose the number of rounds, for the copies can be
        in several folds, and on columns of categories, where standard errors count rows.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. The folds of
        `early_stopping_rounds` then hold out whole groups, so that rounds are chosen for rows of new groups. Without
        such folds groups change nothing.
    random_state : int or Generator, optional
        Draws the folds. Nothing else is random.
    n_threads, progress
        As in `fit_svm`.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool``, called after every round, but not in folds; True stops the fit.

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
        If `early_stopping_rounds` is given, or `stop_tol` is above its default, and all `n_rounds` are run before
        that rule ends the fit (or the fits to the folds): `converged` is False then. Without such a rule `n_rounds`
        rounds are what was asked for, and `converged` is True.
    DegenerateModelWarning
        If no stump has Delta > rho + stop_tol from the start: the model is empty (n_iter 0, status "no_gain",
        converged) and scores every row 0.
    LabelWarning
        If `sample_weight` is one number for each kind of label, which changes nothing.

    Notes
    -----
    A round costs one pass over the codes of the rows on the smaller side of the stump just added, and one over the
    histograms: at most O(n d), and never O(number of pairs). The exact search also reads the rows of those bins that
    could hold the best threshold. Each fold costs a fit of 4 `early_stopping_rounds` rounds; if these are not enough,
    further fits of twice as many rounds each time. Folds also need memory for a copy of the rows. If several thresholds
    have a Delta within 1e-12 of the best, the lowest threshold of the first feature is taken.

    Memory beside `X`: the codes with two bytes a value (see `bin_features` for padding, CSR and more than 255 bins),
    four more a value in dense features of more than 256 distinct values that are searched at all of them, about 50
    bytes a row, and 32 bytes a bin, once and again for every thread at work (in dense `X` every feature counts with the
    bins of the largest, 8 KiB for 256 of them). While `X` is binned, in place of the last two, 64 bytes a row (128 for
    float64) and 16 to 48 for every thread.

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
    return boost(pnu_auc_method(gamma, rho, step), locals())


def pnu_auc_method(gamma: object, rho: object, step: object) -> Method:
    """Return the method of `fit_pnu_auc_boost` for these arguments."""
    options = {
        "loss": "auc",
        "gamma": check_float("gamma", gamma, low=0, high=1),
        "rho": check_float("rho", rho, low=0, high=1, open_high=True),
        "step": check_choice("step", step, _STEPS),
    }
    return Method("fit_pnu_auc_boost", "PNUAUCBoost", options, ("gamma", "rho", "step"))
