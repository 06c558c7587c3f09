"""Kernel values between the rows of two matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import Matrix
from fastpu.kernels._function_kernel import call_kernel, users_table
from fastpu.kernels._kernel import Kernel


def kernel_values(kernel: Kernel, x: Matrix, y: Matrix, n_threads: int) -> NDArray[np.float64]:
    """Return K(x_i, y_j) of all rows of two matrices of one form, in float64; not of a precomputed kernel."""
    if kernel.function is not None:
        values: NDArray[np.float64] = np.empty((x.n_rows, y.n_rows))
        for block in x.blocks(y.n_rows):
            values[block] = call_kernel(kernel.function, users_table(x[block]), users_table(y))
        return values
    x, y = (rows.convert(np.dtype(np.float64), sparse=rows.is_sparse) for rows in (x, y))
    return _core.kernel_matrix(x, y, kernel.core_params, n_threads=n_threads)
