"""Rows in CSR less the mean of the columns that are mostly filled, so that sums of squares keep their digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray


_FILLED = 0.5  # a column with entries in a smaller share of the rows is not shifted: its mean is within its spread


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
