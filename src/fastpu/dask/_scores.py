"""The threshold of a model, and the range of its scores, from training rows that lie on workers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import span_of
from fastpu.dask._members import HeldRows, Holding
from fastpu.model._threshold import TIE, balanced_accuracy_threshold, threshold_rule

Scores = NDArray[np.float64]

_NEAR = 1e4 * TIE  # scores that are nearer than this to one of the upper group are sent by themselves


# ---- On a worker ----


def _scores(holding: Holding, model: Any, n_threads: int) -> Scores:
    scores: Scores = model._decision_function(holding.features, n_threads)
    return scores


def _group(holding: Holding, scores: Scores, label: int) -> tuple[Scores, Scores]:
    """Return the distinct scores of the rows of a group, ascending, and the weight of each."""
    in_group, weights = holding.labels == label, holding.weights
    if weights is not None:
        in_group &= weights > 0
    values, place = np.unique(scores[in_group], return_inverse=True)
    counted = None if weights is None else weights[in_group]
    return np.asarray(values), np.bincount(place, counted, values.size).astype(np.float64)


def _lower_group(holding: Holding, scores: Scores, label: int, upper: Scores) -> tuple[Scores, Scores]:
    """Return the scores of a group and their weights as `_group`, where one stands for many if that is enough.

    The best threshold lies just below a score of the upper group, since any other one gets better by being raised to
    the next such score. So of the scores between two neighbouring ones of the upper group the largest is enough, with
    the weight of all; but those that equal an upper score up to rounding lie above the threshold.
    """
    values, weights = _group(holding, scores, label)
    if not values.size:
        return values, weights
    gap = np.searchsorted(upper, values)
    above = np.append(upper, np.inf)[gap]
    starts = np.isfinite(above) & (above - values <= _NEAR * np.abs(above))
    starts[0] = True
    starts[1:] |= gap[1:] != gap[:-1]
    first = np.flatnonzero(starts)
    return values[np.append(first[1:], values.size) - 1], np.add.reduceat(weights, first)


def _span(_: Holding, scores: Scores, threshold: float) -> tuple[int, int, float, float]:
    return span_of(scores, threshold)


# ---- The driver ----


class SharedScores:
    """Scores of the rows of all holdings by a model, with the methods that `make_model` of boosted trees calls.

    `groups` are the numbers of positive, unlabelled and negative rows.
    """

    def __init__(self, rows: HeldRows, groups: tuple[int, int, int]) -> None:
        self._rows, self.sides = rows, (1 if groups[0] else 0, -1 if groups[2] else 0)
        self._scores: list[Any] = []

    def _ask(self, question: Any, model: Any, *arguments: Any) -> list[Any]:
        if not self._scores:  # the threshold of a model does not change them
            self._scores = self._rows.start(_scores, [(model, n) for n in self._rows.n_threads])
        return self._rows.ask(question, [(scores, *arguments) for scores in self._scores], "scoring")

    def threshold(self, model: Any) -> tuple[float, str]:
        """Return the threshold of `balanced_accuracy_threshold` between two groups of rows, and how it was chosen."""
        upper, lower = self.sides
        of_upper = _joined(self._ask(_group, model, upper))
        of_lower = _joined(self._ask(_lower_group, model, lower, np.unique(of_upper[0])))
        threshold = balanced_accuracy_threshold(of_upper[0], of_lower[0], of_upper[1], of_lower[1])
        return threshold, threshold_rule(self.sides)

    def span(self, model: Any) -> tuple[int, int, float, float]:
        """Return how many rows score above the threshold, how many there are, and the least and the largest score."""
        positive, sizes, least, largest = zip(*self._ask(_span, model, model.threshold), strict=True)
        return sum(positive), sum(sizes), min(least), max(largest)


def _joined(groups: list[tuple[Scores, Scores]]) -> tuple[Scores, Scores]:
    values, weights = map(np.concatenate, zip(*groups, strict=True))
    return values, weights
