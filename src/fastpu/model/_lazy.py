"""Scores of Dask collections, which Dask computes when they are asked for."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fastpu.common._text import describe
from fastpu.data._tables import is_lazy, plain_title
from fastpu.data._validate import check_features

_LARGE = 1_000_000  # a function of more bytes is sent to the workers once, not as a part of every task


#: The classes, which are the titles of the columns of a Dask frame of probabilities.
_CLASSES = (-1, 1)


def of_partitions(
    X: Any,
    function: Callable[[Any], Any],
    dtype: type,
    model: Any,
    *,
    of_classes: bool = False,
) -> Any:
    """Return function(partition) of every partition: a Dask array, or of a frame a series, beside its rows.

    It has an entry for each row, or `of_classes` two. Columns are checked now, not when the scores are computed.
    """
    if hasattr(X, "map_blocks") and hasattr(X, "numblocks"):
        if X.ndim == 2:
            check_features(int(X.shape[1]), None, "X", model.n_features, model.feature_names)
        if X.ndim != 2 or X.numblocks[1] != 1:
            raise ValueError(
                f"X must have 2 dimensions and whole rows in every chunk, got {X.ndim} dimensions and chunks "
                f"{X.numblocks}; use rechunk({{1: -1}})"
            )
        if of_classes:
            chunks = (X.chunks[0], (len(_CLASSES),))
            return X.map_blocks(
                _of_part, _sent(function), dtype=dtype, chunks=chunks, meta=np.empty((0, len(_CLASSES)), dtype=dtype)
            )
        return X.map_blocks(_of_part, _sent(function), dtype=dtype, drop_axis=1, meta=np.empty(0, dtype=dtype))
    if hasattr(X, "map_partitions") and hasattr(X, "columns"):
        titles = tuple(map(plain_title, X.columns))
        check_features(len(titles), titles, "X", model.n_features, model.feature_names)
        if of_classes:
            return X.map_partitions(_of_classes, _sent(function), dtype, meta=dict.fromkeys(_CLASSES, dtype))
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


def computed(of_rows: Any) -> Any:
    """Return scores, labels or weights of the rows of a collection as an array, one number a row."""
    return np.asarray(of_rows.compute()) if is_lazy(of_rows) else of_rows


def _of_part(part: Any, function: Callable[[Any], Any]) -> Any:
    return function(part)


def _column(part: Any, function: Callable[[Any], Any], dtype: type) -> Any:
    """Return the entries beside the rows of a pandas frame."""
    return sys.modules["pandas"].Series(function(part), index=part.index, name="score", dtype=dtype)


def _of_classes(part: Any, function: Callable[[Any], Any], dtype: type) -> Any:
    return sys.modules["pandas"].DataFrame(function(part), index=part.index, columns=list(_CLASSES), dtype=dtype)
