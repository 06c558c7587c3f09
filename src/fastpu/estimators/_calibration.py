"""Probabilities of the scikit-learn classifiers, from scores of rows that a fit has not seen."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._warnings import DegenerateModelWarning, EstimateWarning, warn
from fastpu.data._folds import stratified_folds
from fastpu.data._validate import check_choice, check_int
from fastpu.estimators._arguments import in_proportion
from fastpu.judge._parts import Rows
from fastpu.judge._prior_likelihood import score_share
from fastpu.judge._prior_sampling import PriorEstimate, doubts
from fastpu.model._calibration import METHODS, by_group, calibrate
from fastpu.model._prior import check_prior, check_scenario, prior_among_unlabeled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from fastpu.model._calibration import Scored
    from fastpu.model._model import Model

__all__ = ["Wanted", "calibrated"]

_OF_ROWS = ("sample_weight", "sample_cost")


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a classifier says of its probabilities.

    `given` is a prior among the unlabelled rows. Else `own`, with `scenario`, is that of the fit; and without either it
    is estimated from the scores.
    """

    method: Any
    own: Any
    scenario: Any
    given: Any
    cv: Any
    square: bool  # whether X is a kernel matrix


def calibrated(
    model: Model,
    wanted: Wanted,
    fit: Callable[[Any, NDArray[np.int8], dict[str, Any]], Model],
    rows: Any,
    codes: NDArray[np.int8],
    arguments: Mapping[str, Any],
) -> tuple[Model, PriorEstimate | None]:
    """Return the model with probabilities: calibrated on the scores of folds by models of the other folds.

    The second result is what the prior was estimated as from these scores, or None where nothing was estimated.

    Out-of-bag scores stand in for those of folds where the model has some of every class. Scores of different models
    are compared by their distance from the own threshold. Where there are unlabelled rows the probabilities are of
    these. Where there are none all rows are the sample of the population.
    """
    method = check_choice("calibration", wanted.method, METHODS)
    weights = arguments.get("sample_weight")
    if not (codes != 1).any():
        raise ValueError("calibration needs rows of another class than the positive one, got none")
    if wanted.given is not None:
        check_prior(wanted.given, "calibration_prior")
        if not (codes == 0).any():
            raise ValueError(
                f"calibration_prior must be None where no row is unlabelled and the share of positive rows is known, "
                f"got {wanted.given!r}"
            )
    most = check_int("calibration_cv", wanted.cv, low=2)
    scores = _out_of_bag(model, codes, weights)
    if scores is None:
        scores = _scores_of_folds(model, wanted, most, fit, rows, codes, arguments)
    if (codes == 0).any():
        scored, mass = by_group(scores, codes, weights, ~np.isnan(scores))
        prior, estimate = _prior_among_unlabeled(wanted, scored, mass)
    else:
        scored, prior = _against_all(scores, codes, weights)
        estimate = None
    calibration = calibrate(method, scored, prior)
    if calibration.trouble:
        warn(f"calibration: {calibration.trouble}", EstimateWarning)
    with_probabilities = dataclasses.replace(
        model,
        calibration=method,
        calibration_prior=prior,
        calibration_knots=calibration.knots,
        calibration_values=calibration.values,
    )
    return with_probabilities, estimate


def _out_of_bag(
    model: Model, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Return the scores of rows by trees that have not seen them, if the model has some for every class."""
    scores: NDArray[np.float64] | None = getattr(model, "oob_decision_function", None)
    if scores is None or not (codes == 0).any():
        return None
    is_scored = ~np.isnan(scores) if weights is None else ~np.isnan(scores) & (weights > 0)
    return scores if np.isin(codes, codes[is_scored]).all() else None


def _scores_of_folds(
    model: Model,
    wanted: Wanted,
    most: int,
    fit: Callable[[Any, NDArray[np.int8], dict[str, Any]], Model],
    rows: Any,
    codes: NDArray[np.int8],
    arguments: Mapping[str, Any],
) -> NDArray[np.float64]:
    """Return the scores of each fold by a model of the others, NaN for rows without weight."""
    scores = np.full(codes.size, np.nan)
    for kept, held in _folds(most, codes, arguments.get("sample_weight")):
        by_row = {name: np.asarray(arguments[name])[kept] for name in _OF_ROWS if arguments.get(name) is not None}
        part = {**arguments, **by_row}
        part |= {name: off for name, off in (("callback", None), ("progress", False)) if name in part}
        with warnings.catch_warnings():
            # What the models of folds call positive does not matter; the user has been warned about the whole model.
            for category in (DegenerateModelWarning, EstimateWarning):
                warnings.simplefilter("ignore", category)
            machine = fit(_take(rows, kept, kept, square=wanted.square), codes[kept], part)
        away = machine.decision_function(
            _take(rows, held, kept, square=wanted.square), n_threads=arguments["n_threads"]
        )
        scores[held] = away - machine.threshold + model.threshold
    return scores


def _folds(most: int, codes: NDArray[np.int8], weights: NDArray[np.float64] | None) -> Iterator[Any]:
    """Yield the rows to fit to and those to score, of the rows that have a weight."""
    rows = np.arange(codes.size) if weights is None else np.flatnonzero(weights)
    fewest = min(int(np.count_nonzero(codes[rows] == code)) for code in np.unique(codes[rows]))
    if fewest < 2:
        raise ValueError(
            f"calibration needs two rows of each class at least, to be scored by models that have not seen them, got "
            f"{fewest} of one class"
        )
    # Always the same folds: the random state belongs to the fits.
    for kept, held in stratified_folds(codes[rows], min(most, fewest), np.random.default_rng(0)):
        yield rows[kept], rows[held]


def _take(rows: Any, chosen: NDArray[np.intp], columns: NDArray[np.intp], *, square: bool) -> Any:
    if square:
        return np.ascontiguousarray(rows[np.ix_(chosen, columns)])
    return Rows(rows).take(chosen)


def _prior_among_unlabeled(
    wanted: Wanted, scored: Scored, mass: Mapping[int, float]
) -> tuple[float, PriorEstimate | None]:
    """Return the prior and, if nobody gave it, its estimate."""
    if wanted.given is not None:
        return float(wanted.given), None
    if wanted.own is None:
        weights = scored.share_pos, scored.share_unl
        pos, unl = (_drawn(values, share) for values, share in zip((scored.pos, scored.unl), weights, strict=True))
        estimated = score_share(pos, unl)
        edge = 1 / (unl.size + 1)  # the share of one more row keeps the estimate away from 0 and 1
        value = min(1 - edge, max(edge, estimated.value))
        estimate = PriorEstimate(value, None, np.zeros(0), (estimated.low, estimated.high))
        if trouble := doubts(estimate, "pass calibration_prior, to which the probabilities are in proportion"):
            warn(f"calibration: calibration_prior is not given: {trouble}", EstimateWarning)
        return value, estimate
    given, scenario = check_prior(wanted.own), check_scenario(wanted.scenario)
    share = prior_among_unlabeled(given, n_pos=mass[1], n_unl=mass[0], n_neg=mass[-1], scenario=scenario)
    if not 0 < share < 1:
        raise ValueError(f"prior leaves no unlabelled row of one class, got {given:g} with scenario={scenario!r}")
    return share, None


def _drawn(values: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[in_proportion(share, 0.5)]


def _against_all(
    scores: NDArray[np.float64], codes: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> tuple[Scored, float]:
    """Return positive rows against all rows, negatives included, and the share of the former.

    In the population of all rows the losses without negatives are those with them: pi mean_P is the sum over P.
    """
    mass = np.ones(codes.size) if weights is None else weights
    positive = codes == 1
    labels = np.concatenate([np.ones(int(positive.sum()), dtype=np.int8), np.zeros(codes.size, dtype=np.int8)])
    scored, _ = by_group(np.concatenate([scores[positive], scores]), labels, np.concatenate([mass[positive], mass]))
    return scored, float(mass[positive].sum() / mass.sum())
