"""Thresholds for models that only rank."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import warn
from fastpu.exceptions import DegenerateModelWarning

# Two cuts are tied if their balanced accuracies, or distances to the prior, differ by less than this, and two scores
# are equal if they differ by at most this part of the larger one: the rounding of sums then decides nothing.
TIE = 1e-12


def balanced_accuracy_threshold(
    score_pos: NDArray[np.floating],
    score_other: NDArray[np.floating],
    weight_pos: NDArray[np.floating] | None = None,
    weight_other: NDArray[np.floating] | None = None,
) -> float:
    """Return the threshold t that maximises balanced accuracy of the rule score > t.

    Balanced accuracy is (share of `score_pos` above t + share of `score_other` at or below t) / 2.
    The candidates are the midpoints between neighbouring scores of both groups together that `differ`;
    of tied ones (within 1e-12) the lowest wins. If no candidate reaches 1/2, which the rule that
    calls everything negative has, or if all scores are equal, the highest score is returned, and
    nothing lies above it.

    The result is never NaN, and it is finite if a finite number separates the two scores.
    A weight counts as that many repetitions; rows of weight 0 are left out.
    """
    scores_p, weights_p = _weighted(score_pos, weight_pos, "score_pos")
    scores_o, weights_o = _weighted(score_other, weight_other, "score_other")
    values = np.unique(np.concatenate([scores_p, scores_o]))
    # Weight at or below each distinct score, per group.
    below_p = _weight_up_to(values, scores_p, weights_p)
    below_o = _weight_up_to(values, scores_o, weights_o)
    gain = below_o / below_o[-1] - below_p / below_p[-1]  # twice the balanced accuracy, minus 1
    gain = np.where(differ(values[:-1], values[1:]), gain[:-1], -math.inf)
    best = float(np.max(gain, initial=-math.inf))
    if best < -TIE:
        return float(values[-1])
    cut = int(np.argmax(gain >= best - TIE))
    return between(float(values[cut]), float(values[cut + 1]))


def differ(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where low < high by more than rounding; a threshold between others would part rows that are alike."""
    with np.errstate(over="ignore", invalid="ignore"):
        gap = high - low
        has_infinity = np.isinf(low) | np.isinf(high)
        is_wide: NDArray[np.bool_] = gap > TIE * np.maximum(np.abs(low), np.abs(high))
    return np.where(has_infinity, low < high, is_wide)


def _weight_up_to(
    values: NDArray[np.float64], scores: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the weight of the scores at or below each of the ascending values.

    Both sides of the search are sorted: with millions of rows a search out of order misses the cache every time, and
    a single NumPy call of more than a fraction of a second would keep Ctrl-C waiting.
    """
    if weights is None:
        return np.searchsorted(np.sort(scores), values, side="right").astype(np.float64)
    order = np.argsort(scores)
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    return sums[np.searchsorted(scores[order], values, side="right")]


def prior_threshold(scores: NDArray[np.floating], prior: float) -> float:
    """Return the threshold above which the share of `scores` is as near to `prior` as can be.

    `Model.with_threshold` says where it lies; scores are neighbours if they `differ`.
    """
    scores, _ = _weighted(scores, None, "scores")
    values, counts = np.unique(scores, return_counts=True)
    # Cut c lies below values[c]: c = 0 keeps everything above, c = values.size nothing.
    above = scores.size - np.concatenate([[0], np.cumsum(counts)])
    miss = np.abs(above - prior * scores.size)
    miss[1:-1][~differ(values[:-1], values[1:])] = math.inf
    just_below = math.nextafter(float(values[0]), -math.inf)
    lowest_cut = 0 if math.isfinite(just_below) else 1
    nearest = float(miss[lowest_cut:].min())
    cut = lowest_cut + int(np.argmax(miss[lowest_cut:] <= nearest + TIE * scores.size))
    if cut == 0:
        return just_below
    if cut == values.size:
        return float(values[-1])
    return between(float(values[cut - 1]), float(values[cut]))


def matched_threshold(scores: NDArray[np.floating], prior: float) -> tuple[float, int]:
    """Return `prior_threshold` of the scores of X_unl and how many are above it; warn if these are all or none."""
    threshold = prior_threshold(scores, prior)
    positive = int(np.count_nonzero(scores > threshold))
    if positive in (0, scores.size):
        warn(
            f"the threshold for prior {prior:g} calls {positive} of {scores.size} rows of X_unl positive: the "
            f"scores have too few distinct values to come nearer",
            DegenerateModelWarning,
        )
    return threshold, positive


def _weighted(
    scores: NDArray[np.floating], weights: NDArray[np.floating] | None, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return scores and weights as float64, without the rows of weight 0."""
    values, mass = np.asarray(scores, dtype=np.float64), None
    if weights is not None:
        mass = np.asarray(weights, dtype=np.float64)
        values, mass = values[mass > 0], mass[mass > 0]
    if values.size == 0:
        raise ValueError(f"{name} must have at least one row of positive weight, got none")
    if np.isnan(values).any():
        raise ValueError(f"{name} must not hold NaN")
    return values, mass


def between(low: float, high: float) -> float:
    """Return a number t with low <= t < high: the midpoint, unless rounding brings that to `high`."""
    middle = 0.5 * low + 0.5 * high
    if low == -math.inf:
        middle = 0.0 if high == math.inf else math.nextafter(high, -math.inf)
    elif high == math.inf:
        middle = low
    return middle if low <= middle < high else low
