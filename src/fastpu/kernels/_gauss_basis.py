"""Gaussian basis functions exp(-|x - c|^2 / (2 bandwidth^2)) around centres c that are rows themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from fastpu import _core
from fastpu.common._params import forced_isa
from fastpu.kernels._kernels import convert_rows, row_blocks, slice_rows, take_rows, user_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from fastpu.kernels._kernels import Native

__all__ = [
    "default_bandwidth",
    "draw_centers",
    "gauss_features",
    "gauss_scores",
    "is_bandwidth",
    "median_distance",
    "scores_in_blocks",
]

_ROWS_FOR_WIDTH = 1000  # rows whose distances to the centres give the default bandwidth, their median
_ROUNDING = 1e-12  # a squared distance |x|^2 + |z|^2 - 2x'z below this share of |x|^2 + |z|^2 may be 0
_AT_ONCE = 16  # centres whose features are computed with one call: it costs n * _AT_ONCE beside the kernel values


def draw_centers(
    native: Native, n_centers: int, weights: NDArray[np.float64] | None, generator: np.random.Generator
) -> Native:
    """Return at most `n_centers` rows, no two of them equal.

    The rows, in their order, are cut into `n_centers` parts of equal weight, and one row is drawn from each, so that
    weights do what repeated rows do.
    """
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    ends = np.arange(1.0, n_rows + 1) if weights is None else np.cumsum(weights)
    rows = np.arange(n_rows)
    if ends[-1] > n_centers:
        places = (np.arange(n_centers) + generator.random(n_centers)) * (ends[-1] / n_centers)
        rows = np.unique(np.minimum(np.searchsorted(ends, places, side="right"), n_rows - 1))
    drawn = take_rows(native, rows.astype(np.int64))
    kept = {_row_bytes(drawn, i): i for i in range(rows.size - 1, -1, -1)}  # the first of equal ones
    return take_rows(drawn, np.sort(np.fromiter(kept.values(), dtype=np.int64)))


def _row_bytes(native: Native, row: int) -> bytes:
    if not isinstance(native, tuple):
        return bytes((native[row] + 0).tobytes())  # -0 is 0
    entries = slice(int(native[2][row]), int(native[2][row + 1]))
    stored = native[0][entries] != 0
    return bytes(native[1][entries][stored].tobytes() + b"|" + native[0][entries][stored].tobytes())


def median_distance(rows: Native) -> float:
    """Return the median distance between two of the rows; 1 where there are no two."""
    n_rows = rows[3][0] if isinstance(rows, tuple) else len(rows)
    apart = _distances(rows, rows)[np.triu_indices(n_rows, 1)]
    return float(np.median(apart)) if apart.size else 1.0


def default_bandwidth(native: Native, weights: NDArray[np.float64] | None, centers: Native) -> float:
    """Return the median distance between rows and centres, by rows that stand for equal parts of the weight.

    A row is not compared with a centre at the same place.
    """
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    ends = np.arange(1.0, n_rows + 1) if weights is None else np.cumsum(weights)
    places = (np.arange(_ROWS_FOR_WIDTH) + 0.5) * (ends[-1] / _ROWS_FOR_WIDTH)
    rows = np.minimum(np.searchsorted(ends, places, side="right"), n_rows - 1).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        distances = _distances(take_rows(native, rows), centers)
    apart = distances[distances != 0]
    bandwidth = float(np.median(apart)) if apart.size else 1.0  # rows alike: any width will do
    if not is_bandwidth(bandwidth):
        raise ValueError(
            f"bandwidth=None is the median distance between rows and centres, which is no number > 0 here, got "
            f"{bandwidth:g}; pass a number"
        )
    return bandwidth


def _distances(left: Native, right: Native) -> NDArray[np.float64]:
    """Return the distance of each row of one matrix from each of another, both of one form."""
    if not isinstance(left, tuple):
        return np.asarray(cdist(left, right))
    one, other = (user_rows(convert_rows(part, np.dtype(np.float64), sparse=True)) for part in (left, right))
    norms = [np.asarray(part.multiply(part).sum(axis=1)) for part in (one, other)]
    squares = norms[0][:, None] + norms[1][None] - 2 * (one @ other.T).toarray()
    # Of equal rows rounding leaves something.
    return np.sqrt(np.where(squares <= _ROUNDING * np.add.outer(*norms), 0, squares))


def gauss_features(native: Native, centers: Native, bandwidth: float, n_threads: int) -> NDArray[np.float64]:
    """Return the basis functions of each row, a column for each centre."""
    n_centers = centers[3][0] if isinstance(centers, tuple) else len(centers)
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    features: NDArray[np.float64] = np.empty((n_rows, n_centers))
    for first in range(0, n_centers, _AT_ONCE):
        part = slice_rows(centers, slice(first, min(first + _AT_ONCE, n_centers)))
        size = min(_AT_ONCE, n_centers - first)
        sums = _sums(native, part, np.eye(size), bandwidth, n_threads)
        # At the first centres the pages of all rows are touched for the first time, which takes long: Ctrl-C is looked
        # at in between.
        for rows in row_blocks(native, n_centers):
            features[rows, first : first + size] = sums[rows]
    return features


def gauss_scores(
    native: Native, centers: Native, coef: NDArray[np.float64], bandwidth: float, n_threads: int
) -> NDArray[np.float64]:
    """Return sum_c coef[c] exp(-|x - c|^2 / (2 bandwidth^2)) for each row x, of any form."""
    dtype = np.result_type(_dtype(native), _dtype(centers))
    sparse = isinstance(native, tuple) or isinstance(centers, tuple)
    vectors = convert_rows(centers, dtype, sparse=sparse)
    return scores_in_blocks(
        native, dtype, lambda rows: _sums(rows, vectors, coef[:, None], bandwidth, n_threads)[:, 0], sparse=sparse
    )


def _sums(
    native: Native, centers: Native, coefs: NDArray[np.float64], bandwidth: float, n_threads: int
) -> NDArray[np.float64]:
    return _core.kernel_scores(
        centers,
        native,
        coefs,
        np.zeros(coefs.shape[1]),
        kernel="rbf",
        gamma=1 / (2 * bandwidth**2),
        degree=1,
        coef0=0.0,
        n_threads=n_threads,
        isa=forced_isa(_core.isa_levels()),
    )


def scores_in_blocks(
    native: Native, dtype: np.dtype[Any], score: Callable[[Native], NDArray[np.float64]], *, sparse: bool
) -> NDArray[np.float64]:
    """Return the scores of rows, converted to `dtype`, and to CSR if `sparse`, a block at a time if need be."""
    if _dtype(native) == dtype and isinstance(native, tuple) == sparse:
        return score(native)
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    scores: NDArray[np.float64] = np.empty(n_rows)
    for rows in row_blocks(native):
        scores[rows] = score(convert_rows(slice_rows(native, rows), dtype, sparse=sparse))
    return scores


def _dtype(native: Native) -> np.dtype[Any]:
    return native[0].dtype if isinstance(native, tuple) else native.dtype


def is_bandwidth(bandwidth: float) -> bool:
    """Tell whether 1 / (2 bandwidth^2) is a number that kernels can be computed with."""
    square = bandwidth * bandwidth  # inf where a power would raise an OverflowError
    return bandwidth > 0 and square > 0 and 0 < 1 / (2 * square) < math.inf
