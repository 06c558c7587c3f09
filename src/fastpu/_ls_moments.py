"""Means and covariances of three groups of rows, and the quadratic of a squared loss of pairs that they give.

BLAS is called on blocks of a fixed size with one thread (`one_blas_thread` is the caller's to hold), so that sums have
the same order whatever the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu._kernels import row_blocks, slice_rows, take_rows, user_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu._kernels import Native

__all__ = [
    "Form",
    "Moments",
    "apply_form",
    "dense_moments",
    "form_matrix",
    "group_means",
    "group_shares",
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
    """The mean and the covariance of each group that has rows."""

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


def dense_moments(
    blocks: Callable[[slice], NDArray[np.float64]],
    native: Native,
    size: int,
    labels: NDArray[np.int8],
    share: NDArray[np.float64],
) -> Moments:
    """Return the moments of `size` features that `blocks` computes for consecutive rows.

    One pass: sums are taken of what is left when the mean of the first block is subtracted, which keeps the digits that
    sums of squares of features far from 0 lose.
    """
    blocks_of_rows = list(row_blocks(native, size))
    shift = blocks(blocks_of_rows[0]).mean(axis=0)
    groups = groups_of(labels)
    sums = {g: np.zeros(size) for g in groups}
    squares = {g: np.zeros((size, size)) for g in groups}
    for rows in blocks_of_rows:
        features = blocks(rows)
        for g in groups:
            chosen = np.flatnonzero(labels[rows] == g)
            if chosen.size:
                part, root = features[chosen] - shift, np.sqrt(share[rows][chosen])
                part *= root[:, None]
                sums[g] += root @ part
                squares[g] += part.T @ part
    return Moments(
        {g: sums[g] + shift for g in groups}, {g: squares[g] - np.multiply.outer(sums[g], sums[g]) for g in groups}
    )


def sparse_moments(native: Native, labels: NDArray[np.int8], share: NDArray[np.float64]) -> Moments:
    """Return the moments of rows in CSR, by sparse products: O(sum of the squared numbers of entries of a row)."""
    means = group_means(native, labels, share)
    spreads: dict[int, NDArray[np.float64]] = {}
    for g, mean in means.items():
        rows = np.flatnonzero(labels == g).astype(np.int64)
        total: NDArray[np.float64] = np.zeros((mean.size, mean.size))
        part = take_rows(native, rows)
        for block in row_blocks(part):
            X = user_rows(slice_rows(part, block)).astype(np.float64)
            X.data *= np.repeat(np.sqrt(share[rows[block]]), np.diff(X.indptr))
            total += (X.T @ X).toarray()
        spreads[g] = total - np.multiply.outer(mean, mean)
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


def group_means(native: Native, labels: NDArray[np.int8], share: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
    """Return the mean row of each group that has rows."""
    return {g: _transposed_product(native, np.where(labels == g, share, 0.0)) for g in groups_of(labels)}


def apply_form(
    form: Form,
    native: Native,
    labels: NDArray[np.int8],
    share: NDArray[np.float64],
    means: dict[int, NDArray[np.float64]],
    vector: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return A times a vector in two passes over the rows, without A."""
    along = _product(native, vector)
    factors: NDArray[np.float64] = np.zeros(along.size)
    for g, factor in form.spread.items():
        if factor:
            chosen = labels == g
            factors[chosen] = factor * share[chosen] * (along[chosen] - float(means[g] @ vector))
    result = _transposed_product(native, factors)
    for (g, h), factor in form.between.items():
        if factor:
            apart = means[g] - means[h]
            result += (factor * float(apart @ vector)) * apart
    return result


def _product(native: Native, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X v."""
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    result: NDArray[np.float64] = np.empty(n_rows)
    for rows in row_blocks(native):
        result[rows] = _block(native, rows) @ vector
    return result


def _transposed_product(native: Native, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X'v."""
    n_cols = native[3][1] if isinstance(native, tuple) else native.shape[1]
    result: NDArray[np.float64] = np.zeros(n_cols)
    for rows in row_blocks(native):
        result += _block(native, rows).T @ vector[rows]
    return result


def _block(native: Native, rows: slice) -> Any:
    """Return consecutive rows in float64, for products."""
    part = slice_rows(native, rows)
    return user_rows(part).astype(np.float64, copy=False)
