"""Scores of rows that have to be converted first, a block of them at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import Matrix


def score_rows(
    matrix: Matrix, dtype: np.dtype[Any], score: Callable[[Matrix], NDArray[np.float64]], *, sparse: bool
) -> NDArray[np.float64]:
    """Return the scores of rows, converted to `dtype`, and to CSR if `sparse`, a block at a time if need be."""
    if matrix.dtype == dtype and matrix.is_sparse == sparse:
        return score(matrix)
    blocks = (matrix[rows].convert(dtype, sparse=sparse) for rows in matrix.blocks())
    return np.concatenate([score(block) for block in blocks])
