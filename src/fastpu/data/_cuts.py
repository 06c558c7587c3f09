"""The cuts of features whose rows are divided among many machines, found by counting.

Every shard of the rows sorts its columns once (`SortedColumns`). `find_cuts` then asks every shard how many of its rows
lie at or below certain numbers, and which of its values are next to each number on either side. It adds up the answers
and asks again, about numbers between those that enclose a cut, until it knows every cut. Some ten questions are enough,
each with some thousand numbers a column. The cuts are those that `bin_features` finds for all rows together, so they do
not depend on how the rows are divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.data._categories import check_kept, columns_in_sets
from fastpu.data._matrix import CsrMatrix, DenseMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu.data._categories import Kept
    from fastpu.data._matrix import Floats, Matrix


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


# ---- The answers of a shard ----


@dataclass(frozen=True)
class Question:
    """Numbers to be compared with the values of columns; for column c they are points[starts[c]:starts[c + 1]]."""

    starts: NDArray[np.int64]
    points: NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """For every number of a question the weight of the values up to it, and its neighbours among the values.

    Attributes
    ----------
    below : ndarray of int64
        Sum of the weights of the values that are at most the number.
    left, right : ndarray of float64
        The largest value that is at most the number, and the smallest one above it; NaN where there is none.
    """

    below: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]

    def merged(self, other: Answer) -> Answer:
        """Return the answer of the rows of both; the order of merging does not matter."""
        return Answer(self.below + other.below, np.fmax(self.left, other.left), np.fmin(self.right, other.right))


class SortedColumns:
    """Some columns of the rows of a shard, each sorted, which answer the questions of `find_cuts`.

    They take 4 or 8 bytes a value, 16 with weights, until the object is deleted. NaN counts as -inf.

    Parameters
    ----------
    parts : list of Matrix
        The rows; there may be none.
    columns : list of int
        The columns, none of them categorical.
    weights : list of ndarray, optional
        The weights of the rows of each part. Rows of weight 0 count as absent.
    weight_range : WeightRange, optional
        The range of the weights of all shards; given if `weights` are.
    """

    def __init__(
        self,
        parts: Sequence[Matrix],
        columns: Sequence[int],
        weights: Sequence[NDArray[np.float64]] | None = None,
        weight_range: WeightRange | None = None,
    ):
        whole: NDArray[np.int64] | None = None
        if weights is not None and weight_range is not None:
            kept = [np.flatnonzero(w > 0) for w in weights]
            parts = [part[rows] if rows.size < part.n_rows else part for part, rows in zip(parts, kept, strict=True)]
            present = [w[rows] for w, rows in zip(weights, kept, strict=True)]
            if weight_range.least < weight_range.most:
                whole = weight_range.whole(np.concatenate([np.empty(0), *present]))
        chosen = np.asarray(columns, dtype=np.intp)
        csr = [part for part in parts if isinstance(part, CsrMatrix)]
        dense = [part for part in parts if isinstance(part, DenseMatrix)]
        self._columns = _sparse_columns(csr, chosen, whole) if csr else _dense_columns(dense, chosen, whole)

    def answer(self, question: Question) -> Answer:
        """Return the answer for the rows of this shard. O(log n) a number."""
        n = question.points.size
        below = np.zeros(n, dtype=np.int64)
        left, right = np.full(n, np.nan), np.full(n, np.nan)
        for column, (start, stop) in zip(self._columns, pairwise(question.starts), strict=True):
            at = slice(start, stop)
            column.answer(question.points[at], below[at], left[at], right[at])
        return Answer(below, left, right)


@dataclass(frozen=True)
class _SortedColumn:
    """The stored values of one column, ascending, and their weights.

    `cumulated` has the sums of the weights of the first 0, 1, 2, ... values; it is None where each weight is 1.
    `zero_weight` is the weight of the rows without a stored value, which hold 0.
    """

    values: Floats
    cumulated: NDArray[np.int64] | None
    zero_weight: int = 0
    has_zeros: bool = False

    def answer(
        self, points: NDArray[np.float64], below: Any, left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> None:
        values = self.values
        position = np.searchsorted(values, _floored(points, values.dtype), side="right")
        below[:] = position if self.cumulated is None else self.cumulated[position]
        has_left, has_right = position > 0, position < values.size
        left[has_left] = values[position[has_left] - 1]
        right[has_right] = values[position[has_right]]
        if self.has_zeros:
            above = points >= 0
            below[above] += self.zero_weight
            left[above] = np.fmax(left[above], 0.0)
            right[~above] = np.fmin(right[~above], 0.0)


def _floored(points: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the largest numbers of the type that are not above the points."""
    if dtype == np.float64:
        return points
    with np.errstate(over="ignore"):
        floored = points.astype(dtype)
    return np.where(floored > points, np.nextafter(floored, dtype.type(-np.inf)), floored)


def _cleaned(values: Floats) -> Floats:
    """Replace NaN by -inf and -0.0 by 0.0, in place."""
    values[np.isnan(values)] = -np.inf
    values += values.dtype.type(0)
    return values


def _sorted_column(
    values: Floats, weights: NDArray[np.int64] | None, zero_weight: int = 0, *, has_zeros: bool = False
) -> _SortedColumn:
    if weights is None:
        values.sort()
        return _SortedColumn(values, None, zero_weight, has_zeros)
    order = np.argsort(values)
    cumulated = np.zeros(values.size + 1, dtype=np.int64)
    np.cumsum(weights[order], out=cumulated[1:])
    return _SortedColumn(values[order], cumulated, zero_weight, has_zeros)


def _dense_columns(
    parts: list[DenseMatrix], columns: NDArray[np.intp], weights: NDArray[np.int64] | None
) -> list[_SortedColumn]:
    if not parts:
        return [_SortedColumn(np.empty(0), None) for _ in columns]
    table = np.empty((columns.size, sum(part.n_rows for part in parts)), np.result_type(*(p.dtype for p in parts)))
    start = 0
    for part in parts:
        for block in part.blocks():
            rows = part.values[block]
            table[:, start : start + len(rows)] = rows[:, columns].T
            start += len(rows)
    return [_sorted_column(_cleaned(column), weights) for column in table]


def _sparse_columns(
    parts: list[CsrMatrix], columns: NDArray[np.intp], weights: NDArray[np.int64] | None
) -> list[_SortedColumn]:
    tables = [part.table()[:, columns].tocsc() for part in parts]
    n_rows = sum(part.n_rows for part in parts)
    total = n_rows if weights is None else int(weights.sum())
    of_parts = None if weights is None else np.split(weights, np.cumsum([part.n_rows for part in parts])[:-1])
    sorted_columns = []
    for c in range(columns.size):
        stored = [slice(table.indptr[c], table.indptr[c + 1]) for table in tables]
        values = _cleaned(np.concatenate([table.data[at] for table, at in zip(tables, stored, strict=True)]))
        own = None
        if of_parts is not None:
            own = np.concatenate([w[table.indices[at]] for w, table, at in zip(of_parts, tables, stored, strict=True)])
        others = total - (values.size if own is None else int(own.sum()))
        sorted_columns.append(_sorted_column(values, own, others, has_zeros=values.size < n_rows))
    return sorted_columns


# ---- The search, by questions to all shards ----


@dataclass(frozen=True)
class ColumnCuts:
    """The cuts of one column, and the values that stand for its bins."""

    cuts: NDArray[np.float64]
    bin_values: NDArray[np.float64]


def find_cuts(ask: Callable[[Question], Answer], n_columns: int, max_bins: int) -> list[ColumnCuts]:
    """Return the cuts of some columns of all shards.

    Parameters
    ----------
    ask : callable
        ``ask(question)`` returns the merged answers of the `SortedColumns` of all shards, made with the same columns.
        They must have a row of positive weight.
    n_columns : int
        How many columns these are.
    max_bins : int
        Most cuts of a column.

    Returns
    -------
    list of ColumnCuts
        Those that `bin_features` finds for the rows of all shards. With weights that are not whole numbers, a cut that
        is decided by the rounding of their sum may be the neighbouring one; it is the same for all partitions still.
    """
    searches = [_ColumnSearch(max_bins) for _ in range(n_columns)]
    while any(search.points.size for search in searches):
        points = [search.points for search in searches]
        starts = np.concatenate([[0], np.cumsum([p.size for p in points])]).astype(np.int64)
        answer = ask(Question(starts, np.concatenate(points)))
        for search, (start, stop) in zip(searches, pairwise(starts), strict=True):
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


# ---- The cuts of all features ----


@dataclass(frozen=True)
class CutsOfFeatures:
    """The cuts of all features, by which any rows can be binned.

    Attributes
    ----------
    starts, values, bin_values : ndarray
        Cuts of feature e: values[starts[e]:starts[e + 1]]; each has one bin more than cuts.
    max_bins : int
        The most cuts of a feature that were asked for.
    feature_names, categories
        As in BinnedFeatures.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    bin_values: NDArray[np.float64]
    max_bins: int
    feature_names: tuple[str, ...] | None
    categories: Kept

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.starts.size - 1

    @classmethod
    def of(
        cls,
        columns: Sequence[ColumnCuts],
        n_features: int,
        max_bins: int,
        feature_names: tuple[str, ...] | None,
        categories: Kept,
    ) -> CutsOfFeatures:
        """Join the cuts of the columns that are not split by sets, in their order, with those of the others."""
        in_sets = columns_in_sets(categories)
        numeric = iter(columns)
        every = [_category_cuts(len(categories[str(e)])) if e in in_sets else next(numeric) for e in range(n_features)]
        starts = np.concatenate([[0], np.cumsum([column.cuts.size for column in every])]).astype(np.int64)
        values, bin_values = (
            np.concatenate(parts) for parts in zip(*((c.cuts, c.bin_values) for c in every), strict=True)
        )
        return cls(starts, values, bin_values, max_bins, feature_names, categories)


def _category_cuts(n_categories: int) -> ColumnCuts:
    cuts = np.concatenate([[-np.inf], np.arange(max(0, n_categories - 1)) + 0.5])
    return ColumnCuts(cuts, np.zeros(cuts.size + 1))


def merged_categories(parts: Sequence[Kept], orders: Kept, n_features: int) -> dict[str, tuple[Any, ...]]:
    """Return the categories that occur in any part, by column, in the order of `orders`, those of each column's dtype.

    They are what reading all rows at once would have found; ValueError if a column has more than there may be.
    """
    merged = {}
    for column, order in orders.items():
        occurring = set().union(*(part[column] for part in parts))
        merged[column] = tuple(value for value in order if value in occurring)
    check_kept(merged, n_features)
    return merged
