"""A factor Z of a kernel matrix, K = Z Z', in which the first rows have entries in the last columns only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from fastpu import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OrderedFactor", "ordered_factor"]

_ALIKE = 1e-5  # of the size: float32 values of a kernel are as right as that, kernels with negative parts are not
_MOST_LOST = 1e-3  # largest pivot that may be taken for rounding, relative to the size
_AT_ONCE = 1 << 20  # entries of K that are copied at a time
_RANK_TOL = 2.0  # a pivot below this times n eps times the size is 0 but for rounding


@dataclass(frozen=True)
class OrderedFactor:
    """Z with K = Z Z' and as many columns as the rank of K; the first rows use the last `n_last` columns alone.

    `pivots` are rows of Z that make a basis: in their order, and with the columns that the first of them use before the
    others, they are a lower triangle.
    """

    Z: NDArray[np.float64]
    n_last: int
    pivots: NDArray[np.int64]

    def coefficients(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an a with Z'a = beta, which is 0 but at the pivots."""
        found: NDArray[np.float64] = np.zeros(len(self.Z))
        if self.pivots.size:
            found[self.pivots] = scipy.linalg.solve_triangular(
                self.triangle, self._arrange(beta), lower=True, trans="T", check_finite=False
            )
        return found

    def on_basis(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the beta with Z beta = `products` at the pivots."""
        found: NDArray[np.float64] = np.zeros(self.Z.shape[1])
        if self.pivots.size:
            solved = scipy.linalg.solve_triangular(self.triangle, products[self.pivots], lower=True, check_finite=False)
            found[: solved.size] = solved
            found = np.roll(found, -self._n_rolled)
        return found

    @property
    def _n_rolled(self) -> int:
        return self.n_last if self.pivots.size == self.Z.shape[1] else 0  # else the last column is one of zeros

    def _arrange(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.roll(rows, self._n_rolled, axis=-1)[..., : self.pivots.size]

    @cached_property
    def triangle(self) -> NDArray[np.float64]:
        """The rows and columns of the basis, in their order."""
        triangle = np.empty((self.pivots.size,) * 2)
        for rows in _strips(len(triangle)):
            triangle[rows] = self._arrange(self.Z[self.pivots[rows]])
        return triangle


def ordered_factor(
    K: NDArray[np.float64],
    n_first: int,
    n_threads: int,
    *,
    size: float,
    weights: NDArray[np.float64] | None = None,
) -> OrderedFactor:
    """Return Z with as many columns as the rank of `K`, and how many of the last of them the first rows use.

    `K` is positive semidefinite, its entries between the rows after `n_first`, times the `weights` of these (by default
    1), add up to 0 in every row and column, and `size` is the largest of the numbers that it is made from: the rounding
    in it is that of those.
    A `K` that has no other dependence takes n^3 / 3 multiplications; for others pivots are chosen, and directions that
    are all rounding left out.
    """
    n = len(K)
    tiny = float(np.finfo(float).tiny)  # smaller numbers have lost digits, and limits computed from them may become 0
    limit = max(_RANK_TOL * n * np.finfo(float).eps * size, tiny)
    # The last row follows from the others: -1 times their sum over the later rows.
    inner = np.empty((n - 1, n - 1))
    for rows in _strips(n - 1):
        inner[rows] = K[rows, :-1]
    if n - 1 > n_first and _core.tiled_cholesky(inner, n_threads=n_threads) == 0:
        diagonal = np.diagonal(inner)
        if float((diagonal * diagonal).min()) > limit:
            return OrderedFactor(_arranged(inner, n_first, weights), n_first, np.arange(n - 1))
    while True:
        found = _by_pivots(K, n_first, limit, n_threads)
        probe = np.cos(np.arange(n))
        apart = float(np.abs(K @ probe - found.Z @ (found.Z.T @ probe)).max())
        if apart <= max(_ALIKE * size * np.sqrt(n), n * tiny):
            return found
        # The kernel values have more rounding than those of float64 (float32 values, say), and a pivot was noise: try
        # again with a larger limit.
        limit *= 1e3
        if limit > _MOST_LOST * size:
            break
    raise ValueError(
        f"kernel must be positive semidefinite, got one whose matrix differs from the nearest such matrix by "
        f"{apart:.3g}, where its largest entry is {size:.3g}; n_components leaves out its negative part"
    )


def _by_pivots(K: NDArray[np.float64], n_first: int, limit: float, n_threads: int) -> OrderedFactor:
    """Return the factor of pivots above `limit`."""
    first = _pivoted(K[:n_first, :n_first], limit, n_threads)
    cross = _against(K[n_first:, :n_first], *first, n_threads)
    rest = _core.tiled_product(cross, cross, transpose_a=False, transpose_b=True, n_threads=n_threads)
    np.subtract(K[n_first:, n_first:], rest, out=rest)
    later, later_pivots = _pivoted(rest, limit, n_threads)
    n_last = max(first[0].shape[1], 1)
    Z = np.zeros((len(K), later.shape[1] + n_last))
    Z[n_first:, : later.shape[1]] = later
    Z[:n_first, later.shape[1] : later.shape[1] + first[0].shape[1]] = first[0]
    Z[n_first:, later.shape[1] : later.shape[1] + cross.shape[1]] = cross
    return OrderedFactor(Z, n_last, np.concatenate([first[1], n_first + later_pivots]))


def _arranged(factor: NDArray[np.float64], n_first: int, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the lower triangle of a Cholesky factor with its first columns last, and with the row left out."""
    n = len(factor)
    Z = np.zeros((n + 1, n))
    left_out = np.zeros(n)
    for rows in _strips(n):
        part = np.tril(factor[rows], k=rows.start)
        Z[rows, n - n_first :] = part[:, :n_first]
        Z[rows, : n - n_first] = part[:, n_first:]
    for rows in _strips(n):
        later = slice(max(rows.start, n_first), max(rows.stop, n_first))
        if weights is None:
            left_out -= Z[later].sum(axis=0)
        else:
            left_out -= weights[later.start - n_first : later.stop - n_first] / weights[-1] @ Z[later]
    Z[n] = left_out
    return Z


def _strips(n: int) -> list[slice]:
    """Return blocks of rows of a matrix of n columns, between which Ctrl-C is looked at."""
    step = max(1, _AT_ONCE // max(1, n))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def _pivoted(K: NDArray[np.float64], limit: float, n_threads: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return F with K = F F' but for pivots of at most `limit`, and the rows that were its pivots."""
    L = np.empty_like(K, order="C")
    for rows in _strips(len(K)):
        L[rows] = K[rows]
    rank, order = _core.tiled_pivoted_cholesky(L, limit=limit, n_threads=n_threads)
    F = np.zeros((len(K), rank))
    for rows in _strips(len(K)):
        F[order[rows]] = np.tril(L[rows, :rank], k=rows.start)
    return F, order[:rank]


def _against(
    cross: NDArray[np.float64], factor: NDArray[np.float64], pivots: NDArray[np.int64], n_threads: int
) -> NDArray[np.float64]:
    """Return the rows of the factor that belong to K between other rows and those that have been factored."""
    found = np.ascontiguousarray(cross[:, pivots])
    if pivots.size:
        _core.tiled_solve(factor[pivots], found, transpose=True, n_threads=n_threads)
    return found
