"""The bags of a bagging SVM: how many there are, how large they are, and which unlabelled rows are in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._text import short

_MOST_DRAWS = 2**28  # most row numbers in all bags together: 2 GiB
_SMALL_BAG, _MANY_BAGS, _FEW_BAGS = 20, 35, 11  # 35 bags where they have up to 20 rows, else 11


@dataclass(frozen=True)
class BagOptions:
    """The cost of a positive row, the number of bags (None: by their size), and their size as a share of the positives.

    Without a `bag_ratio` a bag has as many draws as there are unlabelled rows.
    """

    C: float
    n_bags: int | None
    bag_ratio: float | None

    @staticmethod
    def checked(*, C: float, n_bags: int | None, bag_ratio: float | None) -> BagOptions:
        return BagOptions(
            C=check_float("C", C, low=0, open_low=True),
            n_bags=None if n_bags is None else check_int("n_bags", n_bags, low=1),
            bag_ratio=None if bag_ratio is None else check_float("bag_ratio", bag_ratio, low=0, open_low=True),
        )

    def shape(self, n_positive: int, n_unlabelled: int) -> tuple[int, int]:
        """Return how many bags there are, and how many unlabelled rows each has."""
        size = n_unlabelled
        if self.bag_ratio is not None:
            size = max(1, round(min(self.bag_ratio * n_positive, MANY)))
        n_bags = self.n_bags
        if n_bags is None:
            n_bags = _MANY_BAGS if size <= _SMALL_BAG else _FEW_BAGS
        if n_bags * size > _MOST_DRAWS:
            raise ValueError(
                f"n_bags or bag_ratio is too large: all bags together may hold at most {_MOST_DRAWS} unlabelled "
                f"rows, got {short(n_bags)} bags of {short(size)}"
            )
        return n_bags, size


def draw_bags(
    unlabelled: NDArray[np.int64],
    clusters: NDArray[np.int32] | None,
    shape: tuple[int, int],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw the unlabelled rows of each bag; with clusters from those that as many draws as there are hit."""
    if clusters is None:
        return unlabelled[generator.integers(0, unlabelled.size, size=shape)]
    own = np.unique(clusters[unlabelled])
    bags: NDArray[np.int64] = np.empty(shape, dtype=np.int64)
    for bag in bags:
        drawn = own[generator.integers(0, own.size, size=own.size)]
        rows = unlabelled[np.isin(clusters[unlabelled], drawn)]
        bag[:] = rows[generator.integers(0, rows.size, size=bag.size)]
    return bags
