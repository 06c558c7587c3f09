"""The cuts of all columns: each worker finds those of some columns, of which it gets all rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.dask._census import Census, read_training
from fastpu.dask._client import Client, dask, results_of
from fastpu.dask._collections import Partitions
from fastpu.dask._partition_tasks import n_rows_of, read_weights
from fastpu.data._categories import columns_in_sets
from fastpu.data._matrix import CsrMatrix, DenseMatrix, stacked
from fastpu.data.binned_features import BinnedFeatures, bin_at

_GATHERED_SHARE = 0.1  # the share of the workers' memory that columns of all rows may take at once


# ---- The driver ----


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
    shared = census.for_workers()
    parts = [take(X, own, k, groups, shared) for k, (X, own) in enumerate(zip(rows.X, weights, strict=True))]
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


# ---- On a worker ----


def _take_columns(X: Any, weights: Any, number: int, groups: list[list[int]], census: Census) -> list[Any]:
    """Return for each group of columns these columns of a partition and its weights; None if it is empty."""
    if not n_rows_of(X):
        return [None] * len(groups)
    mass = None if weights is None else read_weights(weights, n_rows_of(X))
    table = read_training(X, mass, number, census).table()
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
