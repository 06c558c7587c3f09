"""Positive and unlabelled rows in the order of their scores, and what is counted at the top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._clusters import as_numbers
from fastpu.metrics._row_draws import RowsInGroups, SingleRows


@dataclass(frozen=True)
class Ranked:
    """The place of each row in the order of all scores, the largest first; equal scores are one place."""

    pos: SingleRows | RowsInGroups
    unl: SingleRows | RowsInGroups
    n_places: int

    @classmethod
    def of(
        cls,
        values: NDArray[np.float64],
        is_pos: NDArray[np.bool_],
        is_unl: NDArray[np.bool_],
        group: NDArray[np.int32] | None = None,
    ) -> Ranked:
        """Rank the rows of two masks; `group` has the number of each row's group, if rows belong together."""
        levels, rising = np.unique(np.concatenate([values[is_pos], values[is_unl]]), return_inverse=True)
        n_pos = int(np.count_nonzero(is_pos))
        # Rows in the order of their places, so that what is drawn of them is read and counted in fast memory.
        places = levels.size - 1 - rising
        pos, unl = places[:n_pos], places[n_pos:]
        if group is None:
            return cls(SingleRows(np.sort(pos)), SingleRows(np.sort(unl)), levels.size)
        return cls(_by_group(pos, group[is_pos]), _by_group(unl, group[is_unl]), levels.size)

    @property
    def n_pos(self) -> int:
        return self.pos.places.size

    @property
    def n_unl(self) -> int:
        return self.unl.places.size

    def counts(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return how many positive and how many unlabelled rows each place has."""
        p, u = (np.bincount(rows.places, minlength=self.n_places) for rows in (self.pos, self.unl))
        return p, u

    def redrawn_unl(self, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the counts of unlabelled rows that are drawn with replacement."""
        return self.unl.redrawn(self.n_places, generator)


def _by_group(places: NDArray[np.intp], group: NDArray[np.int32]) -> RowsInGroups:
    order = np.argsort(places, kind="stable")
    return RowsInGroups(places[order], as_numbers(group[order]))


def recall_of(
    p: NDArray[np.intp], u: NDArray[np.intp], flagged: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of the positive rows above the cut that flags so many unlabelled rows; p, u: counts by place."""
    sum_unl, sum_pos = np.cumsum(u), np.cumsum(p)
    last = np.searchsorted(sum_unl, flagged)  # the place of the last row that is flagged
    left_out = sum_unl[last] - flagged  # of the u[last] rows there
    recall: NDArray[np.float64] = (sum_pos[last] * u[last] - left_out * p[last]) / (sum_pos[-1] * u[last])
    return recall


def mean_precision(p: NDArray[Any], u: NDArray[np.intp], prior: float) -> float:
    """Return the mean, over the positive rows, of the precision if the rows down to each are flagged.

    p and u are numbers by place; those of positive rows may be weights.
    """
    if prior == 0:
        return 0.0
    places = np.flatnonzero(p)
    hits = prior * np.cumsum(p)[places] / p.sum()
    share = np.cumsum(u)[places] / u.sum()
    return min(1.0, float(p[places] @ (hits / np.maximum(share, hits))) / float(p.sum()))


def win_share(p: NDArray[Any], u: NDArray[np.intp]) -> float:
    """Return the share of pairs in which the positive row is above, ties one half; p, u: weights by place."""
    total = np.cumsum(u)
    return float(p @ (total[-1] - total + u / 2)) / (float(p.sum()) * float(total[-1]))
