"""Tasks on the partitions that a user passes: how a worker reads one, and how the driver starts one for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.dask._client import Client, dask
from fastpu.dask._collections import Partitions
from fastpu.data._validate import check_labels, check_matrix, check_sample_weight, check_vector

#: Reads the rows of a partition.
read_matrix = partial(check_matrix, finite=False)


# ---- On a worker ----


def n_rows_of(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def read_labels(y: Any, weights: Any, n_rows: int) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    if n_rows:
        return check_labels(y, n_rows), None if weights is None else read_weights(weights, n_rows)
    sizes = {"y": n_rows_of(y), "sample_weight": 0 if weights is None else n_rows_of(weights)}
    if any(sizes.values()):
        raise ValueError(f"X is empty, but not y and sample_weight: {sizes}")
    return np.empty(0, dtype=np.int8), None if weights is None else np.empty(0)


def read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of a partition; all may be 0, as another partition may have positive ones."""
    of_rows = check_vector("sample_weight", weights, n=n_rows)
    check_sample_weight(np.append(of_rows, 1.0), n_rows + 1)
    return of_rows


def _in_partition(function: Any, X: Any, y: Any, weights: Any, number: int, *also: Any) -> Any:
    """Return what a function says of a partition; its errors name it."""
    try:
        return function(X, y, weights, number, *also)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"partition {number}: {error}") from error


# ---- The driver ----


def start_tasks(
    client: Client, function: Any, rows: Partitions, *also: Any, each: Sequence[Any] | None = None
) -> list[Any]:
    """Start ``function(X, y, weights, number, *also)`` for each partition, with its own entry of `each` at the end."""
    lazy = dask.delayed(_in_partition, pure=False)
    parts = zip(rows.X, rows.y, rows.weights or [None] * len(rows), strict=True)
    own = [()] * len(rows) if each is None else [(entry,) for entry in each]
    return list(
        client.compute([lazy(function, *part, number, *also, *own[number]) for number, part in enumerate(parts)])
    )


def send_once(value: object) -> Any:
    """Return a value that is sent once for all tasks, and again where a worker is lost."""
    return dask.delayed(value, pure=False, traverse=False)
