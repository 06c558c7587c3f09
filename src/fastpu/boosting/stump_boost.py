"""Boosting of decision stumps for the AUC: PNUAUCBoost."""

from __future__ import annotations

from fastpu.boosting._eval_set import check_eval_set
from fastpu.boosting._stump_model import make_model, place_threshold
from fastpu.boosting._stump_options import STOP_TOL, MaxBins, StepName, StumpOptions
from fastpu.boosting._stump_rounds import BoostRound, boost, choose_rounds
from fastpu.boosting._stump_rows import read_rows
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_random_state
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RandomState, RoundCallback, VectorLike
from fastpu.model._with_profile import with_profile


@answers_unknown_keywords
def fit_pnu_auc_boost(
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    rho: float = 0.01,
    max_bins: MaxBins = None,
    step: StepName = "jensen",
    eval_set: tuple[MatrixLike, LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: VectorLike | None = None,
    groups: GroupsLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostRound] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNUAUCBoost: boost stumps for the AUC from positive (P), unlabelled (U) and negative (N) rows.

    It is for a ranking of many rows whose columns count each on its own. Columns may have any units, missing entries
    and categories. Labelled negatives are used if there are any. It is the fastest of the boosting methods. With few
    labels, pass `early_stopping_rounds`: the default of 200 rounds then fits the unlabelled rows too closely.

    The fit minimises, one stump at a time,

        J(f) = R(f) exp(rho sum_t alpha_t),
        R(f) = gamma E_P[e^-f] E_N[e^f] + (1 - gamma)/2 (E_P[e^-f] E_U[e^f] + E_U[e^-f] E_N[e^f])

    with E_G the mean over group G and f(x) = sum_t alpha_t h_t(x), where h_t is a decision stump with values in {0, 1}
    and alpha_t > 0. Delta of a stump is the slope of -log R along it. If y has no rows of one group, R is the term of
    the two other groups. No class prior is needed: R ranks P above U and U above N, which is right for any mixture U.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        The training rows. float32 and float64 in C order, and CSR, are used without a copy. NaN counts as -inf. The
        zeros of a sparse matrix are values like any other. A column of categories (strings, pandas' "category", polars'
        Categorical and Enum) is split by sets of categories in place of a threshold: a stump fires for those whose rows
        gain more than the standard error that a column without information would have. A column of more than 255
        categories is split by thresholds, after its categories have been put in an order by the labels of other rows.
    y : array-like of shape (n,)
        +1 is positive, 0 unlabelled, -1 negative. {1, 0}, booleans and {1, nan} mean positive and unlabelled, and
        {1, -1} means positive and negative here. See `fastpu.as_labels` for other codes.
    n_rounds : int, default 200
        The number of stumps. With `early_stopping_rounds` it is the largest number.
    gamma : float, default 0.5
        The weight, in [0, 1], of pairs of a positive and a negative row against pairs with an unlabelled row. 1 ignores
        U. It has no effect if y has no rows of one of the groups. On real data with labelled negatives, validation
        often chose 0.9 or more.
    rho : float, default 0.01
        The L1 penalty, in [0, 1), on the weights of the stumps. Stumps with Delta <= rho are not added.
    max_bins : int or "exact", optional
        The thresholds that are searched. By default these are all thresholds of a feature with at most 20,000 distinct
        values, and 255 quantiles of a feature with more. An integer from 1 to 65535 is the largest number of quantiles
        of each feature (see `bin_features`): that is faster on large data, and from 32 quantiles on hardly less
        accurate. "exact" searches all thresholds of all features. Leave it out if `X` is binned.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight alpha of a stump is chosen. "jensen" takes alpha = atanh(Delta) - atanh(rho), which minimises an
        upper bound of J. "line_search" minimises J along the stump. It reaches the same J in fewer rounds, but its
        models were worse on new rows of every data set tried, as the shorter step shrinks the model.
    eval_set : (X, y), optional
        Rows to judge the model by after every round: the unweighted AUC of +1 against -1, or against 0 if its y has no
        -1. `X` may be BinnedFeatures with the same cuts (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. Otherwise the fit ends when the AUC of `eval_set` has not improved for so many
        rounds, and the model keeps the rounds up to the best one. Without an `eval_set`, cross-validation chooses the
        number of rounds, and the model is then fitted to all rows: each of `n_folds` folds, stratified by label, is
        judged by a fit to the others, until the mean AUC (weighted by `sample_weight`) has not improved for so many
        rounds. The last round whose mean AUC is within one standard error of the best is chosen, since the AUC of few
        labelled rows is noisy, and one round too many costs less than one too few. 50 is a good value. A smaller value
        often ends the fit before its best round.
    n_folds : int, default 5
        The number of folds of `early_stopping_rounds` without an `eval_set`. There are fewer if the rarest label has
        fewer rows, or fewer `groups` with such rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has Delta > rho + stop_tol.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A row of weight 2 counts as two equal rows, also for the thresholds that are searched, and a row
        of weight 0 does not count. Repeated rows differ from weights in two cases: folds may put the copies of a row
        into several folds, and the standard errors of categories count rows.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as all rows of one customer: any label for each row. The folds of
        `early_stopping_rounds` then hold out whole groups, so that the number of rounds suits rows of new groups.
        Groups have no other effect.
    random_state : int or Generator, optional
        The seed of the folds. Nothing else is random.
    n_threads : int, optional
        The largest number of threads. By default it is the number of CPUs that this process may use. The model does not
        depend on it.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool | None`` is called after every round of the fit to all rows. True ends the
        fit.
    progress : bool, default False
        Whether to show a progress bar, by tqdm if it is installed.

    Returns
    -------
    StumpEnsemble
        The model. Its threshold maximises the balanced accuracy on the training rows between P and N (between P and U
        without N, between U and N without P), as scores that only rank have no natural zero.
        `StumpEnsemble.with_threshold` matches a class prior instead.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument.
    MemoryError
        If there is too little memory. The message says how many bytes were needed.

    Warns
    -----
    ConvergenceWarning
        If all `n_rounds` rounds are made before early stopping, or a `stop_tol` above its default, ends the fit. Then
        `converged` is False. Without such a rule all rounds are what was asked for, and `converged` is True.
    DegenerateModelWarning
        If no stump has Delta > rho + stop_tol from the start. The model is empty then and scores every row 0 (n_iter is
        0, status "no_gain", converged True).
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    A round takes one pass over the bins of the rows on the smaller side of the last stump, and one over the histograms:
    O(n d) at most, and never O(number of pairs). The search of every threshold also reads the rows of those bins that
    could hold the best one. Each fold costs a fit of 4 `early_stopping_rounds` rounds, and if these are too few,
    further fits of twice as many rounds each time, and a copy of the rows. Of several thresholds with a Delta within
    1e-12 of the best, the lowest threshold of the first feature is taken.

    Memory beside `X`: two bytes a value for the bins (see `bin_features` for padding, CSR and more than 255 bins), four
    more a value in dense features of more than 256 distinct values whose every threshold is searched, about 50 bytes a
    row, and 32 bytes a bin, once and again for every thread at work (in dense `X` every feature counts with the bins of
    the largest, 8 KiB for 256 bins). While `X` is being binned it is 64 bytes a row (128 for float64) and 16 to 48 for
    every thread, in place of the last two.

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
    options = StumpOptions(
        function="fit_pnu_auc_boost",
        title="PNUAUCBoost",
        own_params=("gamma", "rho", "step"),
        loss="auc",
        gamma=gamma,
        rho=rho,
        step=step,
        n_rounds=n_rounds,
        stop_tol=stop_tol,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=n_folds,
        max_bins=max_bins,
        n_threads=n_threads,
    )
    rng = check_random_state(random_state)
    rows = read_rows(X, y, sample_weight, groups, options)
    judged = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, judged, rng)
    result = boost(options, rows, judged, chosen, callback, progress)
    model = make_model(options, rows.features, result, chosen)
    return with_profile(place_threshold(options, rows, model), X, y, sample_weight)
