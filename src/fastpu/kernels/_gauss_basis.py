"""Gaussian basis functions exp(-|x - c|^2 / (2 bandwidth^2)) around centres c that are rows themselves."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from fastpu.common._params import check_float
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_matrix
from fastpu.kernels._kernel import Kernel
from fastpu.kernels._kernel_values import kernel_values
from fastpu.kernels._shifted_rows import shifted_csr

_ROWS_FOR_WIDTH = 1000  # rows whose distances to the centres give the default bandwidth, their median
_ROUNDING = 1e-12  # a squared distance |x|^2 + |z|^2 - 2x'z below this share of |x|^2 + |z|^2 may be 0


def draw_centers(
    matrix: Matrix, n_centers: int, weights: NDArray[np.float64] | None, generator: np.random.Generator
) -> Matrix:
    """Return at most `n_centers` rows, no two of them equal.

    The rows, in their order, are cut into `n_centers` parts of equal weight, and one row is drawn from each, so that
    a weight has the effect of repeating the row.
    """
    n_rows = matrix.n_rows
    ends = np.arange(1.0, n_rows + 1) if weights is None else np.cumsum(weights)
    rows = np.arange(n_rows)
    if max(ends[-1], n_rows) > n_centers:
        places = (np.arange(n_centers) + generator.random(n_centers)) * (ends[-1] / n_centers)
        rows = np.unique(np.minimum(np.searchsorted(ends, places, side="right"), n_rows - 1))
    drawn = matrix[rows.astype(np.int64)]
    kept = {_row_bytes(drawn, i): i for i in range(rows.size - 1, -1, -1)}  # the first of equal ones
    return drawn[np.sort(np.fromiter(kept.values(), dtype=np.int64))]


def open_centers(
    matrix: Matrix, centers: object, n_centers: int, weights: NDArray[np.float64] | None, generator: np.random.Generator
) -> Matrix:
    """Return the centres that the caller gave, checked and in the form of the rows, or draw some from these."""
    if centers is None:
        return draw_centers(matrix, n_centers, weights, generator)
    names, n_features = matrix.feature_names, matrix.n_features
    checked = check_matrix(centers, name="centers", n_features=n_features, feature_names=names)
    with np.errstate(over="ignore"):
        converted = checked.convert(matrix.dtype, sparse=matrix.is_sparse)
    if not np.isfinite(converted.entries).all():
        raise ValueError(
            f"centers must hold numbers within the range of {matrix.dtype}, the dtype of X, got larger ones; pass X "
            f"as float64"
        )
    return converted


def _row_bytes(matrix: Matrix, row: int) -> bytes:
    part = matrix[row : row + 1]
    if not part.is_sparse:
        return bytes((part.values + 0).tobytes())  # -0 is 0
    stored = part.data != 0
    return bytes(part.indices[stored].tobytes() + b"|" + part.data[stored].tobytes())


def median_distance(rows: Matrix) -> float:
    """Return the median distance between two of the rows; 1 where there are no two."""
    apart = _distances(rows, rows)[np.triu_indices(rows.n_rows, 1)]
    return float(np.median(apart)) if apart.size else 1.0


def default_bandwidth(matrix: Matrix, weights: NDArray[np.float64] | None, centers: Matrix) -> float:
    """Return the median distance between rows and centres, by rows that stand for equal parts of the weight.

    A row is not compared with a centre at the same place.
    """
    n_rows = matrix.n_rows
    ends = np.arange(1.0, n_rows + 1) if weights is None else np.cumsum(weights)
    places = (np.arange(_ROWS_FOR_WIDTH) + 0.5) * (ends[-1] / _ROWS_FOR_WIDTH)
    rows = np.minimum(np.searchsorted(ends, places, side="right"), n_rows - 1).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        distances = _distances(matrix[rows], centers)
    apart = distances[distances != 0]
    bandwidth = float(np.median(apart)) if apart.size else 1.0  # all rows are equal, and any width will do
    if not is_bandwidth(bandwidth):
        raise ValueError(
            f"bandwidth=None is the median distance between rows and centres, whose square must be a number > 0, got "
            f"{bandwidth:g}; scale X, or pass a bandwidth"
        )
    return bandwidth


def _distances(left: Matrix, right: Matrix) -> NDArray[np.float64]:
    """Return the distance of each row of one matrix from each of another, both of one form."""
    if not left.is_sparse:
        return np.asarray(cdist(left.values, right.table()))
    both = [part.convert(np.dtype(np.float64), sparse=True).table() for part in (left, right)]
    # Rows far from 0 are shifted, since the difference of their large squares would lose its digits.
    moved, _ = shifted_csr(sp.csr_array(sp.vstack(both)), np.arange(left.n_rows + right.n_rows))
    one, other = moved[: left.n_rows], moved[left.n_rows :]
    norms = [np.asarray(part.multiply(part).sum(axis=1)) for part in (one, other)]
    squares = norms[0][:, None] + norms[1][None] - 2 * (one @ other.T).toarray()
    # Rounding may leave equal rows a distance above 0.
    return np.sqrt(np.where(squares <= _ROUNDING * np.add.outer(*norms), 0, squares))


def gauss_kernel(bandwidth: float) -> Kernel:
    return Kernel("rbf", 1 / (2 * bandwidth**2), 0, 0.0)


def gauss_features(matrix: Matrix, centers: Matrix, bandwidth: float, n_threads: int) -> NDArray[np.float64]:
    """Return the basis functions of each row, a column for each centre."""
    features: NDArray[np.float64] = np.empty((matrix.n_rows, centers.n_rows))
    for rows in matrix.blocks(centers.n_rows):
        features[rows] = kernel_values(gauss_kernel(bandwidth), matrix[rows], centers, n_threads)
    return features


def check_bandwidth(model: str, centers: object, bandwidth: object) -> float | None:
    """Return the bandwidth as a float; only the model "gauss" has centres and a bandwidth."""
    for name, value in (("centers", centers), ("bandwidth", bandwidth)):
        if model != "gauss" and value is not None:
            raise ValueError(f"{name} is for model='gauss', got it with model={model!r}")
    if bandwidth is None:
        return None
    width = check_float("bandwidth", bandwidth, low=0, open_low=True)
    if not is_bandwidth(width):
        raise ValueError(f"bandwidth must have a square that float64 can hold and that is > 0, got {width:g}")
    return width


def is_bandwidth(bandwidth: float) -> bool:
    """Return whether kernels can be computed with 1 / (2 bandwidth^2), which must not overflow or vanish."""
    square = bandwidth * bandwidth  # inf where a power would raise an OverflowError
    return bandwidth > 0 and square > 0 and 0 < 1 / (2 * square) < math.inf
