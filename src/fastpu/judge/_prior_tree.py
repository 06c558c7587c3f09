"""TIcE: a lower bound of the share of positives that are labelled, from the subsets that a tree makes."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.data._matrix import CsrMatrix, Matrix

__all__ = ["SparseQuarters", "label_frequency", "quarters"]

_N_PARTS = 4
_ROUNDS = 2  # the first round takes the variance of the frequency 1/2, the second that of the first estimate
_SMOOTHING = 5  # added to the size of a part, so that small parts do not win comparisons of shares by chance
_FEWEST = 10  # fewest rows of a subset that may give a bound
_MOST_SPLITS = 500


@dataclass(frozen=True)
class SparseQuarters:
    """Which quarter of its column's range each entry of CSR rows is in: each stored entry, and the 0 of each column."""

    stored: CsrMatrix  # of int8
    of_zero: NDArray[np.int8]

    def __getitem__(self, rows: NDArray[np.int64]) -> SparseQuarters:
        return SparseQuarters(self.stored[rows], self.of_zero)

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of the rows are in each quarter of each column."""
        part = self.stored[rows]
        n_cols = self.of_zero.size
        counts = np.bincount(part.indices.astype(np.int64) * _N_PARTS + part.data, minlength=n_cols * _N_PARTS).reshape(
            n_cols, -1
        )
        counts[np.arange(n_cols), self.of_zero] += rows.size - counts.sum(axis=1)
        return counts

    def column(self, rows: NDArray[np.int64], feature: int) -> NDArray[np.int8]:
        """Return the quarters of the rows in one column."""
        part = self.stored[rows]
        places = np.flatnonzero(part.indices == feature)
        quarter = np.full(rows.size, self.of_zero[feature])
        quarter[np.searchsorted(part.indptr, places, side="right") - 1] = part.data[places]
        return quarter


def quarters(matrix: Matrix) -> NDArray[np.int8] | SparseQuarters:
    """Return which quarter of its column's range each entry is in."""
    if not matrix.is_sparse:
        x = matrix.values
        return _quarters(x, x.min(axis=0).astype(np.float64), x.max(axis=0).astype(np.float64))
    data, indices, (n_rows, n_cols) = matrix.data, matrix.indices, matrix.shape
    full = np.bincount(indices, minlength=n_cols) == n_rows  # columns without a 0 that is not stored
    low, high = (np.where(full, end, 0.0) for end in (np.inf, -np.inf))
    np.minimum.at(low, indices, data)
    np.maximum.at(high, indices, data)
    zeros = _quarters(np.zeros((1, n_cols)), low, high)[0]
    codes: Any = _quarters(data, low[indices], high[indices])
    return SparseQuarters(replace(matrix, data=codes), zeros)


def _quarters(values: NDArray[np.floating], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int8]:
    width = high / 2 - low / 2
    width[width == 0] = 1.0
    places = (values / 2 - low / 2) / width  # halves, so that the width of a range cannot overflow
    codes: NDArray[np.int8] = np.clip(np.floor(_N_PARTS * places), 0, _N_PARTS - 1).astype(np.int8)
    return codes


def label_frequency(
    codes: NDArray[np.int8] | SparseQuarters, labeled: NDArray[np.bool_], folds: NDArray[np.int64]
) -> float:
    """Return the estimate of P(labelled | positive): for each fold a tree on it, and bounds by the other rows."""
    frequency = 0.5
    for _ in range(_ROUNDS):
        bounds = []
        for fold in np.unique(folds):
            inside = folds == fold
            if inside.any() and not inside.all():
                bounds.append(
                    _Tree(codes, labeled, frequency).best_bound(np.flatnonzero(inside), np.flatnonzero(~inside))
                )
        frequency = float(np.mean(bounds)) if bounds else 0.0
        if not 0 < frequency < 1:
            break
    return frequency


class _Tree:
    """The subsets that a tree makes of rows, and the best bound by one of them."""

    def __init__(self, codes: NDArray[np.int8] | SparseQuarters, labeled: NDArray[np.bool_], frequency: float) -> None:
        self._codes, self._labeled, self._variance = codes, labeled, frequency * (1 - frequency)

    def _bound(self, size: int, n_labeled: int, delta: float, fewest: int) -> float:
        """Return a lower bound of the frequency that holds with probability 1 - delta (Chebyshev, one-sided)."""
        if size < max(fewest, 1):
            return 0.0
        return n_labeled / size - math.sqrt(self._variance * (1 - delta) / (delta * size))

    def best_bound(self, grown: NDArray[np.int64], judged: NDArray[np.int64]) -> float:
        labeled, codes = self._labeled, self._codes
        delta = max(0.025, 1 / (1 + 0.004 * judged.size))
        best = self._bound(judged.size, int(labeled[judged].sum()), 1.0, _FEWEST)
        n_features = codes.of_zero.size if isinstance(codes, SparseQuarters) else codes.shape[1]
        queue = [(0.0, 0, 0, grown, judged, np.arange(n_features))]
        n_made, needed = 1, 1.0
        for _ in range(_MOST_SPLITS):
            if not queue:
                break
            _, _, _, grown, judged, features = heapq.heappop(queue)
            split = self._split(grown, judged, features, needed)
            if split is None:
                continue
            feature, left = split
            of_grown, of_judged = self._column(grown, feature), self._column(judged, feature)
            parts = [(grown[of_grown == q], judged[of_judged == q]) for q in range(_N_PARTS)]
            counts = [int(labeled[part].sum()) for _, part in parts]
            for (_, part), count in zip(parts, counts, strict=True):
                best = max(best, self._bound(part.size, count, delta, _FEWEST))
            # A part with fewer labelled rows cannot give a better bound than the best so far.
            needed = self._variance * (1 - delta) / (delta * (1 - best) ** 2) if best < 1 else math.inf
            for (rows, part), count in zip(parts, counts, strict=True):
                n_labeled = int(labeled[rows].sum())
                if count > needed and rows.size > _FEWEST and 0 < n_labeled < rows.size:
                    promise = self._bound(rows.size, n_labeled, delta, 0)
                    heapq.heappush(queue, (-promise, -n_labeled, n_made, rows, part, left))
                    n_made += 1
        return best

    def _split(
        self, grown: NDArray[np.int64], judged: NDArray[np.int64], features: NDArray[np.int64], needed: float
    ) -> tuple[int, NDArray[np.int64]] | None:
        """Return the feature with the part richest in labelled rows, and those that are left to split by below it."""
        if not features.size:
            return None
        labeled = self._labeled
        of_judged = self._counts(judged[labeled[judged]], features)
        useful = of_judged.max(axis=1) >= needed
        sizes, n_labeled = self._counts(grown, features), self._counts(grown[labeled[grown]], features)
        richest = (n_labeled / (sizes + _SMOOTHING)).max(axis=1)
        richest[~useful] = 0.0
        at = int(np.argmax(richest))
        if richest[at] <= 0 or np.count_nonzero(self._counts(judged, features[at : at + 1])) == 1:
            return None
        return int(features[at]), np.delete(features, at)[np.delete(useful, at)]

    def _counts(self, rows: NDArray[np.int64], features: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of the rows are in each quarter of each feature."""
        if isinstance(self._codes, SparseQuarters):
            return self._codes.counts(rows)[features]
        part = self._codes[np.ix_(rows, features)]
        return np.stack([np.count_nonzero(part == q, axis=0) for q in range(_N_PARTS)], axis=1)

    def _column(self, rows: NDArray[np.int64], feature: int) -> NDArray[np.int8]:
        """Return the quarters of one feature."""
        if isinstance(self._codes, SparseQuarters):
            return self._codes.column(rows, feature)
        quarter: NDArray[np.int8] = self._codes[rows, feature]
        return quarter
