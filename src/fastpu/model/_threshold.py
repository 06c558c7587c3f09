"""Thresholds for models that only rank: by a prior, or by the scores of the training rows and their labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import span_of, warn, warn_if_alike
from fastpu.exceptions import DegenerateModelWarning, EstimateWarning


class ModelWithThreshold(Protocol):
    """What this file uses of a `fastpu.Model`, whose own file imports this one."""

    @property
    def threshold(self) -> float: ...
    def _out_of_bag(self) -> NDArray[np.float64] | None: ...
    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]: ...


_Model = TypeVar("_Model", bound=ModelWithThreshold)

GROUP = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
_MANY_NEVER = 0.1  # of the rows of a label without any out-of-bag score, where groups are given
_FAR = 0.1  # of what was asked: by more, and by more than a row, a threshold misses it
_FEW = 100  # with more rows on each side of the threshold out of bag, rows in the bags need not be scored

# Two cuts are tied if their balanced accuracies, or distances to the prior, differ by less than this, and two scores
# are equal if they differ by at most this part of the larger one: the rounding of sums then decides nothing.
TIE = 1e-12


@dataclass
class ScoredRows(ABC):
    """Labels and weights of training rows, and how a model scores the rows, wherever they are."""

    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    _scores: NDArray[np.float64] | None = field(default=None, init=False)

    @abstractmethod
    def score(self, model: ModelWithThreshold) -> NDArray[np.float64]:
        """Return the scores of all rows by a model."""

    def counted(self, label: int) -> NDArray[np.bool_]:
        """Return which rows have this label and a positive weight."""
        is_there: NDArray[np.bool_] = self.labels == label
        return is_there if self.weights is None else is_there & (self.weights > 0)

    def differing_weights(self) -> NDArray[np.float64] | None:
        """Return the weights, or None where all are equal, as if there were none."""
        return None if self.weights is None or (self.weights == self.weights[0]).all() else self.weights

    def scores(self, model: ModelWithThreshold) -> NDArray[np.float64]:
        """Return the scores of all rows by the one model of a fit, whose threshold does not change them."""
        if self._scores is None:
            self._scores = self.score(model)
        return self._scores

    def with_threshold(self, model: _Model) -> _Model:
        """Return the model with the threshold of the best balanced accuracy between labels +1 and -1.

        A label that no row has is replaced by 0. Out-of-bag scores count where the model has some; where a group has
        none of them, all rows are scored.
        """
        upper, lower = (label if self.counted(label).any() else 0 for label in (1, -1))
        groups = [self.counted(label) for label in (upper, lower)]
        out_of_bag = model._out_of_bag()
        if out_of_bag is None:
            scores, rows = self.scores(model), "training rows"
        elif any(np.isnan(out_of_bag[group]).all() for group in groups):
            scores, rows = self.scores(model), "rows by scores of rows in the bags (a group is in all bags)"
        else:
            scores, rows = out_of_bag, "rows by out-of-bag scores"
        above, below = (group & ~np.isnan(scores) for group in groups)
        weights = (None, None) if self.weights is None else (self.weights[above], self.weights[below])
        threshold = balanced_accuracy_threshold(scores[above], scores[below], *weights)
        rule = f"best balanced accuracy between {GROUP[upper]} and {GROUP[lower]} {rows}"
        # Without the checks of all other fields, which take long for trees.
        placed: _Model = object.__new__(type(model))
        vars(placed).update(vars(model), threshold=threshold, threshold_rule=rule)
        return placed

    def warn_of_groups_in_all_bags(self, function: str, model: ModelWithThreshold) -> None:
        """Warn if many rows of a label are never out of bag, although bags leave whole groups out."""
        out_of_bag = model._out_of_bag()
        if out_of_bag is None:
            return
        for label in (1, 0):
            counted = self.counted(label)
            n_all, n_never = int(counted.sum()), int(np.isnan(out_of_bag[counted]).sum())
            if n_never > _MANY_NEVER * n_all:
                warn(
                    f"{function}: {n_never} of the {n_all} {GROUP[label]} rows have no out-of-bag score, as every bag "
                    f"holds a row of their group: give groups that are smaller, or more trees or bags; where that is "
                    f"not possible, judge by rows of other groups",
                    EstimateWarning,
                )

    def warn_if_alike(self, function: str, model: ModelWithThreshold, advice: str) -> None:
        """Warn of a model that calls all rows the same."""
        out_of_bag, threshold = model._out_of_bag(), model.threshold
        if out_of_bag is None or min(np.sum(out_of_bag > threshold), np.sum(out_of_bag <= threshold)) <= _FEW:
            # Else the trees whose bags they are in tell them apart even better.
            warn_if_alike(function, span_of(self.scores(model), threshold), advice)


@dataclass
class ScoredRowsInMemory(ScoredRows):
    """Rows that are in memory, as a matrix or in bins."""

    rows: Any
    n_threads: int

    def score(self, model: ModelWithThreshold) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = model._decision_function(self.rows, self.n_threads)
        return scores


def balanced_accuracy_threshold(
    score_pos: NDArray[np.float64],
    score_other: NDArray[np.float64],
    weight_pos: NDArray[np.float64] | None = None,
    weight_other: NDArray[np.float64] | None = None,
) -> float:
    """Return the threshold t that maximises balanced accuracy of the rule score > t.

    Balanced accuracy is (share of `score_pos` above t + share of `score_other` at or below t) / 2. The candidates are
    the midpoints between neighbouring scores of both groups together that `differ`; of tied ones (within 1e-12) the
    lowest wins. If no candidate reaches 1/2, which the rule that calls everything negative has, or if all scores are
    equal, the highest score is returned, and nothing lies above it.

    The result is never NaN, and it is finite if a finite number separates the two scores. A weight, > 0, counts as that
    many repetitions.
    """
    values = np.unique(np.concatenate([score_pos, score_other]))
    # Weight at or below each distinct score, per group.
    below_p = _weight_up_to(values, score_pos, weight_pos)
    below_o = _weight_up_to(values, score_other, weight_other)
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


def prior_threshold(scores: NDArray[np.float64], prior: float, weights: NDArray[np.float64] | None = None) -> float:
    """Return the threshold above which the share of `scores`, by their weights > 0, is as near to `prior` as can be.

    `Model.with_threshold` says where it lies; scores are neighbours if they `differ`.
    """
    mass: NDArray[np.float64] | NDArray[np.intp]
    if weights is None:
        values, mass = np.unique(scores, return_counts=True)
    else:
        values, places = np.unique(scores, return_inverse=True)
        mass = np.bincount(places.reshape(-1), weights).astype(np.float64, copy=False)
    # Cut c lies below values[c]: c = 0 keeps everything above, c = values.size nothing.
    up_to = np.concatenate([[0.0], np.cumsum(mass)])
    total = up_to[-1]
    miss = np.abs(total - up_to - prior * total)
    miss[1:-1][~differ(values[:-1], values[1:])] = math.inf
    just_below = math.nextafter(float(values[0]), -math.inf)
    lowest_cut = 0 if math.isfinite(just_below) else 1
    nearest = float(miss[lowest_cut:].min())
    cut = lowest_cut + int(np.argmax(miss[lowest_cut:] <= nearest + TIE * total))
    if cut == 0:
        return just_below
    if cut == values.size:
        return float(values[-1])
    return between(float(values[cut - 1]), float(values[cut]))


def matched_threshold(
    scores: NDArray[np.float64], share: float, asked: str, weights: NDArray[np.float64] | None = None
) -> tuple[float, int]:
    """Return `prior_threshold` of unlabelled rows and how many are above it.

    Warn if these are all or none, or many more or fewer than were asked for, as where many rows have one score.

    `asked` is what the user has asked for, in words.
    """
    threshold = prior_threshold(scores, share, weights)
    positive = int(np.count_nonzero(scores > threshold))
    apart = abs(share * scores.size - positive)
    if positive in (0, scores.size) and apart > 0:
        if apart <= 0.5:  # no number of rows is nearer
            few = f"only {apart:.3g}" if positive == 0 else f"all but {apart:.3g}"
            reason = f"by that prior {few} of these rows would be positive, rounded to {positive}; pass more rows"
        else:
            reason = "the scores have too few distinct values to come nearer"
        warn(
            f"the threshold for {asked} calls {positive} of {scores.size} unlabelled rows positive: {reason}",
            DegenerateModelWarning,
        )
    elif weights is None and apart > max(1.0, _FAR * share * scores.size):
        warn(
            f"the threshold for {asked} calls {positive} of {scores.size} unlabelled rows positive, and not "
            f"{share * scores.size:.3g}: so many of them have one score that no threshold comes nearer",
            DegenerateModelWarning,
        )
    return threshold, positive


def between(low: float, high: float) -> float:
    """Return a number t with low <= t < high: the midpoint, unless rounding brings that to `high`."""
    middle = 0.5 * low + 0.5 * high
    if low == -math.inf:
        middle = 0.0 if high == math.inf else math.nextafter(high, -math.inf)
    elif high == math.inf:
        middle = low
    return middle if low <= middle < high else low
