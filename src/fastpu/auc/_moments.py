"""Means and covariances of three groups of rows, and the quadratic of a squared loss of pairs that they give.

BLAS is called on blocks of a fixed size with one thread (`one_blas_thread` is the caller's to hold), so that sums have
the same order whatever the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu.kernels._centring import shifted_csr
from fastpu.kernels._kernels import row_blocks, slice_rows, take_rows, user_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu.kernels._kernels import Native

__all__ = [
    "CentredRows",
    "Form",
    "Moments",
    "apply_form",
    "dense_moments",
    "form_matrix",
    "group_means",
    "group_shares",
    "group_variances",
    "sparse_moments",
]

_GROUPS = (1, 0, -1)  # positive, unlabelled, negative

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
        """Whether A need not be positive semidefinite, whatever the rows are."""
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
    """Rows of X less a row near their middle, in float64: what sums of squares and products with vectors are taken of.

    Differences of rows, which are all that AUC looks at, stay what they are, and features far from 0 keep their digits.
    Dense rows are shifted block by block; of CSR the columns that are mostly filled are shifted (`shifted_csr`).
    """

    def __init__(self, native: Native) -> None:
        if isinstance(native, tuple):
            x = user_rows(native)
            moved, _ = shifted_csr(x, np.arange(x.shape[0]))
            indices, indptr = np.require(moved.indices, np.int32), np.require(moved.indptr, np.int64)
            self.native: Native = (moved.data, indices, indptr, moved.shape)
            self._origin: Any = None
        else:
            self.native = native
            first = next(iter(row_blocks(native)))
            self._origin = native[first].mean(axis=0, dtype=np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        return self.native[3] if isinstance(self.native, tuple) else self.native.shape

    def block(self, rows: slice) -> Any:
        """Return consecutive rows in float64."""
        part = slice_rows(self.native, rows)
        if isinstance(part, tuple):
            return user_rows(part).astype(np.float64, copy=False)
        return np.subtract(part, self._origin, dtype=np.float64)

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return X v."""
        result: NDArray[np.float64] = np.empty(self.shape[0])
        for rows in row_blocks(self.native):
            result[rows] = self.block(rows) @ vector
        return result

    def back(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return X'v."""
        result: NDArray[np.float64] = np.zeros(self.shape[1])
        for rows in row_blocks(self.native):
            result += self.block(rows).T @ vector[rows]
        return result


def dense_moments(
    blocks: Callable[[slice], NDArray[np.float64]],
    native: Native,
    size: int,
    labels: NDArray[np.int8],
    share: NDArray[np.float64],
) -> Moments:
    """Return the moments of `size` features that `blocks` computes for consecutive rows.

    One pass: sums are taken of what is left when the mean of the first rows of each group is subtracted, which keeps
    the digits that sums of squares of features far from 0 lose.
    """
    groups = groups_of(labels)
    shifts: dict[int, NDArray[np.float64]] = {}
    sums = {g: np.zeros(size) for g in groups}
    squares = {g: np.zeros((size, size)) for g in groups}
    for rows in row_blocks(native, size):
        features = blocks(rows)
        for g in groups:
            chosen = np.flatnonzero(labels[rows] == g)
            if chosen.size:
                shift = shifts.setdefault(g, features[chosen].mean(axis=0))
                part, root = features[chosen] - shift, np.sqrt(share[rows][chosen])
                part *= root[:, None]
                sums[g] += root @ part
                squares[g] += part.T @ part
    return Moments(
        {g: sums[g] + shifts[g] for g in groups}, {g: squares[g] - np.multiply.outer(sums[g], sums[g]) for g in groups}
    )


def sparse_moments(rows: CentredRows, labels: NDArray[np.int8], share: NDArray[np.float64]) -> Moments:
    """Return the moments of rows in CSR, by sparse products: O(sum of the squared numbers of entries of a row)."""
    means, spreads = {}, {}
    for g in groups_of(labels):
        chosen = np.flatnonzero(labels == g).astype(np.int64)
        part = CentredRows(take_rows(rows.native, chosen))  # a column may be filled in this group alone
        size = part.shape[1]
        total: NDArray[np.float64] = np.zeros((size, size))
        for block in row_blocks(part.native):
            X = part.block(block)
            X = X.multiply(np.sqrt(share[chosen[block]])[:, None]).tocsr()
            total += (X.T @ X).toarray()
        mean = part.back(share[chosen])
        spreads[g] = total - np.multiply.outer(mean, mean)
        means[g] = rows.back(np.where(labels == g, share, 0.0))
    return Moments(means, spreads)


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
    found: dict[int, NDArray[np.float64]] = {g: np.zeros(rows.shape[1]) for g in means}
    for part in row_blocks(rows.native):
        block = rows.block(part)
        squares = block.multiply(block) if isinstance(rows.native, tuple) else block * block
        for g in found:
            found[g] += squares.T @ np.where(labels[part] == g, share[part], 0.0)
    return {g: np.maximum(total - means[g] ** 2, 0.0) for g, total in found.items()}


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
