"""Rows and sums of rows that are taken from an origin near them, so that nothing cancels far from 0.

Products with rows are summed by NumPy's own loops and not by its BLAS, whose threads this package cannot limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.data._matrix import DenseMatrix, Matrix, entry_blocks

_FILLED = 0.5  # a column with entries in a smaller share of the rows is not shifted: its mean is within its spread
_BALANCED = 1e-12  # a sum below this share of the sum of absolute values is rounding


def centred(matrix: Matrix) -> Matrix:
    """Return rows less their mean if they are dense, and others as they are.

    If the factors of rows sum to 0, a sum of rows does not depend on the origin, but its rounding errors do.
    """
    return matrix if matrix.is_sparse else DenseMatrix(matrix.values - matrix.values.mean(axis=0))


def shifted_csr(x: Any, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.float64]]:
    """Return a CSR array, of float64 if anything is shifted, and the shift of each column: they add up to the rows `x`.

    The columns that are filled in more than half of `rows` are shifted by the mean of their entries there, and are
    filled wholly in what is returned: it has at most twice the entries of these rows. The others have at least as many
    zeros as entries, so that their mean is no larger than their spread, and stay as they are.
    """
    few = x[rows]
    counts = np.bincount(few.indices, minlength=x.shape[1])
    filled = np.flatnonzero(counts > _FILLED * rows.size)
    shift: NDArray[np.float64] = np.zeros(x.shape[1])
    if not filled.size:
        return x, shift
    sums = np.bincount(few.indices, weights=few.data, minlength=x.shape[1])
    is_filled = np.zeros(x.shape[1], dtype=bool)
    is_filled[filled] = True
    x = x.astype(np.float64, copy=False)
    dense = x[:, filled].toarray()
    # A rounded mean may lie outside the range: a constant column has to become 0.
    shift[filled] = np.clip(sums[filled] / counts[filled], dense.min(axis=0), dense.max(axis=0))
    dense -= shift[filled]
    kept = ~is_filled[x.indices]
    starts = np.concatenate([[0], np.cumsum(kept)])[x.indptr]
    rest = sp.csr_array((x.data[kept], x.indices[kept], starts), shape=x.shape)
    starts = np.arange(len(dense) + 1) * filled.size
    whole = sp.csr_array((dense.reshape(-1), np.tile(filled, len(dense)), starts), shape=x.shape)
    return sp.csr_array(rest + whole), shift


def linear_coef(matrix: Matrix, rows: NDArray[np.int64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_i factors[i] x_(rows[i]) in float64, over blocks of rows of a fixed size.

    Where the factors sum to 0, dense rows are taken from one of them, so that nothing cancels far from the origin.
    """
    origin: NDArray[np.float64] = np.zeros(matrix.n_features)
    with np.errstate(over="ignore"):
        is_balanced = abs(factors.sum()) <= _BALANCED * np.abs(factors).sum()
    if is_balanced and rows.size and not matrix.is_sparse:
        origin = matrix.values[rows[0]].astype(np.float64)
    coef: NDArray[np.float64] = np.zeros(matrix.n_features)
    starts = np.concatenate([[0], np.cumsum(matrix.lengths[rows])])
    for part in entry_blocks(starts):
        block = matrix[rows[part]]
        if block.is_sparse:
            np.add.at(coef, block.indices, block.data * np.repeat(factors[part], block.lengths))
        else:
            coef += np.einsum("i,ij->j", factors[part], block.values.astype(np.float64, copy=False) - origin)
    return coef
