"""The cuts of features whose rows are divided among many machines, found by counting.

Every partition of the rows sorts its columns once (`sorted_columns`). `find_cuts` then asks how many of the rows lie at
or below certain numbers, and which values are next to each number on either side. It adds up the answers and asks
again, about numbers between those that enclose a cut, until it knows every cut. Some ten questions are enough, each
with some thousand numbers a column. The cuts are those that `bin_features` finds for all rows together, so they do not
depend on how the rows are divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastpu.data._categories import columns_in_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fastpu.data._categories import Kept
    from fastpu.data._matrix import CsrMatrix, DenseMatrix, Floats, Matrix

_POINTS = 4096  # numbers of a column in one question, unless many cuts are searched
_WEIGHT_BITS = 60  # of the largest whole weight times the number of rows


# ---- Weights as whole numbers, whose sums are the same in any order ----


@dataclass(frozen=True)
class WeightRange:
    """The number of rows of positive weight, and the least and the largest of their weights."""

    n_rows: int
    least: float = math.inf
    most: float = 0.0

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> WeightRange:
        present = weights[weights > 0]
        return cls(present.size, float(present.min(initial=math.inf)), float(present.max(initial=0.0)))

    def merged(self, other: WeightRange) -> WeightRange:
        return WeightRange(self.n_rows + other.n_rows, min(self.least, other.least), max(self.most, other.most))

    def whole(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return positive weights in a unit in which they are whole and their sum over all shards fits 63 bits.

        Weights that are all equal are 1. Others are rounded to 2^(b - 60) of the largest one, where the number of rows
        has b bits, which leaves whole numbers up to 2^(60 - b) as they are.
        """
        if self.least >= self.most:
            return np.ones(weights.size, dtype=np.int64)
        bits = _WEIGHT_BITS - self.n_rows.bit_length()
        return np.rint(np.ldexp(weights, bits - (math.frexp(self.most)[1] - 1))).astype(np.int64)


# ---- The answers of a partition ----


class Answer(NamedTuple):
    """For every number of a question the weight of the values up to it, and its neighbours among the values.

    `left` is the largest value that is at most the number, `right` the smallest one above it; NaN where there is none.
    """

    below: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]

    def merged(self, other: Answer) -> Answer:
        """Return the answer of the rows of both; the order of merging does not matter."""
        return Answer(self.below + other.below, np.fmax(self.left, other.left), np.fmin(self.right, other.right))


class SortedColumn(NamedTuple):
    """The values of one column, ascending, and the sums of the weights of the first 0, 1, 2, ... of them.

    The sums are None where each value counts once. NaN counts as -inf.
    """

    values: Floats
    cumulated: NDArray[np.int64] | None

    def answer(self, points: NDArray[np.float64]) -> Answer:
        """Return the answer for these numbers. O(log n) a number."""
        values = self.values
        position = np.searchsorted(values, _floored(points, values.dtype), side="right")
        left, right = np.full(points.size, np.nan), np.full(points.size, np.nan)
        has_left, has_right = position > 0, position < values.size
        left[has_left] = values[position[has_left] - 1]
        right[has_right] = values[position[has_right]]
        return Answer(position if self.cumulated is None else self.cumulated[position], left, right)


def answers_of(columns: Sequence[SortedColumn], points: Sequence[NDArray[np.float64]]) -> Answer:
    """Return the answers for the points of each column, one after the other."""
    answers = [column.answer(of_column) for column, of_column in zip(columns, points, strict=True)]
    return Answer(*map(np.concatenate, zip(*answers, strict=True)))


def _floored(points: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the largest numbers of the type that are not above the points."""
    if dtype == np.float64:
        return points
    with np.errstate(over="ignore"):
        floored = points.astype(dtype)
    return np.where(floored > points, np.nextafter(floored, dtype.type(-np.inf)), floored)


def sorted_columns(
    rows: Matrix, columns: Sequence[int], weights: NDArray[np.float64] | None, weight_range: WeightRange | None
) -> list[SortedColumn]:
    """Return some columns of the rows, none of them of categories, which take 4 to 16 bytes a value.

    Rows of weight 0 count as absent. `weight_range` is that of the weights of all partitions, if rows have weights.
    """
    whole = None
    if weights is not None and weight_range is not None:
        present = np.flatnonzero(weights > 0)
        rows = rows[present]
        if weight_range.least < weight_range.most:
            whole = weight_range.whole(weights[present])
    chosen = np.asarray(columns, dtype=np.intp)
    return list(_sparse_columns(rows, chosen, whole) if rows.is_sparse else _dense_columns(rows, chosen, whole))


def _dense_columns(
    rows: DenseMatrix, columns: NDArray[np.intp], weights: NDArray[np.int64] | None
) -> Iterator[SortedColumn]:
    table = np.empty((columns.size, rows.n_rows), rows.dtype)
    for block in rows.blocks():
        table[:, block] = rows.values[block][:, columns].T
    for values in table:
        yield _sorted_column(values, weights)


def _sparse_columns(
    rows: CsrMatrix, columns: NDArray[np.intp], weights: NDArray[np.int64] | None
) -> Iterator[SortedColumn]:
    """Yield the columns, in which one zero stands for all that are not stored."""
    table = rows.table()[:, columns].tocsc()
    of_rows = np.ones(rows.n_rows, dtype=np.int64) if weights is None else weights
    total = of_rows.sum()
    for start, stop in pairwise(table.indptr):
        values, own = table.data[start:stop], of_rows[table.indices[start:stop]]
        if values.size < rows.n_rows:
            values, own = np.append(values, values.dtype.type(0)), np.append(own, total - own.sum())
        yield _sorted_column(values, own)


def _sorted_column(values: Floats, weights: NDArray[np.int64] | None) -> SortedColumn:
    values[np.isnan(values)] = -np.inf
    values += values.dtype.type(0)  # -0.0 is 0.0
    if weights is None:
        values.sort()
        return SortedColumn(values, None)
    order = np.argsort(values)
    return SortedColumn(values[order], np.concatenate([[0], np.cumsum(weights[order])]))


# ---- The search, by questions to all partitions ----


@dataclass(frozen=True)
class ColumnCuts:
    """The cuts of one column, and the values that stand for its bins."""

    cuts: NDArray[np.float64]
    bin_values: NDArray[np.float64]


def find_cuts(ask: Callable[[list[NDArray[np.float64]]], Answer], n_columns: int, max_bins: int) -> list[ColumnCuts]:
    """Return the cuts of some columns of all partitions, at most `max_bins` of each.

    ``ask(points)`` returns the merged `answers_of` the columns of all partitions, which have a row of positive weight.
    The cuts are those that `bin_features` finds for all rows. With weights that are not whole numbers, a cut that is
    decided by the rounding of their sum may be the neighbouring one; it is the same for all partitions still.
    """
    searches = [_ColumnSearch(max_bins) for _ in range(n_columns)]
    while any(search.points.size for search in searches):
        points = [search.points for search in searches]
        answer = ask(points)
        ends = np.cumsum([0, *(p.size for p in points)])
        for search, (start, stop) in zip(searches, pairwise(ends), strict=True):
            if start < stop:
                search.learn(answer.below[start:stop], answer.left[start:stop], answer.right[start:stop])
    return [search.cuts() for search in searches]


class _ColumnSearch:
    """The search for the cuts of one column; `points` are the next numbers to ask about, none when all cuts are known.

    The answer for a number has a pair of neighbouring values of the column, `left` and `right`, that enclose it. As
    long as no more values are known than there may be bins, the search is for all values of the column: it asks about
    numbers between known values that may have others between them. As soon as more values are known, the search is for
    quantiles: cut k of K lies just above q_k, the smallest value up to which there is the share k / (K + 1) of the
    weight, or just below the largest value if that is q_k. `_low` and `_high` are known values that enclose each q_k.
    """

    def __init__(self, max_cuts: int):
        self.points = np.array([-np.inf, np.inf])
        self._max_cuts = max_cuts
        self._pairs = np.empty((0, 2))  # neighbouring values, ascending: of all answers, or for quantiles of the last
        self._ends = np.empty(0)  # the smallest and the largest value
        self._targets = np.empty(0, dtype=np.int64)  # the weights up to each q_k; empty in a search for all values
        self._low = self._high = np.empty(0)
        self._asked_next = False

    def learn(self, below: NDArray[np.int64], left: NDArray[np.float64], right: NDArray[np.float64]) -> None:
        if not self._ends.size:
            self._ends = np.array([right[0] if np.isnan(left[0]) else left[0], left[-1]])
            self._total = int(below[-1])
        known = ~(np.isnan(left) | np.isnan(right))
        pairs = np.column_stack([left, right])[known]
        if not self._targets.size:
            pairs = np.concatenate([self._pairs, pairs])
        self._pairs = pairs[np.unique(pairs[:, 0], return_index=True)[1]]
        if not self._targets.size:
            values = self._known_values()
            if values.size <= self._max_cuts + 1:
                is_open = ~np.isin(values[:-1], self._pairs[:, 0])
                self.points = _between(values[:-1][is_open], values[1:][is_open], _POINTS)
                return
            n = self._max_cuts + 1
            self._targets = np.array([-(-k * self._total // n) for k in range(1, n)])
            self._low, self._high = (np.full(self._max_cuts, end) for end in self._ends)
        if self._asked_next:
            self.points = np.empty(0)
            return
        self._narrow(below, left, right)
        is_open = self._low < self._high
        if is_open.any():
            brackets = np.unique(np.column_stack([self._low, self._high])[is_open], axis=0)
            self.points = _between(brackets[:, 0], brackets[:, 1], max(_POINTS, 4 * self._max_cuts))
        else:  # the last question: for the values next to each q_k and to -inf, and for the one before the largest
            self._asked_next = True
            before = np.nextafter(self._ends[1], -np.inf)
            self.points = np.unique(np.concatenate([[-np.inf, before], self._high[self._high < self._ends[1]]]))

    def _known_values(self) -> NDArray[np.float64]:
        return np.unique(np.concatenate([self._ends, self._pairs.ravel()]))

    def _narrow(self, below: NDArray[np.int64], left: NDArray[np.float64], right: NDArray[np.float64]) -> None:
        """Move `_low` and `_high` to the values beside the two numbers that enclose each q_k."""
        first = np.searchsorted(below, self._targets, side="left")  # the first number with the target weight up to it
        reached, not_first = first < below.size, first > 0
        self._high[reached] = np.fmin(self._high[reached], left[first[reached]])
        self._low[not_first] = np.fmax(self._low[not_first], right[first[not_first] - 1])

    def cuts(self) -> ColumnCuts:
        """Return the cuts, when the search has ended."""
        smallest, largest = self._ends
        pairs = self._pairs  # all of them, where the column has few values
        if self._targets.size:
            q = np.unique(np.fmin(self._high, pairs[-1, 0]))  # the pair of the largest value is the last
            pairs = pairs[np.searchsorted(pairs[:, 0], q)]
            if smallest == -np.inf and pairs[0, 0] != -np.inf:
                pairs = np.concatenate([self._pairs[:1], pairs[1:] if len(pairs) == self._max_cuts else pairs])
        with np.errstate(invalid="ignore"):  # -inf and inf
            middle = 0.5 * pairs[:, 0] + 0.5 * pairs[:, 1]
        cuts = np.where((middle >= pairs[:, 0]) & (middle < pairs[:, 1]), middle, pairs[:, 0])
        values = self._known_values()
        finite = values[np.isfinite(values)]
        bin_values = np.zeros(cuts.size + 1)
        if finite.size:
            lows, highs = np.append(smallest, pairs[:, 1]), np.append(pairs[:, 0], largest)
            bin_values = _bin_values(lows, highs, finite[0], finite[-1])
        return ColumnCuts(cuts, bin_values)


def _bin_values(
    lows: NDArray[np.float64], highs: NDArray[np.float64], first: np.float64, last: np.float64
) -> NDArray[np.float64]:
    """Return a finite value for each bin from its smallest and largest values; see binned_features.hpp, Cuts."""
    highs = np.fmin(highs, last)
    with np.errstate(invalid="ignore"):
        values = np.where(highs == last, last, 0.5 * lows + 0.5 * highs)
    values[(lows <= first) | (highs < first)] = first
    if lows[-1] > last:  # the bin holds +inf alone; its value exceeds the last by the mean distance of two bins
        n_cuts = lows.size - 1
        with np.errstate(over="ignore"):
            values[-1] = min(last + (last / n_cuts - first / n_cuts), np.finfo(np.float64).max)
    return values


def _between(lows: NDArray[np.float64], highs: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """Return about `n_points` numbers in all from each `low` to below its `high`, ascending.

    Half of them are evenly spaced, which finds cuts of smooth densities quickly. The others are evenly spaced in the
    list of all floating-point numbers, which finds those of any density, as each question divides 2^64 numbers.
    """
    if not lows.size:
        return np.empty(0)
    n = max(2, n_points // (2 * lows.size))
    share = np.arange(n) / n
    limit = np.finfo(np.float64).max
    a, b = np.clip(lows, -limit, limit)[:, None], np.clip(highs, -limit, limit)[:, None]
    linear = a * (1.0 - share) + b * share
    low_keys, high_keys = _keys(lows)[:, None], _keys(highs)[:, None]
    step = np.maximum((high_keys - low_keys) // np.uint64(n), np.uint64(1))
    even = _from_keys(np.minimum(low_keys + step * np.arange(n, dtype=np.uint64), high_keys - np.uint64(1)))
    both = np.concatenate([lows[:, None], linear, even], axis=1)
    return np.unique(both[(both >= lows[:, None]) & (both < highs[:, None])])


_SIGN = np.uint64(1 << 63)


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return whole numbers in the order of the values."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_keys(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


def joined_cuts(columns: Sequence[ColumnCuts], categories: Kept, n_features: int) -> tuple[NDArray[Any], ...]:
    """Return the cuts of all features and the values of their bins, in the arrays that `_core.bin_features` takes.

    `columns` are those that are not split by sets of categories, in their order.
    """
    in_sets, numeric = columns_in_sets(categories), iter(columns)
    every = [_category_cuts(len(categories[str(e)])) if e in in_sets else next(numeric) for e in range(n_features)]
    starts = np.cumsum([0, *(column.cuts.size for column in every)], dtype=np.int64)
    return starts, *(np.concatenate(parts) for parts in zip(*((c.cuts, c.bin_values) for c in every), strict=True))


def _category_cuts(n_categories: int) -> ColumnCuts:
    cuts = np.concatenate([[-np.inf], np.arange(max(0, n_categories - 1)) + 0.5])
    return ColumnCuts(cuts, np.zeros(cuts.size + 1))
