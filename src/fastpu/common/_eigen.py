"""Eigenvalues of a symmetric matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_OVERFLOW = "X must have smaller entries, because sums of their squares, or of kernel values, overflow; scale X"


def symmetric_eigen(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of `matrix`, rising, and eigenvectors in columns; ValueError if they are not finite."""
    try:
        values, vectors = np.linalg.eigh(matrix)
    except MemoryError as error:
        raise MemoryError(f"cannot allocate {3 * matrix.nbytes} bytes for the eigenvectors of a matrix") from error
    except np.linalg.LinAlgError:  # the entries are not finite, or so large that LAPACK's sums overflow
        raise ValueError(_OVERFLOW) from None
    if not np.isfinite(values).all():
        raise ValueError(_OVERFLOW)
    return values, vectors
