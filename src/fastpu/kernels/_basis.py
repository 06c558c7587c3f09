"""What a function is linear in: the rows themselves, or Gaussian basis functions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import MatrixLike
from fastpu.data._kept_rows import RowArrays, row_arrays
from fastpu.data._matrix import DenseMatrix, Floats, Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._gauss_basis import default_bandwidth, gauss_features, open_centers


@dataclass(frozen=True, eq=False)
class LinearBasis:
    """The rows themselves."""

    features: Matrix

    name: ClassVar[Literal["linear"]] = "linear"
    bandwidth: ClassVar[None] = None

    @property
    def center_arrays(self) -> RowArrays[Floats]:
        """The arrays that a model keeps its centres in: none."""
        return RowArrays()


@dataclass(frozen=True, eq=False)
class GaussBasis:
    """Basis functions around centres; `features` has a column for each centre."""

    features: Matrix
    centers: Matrix
    bandwidth: float

    name: ClassVar[Literal["gauss"]] = "gauss"

    @property
    def center_arrays(self) -> RowArrays[Floats]:
        """The arrays that a model keeps its centres in."""
        return row_arrays(self.centers)


Basis: TypeAlias = LinearBasis | GaussBasis


def basis_centers(
    rows: TrainingRows, centers: MatrixLike | None, n_centers: int, generator: np.random.Generator
) -> Matrix:
    """Return the caller's centres, or draw some from the rows."""
    return open_centers(rows.matrix, centers, n_centers, rows.weights, generator)


def gauss_basis(rows: TrainingRows, centers: Matrix, bandwidth: float | None, n_threads: int) -> GaussBasis:
    """Return the basis functions of the rows; without a bandwidth it follows from the rows."""
    width = bandwidth or default_bandwidth(rows.matrix, rows.weights, centers)
    features: NDArray[np.float64] = gauss_features(rows.matrix, centers, width, n_threads)
    return GaussBasis(DenseMatrix(features), centers, width)
