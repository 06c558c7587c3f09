"""The order by the labels that many categories are put in, so that splits can take them like numbers.

Take the share of positives among the rows of each category, drawn to the share among all rows where there are few. A
tree could learn by heart the labels of its training rows from it, for these have gone into it. So the rows are dealt
into `FOLDS` folds, by their number alone, and the code of a training row is the place of its category in the order that
the rows of the other folds give. It says as much of the row's own label as the place in the order of all rows will say
of a new row's: nothing, where categories tell nothing. A category that no other fold has is missing there, as an unseen
one is later.

Everything is counted in rows, in whole numbers that partitions of the rows can add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fastpu.data._categories import Kept, columns_in_order
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import label_counts

FOLDS = 5
PRIOR_ROWS = 10.0  # how many rows of the overall share are added to those of each category

Counts = dict[str, "NDArray[np.int64]"]
"""For each column with many categories: in [v, k, 0] the rows of category v in fold k, in [v, k, 1] the upper ones."""

_Rows = TypeVar("_Rows")


@dataclass(frozen=True)
class CategoryOrder:
    """The categories that are known of each column, many of them in their order, and codes for the training rows.

    Training rows have been counted, and are read, by the order of `read_as`, and a model keeps that of `categories`.
    `codes` has for each column with many an array of shape (number of categories, FOLDS): the code of a row of a fold,
    by the place of its category in `read_as`.
    """

    read_as: Kept
    categories: Kept
    codes: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, read_as: Kept, counts: Counts) -> CategoryOrder:
        """Return the order that these counts give; it does not depend on that of `read_as`."""
        categories, codes = dict(read_as), {}
        for column, of_column in counts.items():
            values = read_as[column]
            rows, upper = of_column[..., 0], of_column[..., 1]
            share = upper.sum() / max(1, rows.sum())
            # Of equal shares the order must not tell anything, as that of names may.
            by_chance = np.array([_hash(value) for value in values], dtype=np.uint64)
            order = _order(rows.sum(axis=1), upper.sum(axis=1), share, by_chance)
            categories[column] = tuple(values[place] for place in order)
            table = np.empty(rows.shape)
            for fold in range(FOLDS):
                others = rows.sum(axis=1) - rows[:, fold]
                order = _order(others, upper.sum(axis=1) - upper[:, fold], share, by_chance)
                table[order, fold] = np.arange(len(values))
                table[others == 0, fold] = np.nan
            codes[column] = table
        return cls(read_as, categories, codes)

    def coded(self, matrix: DenseMatrix, weights: NDArray[np.float64] | None, first: int = 0) -> DenseMatrix:
        """Return training rows, which were read by `read_as`, with their codes."""
        entries = matrix.values.copy()
        folds = _folds(matrix.n_rows, weights, first)
        for column, table in self.codes.items():
            places = entries[:, int(column)]  # a view
            known = np.flatnonzero(~np.isnan(places))
            places[known] = table[places[known].astype(np.int64), folds[known]]
        return replace(matrix, values=entries, categories=self.categories)


def upper_label(n_pos: int, unused: int | None) -> int:
    """Return the label whose share orders the categories: positive rows against all others, or unlabelled ones."""
    return 1 if n_pos and unused != 1 else 0


def count_categories(
    matrix: Matrix,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    upper: int,
    unused: int | None,
    first: int = 0,
) -> Counts:
    """Return the counts of the rows of positive weight, which are numbered from `first`, but for one label."""
    folds = _folds(matrix.n_rows, weights, first)
    counts = {}
    for column in columns_in_order(matrix.categories):
        places = cast("DenseMatrix", matrix).values[:, column]
        counted = ~np.isnan(places)
        if weights is not None:
            counted &= weights > 0
        if unused is not None:
            counted &= labels != unused
        cells = places[counted].astype(np.int64) * FOLDS + folds[counted]
        n_categories = len(matrix.categories[str(column)])
        sides = [np.bincount(c, minlength=n_categories * FOLDS) for c in (cells, cells[labels[counted] == upper])]
        counts[str(column)] = np.stack(sides, axis=-1).reshape(n_categories, FOLDS, 2).astype(np.int64)
    return counts


def in_order(
    data: _Rows, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, *, unused: int | None = None
) -> _Rows:
    """Return training rows with the codes of their many categories; rows of the label `unused` do not tell of them."""
    rows: Any = data
    if not (isinstance(rows, DenseMatrix) and columns_in_order(rows.categories)):
        return data
    upper = upper_label(label_counts(labels, weights)[0], unused)
    order = CategoryOrder.of(rows.categories, count_categories(rows, labels, weights, upper, unused))
    return cast("_Rows", order.coded(rows, weights))


def _order(
    rows: NDArray[np.int64], upper: NDArray[np.int64], share: float, by_chance: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Return the categories by ascending share of upper rows."""
    shares = (upper + PRIOR_ROWS * share) / (rows + PRIOR_ROWS)
    return np.lexsort((by_chance, shares))


def _hash(value: object) -> int:
    return int.from_bytes(blake2b(repr(value).encode("utf-8", "backslashreplace"), digest_size=8).digest(), "little")


def _folds(n_rows: int, weights: NDArray[np.float64] | None, first: int) -> NDArray[np.int64]:
    """Return the fold of each row, by a hash of its number among the rows of positive weight."""
    numbers = np.arange(first, first + n_rows, dtype=np.uint64)
    if weights is not None:
        numbers = np.uint64(first) + np.cumsum(weights > 0, dtype=np.uint64) - (weights > 0)
    hashes = mixed((numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    folds: NDArray[np.int64] = (hashes % np.uint64(FOLDS)).astype(np.int64)
    return folds


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers in which every bit depends on all bits of `values`: the finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return hashes
