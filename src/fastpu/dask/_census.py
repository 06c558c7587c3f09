"""The census of all rows: the numbers of rows, columns, labels and categories of the partitions, put together.

The partitions are read once for it, and once more if a column has so many categories that their labels are counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import short
from fastpu.dask._client import Client, results_of
from fastpu.dask._collections import Partitions
from fastpu.dask._partition_tasks import n_rows_of, read_labels, read_matrix, send_once, start_tasks
from fastpu.data._categories import (
    LEVELS,
    ColumnCategories,
    categorical_columns,
    check_kept,
    check_values,
    columns_in_order,
    has_levels,
)
from fastpu.data._category_order import (
    CategoryOrder,
    ColumnCounts,
    Counts,
    Units,
    count_categories,
    row_numbers,
    upper_label,
)
from fastpu.data._clusters import Clusters, joined_clusters, read_clusters
from fastpu.data._first_row_order import order_of_first
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import label_counts


@dataclass(frozen=True)
class _PartCensus:
    """Size, columns and groups of one partition.

    `like` is a matrix like that of its rows, without rows, or None for an empty partition. `shown` has the categories
    of each column that rows of positive weight have, in the order in which these show them first. `groups` and `mass`
    have the numbers of positive, unlabelled and negative rows of positive weight, and the sums of their weights as
    `_exact_sum` has them. `clusters` are the groups that rows belong to, if the user names some.
    """

    n_rows: int
    like: Any = None
    shown: ColumnCategories = field(default_factory=dict)
    groups: tuple[int, int, int] = (0, 0, 0)
    mass: tuple[tuple[float, ...], ...] = ((), (), ())
    clusters: Clusters | None = None


@dataclass(frozen=True)
class Census:
    """Sizes, columns and groups of all rows.

    `sizes` are the numbers of rows of the partitions, and `groups` those of positive, unlabelled and negative rows of
    positive weight in each of them. `like` is a matrix like that of all rows, without rows. `mass` has the sums of the
    weights of the groups over all partitions. `order` has the codes of many categories, if there are such columns, and
    `units` those that their weights are counted in. `clusters` has the number of the group that each row belongs to, if
    the user names some; the driver keeps it.
    """

    sizes: tuple[int, ...]
    like: Matrix
    groups: tuple[tuple[int, int, int], ...]
    mass: tuple[float, ...]
    is_weighted: bool
    order: CategoryOrder | None = None
    units: Units | None = None
    clusters: NDArray[np.int32] | None = None

    def for_workers(self) -> Any:
        """Return what workers need of it, which is sent once for all tasks."""
        return send_once(replace(self, clusters=None))

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    def n_present_before(self, partition: int) -> int:
        """Return the number of rows of positive weight in the partitions before this one."""
        return sum(map(sum, self.groups[:partition]))

    @property
    def weight(self) -> float | None:
        """Sum of all weights; None where rows have none."""
        return sum(self.mass) if self.is_weighted else None

    @property
    def all_groups(self) -> tuple[int, int, int]:
        """Numbers of all positive, unlabelled and negative rows of positive weight."""
        n_pos, n_unl, n_neg = (sum(of_part) for of_part in zip(*self.groups, strict=True))
        return n_pos, n_unl, n_neg


# ---- On a worker ----


def _exact_sum(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the sum of the values and what rounding has left out of it."""
    high = math.fsum(values)
    return high, math.fsum([*values, -high])


def _count(X: Any, y: Any, weights: Any, _number: int, groups: Any = None) -> _PartCensus:
    n_rows = n_rows_of(X)
    labels, mass = read_labels(y, weights, n_rows)
    clusters = None if groups is None else read_clusters(groups, n_rows)
    if not n_rows:
        return _PartCensus(0)
    matrix = read_matrix(X, takes_categories=True)
    groups = label_counts(labels, mass)
    sums: Any = [(float(count),) for count in groups]
    if mass is not None:
        sums = [_exact_sum(mass[labels == label]) for label in (1, 0, -1)]
    return _PartCensus(
        n_rows,
        matrix[np.empty(0, dtype=np.int64)],  # a copy: a view would keep the rows on the worker
        _shown(matrix, mass),
        groups,
        tuple(sums),
        clusters,
    )


def _shown(matrix: Matrix, mass: NDArray[np.float64] | None) -> ColumnCategories:
    """Return the categories of each column that rows of positive weight have, as these show them first."""
    if not isinstance(matrix, DenseMatrix):
        return {}
    shown = {}
    for column in categorical_columns(matrix.categories):
        values, places = matrix.categories[str(column)], matrix.values[:, column]
        if mass is not None:
            places = places[mass > 0]
        known: NDArray[np.int64] = places[~np.isnan(places)].astype(np.int64)
        shown[str(column)] = tuple(values[k] for k in order_of_first(values, known)[: np.unique(known).size])
    return shown


def _count_categories(X: Any, y: Any, weights: Any, number: int, census: Census) -> Counts | None:
    n_rows = n_rows_of(X)
    if not n_rows:
        return None
    labels, mass = read_labels(y, weights, n_rows)
    upper = upper_label(census.all_groups[0], None)
    matrix = read_matrix(X, categories=census.like.categories)
    numbers = row_numbers(n_rows, mass, census.n_present_before(number))
    return count_categories(matrix, labels, mass, numbers, upper, units=census.units)


def read_training(X: Any, weights: NDArray[np.float64] | None, number: int, census: Census) -> Matrix:
    """Return the rows of a partition with the codes of their many categories."""
    order = census.order
    if order is None:
        return read_matrix(X, categories=census.like.categories or None)
    matrix: Any = read_matrix(X, categories=order.read_as)
    return order.coded(matrix, row_numbers(matrix.n_rows, weights, census.n_present_before(number)))


# ---- The driver ----


def _categories_of_all(parts: Sequence[_PartCensus]) -> ColumnCategories:
    """Return the categories of all partitions, as `fastpu.data._category_order.by_first_rows` puts them in order."""
    of_parts = [part.like.categories for part in parts]
    kept = {}
    for column in of_parts[0]:
        if column == LEVELS or has_levels(of_parts[0], int(column)):
            kept[column] = of_parts[0][column]
            continue
        shown = dict.fromkeys(value for part in parts for value in part.shown[column])
        all_values = set().union(*(categories[column] for categories in of_parts))
        check_values(tuple(all_values), f"column {column}")  # of one kind, so that they can be sorted
        kept[column] = (*shown, *sorted(all_values - shown.keys()))
    return kept


def take_census(client: Client, rows: Partitions, *, are_relative: bool = False) -> Census:
    """Return the census of all rows; raise an error if a partition is not valid or not like the others.

    Weights may be relative, as in `fastpu.data._category_order.Units`.
    """
    parts = results_of(client, start_tasks(client, _count, rows, each=rows.groups), "reading")
    present = [(number, part) for number, part in enumerate(parts) if part.n_rows]
    if not present:
        raise ValueError("X must have at least one row, got none in all partitions")
    first_number, first = present[0]
    for number, part in present:
        for name, what in (("n_features", "columns"), ("is_sparse", "form"), ("feature_names", "names of columns")):
            expected, given = getattr(first.like, name), getattr(part.like, name)
            if expected != given:
                raise ValueError(
                    f"X must have the same {what} in all partitions: {name} is {short(expected)} in partition "
                    f"{first_number}, and {short(given)} in partition {number}"
                )
        given, expected = part.like.categories, first.like.categories
        if given.keys() != expected.keys():
            raise ValueError(f"X must have categories in the same columns of all partitions, unlike partition {number}")
        for column in categorical_columns(expected):
            if has_levels(given, column) != has_levels(expected, column) or (
                has_levels(expected, column) and given[str(column)] != expected[str(column)]
            ):
                raise ValueError(
                    f"X must have the same levels in all partitions of an ordered column: column {column} has "
                    f"{short(expected[str(column)])} in partition {first_number}, and {short(given[str(column)])} in "
                    f"partition {number}"
                )
    categories = _categories_of_all([part for _, part in present])
    check_kept(categories, first.like.n_features)
    groups = tuple(part.groups for part in parts)
    if not math.isfinite(sum(sums[0] for _, part in present for sums in part.mass)):
        raise ValueError("sample_weight must have a finite sum, got a larger one than float64 holds")
    mass = tuple(math.fsum(number for _, part in present for number in part.mass[g]) for g in range(3))
    like: Any = max((part.like for _, part in present), key=lambda like: like.dtype.itemsize)
    census = Census(
        tuple(part.n_rows for part in parts),
        replace(like, categories=categories) if categories else like,
        groups,
        mass,
        rows.weights is not None,
        clusters=None if rows.groups is None else joined_clusters([part.clusters for _, part in present]),
    )
    if not columns_in_order(categories):
        return census
    if census.is_weighted:
        census = replace(census, units=Units.of(census.all_groups, mass, are_relative=are_relative))
    tasks = start_tasks(client, _count_categories, rows, census.for_workers())
    counted = results_of(client, tasks, "counting categories")
    present_counts = [part for part in counted if part is not None]
    counts = {column: ColumnCounts.added([part[column] for part in present_counts]) for column in present_counts[0]}
    n_pos, n_unl, _ = census.all_groups
    n_upper = n_pos if upper_label(n_pos, None) == 1 else n_unl
    in_order = CategoryOrder.of(categories, counts, n_upper, census.units)
    return replace(census, like=replace(like, categories=in_order.categories), order=in_order)
