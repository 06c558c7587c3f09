"""Kernel values between training rows of the PUAL family, and the rows that a model with a kernel keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.data._kept_rows import RowArrays, row_arrays
from fastpu.data._matrix import Floats
from fastpu.kernels._kernel_values import kernel_values
from fastpu.pual._pual_rows import PualRows

_DIAGONAL_ROWS = 64  # rows that are compared at once to find the diagonal of a kernel matrix


def kernel_columns(rows: PualRows, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return K(x_i, x_j) of all rows i and the rows `columns`, in float64."""
    matrix, kernel = rows.matrix, rows.kernel
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
        raise ValueError("X must have smaller entries, because kernel values overflow float64; scale X")
    return values


def kernel_diagonal(rows: PualRows) -> NDArray[np.float64]:
    kernel = rows.kernel
    if kernel.name == "precomputed":
        return np.asarray(rows.matrix.table()[np.arange(rows.n), rows.numbers], dtype=np.float64)
    starts = range(0, rows.n, _DIAGONAL_ROWS)
    blocks = (rows.matrix[start : start + _DIAGONAL_ROWS] for start in starts)
    return np.concatenate([np.diagonal(kernel_values(kernel, block, block, rows.n_threads)) for block in blocks])


def support_rows(rows: PualRows, support: NDArray[np.int64]) -> RowArrays[Floats]:
    """Return the training rows that models with a kernel keep, one copy for all models."""
    if rows.kernel.name == "precomputed":
        return RowArrays()
    kept = row_arrays(rows.matrix[support])
    kept.make_read_only()
    return kept
