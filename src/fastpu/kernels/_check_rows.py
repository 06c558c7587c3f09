"""The training rows of a method with a kernel, checked."""

from __future__ import annotations

import numpy as np

from fastpu.data._matrix import Floats, Matrix
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.kernels._kernel import SYMMETRY, KernelOptions
from fastpu.kernels._scales import warn_of_scales

_TILE = 512


def check_training_rows(X: object, kernel: KernelOptions, function: str, *, warns: bool = True) -> Matrix:
    """Check the training rows of a public function for the kernel; with `warns`, warn of columns on other scales."""
    require_rows(X, function)
    matrix = check_matrix(X, sparse=kernel.name != "precomputed")
    if kernel.name == "precomputed":
        if matrix.n_rows != matrix.n_features:
            raise ValueError(
                f"X must be square for kernel='precomputed', K of every two training rows, "
                f"got shape {(matrix.n_rows, matrix.n_features)}"
            )
        check_symmetric(matrix.table())
    return warn_of_scales(matrix, kernel) if warns else matrix


def check_symmetric(K: Floats) -> None:
    """Raise ValueError at the first tile of `K` that differs from its mirror image, without a copy of the whole."""
    n = K.shape[0]
    limit = SYMMETRY * max(float(K.max()), -float(K.min()))
    for i in range(0, n, _TILE):
        for j in range(i, n, _TILE):
            with np.errstate(over="ignore"):
                apart = np.abs(K[i : i + _TILE, j : j + _TILE] - K[j : j + _TILE, i : i + _TILE].T)
            if not float(apart.max()) <= limit:
                place = divmod(int(np.argmax(apart)), apart.shape[1])
                row, column = i + place[0], j + place[1]
                raise ValueError(
                    f"X must be symmetric for kernel='precomputed', got X[{row}, {column}] = {float(K[row, column]):g} "
                    f"and X[{column}, {row}] = {float(K[column, row]):g}"
                )
