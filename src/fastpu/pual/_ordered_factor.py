"""Z with K = Z Z' for a kernel matrix K, such that the first rows are zero except in the last columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from fastpu import _core

# Largest difference between K and Z Z', relative to `size`: rounding errors of float32 kernel values are smaller, those
# of kernels with clearly negative eigenvalues larger.
_ALIKE = 1e-5
_MOST_LOST = 1e-3  # largest pivot that may be only rounding, relative to `size`
_RANK_TOL = 2.0  # a pivot below this times n eps `size` is 0 apart from rounding


@dataclass(frozen=True)
class OrderedFactor:
    """Z with K = Z Z', whose first rows are zero except in the last `n_last` columns.

    It has as many columns as the rank of K, at least one. Its rows `pivots`, with their columns in reverse order, form
    the lower triangular matrix `triangle`.
    """

    Z: NDArray[np.float64]
    n_last: int
    pivots: NDArray[np.int64]
    triangle: NDArray[np.float64]


def ordered_factor(K: NDArray[np.float64], n_first: int, n_threads: int, *, size: float) -> OrderedFactor:
    """Return the factor of `K` whose `n_first` first rows are zero except in the last columns.

    `K` must be positive semidefinite, and its last row must depend on the others, as rows less their mean do. `size` is
    the largest of the numbers that `K` was computed from: its rounding errors are relative to this. If there is no
    other dependence between the rows of `K`, factoring takes n^3 / 3 multiplications. Otherwise pivots are chosen,
    directions that are only rounding are left out, and `n_last` is the number of columns.
    """
    n = len(K)
    tiny = float(np.finfo(float).tiny)  # smaller numbers are subnormal, and limits computed from them may become 0
    limit = max(_RANK_TOL * n * np.finfo(float).eps * size, tiny)
    inner = K[:-1, :-1].copy()
    if n > 1 and _core.tiled_cholesky(inner, n_threads=n_threads) == 0 and np.diagonal(inner).min() ** 2 > limit:
        triangle = np.tril(inner)
        last = solve_triangular(triangle, K[:-1, -1], lower=True, check_finite=False)
        Z = np.vstack([triangle[:, ::-1], last[::-1]])
        return OrderedFactor(Z, min(n_first, n - 1), np.arange(n - 1), triangle)
    probe = np.cos(np.arange(n))
    while True:
        factor = _by_pivots(K, limit)
        apart = float(np.abs(K @ probe - factor.Z @ (probe @ factor.Z)).max())
        if apart <= max(_ALIKE * size * np.sqrt(n), n * tiny):
            return factor
        # A pivot was only rounding, as the kernel values have larger rounding errors than those of float64 (they may be
        # float32): try again with a larger limit.
        limit *= 1e3
        if limit > _MOST_LOST * size:
            break
    raise ValueError(
        f"kernel must be positive semidefinite, got one whose matrix differs from the nearest such matrix by "
        f"{apart:.3g}, where its largest entry is {size:.3g}; n_components leaves out its negative part"
    )


def _by_pivots(K: NDArray[np.float64], limit: float) -> OrderedFactor:
    if not np.diagonal(K).max() > limit:  # LAPACK accepts the first pivot whatever its size
        return OrderedFactor(np.zeros((len(K), 1)), 1, np.zeros(1, dtype=np.int64), np.ones((1, 1)))
    factor, order, rank, _ = dpstrf(K.T, tol=limit, lower=1)
    Z = np.empty((len(K), rank))
    Z[order - 1] = np.tril(factor[:, :rank])[:, ::-1]
    pivots = order[:rank].astype(np.int64) - 1
    return OrderedFactor(Z, rank, pivots, np.ascontiguousarray(Z[pivots, ::-1]))
