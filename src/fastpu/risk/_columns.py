"""What a risk model has to know of the columns: which are far from 0, and the size of all together.

Adam's steps have one length for all parameters, so a fit must not depend on the unit of the columns: it sees the rows
as divided by one number, their size. The size of standardised columns is 1, and that of text whose rows have the length
1 is near it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import CsrMatrix, DenseMatrix, Matrix

_CONSTANT = 16  # a column that varies by so many rounding errors of its mean does not vary


@dataclass(frozen=True)
class Columns:
    """What is subtracted from dense rows for Adam, and the size that its rows are divided by.

    `centre` holds the means of the columns whose mean is further from 0 than their standard deviation, and 0 for the
    others, since Adam takes very many steps where a coefficient and the intercept do nearly the same. It is None if
    there is no such column, or the rows are sparse.

    `size` is the median over the columns of the root mean square of the entries that are not 0, divided by the root of
    the share of such entries. Of a column far from 0 the standard deviation counts, whatever the form of the rows, and
    the share 1. Columns without an entry, and constant ones far from 0, do not count.
    """

    centre: NDArray[np.float64] | None = None
    size: float = 1.0

    def moved(self, matrix: Matrix) -> Matrix:
        if self.centre is None or matrix.is_sparse:
            return matrix
        return DenseMatrix(matrix.values - self.centre.astype(matrix.dtype))

    def moved_back(self, net: _core.Net) -> _core.Net:
        """Return a net for rows less the centre as one for rows that are not centred."""
        centre = self.centre
        if centre is None:
            return net
        if not net["hidden_intercept"].size:
            return {**net, "intercept": net["intercept"] - float(centre @ net["coef"])}
        hidden_intercept = net["hidden_intercept"] - centre @ net["hidden_coef"]
        return {**net, "hidden_intercept": hidden_intercept.astype(net["hidden_intercept"].dtype)}


def read_columns(matrix: Matrix, weights: NDArray[np.float64] | None) -> Columns:
    """Return the centre and the size of checked rows."""
    mass = np.ones(matrix.n_rows) if weights is None else weights / weights.max()
    unit = _unit(matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        means, variances, shares = (
            _sparse_moments(matrix, mass, unit) if matrix.is_sparse else _dense_moments(matrix, mass, unit)
        )
        is_far = np.abs(means) > np.sqrt(variances) * unit
        relative = means / unit
        shares = np.where(is_far, 1.0, shares)
        squares = np.where(is_far, variances, (variances + relative**2) / np.maximum(shares, np.finfo(float).tiny))
        rounding = _CONSTANT * float(np.finfo(matrix.dtype).eps)
        counts = (shares > 0) & (squares > 0) & (np.sqrt(squares) > rounding * np.abs(relative)) & np.isfinite(squares)
    centre = np.where(is_far, means, 0.0) if is_far.any() and not matrix.is_sparse else None
    if not counts.any():
        return Columns(centre)
    size = float(np.median(np.sqrt(squares[counts]))) / math.sqrt(float(shares[counts].mean()))
    return Columns(centre, size * unit)


def _unit(matrix: Matrix) -> float:
    """Return a power of 2 near the largest entry, by which entries are divided: their squares do not overflow then."""
    if not matrix.entries.size:
        return 1.0
    largest = max(float(matrix.entries.max()), -float(matrix.entries.min()))
    most = np.finfo(matrix.dtype).maxexp - 10
    return math.ldexp(1.0, min(max(math.frexp(largest)[1], -most), most)) if largest > 0 else 1.0


def _dense_moments(
    matrix: DenseMatrix, mass: NDArray[np.float64], unit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the columns, their variances in units of unit^2, and their shares of entries that are not 0.

    The sums of a block of rows have the type of the rows.
    """
    factors, first = mass.astype(matrix.dtype), matrix.values[0]
    sums, squares, set_ = np.zeros((3, matrix.n_features))
    for rows in matrix.blocks():  # less the first row, or float32 would lose the digits of numbers such as years
        apart = matrix.values[rows] - first
        apart *= 1 / unit
        sums += np.einsum("i,ij->j", factors[rows], apart)
        if np.count_nonzero(matrix.values[rows]) == apart.size:
            set_ += mass[rows].sum()
        else:
            np.not_equal(matrix.values[rows], 0, out=apart)
            set_ += np.einsum("i,ij->j", factors[rows], apart)
    means = (first + sums / mass.sum() * unit).astype(matrix.dtype)
    for rows in matrix.blocks():
        apart = matrix.values[rows] - means
        apart *= 1 / unit
        squares += np.einsum("i,ij->j", factors[rows], np.square(apart, out=apart))
    return means.astype(np.float64), squares / mass.sum(), set_ / mass.sum()


def _sparse_moments(
    matrix: CsrMatrix, mass: NDArray[np.float64], unit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what `_dense_moments` does."""
    (sums, squares, set_, left), total = np.zeros((4, matrix.n_features)), mass.sum()

    def added(values: NDArray[np.float64], block: CsrMatrix, rows: slice) -> NDArray[np.float64]:
        weights = values * np.repeat(mass[rows], block.lengths)
        return np.bincount(block.indices, weights=weights, minlength=matrix.n_features).astype(np.float64, copy=False)

    for rows in matrix.blocks():
        block = matrix[rows]
        sums += added(block.data / np.float64(unit), block, rows)
        set_ += added((block.data != 0).astype(np.float64), block, rows)
    means = sums / total
    for rows in matrix.blocks():
        block = matrix[rows]
        apart = (block.data / np.float64(unit) - means[block.indices]) * (block.data != 0)
        left += added(apart, block, rows)
        squares += added(np.square(apart), block, rows)
    error = (left - means * (total - set_)) / total  # of the means, by rounding
    variances = (squares + means**2 * (total - set_)) / total - error**2
    return (means + error) * unit, np.maximum(variances, 0.0), set_ / total
