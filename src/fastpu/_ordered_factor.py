"""A factor Z of a kernel matrix, K = Z Z', in which the first rows have entries in the last columns only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ordered_factor"]

_ALIKE = 1e-5  # of the size: float32 values of a kernel are as right as that, kernels with negative parts are not
_MOST_LOST = 1e-3  # of the size: the largest pivot that may be taken for rounding
_AT_ONCE = 1 << 20  # entries of the rows that are copied at a time
_RANK_TOL = 2.0  # in units of n eps times the size: what rounding leaves of a pivot that is 0


def ordered_factor(
    K: NDArray[np.float64], n_first: int, n_threads: int, *, size: float
) -> tuple[NDArray[np.float64], int]:
    """Return Z with as many columns as the rank of `K`, and how many of the last of them the first rows use.

    `K` is positive semidefinite, its entries between the rows after `n_first` add up to 0 in every row and column, and
    `size` is the largest of the numbers that it is made from: the rounding in it is that of those.
    A `K` that has no other dependence takes n^3 / 3 multiplications; for others pivots are chosen, and directions that
    are all rounding left out.
    """
    n = len(K)
    limit = _RANK_TOL * n * np.finfo(float).eps * size
    # The last row follows from the others: -1 times their sum over the later rows.
    inner = np.empty((n - 1, n - 1))
    for rows in _strips(n - 1):
        inner[rows] = K[rows, :-1]
    if n - 1 > n_first and _core.tiled_cholesky(inner, n_threads=n_threads) == 0:
        diagonal = np.diagonal(inner)
        if float((diagonal * diagonal).min()) > limit:
            return _arranged(inner, n_first), n_first
    while True:
        Z, n_last = _by_pivots(K, n_first, limit, n_threads)
        probe = np.cos(np.arange(n))
        apart = float(np.abs(K @ probe - Z @ (Z.T @ probe)).max())
        if apart <= _ALIKE * size * np.sqrt(n):
            return Z, n_last
        # Values with the rounding of float32, say: a pivot that is noise would be divided by.
        limit *= 1e3
        if limit > _MOST_LOST * size:
            break
    raise ValueError(
        "kernel must be positive semidefinite, as a space that it measures has to be there, got one whose matrix "
        f"differs from the nearest such one by {apart:.3g} where its largest entry is {size:.3g}; n_components leaves "
        "out what is negative"
    )


def _by_pivots(K: NDArray[np.float64], n_first: int, limit: float, n_threads: int) -> tuple[NDArray[np.float64], int]:
    """Return Z and the number of its last columns, of pivots above `limit`."""
    first = _pivoted(K[:n_first, :n_first], limit, n_threads)
    cross = _against(K[n_first:, :n_first], *first, n_threads)
    rest = _core.tiled_product(cross, cross, transpose_a=False, transpose_b=True, n_threads=n_threads)
    np.subtract(K[n_first:, n_first:], rest, out=rest)
    later, _ = _pivoted(rest, limit, n_threads)
    n_last = max(first[0].shape[1], 1)
    Z = np.zeros((len(K), later.shape[1] + n_last))
    Z[n_first:, : later.shape[1]] = later
    Z[:n_first, later.shape[1] : later.shape[1] + first[0].shape[1]] = first[0]
    Z[n_first:, later.shape[1] : later.shape[1] + cross.shape[1]] = cross
    return Z, n_last


def _arranged(factor: NDArray[np.float64], n_first: int) -> NDArray[np.float64]:
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
        left_out -= Z[later].sum(axis=0)
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
