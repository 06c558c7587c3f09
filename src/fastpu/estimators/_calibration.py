"""Probabilities of the scikit-learn classifiers, from scores of rows that a fit has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_choice, check_int
from fastpu.common._warn import warn
from fastpu.data._clusters import effective_number
from fastpu.data._folds import Fold, fold_sizes, stratified_folds
from fastpu.estimators._fit_input import FitInput
from fastpu.exceptions import EstimateWarning
from fastpu.model._calibration import METHODS
from fastpu.model._group_scores import GroupScores
from fastpu.model._model import Model
from fastpu.model._prior import PriorEstimate, check_prior, check_prior_in, proper_prior, take_prior_in
from fastpu.priors._doubts import doubts
from fastpu.priors._likelihood import SINGLE, PerRow, score_share


@dataclass(frozen=True)
class CalibrationOptions:
    """What a classifier was told of its probabilities; ValueError or TypeError if it cannot be.

    `method` is the shape of the curve from scores to probabilities, `prior` the share of positives among the unlabelled
    rows, if it was passed, and `n_folds` the most folds that rows are scored in.
    """

    method: str
    prior: float | PriorEstimate | None
    n_folds: int

    def __post_init__(self) -> None:
        check_choice("calibration", self.method, METHODS)
        check_int("calibration_cv", self.n_folds, low=2)
        if self.prior is not None:
            check_prior(self.prior, "calibration_prior")

    def check_input(self, data: FitInput) -> None:
        """Raise ValueError for rows or labels that probabilities cannot be had of."""
        for name, value in (("graph", data.graph), ("init_model", data.init_model)):
            if value is not None:
                raise ValueError(
                    f"{name} must be left out with a calibration, because that fits to parts of the rows and {name} "
                    f"belongs to all of them"
                )
        if not (data.y != 1).any():
            raise ValueError("calibration needs rows of another class than the positive one, got none")
        if self.prior is not None and not (data.y == 0).any():
            raise ValueError(
                f"calibration_prior must be None where no row is unlabelled and the share of positive rows is known, "
                f"got {self.prior!r}"
            )


def calibrated(
    options: CalibrationOptions,
    model: Model,
    scores: NDArray[np.float64],
    data: FitInput,
    prior_of_fit: float | PriorEstimate | None,
    scenario: str,
) -> tuple[Model, PriorEstimate | None]:
    """Return the model with probabilities, and the estimate of the prior, or None where none was made.

    `scores` are those of the rows by fits that have not seen them, NaN where there are none. `prior_of_fit` is that of
    the method itself, in its `scenario`.
    """
    if not (data.y == 0).any():
        against_all, share = _against_all(scores, data.y, data.sample_weight)
        return model._with_calibration(options.method, against_all, share, caller="calibration"), None
    scored = GroupScores(scores, data.y, data.sample_weight, ~np.isnan(scores))
    estimate = None
    if options.prior is not None:
        prior, _ = take_prior_in("case_control", options.prior)
    elif prior_of_fit is not None:
        share, drawn_as = check_prior_in(scenario, prior_of_fit)
        prior = proper_prior(share, drawn_as, n_pos=scored.mass_pos, n_unl=scored.mass_unl, n_neg=scored.mass_neg)
    else:
        estimate = _estimated_prior(scored, _per_row(scores, data))
        prior = estimate.value
    return model._with_calibration(options.method, scored, prior, caller="calibration"), estimate


def out_of_bag_scores(model: Model, data: FitInput) -> NDArray[np.float64] | None:
    """Return the out-of-bag scores of the model, or None if it has none for some class."""
    scores, codes = model._out_of_bag(), data.y
    if scores is None or not (codes == 0).any():
        return None
    return scores if np.isin(codes, codes[_is_scored(scores, data)]).all() else None


def _is_scored(scores: NDArray[np.float64], data: FitInput) -> NDArray[np.bool_]:
    has_score = ~np.isnan(scores)
    return has_score if data.sample_weight is None else has_score & (data.sample_weight > 0)


def folds_to_score(options: CalibrationOptions, data: FitInput) -> list[Fold]:
    """Return (rows to fit to, rows to score) of each fold of the rows that have a weight; groups stay together."""
    codes = data.y
    rows = np.arange(codes.size) if data.sample_weight is None else np.flatnonzero(data.sample_weight)
    own = None if data.groups is None else data.groups[rows]
    fewest = min(size for size in fold_sizes(codes[rows], own).values() if size)
    if fewest < 2:
        raise ValueError(
            f"calibration needs two {'rows' if own is None else 'groups'} of each class at least, to be scored by "
            f"models that have not seen them, got {fewest} of one class"
        )
    # Always the same folds: the random state belongs to the fits.
    folds = stratified_folds(codes[rows], min(options.n_folds, fewest), np.random.default_rng(0), own)
    return [(rows[training], rows[held_out]) for training, held_out in folds]


def _estimated_prior(scored: GroupScores, per_row: PerRow) -> PriorEstimate:
    """Return the share of positives among the unlabelled rows by their scores, with a warning if it is doubtful."""
    pos, unl = scored.pos[in_proportion(scored.share_pos, 0.5)], scored.unl[in_proportion(scored.share_unl, 0.5)]
    share = score_share(pos, unl, per_row)
    edge = 1 / (unl.size + 1)  # the share of one more row keeps the estimate away from 0 and 1
    value = min(1 - edge, max(edge, share.value))
    estimate = PriorEstimate(value, None, np.zeros(0), (share.low, share.high))
    if trouble := doubts(estimate, "pass calibration_prior, to which the probabilities are in proportion"):
        warn(f"calibration: calibration_prior is not given: {trouble}", EstimateWarning)
    return estimate


def _per_row(scores: NDArray[np.float64], data: FitInput) -> PerRow:
    """Return how many independent rows each row with a score counts for, by the groups of the fit."""
    if data.groups is None:
        return SINGLE
    is_scored = _is_scored(scores, data)
    numbers = (np.flatnonzero(is_scored & (data.y == code)) for code in (1, 0))
    return PerRow(*(effective_number(data.groups, rows) / rows.size for rows in numbers))


def _against_all(
    scores: NDArray[np.float64], codes: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> tuple[GroupScores, float]:
    """Return the scores of the positive rows, with those of all rows in place of the unlabelled ones, and their share.

    The losses without negatives are then the usual losses over all rows.
    """
    mass = np.ones(codes.size) if weights is None else weights
    positive = codes == 1
    labels = np.concatenate([np.ones(int(positive.sum()), dtype=np.int8), np.zeros(codes.size, dtype=np.int8)])
    scored = GroupScores(np.concatenate([scores[positive], scores]), labels, np.concatenate([mass[positive], mass]))
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
