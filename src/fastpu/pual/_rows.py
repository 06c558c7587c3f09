"""Training rows of the PUAL family: positive and unlabelled ones, kernel values, and products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._kernels import Kernel, kernel_values

_DIAGONAL_ROWS = 64  # rows that are compared at once to find the diagonal of a kernel matrix


class PualRows:
    """Training rows with the numbers of positive and unlabelled ones; `numbers` are those of all in the caller's X."""

    def __init__(self, rows: TrainingRows, n_threads: int) -> None:
        labels, weights = rows.labels, rows.weights
        self.matrix: Matrix = rows.matrix
        self.n_threads = n_threads
        self.pos: NDArray[np.int64] = np.flatnonzero(labels == 1)
        self.unl: NDArray[np.int64] = np.flatnonzero(labels == 0)
        self.is_unl: NDArray[np.bool_] = labels == 0
        self.weights = weights
        self.numbers: NDArray[np.int64] = np.arange(rows.n_given) if rows.numbers is None else rows.numbers
        #: The weight of each unlabelled row as a share of the weight of all unlabelled rows; 0 for positives.
        self.share_unl: NDArray[np.float64] = self.is_unl / self.unl.size
        if weights is not None:
            self.share_unl = np.where(self.is_unl, weights / float(weights[self.unl].max()), 0.0)
            self.share_unl /= self.share_unl.sum()

    @property
    def n(self) -> int:
        return self.matrix.n_rows

    def weigh(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.ones(rows.size) if self.weights is None else self.weights[rows]


def kernel_columns(rows: PualRows, kernel: Kernel, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return K(x_i, x_j) of all rows i and the rows `columns`, in float64."""
    matrix = rows.matrix
    try:
        # fails before the work begins if there is too little memory
        values: NDArray[np.float64] = np.empty((rows.n, columns.size))
    except MemoryError:
        raise MemoryError(f"cannot allocate {8 * rows.n * columns.size} bytes for the kernel matrix") from None
    if kernel.name == "precomputed":
        values[...] = matrix.table()[:, rows.numbers[columns]]
    else:
        values = kernel_values(kernel, matrix, matrix[columns], rows.n_threads)
    if not np.isfinite(values).all():
        raise ValueError("X must have entries so small that kernel values do not overflow; scale X")
    return values


def kernel_diagonal(rows: PualRows, kernel: Kernel) -> NDArray[np.float64]:
    if kernel.name == "precomputed":
        return np.asarray(rows.matrix.table()[np.arange(rows.n), rows.numbers], dtype=np.float64)
    starts = range(0, rows.n, _DIAGONAL_ROWS)
    blocks = (rows.matrix[start : start + _DIAGONAL_ROWS] for start in starts)
    return np.concatenate([np.diagonal(kernel_values(kernel, block, block, rows.n_threads)) for block in blocks])


def expansion_rows(rows: PualRows, kernel: Kernel, support: NDArray[np.int64]) -> dict[str, Any]:
    """Return the fields of a kernel expansion over some training rows, with one copy of the rows for all models."""
    fields: dict[str, Any] = {"support": rows.numbers[support]}
    if kernel.name not in {"linear", "precomputed"}:
        fields |= rows.matrix[support].fields("support")
    for value in fields.values():
        value.flags.writeable = False  # the models share these arrays, which nobody else holds
    return fields


def gram(z: NDArray[np.float64], weights: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """Return z'z with each row multiplied by its weight; `z` is overwritten."""
    z *= np.sqrt(weights)[:, None]
    return _core.tiled_symmetric_product(z, z, n_threads=n_threads)
