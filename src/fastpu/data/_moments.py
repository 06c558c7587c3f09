"""Means and variances of the columns of rows, dense or CSR, whatever their size and however far from 0 they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import CsrMatrix, DenseMatrix, Matrix

_ABSENT = 1e-12  # a share of entries that are not stored below this is rounding
_WIDTH = 512  # dense rows are cut into blocks as if they had so many columns: then they stay in the CPU's cache


@dataclass(frozen=True)
class ColumnMoments:
    """Of each column, by the weights of the rows: mean and variance of the entries divided by `unit`.

    `unit` is a power of 2 near the largest entry, so that squares neither overflow nor vanish. `shares` are the shares
    of entries that are not 0.
    """

    unit: float
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    shares: NDArray[np.float64]


def column_moments(matrix: Matrix, weights: NDArray[np.float64] | None) -> ColumnMoments:
    """Return the moments of checked rows, in float64, by two passes over blocks of rows."""
    largest = float(np.maximum(matrix.entries.max(initial=0), -matrix.entries.min(initial=0)))
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0 else 1.0
    mass = None if weights is None else weights / weights.max()
    total = float(matrix.n_rows) if mass is None else float(mass.sum())
    return _of_csr(matrix, mass, total, unit) if matrix.is_sparse else _of_dense(matrix, mass, total, unit)


def _of_dense(matrix: DenseMatrix, mass: NDArray[np.float64] | None, total: float, unit: float) -> ColumnMoments:
    def apart(rows: slice, origin: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.divide(matrix.values[rows], unit, dtype=np.float64)
        values -= origin  # small where numbers are far from 0, such as years
        return values

    def added(values: NDArray[np.float64], rows: slice) -> NDArray[Any]:
        sums: NDArray[Any] = np.einsum("ij->j", values) if mass is None else np.einsum("i,ij->j", mass[rows], values)
        return sums

    first = np.divide(matrix.values[0], unit, dtype=np.float64)
    sums, squares, set_ = np.zeros((3, matrix.n_features))
    for rows in matrix.blocks(_WIDTH):
        values = apart(rows, first)
        sums += added(values, rows)
        set_ += added(np.not_equal(matrix.values[rows], 0, out=values), rows)
    means = first + sums / total
    for rows in matrix.blocks(_WIDTH):
        values = apart(rows, means)
        squares += added(np.square(values, out=values), rows)
    return ColumnMoments(unit, means, squares / total, set_ / total)


def _of_csr(matrix: CsrMatrix, mass: NDArray[np.float64] | None, total: float, unit: float) -> ColumnMoments:
    sums, squares, set_, left = np.zeros((4, matrix.n_features))

    def added(values: NDArray[Any], block: CsrMatrix, rows: slice) -> NDArray[Any]:
        weighed = values if mass is None else values * np.repeat(mass[rows], block.lengths)
        return np.bincount(block.indices, weights=weighed, minlength=matrix.n_features)

    for rows in matrix.blocks():
        block = matrix[rows]
        sums += added(np.divide(block.data, unit, dtype=np.float64), block, rows)
        set_ += added(block.data != 0, block, rows)
    means = sums / total
    for rows in matrix.blocks():
        block = matrix[rows]
        apart = (np.divide(block.data, unit, dtype=np.float64) - means[block.indices]) * (block.data != 0)
        left += added(apart, block, rows)
        squares += added(np.square(apart), block, rows)
    absent = np.where(total - set_ > _ABSENT * total, total - set_, 0.0)
    error = (left - means * absent) / total  # of the means, by rounding
    variances = np.maximum((squares + means**2 * absent) / total - error**2, 0.0)
    return ColumnMoments(unit, means + error, variances, set_ / total)
