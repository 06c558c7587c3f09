"""How rows are weighted and drawn anew for an interval: each row by itself, or all rows of a group together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import GroupsLike
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.metrics._labelled_scores import LabelledScores

_FEWEST = 2  # groups of unlabelled rows: a single one is the same in every draw


@dataclass(frozen=True)
class SingleRows:
    """Rows that are drawn one by one, by their places in a ranking."""

    places: NDArray[np.intp]

    @property
    def effective_number(self) -> float:
        """How many independent rows they count for: all of them."""
        return float(self.places.size)

    def weighted(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], float]:
        """Draw a weight for each row, and that of one more row."""
        weights = generator.standard_exponential(self.places.size + 1)
        return weights[:-1], float(weights[-1])

    def redrawn(self, n_places: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Draw as many rows with replacement, and count them by place."""
        rows = self.places
        return np.bincount(rows[generator.integers(0, rows.size, rows.size)], minlength=n_places)


@dataclass(frozen=True)
class RowsInGroups:
    """Rows that are drawn by groups, by their places in a ranking: `group` has the number of each row's group, from 0.

    All rows of a group have one weight, and are drawn together.
    """

    places: NDArray[np.intp]
    group: NDArray[np.int32]
    sizes: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.bincount(self.group))

    @property
    def usual_size(self) -> float:
        """How many rows the group of a row has, on average over all rows."""
        return float((self.sizes**2).sum() / self.sizes.sum())

    @property
    def effective_number(self) -> float:
        """How many independent rows they count for where the rows of a group are all alike (Kish).

        It is the number of groups if all have the same size, and smaller otherwise.
        """
        return self.places.size / self.usual_size

    def weighted(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], float]:
        """Draw a weight for each group, which its rows have, and that of one more group."""
        weights = generator.standard_exponential(self.sizes.size + 1)
        return weights[:-1][self.group], float(weights[-1]) * self.usual_size

    def redrawn(self, n_places: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Draw as many groups with replacement, and count their rows by place."""
        n = self.sizes.size
        if n < _FEWEST:
            raise ValueError("groups must have at least two groups with unlabelled rows for an interval, got one")
        times = np.bincount(generator.integers(0, n, n), minlength=n)
        return np.bincount(np.repeat(self.places, times[self.group]), minlength=n_places)


def read_groups(y: object, groups: GroupsLike | None, rows: LabelledScores) -> NDArray[np.int32] | None:
    """Return the number of the group of each row with a score, or None where no groups are passed."""
    warn_of_other_order(y, other="y", groups=groups)
    numbers = cluster_numbers(groups, rows.every.size)
    return None if numbers is None else rows.of_rows(numbers)
