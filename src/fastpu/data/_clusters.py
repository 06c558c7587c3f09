"""Groups of rows that belong together, such as those of a customer, as users name them.

In the code they are clusters: "groups" are also the rows of one label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe
from fastpu.data._coding import is_missing

_KINDS = "biufUSmM"


@dataclass(frozen=True)
class Clusters:
    """The labels of groups, in the order in which they appear, and for each row the place of its label among them."""

    labels: NDArray[Any] | list[Any]
    numbers: NDArray[np.int32]


def cluster_numbers(groups: object, n_rows: int, name: str = "groups") -> NDArray[np.int32] | None:
    """Return the number of the group of each row, in the order in which they appear, or None if there are no groups.

    So the result does not depend on what the groups are called. `name` is that of the argument, for messages.
    """
    return None if groups is None else read_clusters(groups, n_rows, name).numbers


def read_clusters(groups: object, n_rows: int, name: str = "groups") -> Clusters:
    """Return the groups of rows, checked."""
    labels = _labels(groups, name)
    if len(labels) != n_rows:
        raise ValueError(f"{name} must have one entry per row ({n_rows}), got {len(labels)}")
    if isinstance(labels, list):
        return _clusters_of_objects(labels, name)
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.isnat(labels) if labels.dtype.kind in "mM" else None
    if missing is not None and missing.any():
        _refuse_missing(int(np.argmax(missing)), name)
    return _clusters_of_array(labels)


def joined_clusters(parts: Sequence[Clusters]) -> NDArray[np.int32]:
    """Return the numbers that `cluster_numbers` gives to the rows of all parts, one below the other."""
    filled = [part for part in parts if len(part.labels)]
    kinds = {part.labels.dtype.kind if isinstance(part.labels, np.ndarray) else "O" for part in filled}
    if len(kinds) == 1 and "O" not in kinds:
        numbers = as_numbers(np.concatenate([part.labels for part in filled]))
    else:  # an array of numbers and words would make words of all of them
        of_parts = [list(part.labels) if isinstance(part.labels, list) else part.labels.tolist() for part in filled]
        numbers = _clusters_of_objects([label for labels in of_parts for label in labels], "groups").numbers
    of_labels = np.split(numbers, np.cumsum([len(part.labels) for part in filled])[:-1])
    return np.concatenate([own[part.numbers] for own, part in zip(of_labels, filled, strict=True)])


def as_numbers(labels: NDArray[Any]) -> NDArray[np.int32]:
    """Return numbers from 0 on, in the order in which the labels appear."""
    return _clusters_of_array(labels).numbers


def _clusters_of_array(labels: NDArray[Any]) -> Clusters:
    values, first, number = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(first.size, dtype=np.int32)
    place[order] = np.arange(first.size, dtype=np.int32)
    return Clusters(values[order], place[number.reshape(-1)])


def effective_number(clusters: NDArray[np.int32] | None, rows: NDArray[Any]) -> float:
    """Return how many independent rows some rows count for, if the rows of a cluster are all alike (Kish).

    They are given by their numbers, or as a mask.

    It is the number of clusters if all have the same size, and smaller otherwise.
    """
    if clusters is None:
        return float(np.count_nonzero(rows) if rows.dtype == np.bool_ else rows.size)
    sizes = np.bincount(clusters[rows])
    return float(sizes.sum()) ** 2 / float((sizes**2).sum())


def _labels(groups: object, name: str) -> NDArray[Any] | list[Any]:
    """Return the labels as a vector of NumPy, or, where they are objects, as a list."""
    named: Any = groups
    if isinstance(groups, list | tuple):
        return list(groups)
    is_plain = isinstance(getattr(groups, "dtype", None), np.dtype)
    for method in ("to_pylist", "to_list"):  # of columns of tables, whose labels NumPy would turn into others
        if not is_plain and hasattr(groups, method):
            return list(getattr(named, method)())
    array = np.asarray(named)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one label for each row, got {describe(groups)}")
    if array.dtype.kind == "O":
        return list(array.tolist())
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"{name} must hold labels, such as numbers or strings, got dtype {array.dtype}")
    return array


def _clusters_of_objects(labels: list[Any], name: str) -> Clusters:
    number_of: dict[Any, int] = {}
    numbers = np.empty(len(labels), dtype=np.int32)
    for row, label in enumerate(labels):
        if is_missing(label):
            _refuse_missing(row, name)
        try:
            numbers[row] = number_of.setdefault(label, len(number_of))
        except TypeError as error:
            raise TypeError(
                f"{name} must hold labels, such as numbers or strings, got {describe(label)} at position {row}"
            ) from error
    return Clusters(list(number_of), numbers)


def _refuse_missing(row: int, name: str) -> None:
    raise ValueError(
        f"{name} must name the group of every row, got a missing label at position {row}; give each row that belongs "
        f"to no other a label of its own"
    )
