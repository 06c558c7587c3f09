"""The centre and the size of the columns, which Adam's steps and the default ridge are measured by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._moments import column_moments

_CONSTANT = 16  # a column that varies by so many rounding errors of its mean does not vary


@dataclass(frozen=True)
class Columns:
    """What is subtracted from dense rows for Adam, and the size that its rows are divided by (`fit_upu` defines it).

    Adam's steps have one length for all parameters, so a fit must not depend on the unit of the columns. `centre` holds
    the means of the columns whose mean is further from 0 than their standard deviation, and 0 for the others, since
    Adam takes very many steps where a coefficient and the intercept do nearly the same. It is None if there is no such
    column, or the rows are sparse. Columns without an entry, and constant ones far from 0, do not count in `size`.
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
        hidden_intercept: Any = net.hidden_intercept
        intercept = net.intercept
        if hidden_intercept.size:
            hidden_intercept = (hidden_intercept - centre @ net.hidden_coef).astype(hidden_intercept.dtype)
        else:
            intercept -= float(centre @ net.coef)
        return _core.Net(
            hidden_coef=net.hidden_coef, hidden_intercept=hidden_intercept, coef=net.coef, intercept=intercept
        )


def read_columns(matrix: Matrix, weights: NDArray[np.float64] | None) -> Columns:
    of = column_moments(matrix, weights)
    is_far = np.abs(of.means) > np.sqrt(of.variances)
    shares = np.where(is_far, 1.0, of.shares)
    around = (of.variances + of.means**2) / np.maximum(shares, np.finfo(float).tiny)
    squares = np.where(is_far, of.variances, around)
    rounding = _CONSTANT * float(np.finfo(matrix.dtype).eps)
    counts = (shares > 0) & (squares > 0) & (np.sqrt(squares) > rounding * np.abs(of.means))
    centre = None
    if is_far.any() and not matrix.is_sparse:
        centre = np.where(is_far, of.means * of.unit, 0.0).astype(matrix.dtype).astype(np.float64)
    if not counts.any():
        return Columns(centre)
    size = float(np.median(np.sqrt(squares[counts]))) / math.sqrt(float(shares[counts].mean()))
    return Columns(centre, size * of.unit)
