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

    It is for ranking many rows when each column has an effect of its own. Columns may have any units, missing entries
    and categories. Labelled negatives are used if there are any. It is the fastest of the boosting methods. With few
    labels, pass `early_stopping_rounds`: 200 rounds, the default, then fit the unlabelled rows too closely.

    The fit minimises, one stump at a time,

        J(f) = R(f) exp(rho sum_t alpha_t),
        R(f) = gamma E_P[e^-f] E_N[e^f] + (1 - gamma)/2 (E_P[e^-f] E_U[e^f] + E_U[e^-f] E_N[e^f])

    with E_G the mean over group G and f(x) = sum_t alpha_t h_t(x), where h_t is a decision stump with values in {0, 1}
    and alpha_t > 0. The gain Delta of a stump is the slope of -log R along it. If `y` has no rows of one group, R is
    the term of the two other groups. No class prior is needed: R ranks P above U and U above N, which is right for any
    mixture U.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. NaN counts as -inf. The zeros
        of a sparse matrix are values like any other.

        A column of categories (strings, pandas' "category", polars' Categorical and Enum) is split by a set of
        categories in place of a threshold. A stump fires for the categories whose rows gain more than the standard
        error that a column without information would have. A column with more than 255 categories is split by
        thresholds, after its categories have been put in an order that the labels of other rows give.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative rows. There must be rows
        of two of these kinds. {1, 0}, booleans and {1, NaN} mean positive and unlabelled, and {1, -1} means positive
        and negative here; `fastpu.as_labels` converts other codings.
    n_rounds : int, default 200
        The number of stumps, >= 1. With `early_stopping_rounds` it is the largest number.
    gamma : float, default 0.5
        The weight, in [0, 1], of pairs of a positive and a negative row; pairs with an unlabelled row have the rest.
        With 1 the unlabelled rows are ignored. It has no effect if one of the three groups has no rows. On real data
        with labelled negatives, validation often chose 0.9 or more.
    rho : float, default 0.01
        The L1 penalty on the weights of the stumps, in [0, 1). Stumps with a gain Delta <= rho are not added.
    max_bins : int or "exact", optional
        The thresholds that are searched. Leave it out if `X` is binned.

        - By default, all thresholds of a feature with at most 20,000 distinct values, and 255 quantiles of a feature
          with more.
        - An int from 1 to 65535 is the largest number of quantiles of each feature (see `bin_features`). That is faster
          on large data, and from 32 quantiles on hardly less accurate.
        - "exact" searches all thresholds of all features.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight alpha of a stump is chosen. "jensen" takes alpha = atanh(Delta) - atanh(rho), which minimises an
        upper bound of J. "line_search" minimises J along the stump. It reaches the same J in fewer rounds, but its
        models were worse on new rows of every data set that we tried, because the shorter steps of "jensen" shrink the
        model.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC the model is judged after every round. The AUC compares +1 with -1,
        or with 0 if no row is -1. All rows have the same weight. Its `X` may be BinnedFeatures with the same cuts
        (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, and keeps the rounds up to the best one.

        Without an `eval_set` the number of rounds is chosen by cross-validation, and the model is then fitted to all
        rows. Each fold, stratified by label, is judged by a fit to the other folds. The AUC after each round (weighted
        by `sample_weight`) is averaged over the folds, until that many rounds have brought no better mean. Of all
        rounds whose mean is within one standard error of the best, the last is chosen: the AUC of few labelled rows is
        noisy, and one round too many costs less than one too few.

        50 is a good value. A smaller value often stops before the best round.
    n_folds : int, default 5
        The number of folds of that cross-validation, >= 2. There are fewer if a kind of label has fewer rows, or fewer
        `groups` with such rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has a gain Delta > rho + stop_tol. It must be >= 0.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row, also for the thresholds that are searched.
        Rows of weight 0 do not count. Repeated rows differ from weights in two cases: folds may put the copies of a row
        into several folds, and the standard errors of categories count rows.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. The
        folds of `early_stopping_rounds` then hold out whole groups, so that the number of rounds suits rows of new
        groups. Groups have no other effect.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the folds. Nothing else is random. An int gives the same result in every call. A
        generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool | None``, called after every round of the fit to all rows. If it returns
        True, the fit ends, and the model has the rounds so far.
    progress : bool, default False
        Whether to show a progress bar that counts rounds. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    StumpEnsemble
        The model. Scores that only rank have no natural zero, so its threshold maximises the balanced accuracy on the
        training rows between P and N (between P and U without N, between U and N without P).
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
        If early stopping, or a `stop_tol` above its default, was asked for and all `n_rounds` rounds are made before it
        ends the fit. `converged` is then False. Without such a rule it is True after all rounds.
    DegenerateModelWarning
        If no stump has a gain Delta > rho + stop_tol in the first round. The model is then empty and gives every row
        the score 0 (`n_iter` is 0, `status` "no_gain", `converged` True).
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    A round takes one pass over the bins of the rows on the smaller side of the last stump, and one over the histograms:
    O(n d) at most, and never O(number of pairs). The search of every threshold also reads the rows of those bins that
    could hold the best one. Each fold costs a copy of its rows and a fit of 4 `early_stopping_rounds` rounds; while
    these are too few, a fit of twice as many rounds follows. Of several thresholds with a Delta within 1e-12 of the
    best, the lowest threshold of the first feature is taken.

    Memory beside `X`: two bytes a value for the bins (see `bin_features` for padding, CSR and more than 255 bins),
    about 50 bytes a row, and 32 bytes a bin, once and again for every thread at work (in dense `X` every feature counts
    with the bins of the largest, 8 KiB for 256 bins). Dense features of more than 256 distinct values take four more
    bytes a value if all their thresholds are searched. While `X` is being binned, 64 bytes a row (128 for float64) and
    16 to 48 bytes a row for every thread take the place of the bytes for rows and bins.

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
    eval_rows = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, eval_rows, rng)
    result = boost(options, rows, eval_rows, chosen, callback, progress)
    model = make_model(options, rows.features, result, chosen)
    return with_profile(place_threshold(options, rows, model), X, y, sample_weight)
