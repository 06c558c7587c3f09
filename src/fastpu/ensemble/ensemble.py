"""Ensembles: several methods in one model, weighted by how well they rank held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._progress import make_callback
from fastpu.common._text import describe
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import one_verdict, warn
from fastpu.data._folds import grouped_folds, stratified_folds
from fastpu.data._frames import frame_kind
from fastpu.data._training_rows import open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.ensemble._candidates import check_candidates, default_candidates, with_weights
from fastpu.ensemble._model import Ensemble
from fastpu.ensemble._trials import Data, run
from fastpu.ensemble._weights import auc_and_covariance, normed, weights_of
from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._prior import check_prior_in, check_scenario, needs_prior_where
from fastpu.model._threshold import balanced_accuracy_threshold, prior_threshold
from fastpu.selection._parts import Rows
from fastpu.svm._arguments import seed_param

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu.data._folds import Fold
    from fastpu.ensemble._trials import EnsembleRound, Trials

_LEAST_WEIGHT = 0.01  # candidates below it are left out
_FEW = 100  # with more rows on each side of the threshold out of fold, the training rows need not be scored again
_MOST_LABELLED = 5000  # rows, from which on a kernel machine takes too long to be a default


@answers_unknown_keywords
@needs_prior_where("candidates", ())
def fit_ensemble(
    X: object,
    y: object,
    *,
    candidates: Mapping[str, Any] | None = None,
    n_folds: int = 5,
    prior: float | None = None,
    scenario: Literal["case_control", "single_set"] = "case_control",
    sample_weight: object = None,
    groups: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[EnsembleRound], bool | None] | None = None,
    progress: bool = False,
) -> Ensemble:
    r"""Ensemble: several methods in one model, weighted by how well they rank held-out rows.

    Take it for the best ranking that can be had in one call, for tables, text and embeddings alike, where seconds do
    not matter: it costs six fits of each of six methods. `Ensemble.oob_decision_function` ranks the unlabelled rows,
    and `Ensemble.report` says which methods were tried and how sure the choice is. `fit_forest` alone is some fifty
    times as fast, and nearly as good on most tables.

    Each candidate k is fitted to all rows, and to the rows outside of each of `n_folds` folds, whose models score the
    rows in the fold. From these scores comes its AUC between the labelled positive and the unlabelled rows (the
    labelled negative ones, if there are some), :math:`A_k`. With labels at random it is an increasing function of the
    true AUC, :math:`(1 - \theta) \mathrm{AUC} + \theta / 2` for a share :math:`\theta` of positives among the
    unlabelled rows. The model is the mean of the standardised scores, with the weights

    .. math:: w_k \propto v_k e^{d_k / 0.015}, \qquad
        d = S (S + (2 + 30 / n_P) N)^{-1} (A - \bar A), \qquad S = 0.05^2 I,

    where N is the covariance of the differences :math:`A_k - \bar A`, by the placements of the rows, and v are the
    weights without any evidence: 2 for the forest and for the bagging SVM with the kernel "rbf", 1 for the forest with
    the best splits and for boosted trees, and 0.2 for the two lines. Of CSR that is left as it is they are 1, 3, 0.5,
    1, and 1 and 3 for the linear bagging SVM and ISVM. Candidates of yours have the same. So few labels leave the
    weights near v, and many find the best. Weights below 0.01 become 0.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of any kind: missing entries (NaN) and categories are taken. Methods that measure distances get a copy in
        numbers, whose columns are standardised, with medians in gaps and a column for each of the 100 most frequent
        categories, made from the rows that they are fitted to. CSR of which less than a quarter is filled is left as
        it is, as text should be.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 labelled negative. See `fastpu.as_labels`. Methods of positive and unlabelled rows
        alone take negative rows for unlabelled ones.
    candidates : dict, optional
        Names, and what is fitted: a `fit_*` function, ``functools.partial`` of one with its keywords, a function of
        yours ``fit(X, y)`` that returns an object with `decision_function`, or an estimator like those of scikit-learn,
        which gets the rows as they are and the labels 1 and 0. By default "forest" (`fit_forest`), "forest_best_splits"
        (with ``splitter="best"``), "boosted_trees" (`fit_boosted_trees` with ``n_bags=20``), "bagging_svm_rbf" (left
        out with more than 5,000 labelled rows), "bagging_svm_linear" and "isvm". With `sample_weight` those that take
        no weights are left out.
    n_folds : int, default 5
        Most folds, >= 2, drawn separately from the rows of each kind of label; fewer if there are fewer labelled rows.
    prior : float, optional
        P(Y = 1), in (0, 1), among the unlabelled rows or, in ``"single_set"``, among all rows. The threshold then
        matches it, and candidates that need a prior get it.
    scenario : {"case_control", "single_set"}, default "case_control"
        What `prior` speaks of; in ``"single_set"`` it is converted, (prior n - n_pos) / n_unl.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the rows in the fits and in the AUCs. Rows of weight 0 count as absent.
    groups : array-like of shape (n,), optional
        Rows of one group, such as those of one patient, are held out together.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the folds and the seeds of the candidates. Estimators keep their own.
    n_threads : int, optional
        Most threads to use; by default the CPUs this process may use. The model is bitwise the same for all, if that of
        each candidate is.
    callback : callable, optional
        ``callback(info: EnsembleRound) -> bool``, called after every fit; True ends it with the candidates so far.
    progress : bool, default False
        Show a progress bar (tqdm if installed).

    Returns
    -------
    Ensemble
        With `weights`, `table`, `report`, `members` and `oob_decision_function`. The threshold maximises the balanced
        accuracy of these scores between positive and other rows, or matches `prior`. A model with a function or an
        estimator of yours among its members can be pickled but not saved.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has no positive row or no other one, or no candidate could be fitted.

    Warns
    -----
    DegenerateModelWarning
        If the model calls all training rows the same.

    Notes
    -----
    The time is that of the candidates, `n_folds` + 1 times. A candidate whose fit raises ValueError is left out, and
    `flaws` says why. Warnings of single fits are not passed on. With a single labelled row nothing can be held out, and
    the weights are v.

    References
    ----------
    Menon, van Rooyen, Ong and Williamson (2015), Learning from corrupted binary labels via class-probability
    estimation, for the AUC; DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated
    receiver operating characteristic curves, for its covariance.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(400) < 0.5
    >>> X = rng.standard_normal((400, 4)) + 1.0 * truth[:, None]
    >>> y = truth & (np.arange(400) < 100)
    >>> model = fastpu.fit_ensemble(X, y, random_state=0)
    >>> model.candidates
    ('forest', 'forest_best_splits', 'boosted_trees', 'bagging_svm_rbf', 'bagging_svm_linear', 'isvm')
    >>> hidden, others = truth & ~y, ~truth
    >>> bool(model.oob_decision_function[hidden].mean() > model.oob_decision_function[others].mean())
    True
    """
    require_rows(X, "fit_ensemble")
    named = None if candidates is None else check_candidates(candidates)
    most_folds = check_int("n_folds", n_folds, low=2)
    given_prior = None if prior is None else check_prior_in(scenario, prior)[0]
    drawn_as = check_scenario(scenario)
    threads = resolve_n_threads(n_threads)
    matrix = check_matrix(X, nan="allow", categories="learn")
    given = open_training_rows(matrix, y, sample_weight, "fit_ensemble", groups=(1, 0, -1))
    rows = Rows(X if frame_kind(X) is not None else matrix.table())
    kept = np.arange(given.n_given) if given.numbers is None else given.numbers
    data = Data(rows.all() if given.numbers is None else rows.take(kept), given.matrix, given.labels, given.weights)
    tried = default_candidates(is_text=data.is_text) if named is None else named
    if candidates is None and np.count_nonzero(data.is_positive) > _MOST_LABELLED:
        tried = [candidate for candidate in tried if candidate.name != "bagging_svm_rbf"]
    if data.weights is not None:
        tried = with_weights(tried, are_default=candidates is None)
    share = data.prior_among_unlabeled(given_prior, drawn_as)
    generator = check_random_state(random_state)
    folds = _folds(data, most_folds, _check_groups(groups, given.n_given), kept, generator)
    usual = [
        {"n_threads": threads, "prior": share, "random_state": seed}
        for seed in generator.integers(0, 2**31, size=len(tried)).tolist()
    ]
    with make_callback(callback, progress, total=len(tried) * (1 + len(folds)), description="ensemble") as hook:
        trials = run(tried, data, folds, usual, threads, hook)
    weights, judged = _judged(trials, data)
    held: NDArray[np.float64] = np.full(given.n_given, np.nan)
    held[kept] = weights[weights > 0] @ trials.scores[weights > 0]
    threshold, rule = _threshold(held[kept], data, share)
    members = [model for model, weight in zip(trials.models, weights, strict=True) if model is not None and weight > 0]
    model = Ensemble(
        n_features=matrix.n_features,
        feature_names=matrix.feature_names,
        threshold=threshold,
        threshold_rule=rule,
        n_iter=len(trials.names),
        converged=not trials.is_stopped,
        status="callback" if trials.is_stopped else "fitted",
        objective=judged["auc"],
        history={**judged, "seconds": trials.seconds},
        params={
            "method": "fit_ensemble",
            "n_folds": most_folds,
            "prior": given_prior,
            "scenario": drawn_as,
            "random_state": seed_param(random_state),
        },
        candidates=tuple(trials.names),
        weights=weights,
        members=tuple(members),
        locations=trials.locations[weights > 0],
        scales=trials.scales[weights > 0],
        takes_numbers=trials.takes_numbers[weights > 0],
        columns=None if trials.columns is None else vars(trials.columns),
        categories=given.matrix.categories,
        oob_decision_function=held,
        flaws=tuple(trials.flaws),
    )
    return _checked(model, data, threads)


def _check_groups(groups: object, n_rows: int) -> NDArray[np.intp] | None:
    """Return the number of the group of each row, from 0."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.ndim != 1 or values.size != n_rows:
        raise ValueError(f"groups must have one entry per row of the data ({n_rows}), got {describe(groups)}")
    try:
        found, numbers = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"groups must hold numbers or strings, not both, got {describe(groups)}") from error
    if found.size < 2:
        raise ValueError(f"groups must hold at least two groups, got one in {describe(groups)}")
    return numbers.reshape(-1)


def _folds(
    data: Data, most: int, groups: NDArray[np.intp] | None, kept: NDArray[Any], generator: np.random.Generator
) -> list[Fold]:
    """Return the folds, each with a row of either side at least, or none if there are too few rows."""
    if groups is None:
        n_folds = min(most, int(data.is_positive.sum()), int(data.is_other.sum()))
        return stratified_folds(data.labels, n_folds, generator) if n_folds > 1 else []
    _, numbers = np.unique(groups[kept], return_inverse=True)
    numbers = numbers.reshape(-1)
    n_folds = min(most, np.unique(numbers[data.is_positive]).size, np.unique(numbers[data.is_other]).size)
    folds = grouped_folds(data.labels, numbers, n_folds, generator) if n_folds > 1 else []
    sides = (data.is_positive, data.is_other)
    is_split = all(side[part].any() for fold in folds for part in fold for side in sides)
    return folds if is_split else []


def _judged(trials: Trials, data: Data) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the weights of all candidates, and their AUCs with standard errors."""
    m = len(trials.names)
    known: dict[str, NDArray[np.float64]] = {
        name: np.full(m, np.nan) for name in ("auc", "standard_error", "error_of_difference")
    }
    weights, fine = np.zeros(m), np.flatnonzero([not flaw for flaw in trials.flaws])
    if not fine.size:
        raise ValueError(f"X must be such that a candidate can be fitted, got for {trials.names[0]}: {trials.flaws[0]}")
    is_held = ~np.isnan(trials.scores[0])
    positive, other = data.is_positive & is_held, data.is_other & is_held
    start = trials.starts[fine]
    weights[fine] = normed(start)
    if positive.any() and other.any():
        auc, covariance = auc_and_covariance(trials.scores[fine], positive, other, data.weights)
        best, variances = int(np.argmax(auc)), np.diag(covariance)
        apart = variances + variances[best] - 2.0 * covariance[best]
        known["auc"][fine] = auc
        known["standard_error"][fine] = np.sqrt(variances)
        known["error_of_difference"][fine] = np.sqrt(np.maximum(apart, 0.0))
        weights[fine] = weights_of(auc, covariance, int(positive.sum()), start)
    weights[weights < _LEAST_WEIGHT] = 0.0
    return normed(weights), known


def _threshold(held: NDArray[np.float64], data: Data, prior: float | None) -> tuple[float, str]:
    """Return the threshold by scores of held-out rows, and where it comes from."""
    is_known = ~np.isnan(held)
    if not is_known.any():
        return 0.0, "zero"
    if prior is not None:
        return prior_threshold(held[is_known & data.is_usual], prior), f"prior {prior:g}, out of fold"
    sides = [is_known & side for side in (data.is_positive, data.is_other)]
    mass = [None if data.weights is None else data.weights[side] for side in sides]
    return balanced_accuracy_threshold(*(held[side] for side in sides), *mass), "best balanced accuracy, out of fold"


def _checked(model: Ensemble, data: Data, n_threads: int) -> Ensemble:
    """Return the model; warn if it calls all training rows the same."""
    held = model.oob_decision_function
    if min(np.count_nonzero(held > model.threshold), np.count_nonzero(held <= model.threshold)) > _FEW:
        return model
    scores = model.decision_function(data.X, n_threads=n_threads)
    if verdict := one_verdict(
        int(np.count_nonzero(scores > model.threshold)), scores.size, float(scores.min()), float(scores.max())
    ):
        warn(f"the model of fit_ensemble {verdict}", DegenerateModelWarning)
    return model
