"""Columns on one scale, and hash keys that are equal for equal rows: for distances that do not depend on units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._random import mixed_bits
from fastpu.data._matrix import DenseMatrix, Matrix


def on_one_scale(matrix: Matrix) -> Matrix:
    """Return the rows with every column divided by its spread, so that its unit does not matter.

    The spread is the standard deviation over the root of the share of entries that differ from the median: for columns
    of many values the standard deviation itself, while rare words and categories do not grow with their rarity. Dense
    columns are counted from their median, as the distances between rows stay the same and lose no digits.
    """
    if matrix.is_sparse:
        columns, data, indices = matrix.table().tocsc(), matrix.data, matrix.indices
        exponents, spreads = np.zeros(matrix.n_features, dtype=np.int64), np.ones(matrix.n_features)
        for j in np.flatnonzero(np.diff(columns.indptr)):
            entries = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
            exponents[j], _, spreads[j] = _measures(entries.astype(np.float64), matrix.n_rows)
        scaled: Any = (np.ldexp(data.astype(np.float64), -exponents[indices]) / spreads[indices]).astype(data.dtype)
        return replace(matrix, data=scaled)
    result = np.empty_like(matrix.values)
    for number in range(matrix.n_features):
        column = matrix.values[:, number].astype(np.float64)
        exponent, median, spread = _measures(column, column.size)
        result[:, number] = (np.ldexp(column, -exponent) - median) / spread
    return DenseMatrix(result)


def _measures(entries: NDArray[np.float64], n: int) -> tuple[int, float, float]:
    """Return an exponent of 2, and the median and the spread of the entries and n - entries.size zeros divided by it.

    The median is the lower one of two. The spread of a constant column is 1.
    """
    exponent = math.frexp(float(np.abs(entries).max()))[1]
    values, n_zeros = np.ldexp(entries, -exponent), n - entries.size
    place, n_negative = (n - 1) // 2, int(np.count_nonzero(values < 0))
    if n_negative <= place < n_negative + n_zeros:
        median = 0.0
    else:
        place -= n_zeros if place >= n_negative else 0
        median = float(np.partition(values, place)[place])
    mean = float(values.sum()) / n
    variance = (float(((values - mean) ** 2).sum()) + n_zeros * mean * mean) / n
    n_other = int(np.count_nonzero(values != median)) + (n_zeros if median else 0)
    return exponent, median, math.sqrt(variance * n / n_other) if n_other and variance else 1.0


def row_keys(matrix: Matrix) -> NDArray[np.uint64]:
    """Return a number for each row: equal for equal rows, dense or CSR, float32 or float64, and else nearly surely not.

    It is the sum of numbers made of the bits of every entry and a number of its column; an entry of 0 adds nothing.
    """
    n_rows, n_cols = matrix.shape
    salts: Any = np.random.default_rng(0).integers(2**64, size=n_cols, dtype=np.uint64)
    keys: NDArray[np.uint64] = np.zeros(n_rows, dtype=np.uint64)
    for rows in matrix.blocks():
        part = matrix[rows]
        if part.is_sparse:
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_keys(part.data, salts[part.indices]))])
            keys[rows] = np.diff(sums[part.indptr])  # modulo 2^64, as are the sums
        else:
            keys[rows] = _keys(part.values, salts).sum(axis=1)
    return keys


def _keys(entries: NDArray[np.floating], salts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = (entries.astype(np.float64) + 0.0).view(np.uint64)  # -0 + 0 is 0
    return mixed_bits(bits + salts) - mixed_bits(salts)
