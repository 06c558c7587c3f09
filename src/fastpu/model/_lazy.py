"""Scores of Dask collections, which Dask computes when they are asked for."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fastpu.common._text import describe

_LARGE = 1_000_000  # a function of more bytes is sent to the workers once, not as a part of every task


def is_lazy(X: object) -> bool:
    return hasattr(X, "__dask_graph__")


def of_partitions(X: Any, function: Callable[[Any], Any], dtype: type) -> Any:
    """Return function(partition), an entry for each row, of every partition: a Dask array, or a series for a frame."""
    if hasattr(X, "map_blocks") and hasattr(X, "numblocks"):
        if X.ndim != 2 or X.numblocks[1] != 1:
            raise ValueError(
                f"X must have 2 dimensions and whole rows in every chunk, got {X.ndim} dimensions and chunks "
                f"{X.numblocks}; use rechunk({{1: -1}})"
            )
        return X.map_blocks(_entries, _sent(function), dtype, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype=dtype))
    if hasattr(X, "map_partitions") and hasattr(X, "columns"):
        return X.map_partitions(_column, _sent(function), dtype, meta=("score", dtype))
    raise TypeError(f"X must be a Dask array or a Dask frame, or in memory, got {describe(X)}")


def _sent(function: Callable[[Any], Any]) -> Any:
    """Return the function, or for a large one a reference to its copy on all workers of the current cluster."""
    distributed: Any = sys.modules.get("distributed")  # without it there is no cluster
    if distributed is None or len(pickle.dumps(function)) < _LARGE:
        return function
    try:
        client = distributed.get_client()
    except ValueError:
        return function
    if client.asynchronous:
        return function
    return sys.modules["dask"].delayed(client.scatter(function, broadcast=True, hash=False))


def _entries(part: Any, function: Callable[[Any], Any], dtype: type) -> Any:
    return function(part) if part.shape[0] else np.empty(0, dtype=dtype)


def _column(part: Any, function: Callable[[Any], Any], dtype: type) -> Any:
    """Return the entries beside the rows of a pandas frame."""
    return part[[]].assign(score=_entries(part, function, dtype))["score"].astype(dtype)
