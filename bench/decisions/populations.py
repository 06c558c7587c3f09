"""Rows whose scores are normal, and what is true of them and of the population that they are from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Population:
    """Scores N(0, 1) of negative and N(apart, 1) of positive rows, of which `prior` is the share."""

    apart: float
    prior: float

    def k(self, n_unl: int) -> int:
        """How many rows are flagged."""
        return max(10, round(self.prior * n_unl))

    def truth(self, share: float) -> dict[str, float]:
        """What is true if this share of the population is flagged."""
        cuts = np.linspace(-8, 8 + self.apart, 20_001)
        beyond = np.vectorize(lambda cut: 0.5 * math.erfc(cut / math.sqrt(2)))
        recall, false = beyond(cuts - self.apart), beyond(cuts)
        flagged = self.prior * recall + (1 - self.prior) * false
        precision = self.prior * recall / flagged
        at = float(np.interp(-share, -flagged, recall))
        return {
            "recall": at,
            "lift": at / share,
            "precision": self.prior * at / share,
            "average precision": float(np.sum((precision[1:] + precision[:-1]) / 2 * -np.diff(recall))),
            "AUC": 0.5 * math.erfc(-self.apart / 2),
        }

    def draw(
        self, n_pos: int, n_unl: int, rng: np.random.Generator, n_columns: int = 0
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Draw labels, scores, the truth, and columns whose sum orders rows as the scores do."""
        y = np.arange(n_pos + n_unl) < n_pos
        truth = y | (rng.random(y.size) < self.prior)
        X = rng.normal(size=(y.size, max(1, n_columns)))
        X += truth[:, None] * self.apart / math.sqrt(X.shape[1])
        return y, X.sum(axis=1) / math.sqrt(X.shape[1]), truth, X


def among_the_first(truth: NDArray[np.bool_], y: NDArray[np.bool_], scores: NDArray[np.float64], k: int) -> float:
    """The share of positives among the k unlabelled rows of the largest scores."""
    return float(truth[~y][np.argsort(-scores[~y])[:k]].mean())
