"""Means and variances of the columns of rows, dense or CSR, whatever their size and however far from 0 they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import CsrMatrix, DenseMatrix, Matrix

_ABSENT = 1e-12  # a share of entries that are not stored below this is rounding


@dataclass(frozen=True)
class Moments:
    """Of each column, by the weights of the rows: mean and variance of the entries divided by `unit`.

    `unit` is a power of 2 near the largest entry, so that squares neither overflow nor vanish. `shares` are the shares
    of entries that are not 0.
    """

    unit: float
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    shares: NDArray[np.float64]


def column_moments(matrix: Matrix, weights: NDArray[np.float64] | None) -> Moments:
    """Return the moments of checked rows, in float64, by two passes over blocks of rows."""
    mass = np.ones(matrix.n_rows) if weights is None else weights / weights.max()
    largest = float(np.maximum(matrix.entries.max(initial=0), -matrix.entries.min(initial=0)))
    unit = np.float64(math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0 else 1.0)
    parts = _of_csr(matrix, mass, unit) if matrix.is_sparse else _of_dense(matrix, mass, unit)
    return Moments(float(unit), *parts)


def _of_dense(
    matrix: DenseMatrix, mass: NDArray[np.float64], unit: np.float64
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    first, total = matrix.values[0] / unit, mass.sum()
    sums, squares, set_ = np.zeros((3, matrix.n_features))
    for rows in matrix.blocks():
        apart = matrix.values[rows] / unit - first  # small where numbers are far from 0, such as years
        sums += np.einsum("i,ij->j", mass[rows], apart)
        set_ += np.einsum("i,ij->j", mass[rows], np.not_equal(matrix.values[rows], 0, out=apart))
    means = first + sums / total
    for rows in matrix.blocks():
        squares += np.einsum("i,ij->j", mass[rows], np.square(matrix.values[rows] / unit - means))
    return means, squares / total, set_ / total


def _of_csr(
    matrix: CsrMatrix, mass: NDArray[np.float64], unit: np.float64
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    (sums, squares, set_, left), total = np.zeros((4, matrix.n_features)), mass.sum()

    def added(values: NDArray[np.float64], block: CsrMatrix, rows: slice) -> NDArray[np.float64]:
        weights = values * np.repeat(mass[rows], block.lengths)
        return np.bincount(block.indices, weights=weights, minlength=matrix.n_features).astype(np.float64, copy=False)

    for rows in matrix.blocks():
        block = matrix[rows]
        sums += added(block.data / unit, block, rows)
        set_ += added((block.data != 0).astype(np.float64), block, rows)
    means = sums / total
    for rows in matrix.blocks():
        block = matrix[rows]
        apart = (block.data / unit - means[block.indices]) * (block.data != 0)
        left += added(apart, block, rows)
        squares += added(np.square(apart), block, rows)
    absent = np.where(total - set_ > _ABSENT * total, total - set_, 0.0)
    error = (left - means * absent) / total  # of the means, by rounding
    return means + error, np.maximum((squares + means**2 * absent) / total - error**2, 0.0), set_ / total
