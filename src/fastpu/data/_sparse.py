"""SciPy sparse matrices as canonical CSR arrays, never made dense.

SciPy's own conversions trust the index arrays and read or write out of bounds if they are wrong,
so each format's indices are checked here before SciPy sees them. The caller's matrix is only read:
asking SciPy whether it is sorted would already write a flag into it.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.data._matrix import CsrMatrix, check_whole_numbers, native_floats

_INDEX_MAX = np.iinfo(np.int32).max


def read_sparse(X: Any, name: str) -> CsrMatrix:
    """Return the matrix as CSR with sorted rows and without duplicates, without a copy if it is so already."""
    shape = (int(X.shape[0]), int(X.shape[1]))
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {X.dtype}")
    if shape[1] > _INDEX_MAX:
        raise ValueError(f"{name} must have at most {_INDEX_MAX} columns if sparse, got {shape[1]}")
    if X.format == "csr":
        nnz = _check_compressed(X, shape, axis="row", name=name)
        check_whole_numbers(np.asarray(X.data)[:nnz], name, lambda position: f"column {X.indices[position]}")
        data = native_floats(np.asarray(X.data)[:nnz])
        column = np.require(np.asarray(X.indices)[:nnz], np.int32, ["C", "A"])
        indptr = np.require(X.indptr, np.int64, ["C", "A"])
        matrix = CsrMatrix(data, column, indptr, shape[1])
        if matrix.table().has_canonical_format:
            return matrix
        row = np.repeat(np.arange(shape[0], dtype=np.int64), np.diff(indptr))
    else:
        data, row, column = _triplets(X, shape, name)
        check_whole_numbers(data, name, lambda position: f"column {column[position]}")
        data = native_floats(data)
    canonical = sp.coo_array((data, (row, column)), shape=shape).tocsr()
    canonical.sum_duplicates()
    if X.dtype.kind == "b":  # True twice is still True
        np.minimum(canonical.data, 1.0, out=canonical.data)
    return CsrMatrix.of(canonical)


def _triplets(X: Any, shape: tuple[int, int], name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return (data, row, column) of a matrix that is not CSR."""
    if X.format == "csc":
        nnz = _check_compressed(X, shape[::-1], axis="column", name=name)
        column = np.repeat(np.arange(shape[1], dtype=np.int64), np.diff(X.indptr))
        return np.asarray(X.data)[:nnz], np.asarray(X.indices)[:nnz], column
    if X.format == "bsr":
        size = X.data.shape[1:]  # of a block
        if len(size) != 2 or 0 in size:
            raise ValueError(f"{name}.data must be a list of blocks, got shape {X.data.shape}")
        blocks = (shape[0] // size[0], shape[1] // size[1])
        _check_compressed(X, blocks, axis="block row", name=name)
    if X.format == "lil":
        if any(len(columns) != len(values) for columns, values in zip(X.rows, X.data, strict=True)):
            raise ValueError(f"{name} must have as many column numbers as entries in each row")
        counts = np.array([len(columns) for columns in X.rows], dtype=np.int64)
        total = int(counts.sum())
        column = np.fromiter(chain.from_iterable(X.rows), dtype=np.int64, count=total)
        data = np.fromiter(chain.from_iterable(X.data), dtype=X.dtype, count=total)
        row = np.repeat(np.arange(shape[0], dtype=np.int64), counts)
    else:
        coo = X if X.format == "coo" else X.tocoo()  # of bsr, checked above, or of dok and dia, which is plain NumPy
        data, row, column = coo.data, coo.row, coo.col
    if not data.ndim == row.ndim == column.ndim == 1 or not data.size == row.size == column.size:
        raise ValueError(
            f"{name} must have one row and one column number per entry, got {data.shape} entries, "
            f"{row.shape} row and {column.shape} column numbers"
        )
    _check_range(row, shape[0], "row numbers", name)
    _check_range(column, shape[1], "column numbers", name)
    return data, row, column


def _check_compressed(X: Any, shape: tuple[int, int], *, axis: str, name: str) -> int:
    """Check the arrays of a CSR, CSC or BSR matrix; return the number of entries (or blocks) in use.

    `shape` counts the compressed axis first, in blocks for BSR.
    """
    indptr, indices, data = np.asarray(X.indptr), np.asarray(X.indices), np.asarray(X.data)
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(
            f"{name}.indptr and {name}.indices must be integers, got dtypes {indptr.dtype} and {indices.dtype}"
        )
    if indptr.shape != (shape[0] + 1,) or indices.ndim != 1:
        raise ValueError(
            f"{name}.indptr must have one entry per {axis} and one more ({shape[0] + 1}), "
            f"got shape {indptr.shape}, with {name}.indices of shape {indices.shape}"
        )
    if data.ndim != 1 and X.format != "bsr":
        raise ValueError(f"{name}.data must be one-dimensional, got shape {data.shape}")
    # Compared, not subtracted: the difference of unsigned integers never goes below zero.
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"{name}.indptr must start at 0 and never decrease")
    nnz = int(indptr[-1])
    if nnz > indices.shape[0] or nnz > data.shape[0]:
        raise ValueError(
            f"{name}.indptr must end within {name}.indices and {name}.data, got {nnz} for "
            f"{indices.shape[0]} indices and {data.shape[0]} entries"
        )
    _check_range(indices[:nnz], shape[1], "indices", name)
    return nnz


def _check_range(numbers: NDArray[Any], end: int, what: str, name: str) -> None:
    if numbers.size == 0:
        return
    low, high = int(numbers.min()), int(numbers.max())
    if low < 0 or high >= end:
        raise ValueError(f"{name} must have {what} from 0 to {end - 1}, got {low if low < 0 else high}")
