"""The order that categories are put in, so that scores depend on neither their names nor their codes.

Few categories are split by sets, and stand in the order in which the rows show them first: a split that ties with
another is chosen by it. Ordered categories keep the order of their dtype, and are split like numbers.

More than 255 categories are put in an order by the labels, and their places are split like any other number. Take the
share of positives among the rows of each category, drawn to the share among all rows where there are few. A tree could
learn by heart the labels of its training rows from it, for these have gone into it. So the rows are dealt into `FOLDS`
folds, by their number alone, and the code of a training row is the place of its category in the order that the rows of
the other folds give. It says as much of the row's own label as the place in the order of all rows will say of a new
row's: nothing, where categories tell nothing. A category that no other fold has gets the middle place there, as
an unseen one does later. Categories of one share stand in the order in which the rows show them first.

A weight counts as so many repetitions of its row, all of them in the fold of the row. Rows that are written down again
and again are dealt to folds one by one instead, as none can tell them from rows that are alike by chance: the order of
all rows is then that of the weights, but what a row tells of itself is left out of its code only where its weight says
so. Weights are rounded to whole numbers of a unit below 2^-51 of their sum, and everything is counted in these, so that
partitions of the rows can add up their counts in any order.

Fewer than `FEWEST_LABELS` labelled rows hardly ever meet in one of so many categories, and an order by them would tell
nothing. Then the 255 categories of the most rows are split by sets, and all others count as missing, as unseen ones do
later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastpu.common._random import derived_numbers
from fastpu.data._categories import MOST_IN_SETS, ColumnCategories, columns_in_order, middle_place
from fastpu.data._first_row_order import by_first_rows, first_rows, places_in_sorted
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import label_counts

FOLDS = 5
PRIOR_ROWS = 10.0  # how many rows of the overall share are added to those of each category
FEWEST_LABELS = 100

_LABELS = (1, 0, -1)

Groups = tuple[int, int, int]
"""The numbers of positive, unlabelled and negative rows of positive weight."""


@dataclass(frozen=True)
class Units:
    """Whole numbers that weights are counted in: the weight times a factor of the label, in units of 2^-exponent."""

    factors: tuple[float, float, float]
    exponent: int

    @classmethod
    def of(cls, groups: Groups, sums: Sequence[float], *, are_relative: bool) -> Units:
        """Return the units of weights with these sums in the groups.

        If they `are_relative`, only their ratios within a group count, and their mean in each is 1.
        """
        factors = [1.0, 1.0, 1.0]
        if are_relative:
            factors = [n / total if total > 0 else 1.0 for n, total in zip(groups, sums, strict=True)]
        total = math.fsum(factor * mass for factor, mass in zip(factors, sums, strict=True))
        return cls((factors[0], factors[1], factors[2]), 52 - math.frexp(total)[1])

    def counted(self, labels: NDArray[np.int8], weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the weights as whole numbers."""
        factors = np.select([labels == label for label in _LABELS], self.factors)
        counts: NDArray[np.int64] = np.rint(np.ldexp(weights * factors, self.exponent)).astype(np.int64)
        return counts


@dataclass(frozen=True)
class ColumnCounts:
    """What rows say of the categories of a column.

    `mass` has in [v, k, 0] the rows of category v in fold k, and in [v, k, 1] the upper ones, in units of the weights.
    `first` has the number of the first row of each category, a very large one where there is none.
    """

    mass: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def added(cls, parts: Sequence[ColumnCounts]) -> ColumnCounts:
        first = np.minimum.reduce([part.first for part in parts])
        return cls(np.sum([part.mass for part in parts], axis=0), first)


Counts = dict[str, ColumnCounts]
"""The counts of each column with many categories."""


@dataclass(frozen=True)
class CategoryOrder:
    """The categories that are known of each column, many of them in their order, and codes for the training rows.

    Training rows have been counted, and are read, by the order of `read_as`, and a model keeps that of `categories`.
    `codes` has for each column with many an array of shape (number of categories, FOLDS): the code of a row of a fold,
    by the place of its category in `read_as`.
    """

    read_as: ColumnCategories
    categories: ColumnCategories
    codes: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, read_as: ColumnCategories, counts: Counts, n_upper: int, units: Units | None = None) -> CategoryOrder:
        """Return the order that these counts of `n_upper` upper rows give; it does not depend on that of `read_as`."""
        categories, codes = dict(read_as), {}
        for column, of_column in counts.items():
            values = read_as[column]
            last = places_in_sorted(values)
            rows, upper = np.ldexp(
                np.moveaxis(of_column.mass, 2, 0).astype(np.float64), -units.exponent if units else 0
            )
            if n_upper < FEWEST_LABELS:
                frequent = np.lexsort((last, of_column.first, -rows.sum(axis=1)))[:MOST_IN_SETS]
                order = frequent[np.lexsort((last[frequent], of_column.first[frequent]))]
                table = np.full(rows.shape, np.nan)
                table[order] = np.arange(order.size)[:, None]
                categories[column], codes[column] = tuple(values[place] for place in order), table
                continue
            share = upper.sum() / max(1.0, rows.sum())
            order = np.lexsort((last, of_column.first, _shares(rows.sum(axis=1), upper.sum(axis=1), share)))
            categories[column] = tuple(values[place] for place in order)
            table = np.empty(rows.shape)
            for fold in range(FOLDS):
                others = rows.sum(axis=1) - rows[:, fold]
                shares = _shares(others, upper.sum(axis=1) - upper[:, fold], share)
                table[np.lexsort((last, of_column.first, shares)), fold] = np.arange(len(values))
                table[others == 0, fold] = middle_place(len(values))
            codes[column] = table
        return cls(read_as, categories, codes)

    def coded(self, matrix: DenseMatrix, numbers: NDArray[np.int64]) -> DenseMatrix:
        """Return training rows, which were read by `read_as`, with codes; `numbers` are those of `row_numbers`."""
        entries = matrix.values.copy()
        folds = _folds(numbers)
        for column, table in self.codes.items():
            places = entries[:, int(column)]  # a view
            known = np.flatnonzero(~np.isnan(places))
            places[known] = table[places[known].astype(np.int64), folds[known]]
        return replace(matrix, values=entries, categories=self.categories)


# ---- Rows by their numbers ----


def row_numbers(n_rows: int, weights: NDArray[np.float64] | None, first: int = 0) -> NDArray[np.int64]:
    """Return the number of each row among those of positive weight, the first of which has the number `first`."""
    if weights is None:
        return np.arange(first, first + n_rows)
    is_counted = weights > 0
    numbers: NDArray[np.int64] = first + np.cumsum(is_counted) - is_counted
    return numbers


def _folds(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the folds of rows, by a hash of their numbers."""
    hashes = derived_numbers(0, numbers)
    folds: NDArray[np.int64] = (hashes % np.uint64(FOLDS)).astype(np.int64)
    return folds


# ---- Many categories ----


def upper_label(n_pos: int, unused: int | None) -> int:
    """Return the label whose share orders the categories: positive rows against all others, or unlabelled ones."""
    return 1 if n_pos and unused != 1 else 0


def count_categories(
    matrix: Matrix,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    numbers: NDArray[np.int64],
    upper: int,
    *,
    unused: int | None = None,
    units: Units | None = None,
) -> Counts:
    """Return the counts of the rows of positive weight with these numbers, but for one label."""
    folds = _folds(numbers)
    whole = None if weights is None or units is None else units.counted(labels, weights)
    counts = {}
    for column in columns_in_order(matrix.categories):
        places = cast("DenseMatrix", matrix).values[:, column]
        counted = ~np.isnan(places)
        if weights is not None:
            counted &= weights > 0
        if unused is not None:
            counted &= labels != unused
        known: NDArray[np.int64] = places[counted].astype(np.int64)
        n_categories = len(matrix.categories[str(column)])
        mass = np.zeros((n_categories * FOLDS, 2), dtype=np.int64)
        of_rows: Any = 1 if whole is None else whole[counted]
        cells = known * FOLDS + folds[counted]
        np.add.at(mass[:, 0], cells, of_rows)
        np.add.at(mass[:, 1], cells, of_rows * (labels[counted] == upper))
        first = first_rows(known, numbers[counted], n_categories)
        counts[str(column)] = ColumnCounts(mass.reshape(n_categories, FOLDS, 2), first)
    return counts


def _shares(rows: NDArray[np.float64], upper: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the share of upper rows in each category, as if it had PRIOR_ROWS more of the overall share."""
    shares: NDArray[np.float64] = (upper + PRIOR_ROWS * share) / (rows + PRIOR_ROWS)
    return shares


# ---- All of them ----


def in_order(
    matrix: Matrix,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    *,
    unused: int | None = None,
    are_relative: bool = False,
    is_known: bool = False,
) -> Matrix:
    """Return training rows with the codes of their categories; rows of the label `unused` do not tell of many.

    Weights that `are_relative` count within their group alone. If the order of few categories `is_known`, from a model
    that the fit goes on from, it is left as it is.
    """
    if not isinstance(matrix, DenseMatrix) or not matrix.categories:
        return matrix
    ordered = matrix if is_known else by_first_rows(matrix, weights)
    if not columns_in_order(ordered.categories):
        return ordered
    groups = label_counts(labels, weights)
    units = None
    if weights is not None:
        units = Units.of(groups, [math.fsum(weights[labels == of]) for of in _LABELS], are_relative=are_relative)
    upper = upper_label(groups[0], unused)
    numbers = row_numbers(ordered.n_rows, weights)
    counts = count_categories(ordered, labels, weights, numbers, upper, unused=unused, units=units)
    order = CategoryOrder.of(ordered.categories, counts, groups[0] if upper == 1 else groups[1], units)
    return order.coded(ordered, numbers)
