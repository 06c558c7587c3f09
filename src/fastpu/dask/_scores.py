"""The scores of training rows that lie on workers: the threshold and the span of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.model._threshold import _TIE, _between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.dask._workers import Shard, Workers

__all__ = ["SharedScores"]


# ---- What a shard answers ----


def _scores(shard: Shard, model: Any) -> Any:
    """Return the scores of the rows; they are kept, for a threshold changes none of them."""
    if "scores" not in shard.kept:
        shard.kept["scores"] = model._decision_function(shard.kept["features"], shard.n_threads)
    return shard.kept["scores"]


def _group(shard: Shard, model: Any, label: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the different scores of the rows of a group, ascending, and the weight that each has."""
    scores, chosen, weights = _scores(shard, model), shard.kept["labels"] == label, shard.kept["weights"]
    if weights is None:
        values, counts = np.unique(scores[chosen], return_counts=True)
        return np.asarray(values), np.asarray(counts, dtype=np.float64)
    chosen &= weights > 0
    values, place = np.unique(scores[chosen], return_inverse=True)
    return np.asarray(values), np.asarray(np.bincount(place, weights[chosen], values.size), dtype=np.float64)


def _below(
    shard: Shard, model: Any, label: int, values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Return for each value the weight of the scores of a group below it, and the largest of these; then of all."""
    own, weights = _group(shard, model, label)
    place = np.searchsorted(own, values, side="left")
    sums, scores = np.concatenate([[0.0], np.cumsum(weights)]), np.concatenate([[-np.inf], own])
    return sums[place], scores[place], float(sums[-1]), float(scores[-1])


def _span(shard: Shard, model: Any) -> tuple[int, int, float, float]:
    scores = _scores(shard, model)
    return scores.size, int(np.count_nonzero(scores > model.threshold)), float(scores.min()), float(scores.max())


# ---- What the driver makes of the answers ----


@dataclass(frozen=True)
class SharedScores:
    """Scores of the rows of all shards, which keep "features", "labels" and "weights"."""

    workers: Workers

    def threshold(self, model: Any, upper: int, lower: int) -> float:
        """Return the threshold of `balanced_accuracy_threshold` between two groups of rows.

        It lies just below a score of the upper group, so for these scores alone it has to be known what is below them:
        a cut with none of them next to it is improved by the rows of the lower group that it has above.
        """
        groups = self.workers.ask(_group, model, upper)
        values, place = np.unique(np.concatenate([scores for scores, _ in groups]), return_inverse=True)
        weights = np.bincount(place, np.concatenate([weights for _, weights in groups]), minlength=values.size)
        answers = self.workers.ask(_below, model, lower, values)
        below_lower = np.sum([answer[0] for answer in answers], axis=0)
        total = sum(answer[2] for answer in answers)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        before = np.maximum(np.max([answer[1] for answer in answers], axis=0), np.append(-np.inf, values[:-1]))
        gain = np.where(before > -np.inf, below_lower / total - sums[:-1] / sums[-1], -np.inf)
        best = float(gain.max(initial=-np.inf))
        if best < -_TIE:
            return max(float(values[-1]), *(float(answer[3]) for answer in answers))
        cut = int(np.argmax(gain >= best - _TIE))
        return _between(float(before[cut]), float(values[cut]))

    def span(self, model: Any) -> tuple[int, int, float, float]:
        """Return the numbers of rows and of those above the threshold, and the least and the largest score."""
        sizes, positive, least, most = zip(*self.workers.ask(_span, model), strict=True)
        return sum(sizes), sum(positive), min(least), max(most)
