"""From the partitions of X to binned rows that stay on the workers.

Partitions are read two to four times, and released again each time: to take the census of the rows, to count the labels
of categories (where a column has many), to find the cuts of their columns (unless these are given), and to bin them.
The binned rows take one byte a value, or two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._folds import LabelledRows, check_eval_set, check_patience
from fastpu.common._text import short
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._client import Client, dask, find_client, release, results_of, wait_for
from fastpu.dask._collections import Partitions, is_collection, read_rows
from fastpu.dask._members import Holding, SpreadRows
from fastpu.data._categories import (
    LEVELS,
    Kept,
    categorical_columns,
    check_kept,
    check_values,
    columns_in_order,
    columns_in_sets,
    has_levels,
)
from fastpu.data._category_order import (
    CategoryOrder,
    ColumnCounts,
    Counts,
    Units,
    count_categories,
    order_of_first,
    row_numbers,
    upper_label,
)
from fastpu.data._matrix import CsrMatrix, DenseMatrix, Matrix, columns_of, stacked
from fastpu.data._validate import check_labels, check_matrix, check_sample_weight, check_vector, label_counts
from fastpu.data.binned_features import BinnedFeatures, bin_at, stacked_bins
from fastpu.tree._fit import MAX_BINS, check_max_bins

_read = partial(check_matrix, finite=False)
_GATHERED_SHARE = 0.1  # the share of the workers' memory that columns of all rows may take at once


@dataclass(frozen=True)
class _PartCensus:
    """Size, columns and groups of one partition.

    `like` is a matrix like that of its rows, without rows, or None for an empty partition. `shown` has the categories
    of each column that rows of positive weight have, in the order in which these show them first. `groups` and `mass`
    have the numbers of positive, unlabelled and negative rows of positive weight, and the sums of their weights as
    `_exact_sum` has them.
    """

    n_rows: int
    like: Any = None
    shown: Kept = field(default_factory=dict)
    groups: tuple[int, int, int] = (0, 0, 0)
    mass: tuple[tuple[float, ...], ...] = ((), (), ())


@dataclass(frozen=True)
class Census:
    """Sizes, columns and groups of all rows.

    `sizes` are the numbers of rows of the partitions, and `groups` those of positive, unlabelled and negative rows of
    positive weight in each of them. `like` is a matrix like that of all rows, without rows. `mass` has the sums of the
    weights of the groups over all partitions. `order` has the codes of many categories, if there are such columns, and
    `units` those that their weights are counted in.
    """

    sizes: tuple[int, ...]
    like: Matrix
    groups: tuple[tuple[int, int, int], ...]
    mass: tuple[float, ...]
    is_weighted: bool
    order: CategoryOrder | None = None
    units: Units | None = None

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    def n_present_before(self, partition: int) -> int:
        """Return the number of rows of positive weight in the partitions before this one."""
        return sum(map(sum, self.groups[:partition]))

    @property
    def all_groups(self) -> tuple[int, int, int]:
        """Numbers of all positive, unlabelled and negative rows of positive weight."""
        n_pos, n_unl, n_neg = (sum(of_part) for of_part in zip(*self.groups, strict=True))
        return n_pos, n_unl, n_neg


# ---- What a worker does with a partition ----


def _n_rows(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def _in_partition(function: Any, X: Any, y: Any, weights: Any, number: int, *also: Any) -> Any:
    """Return what a function says of a partition; its errors name it."""
    try:
        return function(X, y, weights, number, *also)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"partition {number}: {error}") from error


def _read_labels(y: Any, weights: Any, n_rows: int) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    if n_rows:
        return check_labels(y, n_rows), None if weights is None else _read_weights(weights, n_rows)
    sizes = {"y": _n_rows(y), "sample_weight": 0 if weights is None else _n_rows(weights)}
    if any(sizes.values()):
        raise ValueError(f"X is empty, but not y and sample_weight: {sizes}")
    return np.empty(0, dtype=np.int8), None if weights is None else np.empty(0)


def _read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of a partition; all may be 0, as another partition may have positive ones."""
    of_rows = check_vector("sample_weight", weights, n=n_rows)
    check_sample_weight(np.append(of_rows, 1.0), n_rows + 1)
    return of_rows


def _exact_sum(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the sum of the values and what rounding has left out of it."""
    high = math.fsum(values)
    return high, math.fsum([*values, -high])


def _count(X: Any, y: Any, weights: Any, _number: int) -> _PartCensus:
    n_rows = _n_rows(X)
    labels, mass = _read_labels(y, weights, n_rows)
    if not n_rows:
        return _PartCensus(0)
    matrix = _read(X, categories="learn")
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
    )


def _shown(matrix: Matrix, mass: NDArray[np.float64] | None) -> Kept:
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
    n_rows = _n_rows(X)
    if not n_rows:
        return None
    labels, mass = _read_labels(y, weights, n_rows)
    upper = upper_label(census.all_groups[0], None)
    matrix = _read(X, categories=census.like.categories)
    numbers = row_numbers(n_rows, mass, census.n_present_before(number))
    return count_categories(matrix, labels, mass, numbers, upper, units=census.units)


def _read_training(X: Any, weights: NDArray[np.float64] | None, number: int, census: Census) -> Matrix:
    """Return the rows of a partition with the codes of their many categories."""
    order = census.order
    if order is None:
        return _read(X, categories=census.like.categories or "refuse")
    matrix: Any = _read(X, categories=order.read_as)
    return order.coded(matrix, row_numbers(matrix.n_rows, weights, census.n_present_before(number)))


def _take_columns(X: Any, weights: Any, number: int, groups: list[list[int]], census: Census) -> list[Any]:
    """Return for each group of columns these columns of a partition and its weights; None if it is empty."""
    if not _n_rows(X):
        return [None] * len(groups)
    mass = None if weights is None else _read_weights(weights, _n_rows(X))
    table = _read_training(X, mass, number, census).table()
    parts = (table[:, columns] for columns in groups)
    if census.like.is_sparse:
        return [(CsrMatrix.of(part), mass) for part in parts]
    return [(DenseMatrix(np.ascontiguousarray(part)), mass) for part in parts]


def _find_cuts(
    parts: list[Any], max_bins: int, n_threads: int, *, are_alike: bool
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    present = [part for part in parts if part is not None]
    rows, weights = stacked([rows for rows, _ in present]), None
    if present[0][1] is not None:
        weights = np.concatenate([of_part for _, of_part in present])
        weights = np.sign(weights) if are_alike else weights
    native = _core.bin_features(rows, max_bins, weights, n_threads)
    starts, cuts, values = native.cut_starts.tolist(), native.cut_values, native.bin_values
    return [(cuts[a:b], values[a + k : b + k + 1]) for k, (a, b) in enumerate(pairwise(starts))]


def _bin(X: Any, y: Any, weights: Any, number: int, form: BinnedFeatures, census: Census | None) -> Holding:
    n_rows = _n_rows(X)
    labels, mass = _read_labels(y, weights, n_rows)
    if not n_rows:
        return Holding(None, labels, mass)
    if census is None:
        return Holding(bin_at(_read(X, name="X of eval_set", **columns_of(form)), form), labels, mass)
    features = bin_at(_read_training(X, mass, number, census), form)
    hashes = _core.fingerprint(features._native, labels, mass, first_row=sum(census.sizes[:number]), n_threads=1)
    return Holding(features, labels, mass, (number,), hashes)


# ---- What the driver does ----


def _start_tasks(client: Client, function: Any, rows: Partitions, *also: Any) -> list[Any]:
    """Start ``function(X, y, weights, number, *also)`` for each partition."""
    lazy = dask.delayed(_in_partition, pure=False)
    parts = zip(rows.X, rows.y, rows.weights or [None] * len(rows), strict=True)
    return list(client.compute([lazy(function, *part, number, *also) for number, part in enumerate(parts)]))


def _sent(value: object) -> Any:
    """Return a value that is sent once for all tasks, and again where a worker is lost."""
    return dask.delayed(value, pure=False, traverse=False)


def _categories_of_all(parts: Sequence[_PartCensus]) -> Kept:
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
    parts = results_of(client, _start_tasks(client, _count, rows), "reading")
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
    )
    if not columns_in_order(categories):
        return census
    if census.is_weighted:
        census = replace(census, units=Units.of(census.all_groups, mass, are_relative=are_relative))
    tasks = _start_tasks(client, _count_categories, rows, _sent(census))
    counted = results_of(client, tasks, "counting categories")
    present_counts = [part for part in counted if part is not None]
    counts = {column: ColumnCounts.added([part[column] for part in present_counts]) for column in present_counts[0]}
    n_pos, n_unl, _ = census.all_groups
    n_upper = n_pos if upper_label(n_pos, None) == 1 else n_unl
    in_order = CategoryOrder.of(categories, counts, n_upper, census.units)
    return replace(census, like=replace(like, categories=in_order.categories), order=in_order)


def find_form(
    client: Client, rows: Partitions, census: Census, n_cuts_or_bins: int | BinnedFeatures, *, are_alike: bool = False
) -> BinnedFeatures:
    """Return one row of zeros, binned as all rows are to be: the core reads their cuts and the form of codes from it.

    If rows `are_alike`, their positive weights do not influence the cuts.
    """
    zeros = np.zeros((1, census.like.n_features), dtype=np.float32)
    row = CsrMatrix.of(sp.csr_array(zeros)) if census.like.is_sparse else DenseMatrix(zeros)
    if isinstance(n_cuts_or_bins, BinnedFeatures):
        n_cuts_or_bins._check_fits("max_bins", census.like)
        return bin_at(row, n_cuts_or_bins)
    in_sets = columns_in_sets(census.like.categories)
    cuts = {}
    for column in in_sets:
        places = np.arange(max(1, len(census.like.categories[str(column)])) - 1)
        cuts[column] = np.append(-np.inf, places + 0.5), np.zeros(places.size + 2)
    numeric = [column for column in range(census.like.n_features) if column not in in_sets]
    at_once = _columns_at_once(client, census)
    for start in range(0, len(numeric), at_once):
        cuts |= _cuts_of(client, rows, census, numeric[start : start + at_once], n_cuts_or_bins, are_alike=are_alike)
    of_columns = [cuts[column] for column in range(census.like.n_features)]
    starts = np.cumsum([0, *(own.size for own, _ in of_columns)], dtype=np.int64)
    joined: Any = starts, *map(np.concatenate, zip(*of_columns, strict=True))
    native = _core.bin_features(row, n_cuts_or_bins, None, 1, None, joined)
    return BinnedFeatures(native, census.like.feature_names, n_cuts_or_bins, census.like.categories)


def _cuts_of(
    client: Client, rows: Partitions, census: Census, columns: list[int], max_bins: int, *, are_alike: bool
) -> dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the cuts of some columns, of which each worker gets some of all rows."""
    threads = client.nthreads().values()
    n_groups = max(1, min(len(threads), len(columns)))
    groups = [columns[k::n_groups] for k in range(n_groups)]
    take, find = dask.delayed(_take_columns, pure=False, nout=n_groups), dask.delayed(_find_cuts, pure=False)
    weights = rows.weights or [None] * len(rows)
    sent = _sent(census)
    parts = [take(X, own, k, groups, sent) for k, (X, own) in enumerate(zip(rows.X, weights, strict=True))]
    found = [
        find([part[g] for part in parts], max_bins, min(threads, default=1), are_alike=are_alike)
        for g in range(n_groups)
    ]
    cuts = results_of(client, client.compute(found), "finding cuts")
    return {
        column: own
        for group, of_group in zip(groups, cuts, strict=True)
        for column, own in zip(group, of_group, strict=True)
    }


def _columns_at_once(client: Client, census: Census) -> int:
    """Return of how many columns the workers have memory for all rows at once."""
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    per_column = census.n_rows * (
        census.like.dtype.itemsize + (8 if census.is_weighted or census.like.is_sparse else 0)
    )
    if not limits or not all(limits):
        return census.like.n_features
    memory = sum(limits) / len(limits) * len(client.nthreads())  # some versions of Dask tell of a few workers alone
    return max(1, int(_GATHERED_SHARE * memory / per_column))


def bin_partitions(client: Client, rows: Partitions, form: BinnedFeatures, census: Census | None = None) -> list[Any]:
    """Return the futures of the binned partitions; `census` is that of training rows, and None for an eval_set."""
    return _start_tasks(client, _bin, rows, _sent(form), _sent(census))


@dataclass(frozen=True)
class FitData:
    """The rows of a fit and what is known of them: their `form` by `find_form`, and the rows `held` of `eval_set`.

    Each worker uses `n_threads` at most, or those that Dask gave it.
    """

    client: Client
    rows: Partitions
    census: Census
    form: BinnedFeatures
    held: LabelledRows | None
    patience: int
    n_threads: int | None

    def hold(self) -> SpreadRows:
        parts = bin_partitions(self.client, self.rows, self.form, self.census)
        try:
            wait_for(self.client, parts, "binning")
            return SpreadRows(self.client, parts, self.census.sizes, self.n_threads)
        finally:
            release(parts)


def open_fit(given: Mapping[str, Any], check_groups: Callable[..., None]) -> FitData:
    """Return what is known of the rows among the arguments of a fit by rounds.

    `check_groups` is called with the numbers of positive, unlabelled and negative rows, and the sum of their weights.
    """
    eval_set, max_bins = given["eval_set"], given["max_bins"]
    patience = check_patience(given["early_stopping_rounds"])
    if patience and eval_set is None:
        raise ValueError(
            "early_stopping_rounds needs an eval_set in fastpu.dask: rounds chosen by folds are for one machine"
        )
    cuts = max_bins if isinstance(max_bins, BinnedFeatures) else check_max_bins(max_bins) or MAX_BINS
    resolve_n_threads(given["n_threads"])
    client = find_client(given["client"])
    rows = read_rows(given["X"], given["y"], given["sample_weight"])
    census = take_census(client, rows)
    check_groups(census.all_groups, sum(census.mass) if census.is_weighted else None)
    form = find_form(client, rows, census, cuts)
    held = bin_eval_set(client, eval_set, form)
    return FitData(client, rows, census, form, held, patience, given["n_threads"])


def bin_eval_set(client: Client, eval_set: Any, form: BinnedFeatures) -> LabelledRows | None:
    """Return the rows of `eval_set`; those of a Dask collection are binned and gathered."""
    is_pair = isinstance(eval_set, tuple | list) and len(eval_set) == 2
    if not is_pair or not is_collection(eval_set[0]):
        return check_eval_set(eval_set, form)
    rows = read_rows(eval_set[0], eval_set[1], None, name=" of eval_set")
    futures = bin_partitions(client, rows, form)
    parts = [part for part in results_of(client, futures, "gathering eval_set") if part.features is not None]
    if not parts:
        raise ValueError("X of eval_set must have at least one row, got none in all partitions")
    bins = stacked_bins([part.features for part in parts])
    return check_eval_set((bins, np.concatenate([part.labels for part in parts])), form)
