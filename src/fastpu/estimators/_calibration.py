"""Probabilities of the scikit-learn classifiers, from scores of rows that a fit has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_choice, check_int
from fastpu.common._warn import silenced, warn
from fastpu.data._folds import Fold, fold_sizes, stratified_folds
from fastpu.data._table_rows import TableRows
from fastpu.exceptions import DegenerateModelWarning, EstimateWarning
from fastpu.model._calibration import METHODS
from fastpu.model._model import Model
from fastpu.model._prior import PriorEstimate, check_prior, check_prior_in, proper_prior, take_prior_in
from fastpu.model._scored import Scored
from fastpu.priors._doubts import doubts
from fastpu.priors._likelihood import score_share
from fastpu.selection._parts import FoldParts

_OF_ROWS = ("sample_weight", "sample_cost", "groups")


def calibrated(
    estimator: Any,
    model: Model,
    rows: Any,
    codes: NDArray[np.int8],
    arguments: Mapping[str, Any],
    clusters: NDArray[np.int32] | None,
) -> tuple[Model, PriorEstimate | None]:
    """Return the model of a fit with probabilities, and the estimate of the prior, or None where none was made.

    Rows of a cluster are in the same fold.
    The threshold of each model is subtracted from its scores, so that scores of different models can be compared.
    """
    for name in ("graph", "init_model"):
        if arguments.get(name) is not None:
            raise ValueError(f"{name} must be left out with a calibration, which fits to parts of the rows, got it")
    method = check_choice("calibration", estimator.calibration, METHODS)
    weights = arguments.get("sample_weight")
    if not (codes != 1).any():
        raise ValueError("calibration needs rows of another class than the positive one, got none")
    if estimator.calibration_prior is not None:
        check_prior(estimator.calibration_prior, "calibration_prior")
        if not (codes == 0).any():
            raise ValueError(
                f"calibration_prior must be None where no row is unlabelled and the share of positive rows is known, "
                f"got {estimator.calibration_prior!r}"
            )
    n_folds = check_int("calibration_cv", estimator.calibration_cv, low=2)
    scores = _out_of_bag(model, codes, weights)
    if scores is None:
        folds = _folds(n_folds, codes, weights, clusters)
        scores = _scores_of_folds(estimator, model, rows, codes, arguments, folds)
    if not (codes == 0).any():
        return model._with_calibration(method, *_against_all(scores, codes, weights), caller="calibration"), None
    scored = Scored(scores, codes, weights, ~np.isnan(scores))
    prior, estimate = _prior_among_unlabeled(estimator, arguments, scored)
    return model._with_calibration(method, scored, prior, caller="calibration"), estimate


def _out_of_bag(
    model: Model, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Return the out-of-bag scores of the model, or None if it has none for some class."""
    scores = model._out_of_bag()
    if scores is None or not (codes == 0).any():
        return None
    is_scored = ~np.isnan(scores) if weights is None else ~np.isnan(scores) & (weights > 0)
    return scores if np.isin(codes, codes[is_scored]).all() else None


def _scores_of_folds(
    estimator: Any, model: Model, rows: Any, codes: NDArray[np.int8], arguments: Mapping[str, Any], folds: list[Fold]
) -> NDArray[np.float64]:
    """Return the scores of each fold by a model of the others, NaN for rows without weight."""
    is_kernel_matrix = getattr(estimator, "kernel", None) == "precomputed"
    by_row = {name: np.asarray(arguments[name]) for name in _OF_ROWS if arguments.get(name) is not None}
    quiet = {name: off for name, off in (("callback", None), ("progress", False)) if name in arguments}
    scores = np.full(codes.size, np.nan)
    parts = FoldParts(TableRows(rows), codes, by_row, folds, is_square=is_kernel_matrix)
    for (_, held), part in zip(folds, parts, strict=True):
        # The thresholds of these models do not matter, and the user has been warned about the whole model.
        with silenced(DegenerateModelWarning, EstimateWarning):
            machine = estimator._call(part.X, part.y, {**arguments, **quiet, **part.by_row})["model_"]
        held_scores = machine.decision_function(part.X_held, n_threads=arguments["n_threads"])
        scores[held] = held_scores - machine.threshold + model.threshold
    return scores


def _folds(
    n_folds: int,
    codes: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    clusters: NDArray[np.int32] | None,
) -> list[Fold]:
    """Return (rows to fit to, rows to score) of at most `n_folds` folds of the rows that have a weight."""
    rows = np.arange(codes.size) if weights is None else np.flatnonzero(weights)
    own = None if clusters is None else clusters[rows]
    fewest = min(size for size in fold_sizes(codes[rows], own).values() if size)
    if fewest < 2:
        raise ValueError(
            f"calibration needs two {'rows' if own is None else 'groups'} of each class at least, to be scored by "
            f"models that have not seen them, got {fewest} of one class"
        )
    # Always the same folds: the random state belongs to the fits.
    folds = stratified_folds(codes[rows], min(n_folds, fewest), np.random.default_rng(0), own)
    return [(rows[kept], rows[held]) for kept, held in folds]


def _prior_among_unlabeled(
    estimator: Any, arguments: Mapping[str, Any], scored: Scored
) -> tuple[float, PriorEstimate | None]:
    """Return the prior, given for the probabilities, of the fit, or estimated from the scores with its estimate."""
    if estimator.calibration_prior is not None:
        return take_prior_in("case_control", estimator.calibration_prior)[0], None
    of_fit = arguments.get("prior", getattr(estimator, "prior", None))
    if of_fit is None:
        pos, unl = scored.pos[in_proportion(scored.share_pos, 0.5)], scored.unl[in_proportion(scored.share_unl, 0.5)]
        share = score_share(pos, unl)
        edge = 1 / (unl.size + 1)  # the share of one more row keeps the estimate away from 0 and 1
        value = min(1 - edge, max(edge, share.value))
        estimate = PriorEstimate(value, None, np.zeros(0), (share.low, share.high))
        if trouble := doubts(estimate, "pass calibration_prior, to which the probabilities are in proportion"):
            warn(f"calibration: calibration_prior is not given: {trouble}", EstimateWarning)
        return value, estimate
    drawn_as = arguments.get("scenario", getattr(estimator, "scenario", "case_control"))
    prior, scenario = check_prior_in(drawn_as, of_fit)
    return proper_prior(prior, scenario, **scored.masses), None


def _against_all(
    scores: NDArray[np.float64], codes: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> tuple[Scored, float]:
    """Return the scores of the positive rows, with those of all rows in place of the unlabelled ones, and their share.

    The losses without negatives are then the usual losses over all rows.
    """
    mass = np.ones(codes.size) if weights is None else weights
    positive = codes == 1
    labels = np.concatenate([np.ones(int(positive.sum()), dtype=np.int8), np.zeros(codes.size, dtype=np.int8)])
    scored = Scored(np.concatenate([scores[positive], scores]), labels, np.concatenate([mass[positive], mass]))
    return scored, float(mass[positive].sum() / mass.sum())


def in_proportion(weights: NDArray[np.float64], start: float) -> NDArray[np.intp]:
    """Return positions drawn in proportion to their weights, as many as there are positive weights.

    They stand at equal distances along the cumulated weights, from `start` in [0, 1) of a distance on.
    """
    size = int(np.count_nonzero(weights))
    mass = np.cumsum(weights)
    points = (np.arange(size) + start) * (mass[-1] / max(1, size))
    positions: NDArray[np.intp] = np.minimum(np.searchsorted(mass, points, side="right"), weights.size - 1)
    return positions
