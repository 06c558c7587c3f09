"""The threshold of a model, and the range of its scores, from training rows that lie on workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.model._threshold import TIE, between, differ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.dask._workers import Shard, Workers


# ---- On a worker ----


def _scores(shard: Shard, model: Any) -> Any:
    """Return the scores of the rows, which are computed once: the threshold of a model does not change them."""
    if "scores" not in shard.kept:
        shard.kept["scores"] = model._decision_function(shard.kept["features"], shard.n_threads)
    return shard.kept["scores"]


def _group(shard: Shard, model: Any, label: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct scores of the rows of a group, ascending, and the weight of each."""
    scores, in_group, weights = _scores(shard, model), shard.kept["labels"] == label, shard.kept["weights"]
    if weights is None:
        values, counts = np.unique(scores[in_group], return_counts=True)
        return np.asarray(values), np.asarray(counts, dtype=np.float64)
    in_group &= weights > 0
    values, place = np.unique(scores[in_group], return_inverse=True)
    return np.asarray(values), np.asarray(np.bincount(place, weights[in_group], values.size), dtype=np.float64)


def _below(
    shard: Shard, model: Any, label: int, values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Return for each value the weight of the scores of a group below it and the largest of them.

    The last two results are the weight and the largest of all scores of the group.
    """
    own, weights = _group(shard, model, label)
    place = np.searchsorted(own, values, side="left")
    sums, scores = np.concatenate([[0.0], np.cumsum(weights)]), np.concatenate([[-np.inf], own])
    return sums[place], scores[place], float(sums[-1]), float(scores[-1])


def _span(shard: Shard, model: Any) -> tuple[int, int, float, float]:
    scores = _scores(shard, model)
    return scores.size, int(np.count_nonzero(scores > model.threshold)), float(scores.min()), float(scores.max())


# ---- The driver ----


@dataclass(frozen=True)
class SharedScores:
    """Scores of the rows of all shards, each of which has kept "features", "labels" and "weights"."""

    workers: Workers

    def threshold(self, model: Any, upper: int, lower: int) -> float:
        """Return the threshold of `balanced_accuracy_threshold` between two groups of rows.

        The best threshold lies just below a score of the upper group, since any other one gets better by being raised
        to the next such score. So the shards are asked only for what lies below these scores, and below the scores that
        equal them up to rounding.
        """
        groups = self.workers.ask(_group, model, upper)
        scores, place = np.unique(np.concatenate([scores for scores, _ in groups]), return_inverse=True)
        weights = np.bincount(place, np.concatenate([weights for _, weights in groups]), minlength=scores.size)
        sums, known = np.concatenate([[0.0], np.cumsum(weights)]), np.concatenate([[-np.inf], scores])
        values = scores.copy()
        while True:
            answers = self.workers.ask(_below, model, lower, values)
            place = np.searchsorted(scores, values, side="left")
            before = np.maximum(np.max([answer[1] for answer in answers], axis=0), known[place])
            is_equal = (before > -np.inf) & ~differ(before, values)
            if not is_equal.any():
                break
            values[is_equal] = before[is_equal]
        below_lower = np.sum([answer[0] for answer in answers], axis=0)
        total = sum(answer[2] for answer in answers)
        gain = np.where(before > -np.inf, below_lower / total - sums[place] / sums[-1], -np.inf)
        best = float(gain.max(initial=-np.inf))
        if best < -TIE:
            return max(float(scores[-1]), *(float(answer[3]) for answer in answers))
        cut = int(np.argmax(gain >= best - TIE))
        return between(float(before[cut]), float(values[cut]))

    def span(self, model: Any) -> tuple[int, int, float, float]:
        """Return the number of rows, how many score above the threshold, and the least and the largest score."""
        sizes, positive, least, largest = zip(*self.workers.ask(_span, model), strict=True)
        return sum(sizes), sum(positive), min(least), max(largest)
