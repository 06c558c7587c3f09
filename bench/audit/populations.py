"""Simulated rankings with known truth: scores of positive and negative rows, good, worthless or reversed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_ROWS = 20_000
SHARES = (0.005, 0.02, 0.1, 0.3)
#: The AUC of the scores of each kind of ranking. Where labels are not at random, half of the positives are of a kind
#: that no label has: they score like negatives, the others with an AUC of .97.
KINDS = {
    "AUC .7": 0.7,
    "AUC .9": 0.9,
    "AUC .97": 0.97,
    "labels not at random": 0.97,
    "worthless": 0.5,
    "reversed, AUC .3": 0.3,
    "reversed, AUC .1": 0.1,
    "reversed, AUC .03": 0.03,
}
_FEWEST_FIRST = 500


@dataclass(frozen=True)
class Population:
    """Scores of all rows, which of them are positive, and how many positives the first rows have."""

    scores: NDArray[np.float64]
    truth: NDArray[np.bool_]
    found: NDArray[np.int64]

    @property
    def n_pos(self) -> int:
        return int(self.found[-1])

    @property
    def k(self) -> int:
        """How many first rows are asked about: as many as are positive, at least 500."""
        return max(_FEWEST_FIRST, self.n_pos)


def drawn(kind: str, share: float, rng: np.random.Generator) -> Population:
    """Return a population of a kind with a share of positives."""
    truth = rng.permutation(np.arange(N_ROWS) < round(share * N_ROWS))
    scores = rng.normal(size=N_ROWS)
    far = truth & (rng.random(N_ROWS) < 0.5) if kind == "labels not at random" else truth
    scores[far] += np.sqrt(2) * ndtri(KINDS[kind])
    return Population(scores, truth, np.cumsum(truth[np.argsort(-scores)]))
