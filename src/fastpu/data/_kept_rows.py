"""Rows that a model keeps: in the field ``<prefix>_dense``, or in ``<prefix>_data``, ``_indices`` and ``_indptr``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import CsrMatrix, DenseMatrix, Floats, Matrix
from fastpu.data._validate import is_rising

Entries = TypeVar("Entries", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class RowArrays(Generic[Entries]):
    """The arrays of rows that a model keeps: `dense`, or the other three for CSR; all are None if it keeps no rows."""

    dense: Entries | None = None
    data: Entries | None = None
    indices: NDArray[np.int32] | None = None
    indptr: NDArray[np.int64] | None = None

    def make_read_only(self) -> None:
        """Let models share the arrays, which nobody else holds, without a copy."""
        for array in (self.dense, self.data, self.indices, self.indptr):
            if array is not None:
                array.flags.writeable = False


def row_arrays(matrix: Matrix) -> RowArrays[Floats]:
    if matrix.is_sparse:
        return RowArrays(data=matrix.data, indices=matrix.indices, indptr=matrix.indptr)
    return RowArrays(dense=matrix.values)


def float64_row_arrays(matrix: Matrix) -> RowArrays[NDArray[np.float64]]:
    """Return the arrays of rows in float64."""
    if matrix.is_sparse:
        data = matrix.data.astype(np.float64, copy=False)
        return RowArrays(data=data, indices=matrix.indices, indptr=matrix.indptr)
    return RowArrays(dense=matrix.values.astype(np.float64, copy=False))


def _arrays(model: object, prefix: str) -> list[Any]:
    return [getattr(model, f"{prefix}_{name}") for name in ("dense", "data", "indices", "indptr")]


def kept_rows(model: object, prefix: str) -> Matrix:
    dense, *csr = _arrays(model, prefix)
    if dense is not None:
        return DenseMatrix(dense)
    data, indices, indptr = csr
    return CsrMatrix(data, indices, indptr, model.n_features)  # type: ignore[attr-defined]


def check_kept_rows(model: object, prefix: str, shape: tuple[int, int], *, wanted: bool, otherwise: str) -> None:
    """Raise ValueError unless the fields hold a finite matrix of this shape, or none where it is not `wanted`.

    `otherwise` is the message where there is no matrix but should be one, or the other way round.
    """
    dense, *csr = _arrays(model, prefix)
    n_csr = sum(array is not None for array in csr)
    if (dense is not None) + (n_csr == len(csr)) != wanted or n_csr not in {0, len(csr)}:
        raise ValueError(otherwise)
    if dense is not None and dense.shape != shape:
        raise ValueError(f"{prefix}_dense must have shape {shape}, got {dense.shape}")
    if n_csr:
        data, indices, indptr = csr
        if indptr.size != shape[0] + 1 or indptr[0] != 0 or not is_rising(indptr):
            raise ValueError(f"{prefix}_indptr must rise from 0 in {shape[0] + 1} entries")
        if indptr[-1] != data.size or indices.size != data.size:
            raise ValueError(f"{prefix}_data and {prefix}_indices must have {indptr[-1]} entries")
        if indices.size and (indices.min() < 0 or indices.max() >= shape[1]):
            raise ValueError(f"{prefix}_indices must be in [0, {shape[1]})")
        falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
        if not np.isin(falls, indptr).all():
            raise ValueError(f"{prefix}_indices must ascend in each row")
    if wanted and not np.isfinite(kept_rows(model, prefix).entries).all():
        raise ValueError(f"{prefix}_{'data' if n_csr else 'dense'} must be finite")
