"""Partitions as binned rows, which stay on the workers and take one byte a value, or two."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from fastpu import _core
from fastpu.boosting._eval_set import check_eval_set
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.dask._census import Census, read_training
from fastpu.dask._client import Client, results_of
from fastpu.dask._collections import Partitions, is_collection, read_rows
from fastpu.dask._partition_tasks import n_rows_of, read_labels, read_matrix, send_once, start_tasks
from fastpu.dask._worker_rows import WorkerRows
from fastpu.data._categories import columns_in_sets
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data.binned_features import BinnedFeatures, bin_at, stacked_bins

# ---- The driver ----


def bin_partitions(client: Client, rows: Partitions, form: BinnedFeatures, census: Census | None = None) -> list[Any]:
    """Return the futures of the binned partitions; `census` is that of training rows, and None for an eval_set."""
    return start_tasks(client, _bin, rows, send_once(form), None if census is None else census.for_workers())


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


# ---- On a worker ----


def _bin(X: Any, y: Any, weights: Any, number: int, form: BinnedFeatures, census: Census | None) -> WorkerRows:
    n_rows = n_rows_of(X)
    labels, mass = read_labels(y, weights, n_rows)
    if not n_rows:
        return WorkerRows(None, labels, mass)
    if census is None:
        return WorkerRows(bin_at(_read_eval_rows(X, form), form), labels, mass)
    features = bin_at(read_training(X, mass, number, census), form)
    hashes = _core.fingerprint(features._native, labels, mass, first_row=sum(census.sizes[:number]), n_threads=1)
    return WorkerRows(features, labels, mass, (number,), hashes)


def _read_eval_rows(X: Any, form: BinnedFeatures) -> Matrix:
    """Return rows of an eval_set; a category that training did not have counts as missing, for bins have none for it.

    The cuts lie below the last category of training, whose bin it would have.
    """
    matrix: Matrix = read_matrix(
        X,
        name="X of eval_set",
        n_features=form.n_features,
        feature_names=form.feature_names,
        categories=form.categories,
    )
    for column in columns_in_sets(form.categories):
        entries = cast("DenseMatrix", matrix).values[:, column]
        entries[entries >= len(form.categories[str(column)])] = np.nan
    return matrix
