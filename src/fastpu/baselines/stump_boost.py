"""Boosted stumps that the paper of `fastpu.fit_pnu_auc_boost` compares with, through the same engine."""

from __future__ import annotations

from fastpu.boosting._eval_set import check_eval_set
from fastpu.boosting._stump_model import make_model, place_threshold
from fastpu.boosting._stump_options import STOP_TOL, MaxBins, StepName, StumpOptions
from fastpu.boosting._stump_rounds import BoostRound, boost, choose_rounds
from fastpu.boosting._stump_rows import read_rows
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_random_state
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, RoundCallback, VectorLike
from fastpu.model._with_profile import with_profile


@answers_unknown_keywords
def fit_rankboost_auc(
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_rounds: int = 200,
    rho: float = 0.01,
    max_bins: MaxBins = None,
    step: StepName = "jensen",
    eval_set: tuple[MatrixLike, LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostRound] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """RankBoost for the AUC (RBAUC): boost stumps on the labelled rows alone.

    It is for finding out whether unlabelled rows help: fit it beside `fastpu.fit_pnu_auc_boost`.

    The fit minimises E_P[e^-f] E_N[e^f] exp(rho sum_t alpha_t), the objective of `fastpu.fit_pnu_auc_boost` with
    gamma = 1, over the rows with y = +1 and y = -1. Unlabelled rows are left out, and their values give no thresholds
    (binned features keep their cuts). RankBoost as first published has ``rho=0``.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy, unless there are unlabelled
        rows: the labelled ones are then copied first. NaN counts as -inf.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, -1 for labelled negative rows; there must be rows of both. Unlabelled
        rows (0) are left out.
    n_rounds : int, default 200
        The number of stumps, >= 1. With `early_stopping_rounds` it is the largest number.
    rho : float, default 0.01
        The L1 penalty on the weights of the stumps, in [0, 1). Stumps with a gain Delta <= rho are not added.
    max_bins : int or "exact", optional
        The thresholds that are searched. Leave it out if `X` is binned.

        - By default, all thresholds of a feature with at most 20,000 distinct values, and 255 quantiles of a feature
          with more.
        - An int from 1 to 65535 is the largest number of quantiles of each feature (see `fastpu.bin_features`).
        - "exact" searches all thresholds of all features.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight alpha of a stump is chosen. "jensen" takes alpha = atanh(Delta) - atanh(rho), which minimises an
        upper bound of the objective. "line_search" minimises the objective along the stump.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC the model is judged after every round. The AUC compares +1 with -1,
        or with 0 if no row is -1. All rows have the same weight. Its `X` may be BinnedFeatures with the same cuts
        (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, and keeps the rounds up to the best one. Without an `eval_set` the number of rounds is chosen by
        cross-validation: of all rounds whose mean AUC over the folds is within one standard error of the best, the last
        is chosen.
    n_folds : int, default 5
        The number of folds of that cross-validation, >= 2. There are fewer if a kind of label has fewer rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has a gain Delta > rho + stop_tol. It must be >= 0.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 do not count.
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
        The model. Its threshold maximises the balanced accuracy between positive and negative training rows.

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
        ends the fit.
    DegenerateModelWarning
        If no stump has a gain in the first round, so that the model is empty.
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    A round takes O(n d) at most, for n labelled rows. Few labelled rows are often separated by one stump. The fit then
    ends after it with the status "perfect".

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
    options = StumpOptions(
        function="fit_rankboost_auc",
        title="RankBoost-AUC",
        own_params=("rho", "step"),
        loss="auc",
        gamma=1.0,
        rho=rho,
        step=step,
        leaves_out_unlabeled=True,
        n_rounds=n_rounds,
        stop_tol=stop_tol,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=n_folds,
        max_bins=max_bins,
        n_threads=n_threads,
    )
    rng = check_random_state(random_state)
    rows = read_rows(X, y, sample_weight, None, options)
    eval_rows = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, eval_rows, rng)
    result = boost(options, rows, eval_rows, chosen, callback, progress)
    model = make_model(options, rows.features, result, chosen)
    return with_profile(place_threshold(options, rows, model), X, y, sample_weight)


@answers_unknown_keywords
def fit_pnu_adaboost(
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_rounds: int = 200,
    gamma: float = 0.5,
    max_bins: MaxBins = None,
    eval_set: tuple[MatrixLike, LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    stop_tol: float = STOP_TOL,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostRound] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNU-AdaBoost (PNUAB): AdaBoost on P, N and U, where U is used twice, as positives and as negatives.

    It is for comparing a loss of single rows with the loss of pairs of `fastpu.fit_pnu_auc_boost`.

    The fit minimises, one stump at a time, with stumps h_t in {-1, +1},

        (1 - gamma)/2 (E_P[e^-f] + E_U[e^f]) + gamma/2 (E_U[e^-f] + E_N[e^f]),

    the exponential loss of P against U and of U against N. Terms of groups without rows drop out, and the others are
    scaled to the sum 1.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. NaN counts as -inf.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative rows. There must be rows
        of at least two of these kinds.
    n_rounds : int, default 200
        The number of stumps, >= 1. With `early_stopping_rounds` it is the largest number.
    gamma : float, default 0.5
        The weight, in [0, 1], of U against N. With 0 the loss is that of P against U alone, and with 1 that of U
        against N alone; both groups of such a loss must have rows, and the rows of the third do not count.
    max_bins : int or "exact", optional
        The thresholds that are searched. Leave it out if `X` is binned.

        - By default, all thresholds of a feature with at most 20,000 distinct values, and 255 quantiles of a feature
          with more.
        - An int from 1 to 65535 is the largest number of quantiles of each feature (see `fastpu.bin_features`).
        - "exact" searches all thresholds of all features.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC the model is judged after every round. The AUC compares +1 with -1,
        or with 0 if no row is -1. All rows have the same weight. Its `X` may be BinnedFeatures with the same cuts
        (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, and keeps the rounds up to the best one. Without an `eval_set` the number of rounds is chosen by
        cross-validation: of all rounds whose mean AUC over the folds is within one standard error of the best, the last
        is chosen.
    n_folds : int, default 5
        The number of folds of that cross-validation, >= 2. There are fewer if a kind of label has fewer rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has an edge > stop_tol. It must be >= 0.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 do not count.
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
        The model. Each of its stumps votes -1 or +1 (``low`` is -1), and its threshold is 0.

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
        ends the fit.
    DegenerateModelWarning
        If no stump has an edge in the first round, so that the model is empty, or if the model calls all training rows
        the same.
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    A round takes O(n d) at most.

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
    options = StumpOptions(
        function="fit_pnu_adaboost",
        title="PNU-AdaBoost",
        own_params=("gamma",),
        loss="ada",
        gamma=gamma,
        unread_at={0.0: -1, 1.0: 1},
        n_rounds=n_rounds,
        stop_tol=stop_tol,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=n_folds,
        max_bins=max_bins,
        n_threads=n_threads,
    )
    rng = check_random_state(random_state)
    rows = read_rows(X, y, sample_weight, None, options)
    eval_rows = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, eval_rows, rng)
    result = boost(options, rows, eval_rows, chosen, callback, progress)
    model = make_model(options, rows.features, result, chosen)
    return with_profile(place_threshold(options, rows, model), X, y, sample_weight)
