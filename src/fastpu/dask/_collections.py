"""Dask collections as lists of partitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fastpu.common._text import describe
from fastpu.dask._client import dask, distributed

#: Partitions of whole rows: a Dask array or frame, or a list of futures or of lazy objects.
DaskMatrix: TypeAlias = Any

#: One number or label a row, in the partitions of the rows: a Dask array or series, or a list as above.
DaskVector: TypeAlias = Any


@dataclass(frozen=True)
class Partitions:
    """The partitions of X, of y and, if there are some, of weights and groups: lazy objects or futures."""

    X: list[Any]
    y: list[Any]
    weights: list[Any] | None = None
    groups: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.X)


def is_collection(value: object) -> bool:
    return _is_frame(value) or _is_array(value) or _is_list_of_lazy(value)


def read_rows(
    X: object, y: object, sample_weight: object = None, groups: object = None, *, name: str = ""
) -> Partitions:
    """Return the partitions; `name` says in messages which X and y these are."""
    columns = {f"y{name}": y}
    columns |= {also: of for also, of in (("sample_weight", sample_weight), ("groups", groups)) if of is not None}
    x_parts, parts = _read_together(X, columns) if _are_together(X, columns, name) else _read_apart(X, columns, name)
    return Partitions(x_parts, parts[f"y{name}"], parts.get("sample_weight"), parts.get("groups"))


def _are_together(X: Any, columns: Mapping[str, Any], name: str) -> bool:
    """Return whether X is a frame, whose categories are known, and the columns are series of its partitions."""
    if not _is_frame(X):
        return False
    for column, dtype in X.dtypes.items():
        if type(dtype).__name__ == "CategoricalDtype" and not X[column].cat.known:
            raise ValueError(
                f"X{name} must have known categories in column {column!r}: name them by "
                f"astype({{{column!r}: pandas.CategoricalDtype([...])}})"
            )
    return all(_is_frame(of) and of.ndim == 1 and of.npartitions == X.npartitions for of in columns.values())


def _read_apart(X: Any, columns: Mapping[str, Any], name: str) -> tuple[list[Any], dict[str, list[Any]]]:
    """Return the partitions of X, and those of each column by its name."""
    x_parts, x_sizes = _partitions(X, f"X{name}")
    if not x_parts:
        raise ValueError(f"X{name} must have at least one partition, got none")
    of_columns = {}
    for argument, value in columns.items():
        of_columns[argument], sizes = _partitions(value, argument)
        if len(sizes) != len(x_parts):
            raise ValueError(
                f"{argument} must have the partitions of X{name}, {len(x_parts)} of them, got {len(sizes)}"
            )
        for number, (rows, others) in enumerate(zip(x_sizes, sizes, strict=True)):
            if rows is not None and others is not None and rows != others:
                raise ValueError(
                    f"{argument} must have the partitions of X{name}: partition {number} has {rows} rows there, and "
                    f"{others} here; rechunk one of them"
                )
    return x_parts, of_columns


def _read_together(X: Any, columns: Mapping[str, Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """Return the partitions of a frame and of series of the same partitions, which Dask computes as one frame.

    Read apart, they could be divided in different ways: how Dask joins small Parquet files depends on their columns.
    """
    meta = _joined(X._meta, *(column._meta for column in columns.values()))
    parts = X.map_partitions(_joined, *columns.values(), align_dataframes=False, meta=meta).to_delayed()
    n, take = X.shape[1], dask.delayed(_columns, pure=True)
    of_columns = {argument: [take(part, n + k) for part in parts] for k, argument in enumerate(columns)}
    return [take(part, slice(n)) for part in parts], of_columns


def _joined(frame: Any, *columns: Any) -> Any:
    return frame.assign(**{f"fastpu.dask {k}": column.array for k, column in enumerate(columns)})


def _columns(frame: Any, which: int | slice) -> Any:
    return frame.iloc[:, which]


def _partitions(value: Any, name: str) -> tuple[list[Any], list[int | None]]:
    """Return the partitions of a collection, and their numbers of rows where these are known."""
    if _is_array(value):
        if value.ndim not in (1, 2):
            raise ValueError(f"{name} must have 1 or 2 dimensions, got {value.ndim}")
        if value.ndim == 2 and value.numblocks[1] != 1:
            raise ValueError(
                f"{name} must have whole rows in every chunk, got {value.numblocks[1]} chunks of columns; "
                f"use rechunk({{1: -1}})"
            )
        sizes = [None if math.isnan(size) else int(size) for size in value.chunks[0]]
        return list(value.to_delayed().ravel()), sizes
    if _is_frame(value):
        parts = list(value.to_delayed())
        return parts, [None] * len(parts)
    if _is_list_of_lazy(value):
        return list(value), [None] * len(value)
    raise TypeError(
        f"{name} must be a Dask array, a Dask frame or a list of futures for fastpu.dask, got {describe(value)}; the "
        f"function of the same name in fastpu takes what is in the memory of one machine"
    )


def _is_array(value: object) -> bool:
    return dask.is_dask_collection(value) and hasattr(value, "numblocks")


def _is_frame(value: object) -> bool:
    return dask.is_dask_collection(value) and hasattr(value, "divisions")


def _is_list_of_lazy(value: object) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(part, distributed.Future) or dask.is_dask_collection(part) for part in value)
