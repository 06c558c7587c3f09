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
        The training rows. NaN counts as -inf. If there are unlabelled rows, the labelled ones are copied first, unless
        `X` is binned.
    y : array-like of shape (n,)
        +1 is positive, -1 negative, and 0 is left out. There must be rows of both +1 and -1.
    n_rounds : int, default 200
        The number of stumps. With `early_stopping_rounds` it is the largest number.
    rho : float, default 0.01
        The L1 penalty, in [0, 1), on the weights of the stumps. Stumps with Delta <= rho are not added.
    max_bins : int or "exact", optional
        The thresholds that are searched. By default these are all thresholds of a feature with at most 20,000 distinct
        values, and 255 quantiles of a feature with more. An integer from 1 to 65535 is the largest number of quantiles
        of each feature (see `fastpu.bin_features`). "exact" searches all thresholds of all features. Leave it out if
        `X` is binned.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight alpha of a stump is chosen. "jensen" takes alpha = atanh(Delta) - atanh(rho), which minimises an
        upper bound of the objective. "line_search" minimises the objective along the stump.
    eval_set : (X, y), optional
        Rows to judge the model by after every round: the unweighted AUC of +1 against -1, or against 0 if its y has no
        -1. `X` may be BinnedFeatures with the same cuts (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. Otherwise the fit ends when the AUC of `eval_set` has not improved for so many
        rounds, and the model keeps the rounds up to the best one. Without an `eval_set`, `n_folds` folds of the rows
        choose the number of rounds: the last one whose mean AUC is within one standard error of the best.
    n_folds : int, default 5
        The number of folds of `early_stopping_rounds` without an `eval_set`. There are fewer if the rarest label has
        fewer rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has Delta > rho + stop_tol.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A row of weight 2 counts as two equal rows, and a row of weight 0 does not count.
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
        If all `n_rounds` rounds are made before early stopping, or a `stop_tol` above its default, ends the fit.
    DegenerateModelWarning
        If there is no stump to add from the start, and the model is empty.
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
    judged = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, judged, rng)
    result = boost(options, rows, judged, chosen, callback, progress)
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
        The training rows. NaN counts as -inf.
    y : array-like of shape (n,)
        +1 is positive, 0 unlabelled, -1 negative. There must be rows of at least two of them.
    n_rounds : int, default 200
        The number of stumps. With `early_stopping_rounds` it is the largest number.
    gamma : float, default 0.5
        The weight, in [0, 1], of U against N. With 0 the loss is that of P against U alone, and with 1 that of U
        against N alone. Then both of these groups must have rows, and the rows of the third group do not count.
    max_bins : int or "exact", optional
        The thresholds that are searched. By default these are all thresholds of a feature with at most 20,000 distinct
        values, and 255 quantiles of a feature with more. An integer from 1 to 65535 is the largest number of quantiles
        of each feature (see `fastpu.bin_features`). "exact" searches all thresholds of all features. Leave it out if
        `X` is binned.
    eval_set : (X, y), optional
        Rows to judge the model by after every round: the unweighted AUC of +1 against -1, or against 0 if its y has no
        -1. `X` may be BinnedFeatures with the same cuts (``B[rows]``) if the training `X` is binned.
    early_stopping_rounds : int, optional
        By default all rounds are made. Otherwise the fit ends when the AUC of `eval_set` has not improved for so many
        rounds, and the model keeps the rounds up to the best one. Without an `eval_set`, `n_folds` folds of the rows
        choose the number of rounds: the last one whose mean AUC is within one standard error of the best.
    n_folds : int, default 5
        The number of folds of `early_stopping_rounds` without an `eval_set`. There are fewer if the rarest label has
        fewer rows.
    stop_tol : float, default 1e-9
        The fit ends when no stump has an edge above stop_tol.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A row of weight 2 counts as two equal rows, and a row of weight 0 does not count.
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
        If all `n_rounds` rounds are made before early stopping, or a `stop_tol` above its default, ends the fit.
    DegenerateModelWarning
        If there is no stump to add from the start, and the model is empty, or if the model calls all training rows the
        same.
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
        n_rounds=n_rounds,
        stop_tol=stop_tol,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=n_folds,
        max_bins=max_bins,
        n_threads=n_threads,
    )
    rng = check_random_state(random_state)
    rows = read_rows(X, y, sample_weight, None, options)
    judged = check_eval_set(eval_set, rows.features)
    chosen = choose_rounds(options, rows, judged, rng)
    result = boost(options, rows, judged, chosen, callback, progress)
    model = make_model(options, rows.features, result, chosen)
    return with_profile(place_threshold(options, rows, model), X, y, sample_weight)
