"""Means and covariances of three groups of rows, and the quadratic of a squared loss of pairs that they give.

BLAS is called on blocks of a fixed size with one thread (the caller has to hold `one_blas_thread`), so that sums have
the same order on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fastpu.data._matrix import CsrMatrix
from fastpu.kernels._centring import shifted_csr

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu.data._matrix import Matrix


_GROUPS = (1, 0, -1)  # positive, unlabelled, negative
_FIRST = 256  # rows whose mean is the origin

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Form:
    """A quadratic of w, constant - 2 b'w + w'Aw.

    A = sum_g spread[g] S_g + sum_gh between[g, h] D_gh D_gh' and b = sum_gh slope[g, h] D_gh, where S_g is the
    covariance of group g, and D_gh = m_g - m_h the difference of two means.
    """

    constant: float
    spread: dict[int, float]
    between: dict[Pair, float]
    slope: dict[Pair, float]

    @property
    def may_be_indefinite(self) -> bool:
        """Whether A may fail to be positive semidefinite for some rows."""
        return min(self.spread.values()) < 0

    def diagonal(
        self, means: dict[int, NDArray[np.float64]], variances: dict[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return the diagonal of A with every term taken as positive: the size of the features."""
        total: NDArray[np.float64] = np.zeros_like(next(iter(means.values())))
        for g, factor in self.spread.items():
            if factor:
                total += abs(factor) * variances[g]
        for (g, h), factor in self.between.items():
            if factor:
                total += abs(factor) * (means[g] - means[h]) ** 2
        return total

    def right(self, means: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return b."""
        first = next(iter(means.values()))
        total: NDArray[np.float64] = np.zeros_like(first)
        for (g, h), factor in self.slope.items():
            if factor:
                total += factor * (means[g] - means[h])
        return total


@dataclass(frozen=True)
class Moments:
    """The mean and the covariance of each group that has rows; means are from an origin that all of them share."""

    means: dict[int, NDArray[np.float64]]
    spreads: dict[int, NDArray[np.float64]]


def form_matrix(form: Form, moments: Moments, lam: float) -> NDArray[np.float64]:
    """Return A + lam."""
    size = next(iter(moments.means.values())).size
    matrix: NDArray[np.float64] = np.zeros((size, size))
    for g, factor in form.spread.items():
        if factor:
            matrix += factor * moments.spreads[g]
    for (g, h), factor in form.between.items():
        if factor:
            apart = moments.means[g] - moments.means[h]
            matrix += factor * np.multiply.outer(apart, apart)
    matrix[np.diag_indices(size)] += lam
    return matrix


class CentredRows:
    """Rows of X, or features computed from them, less an origin near their middle, in float64.

    AUC depends on differences alone, which do not change, and sums of squares lose no digits where X lies far from 0.
    Dense rows are shifted block by block; of CSR rows only the columns with many entries are (`shifted_csr`).
    """

    def __init__(self, matrix: Matrix, features: Callable[[Matrix], NDArray[np.float64]] | None = None) -> None:
        self.matrix, self._features = matrix, features
        if matrix.is_sparse and features is None:
            moved, self.origin = shifted_csr(matrix.table(), np.arange(matrix.n_rows))
            self.matrix = CsrMatrix.of(moved)
        else:
            self.origin = self._of(slice(0, _FIRST)).mean(axis=0, dtype=np.float64)

    def _of(self, rows: slice) -> Any:
        part = self.matrix[rows]
        return part.table() if self._features is None else self._features(part)

    def block(self, rows: slice) -> Any:
        """Return consecutive rows in float64, dense ones as an array of their own."""
        part = self._of(rows)
        if sp.issparse(part):
            return part.astype(np.float64, copy=False)
        return np.subtract(part, self.origin, dtype=np.float64)

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return X v."""
        result: NDArray[np.float64] = np.empty(self.matrix.n_rows)
        for rows in self.matrix.blocks():
            result[rows] = self.block(rows) @ vector
        return result

    def back(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return X'v."""
        result: NDArray[np.float64] = np.zeros(self.origin.size)
        for rows in self.matrix.blocks():
            result += self.block(rows).T @ vector[rows]
        return result


def group_moments(rows: CentredRows, share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the covariance of rows: O(sum of the squared numbers of entries of a row)."""
    mean: NDArray[np.float64] = np.zeros(rows.origin.size)
    square: Any = 0.0
    for block in rows.matrix.blocks(4 * rows.origin.size):  # small ones, for the group is a copy already
        X, roots = rows.block(block), np.sqrt(share[block])
        part = X.multiply(roots[:, None]) if sp.issparse(X) else np.multiply(X, roots[:, None], out=X)
        mean += part.T @ roots
        square += part.T @ part
    spread: NDArray[np.float64] = (square.toarray() if sp.issparse(square) else square) - np.multiply.outer(mean, mean)
    return mean, spread


def groups_of(labels: NDArray[np.int8]) -> list[int]:
    """Return the groups that have rows."""
    return [g for g in _GROUPS if np.any(labels == g)]


def group_shares(labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the share of each row in the weight of its group."""
    share: NDArray[np.float64] = np.ones(labels.size) if weights is None else weights.copy()
    for g in groups_of(labels):
        chosen = labels == g
        share[chosen] /= share[chosen].max()  # sums of the smallest weights would lose their digits
        share[chosen] /= share[chosen].sum()
    return share


def group_means(
    rows: CentredRows, labels: NDArray[np.int8], share: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    """Return the mean row of each group that has rows."""
    return {g: rows.back(np.where(labels == g, share, 0.0)) for g in groups_of(labels)}


def group_variances(
    rows: CentredRows,
    labels: NDArray[np.int8],
    share: NDArray[np.float64],
    means: dict[int, NDArray[np.float64]],
) -> dict[int, NDArray[np.float64]]:
    """Return the variance of each feature in each group, or more of it: what scales need."""
    variances: dict[int, NDArray[np.float64]] = {g: np.zeros(rows.origin.size) for g in means}
    for part in rows.matrix.blocks():
        block = rows.block(part)
        squares = block.multiply(block) if rows.matrix.is_sparse else block * block
        for g in variances:
            variances[g] += squares.T @ np.where(labels[part] == g, share[part], 0.0)
    return {g: np.maximum(total - means[g] ** 2, 0.0) for g, total in variances.items()}


def apply_form(
    form: Form,
    rows: CentredRows,
    labels: NDArray[np.int8],
    share: NDArray[np.float64],
    means: dict[int, NDArray[np.float64]],
    vector: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return A times a vector in two passes over the rows, without A."""
    along = rows.times(vector)
    factors: NDArray[np.float64] = np.zeros(along.size)
    for g, factor in form.spread.items():
        if factor:
            chosen = labels == g
            factors[chosen] = factor * share[chosen] * (along[chosen] - float(means[g] @ vector))
    result = rows.back(factors)
    for (g, h), factor in form.between.items():
        if factor:
            apart = means[g] - means[h]
            result += (factor * float(apart @ vector)) * apart
    return result
