"""The warning about columns on different scales, for methods that measure distances or lengths of coefficients.

Such a method sees little of a column whose values vary by a hundredth of what those of another one do, and often takes
long over it. The spread of a column is the mean distance from its median, over the values that are not the median: a
word that some texts hold, or a rare category, is not on another scale for being rare. Columns where nearly all values
are equal are not judged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.data._matrix import Matrix
from fastpu.exceptions import ScaleWarning
from fastpu.kernels._kernel import KernelOptions

_APART = 100.0  # ratio of the spreads of two columns from which on they are on different scales
_SHARE = 0.1  # share of the columns that must vary so little: a few at the border of images do no harm
_ENTRIES = 1 << 15  # so many entries are examined, in evenly spaced rows
_LEAST_ROWS = 16
_RARE = 0.01  # share of the rows that must differ from the median for a column to be judged
_NAMED = 2  # columns of the smallest and of the largest spread that the message names


def warn_of_scales(matrix: Matrix, kernel: KernelOptions | None = None) -> Matrix:
    """Warn if the columns are on very different scales, unless the caller computes the kernel; return the matrix."""
    if matrix.n_features < 2 or (kernel is not None and kernel.name in ("precomputed", "callable")):
        return matrix
    columns, spreads = _spreads(matrix)
    if spreads.size < 2:
        return matrix
    order = np.argsort(spreads, kind="stable")
    n_narrow = int(np.count_nonzero(spreads < spreads[order[-1]] / _APART))
    if n_narrow < max(1.0, _SHARE * spreads.size):
        return matrix

    def listed(chosen: NDArray[np.intp]) -> str:
        return ", ".join(
            f"{where_column(int(columns[k]), matrix.feature_names)} by {spreads[k]:.2g}" for k in chosen.tolist()
        )

    few, vary = ("one", "varies") if n_narrow == 1 else (str(n_narrow), "vary")
    scaler = "StandardScaler(with_mean=False)" if matrix.is_sparse else "StandardScaler()"
    warn(
        f"the columns of X are on very different scales, and this method sees little of the {few} of "
        f"{spreads.size} columns that {vary} least: values vary in {listed(order[n_narrow:][: -_NAMED - 1 : -1])}, "
        f"but in {listed(order[: min(_NAMED, n_narrow)])}; bring them to one scale first, as does "
        f"sklearn.pipeline.make_pipeline(sklearn.preprocessing.{scaler}, classifier) for a classifier of "
        f"fastpu.estimators",
        ScaleWarning,
    )
    return matrix


def _spreads(matrix: Matrix) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns that can be judged by some of the rows, and their spreads."""
    per_row = max(1, matrix.entries.size // matrix.n_rows)
    step = -(-matrix.n_rows // max(_LEAST_ROWS, _ENTRIES // per_row))
    taken = matrix[np.arange(0, matrix.n_rows, step)] if step > 1 else matrix
    if not taken.is_sparse:
        judged, spreads = _dense_spreads(taken.values)
        return judged.astype(np.int64), spreads
    n_rows = taken.n_rows
    columns, places, counts = np.unique(taken.indices, return_inverse=True, return_counts=True)
    is_dense = 2 * counts >= n_rows  # together they have twice as many entries as are stored, or fewer
    in_dense = is_dense[places]
    block = np.zeros((n_rows, int(is_dense.sum())))
    rows = np.repeat(np.arange(n_rows), taken.lengths)
    block[rows[in_dense], (np.cumsum(is_dense) - 1)[places[in_dense]]] = taken.data[in_dense]
    judged, spreads = _dense_spreads(block)
    # The median of the others is 0.
    sizes = np.abs(taken.data.astype(np.float64))
    n_set = np.bincount(places, weights=sizes > 0, minlength=columns.size)
    means = np.bincount(places, weights=sizes / np.maximum(n_set, 1)[places], minlength=columns.size)
    others = ~is_dense & (n_set >= max(1.0, _RARE * n_rows))
    return np.concatenate([columns[is_dense][judged], columns[others]]).astype(np.int64), np.concatenate(
        [spreads, means[others]]
    )


def _dense_spreads(rows: NDArray[np.float32] | NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    middle = (rows.shape[0] - 1) // 2
    values = rows.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        away = np.abs(values - np.partition(values, middle, axis=0)[middle])
        n_away = np.count_nonzero(away, axis=0)
        spreads = (away / np.maximum(n_away, 1)).sum(axis=0)
    judged = np.flatnonzero(n_away >= max(1.0, _RARE * rows.shape[0]))
    return judged, spreads[judged]
