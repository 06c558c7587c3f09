"""From the partitions of X to binned rows that stay on the workers.

Partitions are read two times or three, and let go again each time: to look at them, to find the cuts of their columns
(unless these are given), and to bin them. What stays is one byte a value, or two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fastpu.boosting._boosting import _check_eval_set
from fastpu.common._text import short
from fastpu.dask._client import dask
from fastpu.dask._collections import is_collection, read_rows
from fastpu.dask._workers import WorkerLostError, Workers, results_of, wait_for
from fastpu.data._cuts import (
    Answer,
    CutsOfFeatures,
    Question,
    SortedColumns,
    WeightRange,
    find_cuts,
    merged_categories,
)
from fastpu.data._matrix import CsrMatrix, DenseMatrix
from fastpu.data._validate import check_int, check_labels, check_matrix, check_sample_weight, label_counts
from fastpu.data.binned_features import _MAX_CUTS, BinnedFeatures, bin_at, stacked_bins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu.boosting._folds import LabelledRows
    from fastpu.dask._client import Client
    from fastpu.dask._collections import Rows
    from fastpu.dask._workers import Shard
    from fastpu.data._categories import Kept
    from fastpu.data._matrix import Matrix

__all__ = [
    "BinnedPart",
    "Census",
    "bin_eval_set",
    "bin_partitions",
    "check_cuts",
    "cuts_for",
    "find_global_cuts",
    "look_at",
    "template",
]

_ATTEMPTS = 3  # at finding cuts, where workers are lost meanwhile
_MAX_BINS = 255
_SORTED_SHARE = 0.25  # of the workers' memory that sorted columns may take at once


@dataclass(frozen=True)
class BinnedPart:
    """A partition as a worker keeps it; an empty one has no features."""

    number: int
    features: BinnedFeatures | None
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True)
class _Look:
    """What one partition says of itself; `groups` are of rows of positive weight."""

    n_rows: int
    n_features: int = 0
    is_sparse: bool = False
    itemsize: int = 8
    feature_names: tuple[str, ...] | None = None
    categories: Kept | None = None
    orders: Kept | None = None
    groups: tuple[int, int, int] = (0, 0, 0)
    mass: tuple[tuple[float, ...], ...] = ((), (), ())
    weight_range: WeightRange | None = None


@dataclass(frozen=True)
class Census:
    """What is known of all rows.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of rows of the partitions.
    n_features, is_sparse, itemsize, feature_names, categories
        Of the matrix that all partitions are together.
    groups : tuple of tuple of int
        Numbers of positive, unlabelled and negative rows of positive weight, for each partition.
    mass : tuple of float
        Sums of their weights.
    weight_range : WeightRange, or None
        Of the weights, if there are any.
    """

    sizes: tuple[int, ...]
    n_features: int
    is_sparse: bool
    itemsize: int
    feature_names: tuple[str, ...] | None
    categories: Kept
    groups: tuple[tuple[int, int, int], ...]
    mass: tuple[float, ...]
    weight_range: WeightRange | None

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return sum(self.sizes)

    @property
    def all_groups(self) -> tuple[int, int, int]:
        """Numbers of all positive, unlabelled and negative rows of positive weight."""
        n_pos, n_unl, n_neg = (sum(of_part) for of_part in zip(*self.groups, strict=True))
        return n_pos, n_unl, n_neg


# ---- What is done to a partition, on a worker ----


def _n_rows(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def _read(part: Any, number: int, categories: Any) -> Matrix:
    try:
        return check_matrix(part, nan="allow", inf="allow", categories=categories)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


def _read_beside(y: Any, weights: Any, n_rows: int, number: int) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    try:
        if not n_rows:
            sizes = {"y": _n_rows(y), "sample_weight": 0 if weights is None else _n_rows(weights)}
            if any(sizes.values()):
                raise ValueError(f"X is empty, but not y and sample_weight: {sizes}")  # noqa: TRY301
            return np.empty(0, dtype=np.int8), None if weights is None else np.empty(0)
        return check_labels(y, n_rows), None if weights is None else _read_weights(weights, n_rows)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


def _read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of a partition; all may be 0, as long as those of another are not."""
    beside_one: Any = check_sample_weight(np.append(weights, 1.0), n_rows + 1)
    of_rows: NDArray[np.float64] = beside_one[:-1]
    return of_rows


def _expansion(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return two numbers whose sum is that of the values, far beyond double precision."""
    high = math.fsum(values)
    return high, math.fsum([*values, -high])


def _look(X: Any, y: Any, weights: Any, number: int) -> _Look:
    n_rows = _n_rows(X)
    labels, mass = _read_beside(y, weights, n_rows, number)
    if not n_rows:
        return _Look(0)
    matrix = _read(X, number, "learn")
    counted = labels if mass is None else labels[mass > 0]
    sums = tuple(() if mass is None else _expansion(mass[labels == label]) for label in (1, 0, -1))
    return _Look(
        n_rows,
        matrix.n_features,
        matrix.is_sparse,
        matrix.dtype.itemsize,
        matrix.feature_names,
        matrix.categories,
        {column: _order_of(X, int(column), found) for column, found in matrix.categories.items()},
        label_counts(counted),
        sums,
        None if mass is None else WeightRange.of(mass),
    )


def _order_of(frame: Any, column: int, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all categories of the type of a pandas column, in their order; of polars those that occur."""
    dtype = frame.dtypes.iloc[column] if hasattr(frame.dtypes, "iloc") else None
    return tuple(dtype.categories.tolist()) if dtype is not None else tuple(sorted(found))


def _sort(X: Any, weights: Any, number: int, columns: list[int], census: Census) -> SortedColumns:
    n_rows = _n_rows(X)
    parts = [_read(X, number, census.categories or "refuse")] if n_rows else []
    if weights is None:
        return SortedColumns(parts, columns)
    mass = [_read_weights(weights, n_rows)] if n_rows else []
    return SortedColumns(parts, columns, mass, census.weight_range)


def _bin(X: Any, y: Any, weights: Any, number: int, cuts: CutsOfFeatures) -> BinnedPart:
    n_rows = _n_rows(X)
    labels, mass = _read_beside(y, weights, n_rows, number)
    if not n_rows:
        return BinnedPart(number, None, labels, mass)
    features = bin_at(_read(X, number, cuts.categories or "refuse"), cuts, 1)
    return BinnedPart(number, features, labels, mass)


def _answer(shard: Shard, question: Question) -> Answer:
    answers: list[Answer] = [columns.answer(question) for columns in shard.parts]
    return reduce(Answer.merged, answers)


# ---- What the driver does ----


def _tasks(client: Client, function: Any, *arguments: Sequence[Any] | None, also: tuple[Any, ...] = ()) -> list[Any]:
    """Start a task for each partition, ``function(*parts, number, *also)``."""
    n = next(len(of_parts) for of_parts in arguments if of_parts is not None)
    lazy = dask.delayed(function, pure=False)
    calls = [lazy(*(None if of_parts is None else of_parts[k] for of_parts in arguments), k, *also) for k in range(n)]
    return list(client.compute(calls))


def look_at(client: Client, rows: Rows) -> Census:
    """Return what is known of all rows; raise what is wrong with any of them."""
    looks = results_of(client, _tasks(client, _look, rows.X, rows.y, rows.weights), "reading")
    present = [(number, look) for number, look in enumerate(looks) if look.n_rows]
    if not present:
        raise ValueError("X must have at least one row, got none in all partitions")
    first_number, first = present[0]
    for number, look in present:
        for name, what in (("n_features", "columns"), ("is_sparse", "form"), ("feature_names", "names of columns")):
            mine, theirs = getattr(first, name), getattr(look, name)
            if mine != theirs:
                raise ValueError(
                    f"X must have the same {what} in all partitions: {name} is {short(mine)} in partition "
                    f"{first_number}, and {short(theirs)} in partition {number}"
                )
        if look.categories.keys() != first.categories.keys():
            raise ValueError(f"X must have categories in the same columns of all partitions, unlike partition {number}")
    orders = {
        column: tuple(dict.fromkeys(value for _, look in present for value in look.orders[column]))
        for column in first.orders
    }
    groups = tuple(look.groups for look in looks)
    mass = tuple(float(sum(of_part)) for of_part in zip(*groups, strict=True))
    weight_range = None
    if rows.weights is not None:
        mass = tuple(math.fsum(part for _, look in present for part in look.mass[g]) for g in range(3))
        weight_range = reduce(WeightRange.merged, (look.weight_range for _, look in present))
    return Census(
        tuple(look.n_rows for look in looks),
        first.n_features,
        first.is_sparse,
        max(look.itemsize for _, look in present),
        first.feature_names,
        merged_categories([look.categories for _, look in present], orders, first.n_features),
        groups,
        mass,
        weight_range,
    )


def find_global_cuts(
    client: Client, rows: Rows, census: Census, max_bins: int, n_threads: int | None
) -> CutsOfFeatures:
    """Return the cuts that `bin_features` finds for all rows together."""
    numeric = [column for column in range(census.n_features) if str(column) not in census.categories]
    found = []
    at_once = _columns_at_once(client, census, len(numeric))
    for start in range(0, len(numeric), at_once):
        columns = numeric[start : start + at_once]
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                found += _cuts_of_columns(client, rows, census, columns, max_bins, n_threads)
                break
            except WorkerLostError:
                if not attempts_left or not client.nthreads():
                    raise
    return CutsOfFeatures.of(found, census.n_features, max_bins, census.feature_names, census.categories)


def _cuts_of_columns(
    client: Client, rows: Rows, census: Census, columns: list[int], max_bins: int, n_threads: int | None
) -> list[Any]:
    sorted_parts = _tasks(client, _sort, rows.X, rows.weights, also=(columns, census))
    try:
        wait_for(client, sorted_parts, "sorting columns")
        with Workers(client, dict(enumerate(sorted_parts)), n_threads) as workers:
            return find_cuts(_asking(workers), len(columns), max_bins)
    finally:
        for part in sorted_parts:
            part.release()


def _asking(workers: Workers) -> Callable[[Question], Answer]:
    return lambda question: reduce(Answer.merged, workers.ask(_answer, question))


def _columns_at_once(client: Client, census: Census, n_columns: int) -> int:
    """Return how many columns the workers can keep sorted beside each other."""
    limits = client.run_on_scheduler(_memory_of_workers)
    per_column = census.n_rows * (census.itemsize + (8 if census.weight_range is not None else 0))
    if not limits or not per_column:
        return max(1, n_columns)
    return max(1, min(n_columns, int(_SORTED_SHARE * limits / per_column)))


def _memory_of_workers(dask_scheduler: Any) -> int:
    limits = [state.memory_limit for state in dask_scheduler.workers.values()]
    return sum(limits) if all(limits) else 0


def check_cuts(max_bins: object) -> int | BinnedFeatures:
    """Return the most cuts of a feature, or rows that are binned at the cuts to be used."""
    if isinstance(max_bins, BinnedFeatures):
        return max_bins
    return _MAX_BINS if max_bins is None else check_int("max_bins", max_bins, low=1, high=_MAX_CUTS)


def cuts_for(
    client: Client, rows: Rows, census: Census, wanted: int | BinnedFeatures, n_threads: int | None
) -> CutsOfFeatures:
    """Return the cuts that `check_cuts` has read: those of the given bins, or found for all rows."""
    if not isinstance(wanted, BinnedFeatures):
        return find_global_cuts(client, rows, census, wanted, n_threads)
    wanted._check_fits("max_bins", census.n_features, census.feature_names, census.categories)
    return _cuts_of_bins(wanted)


def _cuts_of_bins(bins: BinnedFeatures) -> CutsOfFeatures:
    native = bins._native
    return CutsOfFeatures(
        native.cut_starts, native.cut_values, native.bin_values, bins.max_bins, bins.feature_names, bins.categories
    )


def template(census: Census, cuts: CutsOfFeatures) -> BinnedFeatures:
    """Return a row of nothing that is binned as all rows are: it tells the core their cuts and form."""
    zeros = np.zeros((1, census.n_features), dtype=np.float32)
    one = CsrMatrix.of(sp.csr_array(zeros)) if census.is_sparse else DenseMatrix(zeros)
    return bin_at(one, cuts, 1)


def bin_partitions(client: Client, rows: Rows, cuts: CutsOfFeatures) -> list[Any]:
    """Return the binned partitions as futures that are done."""
    sent = dask.delayed(
        cuts, pure=False, traverse=False
    )  # once, for all tasks; another worker can have it if one is lost
    parts = _tasks(client, _bin, rows.X, rows.y, rows.weights, also=(sent,))
    try:
        wait_for(client, parts, "binning")
    except BaseException:
        for part in parts:
            part.release()
        raise
    return parts


def bin_eval_set(client: Client, eval_set: Any, form: BinnedFeatures, cuts: CutsOfFeatures) -> LabelledRows | None:
    """Return the rows to be judged by; those of a collection as bins."""
    is_pair = isinstance(eval_set, tuple | list) and len(eval_set) == 2
    if not is_pair or not is_collection(eval_set[0]):
        return _check_eval_set(eval_set, form)
    rows = read_rows(eval_set[0], eval_set[1], None, name=" of eval_set")
    futures = bin_partitions(client, rows, cuts)
    parts = [part for part in results_of(client, futures, "gathering eval_set") if part.features is not None]
    if not parts:
        raise ValueError("X of eval_set must have at least one row, got none in all partitions")
    bins = stacked_bins([part.features for part in parts], 1)
    return _check_eval_set((bins, np.concatenate([part.labels for part in parts])), form)
