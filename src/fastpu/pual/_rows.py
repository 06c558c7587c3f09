"""Training rows of the PUAL family: positive and unlabelled ones, centred rows, kernel values, and products."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._kernels import Kernel, call_kernel, kernel_values, shifted_csr

_DIAGONAL_ROWS = 64  # rows that a user's kernel compares at once to find its diagonal


class PualRows:
    """Training rows, with the numbers of the positive and the unlabelled ones.

    `numbers` are the numbers that they have in the caller's X.
    """

    def __init__(self, rows: TrainingRows, n_threads: int) -> None:
        labels, weights = rows.labels, rows.weights
        self.matrix: Matrix = rows.matrix
        self.n_threads = n_threads
        self.pos: NDArray[np.int64] = np.flatnonzero(labels == 1)
        self.unl: NDArray[np.int64] = np.flatnonzero(labels == 0)
        self.is_unl: NDArray[np.bool_] = labels == 0
        self.weights = weights
        self.numbers: NDArray[np.int64] = np.arange(rows.n_given) if rows.numbers is None else rows.numbers
        #: The weight of each unlabelled row as a share of the weight of all unlabelled rows; 0 for positives.
        self.share_unl: NDArray[np.float64] = self.is_unl / self.unl.size
        if weights is not None:
            self.share_unl = np.where(self.is_unl, weights / float(weights[self.unl].max()), 0.0)
            self.share_unl /= self.share_unl.sum()

    @property
    def n(self) -> int:
        return self.matrix.n_rows

    def weigh(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.ones(rows.size) if self.weights is None else self.weights[rows]


class CentredRows:
    """Rows of X less the mean of the unlabelled ones, in float64; of CSR only columns with many entries are shifted.

    What remains of the mean, by rounding or in columns of CSR that are not shifted, is removed from products by a term
    of rank one.
    """

    def __init__(self, rows: PualRows) -> None:
        self.rows = rows
        matrix = rows.matrix
        self.x: Any
        if matrix.is_sparse:
            x = matrix.convert(np.dtype(np.float64), sparse=True).table()
            self.x, self.centre = shifted_csr(x, rows.unl)
        else:
            self.centre = matrix.values[rows.unl[0]].astype(np.float64)
            self.x = matrix.values - self.centre
            mean = rows.share_unl @ self.x
            self.x -= mean
            self.centre += mean
        self._mean: NDArray[np.float64] = self.x.T @ rows.share_unl

    def block(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the rows with these numbers as a dense matrix."""
        part = self.x[rows]
        dense: NDArray[np.float64] = part.toarray() if sp.issparse(part) else part
        return dense - self._mean

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with w of each row."""
        products: NDArray[np.float64] = self.x @ w
        return np.subtract(products, float(self._mean @ w), out=products)

    def back(self, on_rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the rows, each times its factor."""
        sums: NDArray[np.float64] = self.x.T @ on_rows
        sums -= float(on_rows.sum()) * self._mean
        return sums

    def gram_unl(self) -> NDArray[np.float64]:
        """Return the products of the columns over the unlabelled rows, with each row multiplied by its weight."""
        unl = self.rows.unl
        if not sp.issparse(self.x):
            return gram(self.x[unl], self.rows.weigh(unl), self.rows.n_threads)
        roots = np.sqrt(self.rows.weigh(unl))
        part = self.x[unl].multiply(roots[:, None]).tocsr()
        mean = self._mean * math.sqrt(float(roots @ roots))
        centred: NDArray[np.float64] = (part.T @ part).toarray() - np.outer(mean, mean)
        return centred

    def quadratic(self, R: Any) -> NDArray[np.float64]:
        """Return x'Rx, which does not depend on a shift of the rows."""
        if not sp.issparse(self.x):
            return quadratic(self.x, R, self.rows.n_threads)
        form: NDArray[np.float64] = (self.x.T @ (R @ self.x)).toarray()
        symmetric: NDArray[np.float64] = 0.5 * (form + form.T)
        return symmetric

    def misfit(self, on_rows: NDArray[np.float64], w: NDArray[np.float64], lam: float, weight: float) -> float:
        """Return the root of the decrease by the best step along one column, 1/2 slope^2 / curvature."""
        lacks = np.abs(self.back(on_rows) - lam * w) / np.hypot(math.sqrt(lam), math.sqrt(weight) * self.lengths)
        return float(lacks.max())

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        squares = self.x.multiply(self.x).sum(axis=0) if sp.issparse(self.x) else np.einsum("ij,ij->j", self.x, self.x)
        return np.sqrt(np.asarray(squares, dtype=np.float64).reshape(-1))

    def fields(self, w: NDArray[np.float64], offset: float) -> dict[str, Any]:
        return {"coef": w, "intercept": float(offset - self.centre @ w - self._mean @ w)}


def kernel_columns(rows: PualRows, kernel: Kernel, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return K(x_i, x_j) of all rows i and the rows `columns`, in float64."""
    matrix = rows.matrix
    try:
        # fails before the work begins if there is too little memory
        values: NDArray[np.float64] = np.empty((rows.n, columns.size))
    except MemoryError:
        raise MemoryError(f"cannot allocate {8 * rows.n * columns.size} bytes for the kernel matrix") from None
    if kernel.name == "precomputed":
        values[...] = matrix.table()[:, rows.numbers[columns]]
    else:
        values = kernel_values(kernel, matrix, matrix[columns], rows.n_threads)
    if not np.isfinite(values).all():
        raise ValueError("X must have entries so small that kernel values do not overflow; scale X")
    return values


def kernel_diagonal(rows: PualRows, kernel: Kernel) -> NDArray[np.float64]:
    matrix = rows.matrix
    if kernel.name == "precomputed":
        return np.asarray(matrix.table()[np.arange(rows.n), rows.numbers], dtype=np.float64)
    if kernel.name == "rbf":
        return np.ones(rows.n)
    if kernel.function is not None:
        parts = []
        for block in matrix.blocks(_DIAGONAL_ROWS):
            for first in range(block.start, block.stop, _DIAGONAL_ROWS):
                few = matrix[first : min(first + _DIAGONAL_ROWS, block.stop)].table()
                parts.append(np.diagonal(call_kernel(kernel.function, few, few)))
        return np.concatenate(parts)
    squares = np.concatenate([_squares(matrix[block]) for block in matrix.blocks()])
    if kernel.name == "linear":
        return squares
    inner: NDArray[np.float64] = squares * kernel.gamma + kernel.coef0
    result: NDArray[np.float64] = inner**kernel.degree if kernel.name == "poly" else np.tanh(inner)
    return result


def _squares(matrix: Matrix) -> NDArray[np.float64]:
    if matrix.is_sparse:
        x = matrix.table()
        return np.asarray(x.multiply(x).sum(axis=1), dtype=np.float64).reshape(-1)
    wide = matrix.values.astype(np.float64, copy=False)
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide)
    return squares


def expansion_rows(rows: PualRows, kernel: Kernel, support: NDArray[np.int64]) -> dict[str, Any]:
    """Return the fields of a kernel expansion over some training rows, with one copy of the rows for all models."""
    fields: dict[str, Any] = {"support": rows.numbers[support]}
    if kernel.name not in {"linear", "precomputed"}:
        fields |= rows.matrix[support].fields("support")
    for value in fields.values():
        value.flags.writeable = False  # the models share these arrays, which nobody else holds
    return fields


def product(a: NDArray[np.float64], b: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    return _core.tiled_product(a, b, n_threads=n_threads)


def gram(z: NDArray[np.float64], weights: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """Return z'z with each row multiplied by its weight; `z` is overwritten."""
    z *= np.sqrt(weights)[:, None]
    return _core.tiled_gram(z, n_threads=n_threads)


def quadratic(z: NDArray[np.float64], R: Any, n_threads: int) -> NDArray[np.float64]:
    """Return z'Rz for a symmetric sparse R."""
    return _core.tiled_symmetric_product(z, R @ z, n_threads=n_threads)
