"""Feature vectors z of the training rows with z'z = K, and what all problems of the PUAL family take from them.

All have the mean of the unlabelled rows, by their weights, at 0, which moves the intercept alone. The positives come
first, and their rows may have entries in the last columns only: a Cholesky factor whose columns are eliminated in this
order then gives what is asked of the positives from its last block.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fastpu import _core
from fastpu.common._eigen import symmetric_eigen
from fastpu.graph._ordered_factor import ordered_factor
from fastpu.graph._rows import (
    CentredRows,
    Rows,
    empty,
    expansion_rows,
    kernel_columns,
    kernel_diagonal,
    product,
    row_strips,
    taken_rows,
    to_dense,
    weighted_gram,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.kernels._kernels import Kernel

__all__ = ["Features", "open_features"]

_LARGEST = 1e153  # of an entry of X, times the root of their number: its square is a number
_LARGEST_SUM = 1e307  # of kernel values: some of them, with either sign, are added to it


class Features(ABC):
    """Feature vectors of the training rows.

    Attributes
    ----------
    gram_unl : ndarray of shape (r, r)
        Z_u'Z_u, every row as often as its weight says.
    pos : ndarray of shape (n_pos, r_pos)
        The last columns of the positives' rows; the others are 0.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.gram_unl: NDArray[np.float64]
        self.pos: NDArray[np.float64]
        self.residual: float | None = None

    @property
    def rank(self) -> int:
        return len(self.gram_unl)

    @cached_property
    def scratch(self) -> NDArray[np.float64]:
        """Room for one matrix of the shape of `gram_unl`: pages that are new each time cost as much as the copy."""
        return empty(self.gram_unl.shape, "the matrix of the smooth part")

    @abstractmethod
    def local(self, R: Any) -> NDArray[np.float64]:
        """Return Z'RZ."""

    @abstractmethod
    def block(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the feature vectors of some rows."""

    @abstractmethod
    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z'beta for each training row."""

    @abstractmethod
    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        """Return Z'on_rows - lam beta."""

    def square(self, beta: NDArray[np.float64]) -> float:
        """Return |w|^2 of the function z'beta."""
        return float(beta @ beta)

    # The arguments are for linear features, which override it.
    def misfit(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float, weight: float) -> float:  # noqa: ARG002
        """Return the root of what the best step along one feature of X gains, for squared losses of this weight."""
        return 0.0  # of kernels, whose matrix is what is given: Z is as right as that

    @abstractmethod
    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        """Return fields of the model f(x) = z(x)'beta + offset."""


class LinearFeatures(Features):
    """Rows of few columns."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._x = CentredRows(rows)
        self.pos = self._x.block(rows.pos)
        self.gram_unl = self._x.gram_unl()

    def local(self, R: Any) -> NDArray[np.float64]:
        x = self._x.x
        if not sp.issparse(x):
            return _local(x, R, self.rows.n_threads)
        found = to_dense(x.T @ (R @ x))
        symmetric: NDArray[np.float64] = 0.5 * (found + found.T)
        return symmetric

    def block(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._x.block(numbers)

    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._x.times(beta)

    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        return self._x.back(on_rows) - lam * beta

    def misfit(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float, weight: float) -> float:
        return self._x.misfit(on_rows, beta, lam, weight)

    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        return self._x.fields(beta, offset)


class KernelFeatures(Features):
    """A Cholesky factor of the kernel matrix; the positives are its first rows, and the last of its columns."""

    def __init__(self, rows: Rows, kernel: Kernel) -> None:
        super().__init__(rows)
        self._kernel = kernel
        unl = rows.unl
        if rows.weights is not None:  # the row that follows from the others is the one that weighs most
            heaviest = int(np.argmax(rows.weights[unl]))
            unl = np.append(np.delete(unl, heaviest), unl[heaviest])
        self._order = np.concatenate([rows.pos, unl])
        n_pos, n = rows.pos.size, rows.n
        K = kernel_columns(rows, kernel, np.arange(n))
        blocks = row_strips(n, n)
        size = max(float(np.abs(K[block]).max()) for block in blocks)
        if size > _LARGEST_SUM / n:
            raise ValueError(
                f"X must have entries so small that sums of kernel values do not overflow, got {size:g}; scale X"
            )
        # Of K(x, x_j) over the unlabelled j.
        share = rows.share_unl[rows.unl]
        self._mean: NDArray[np.float64] = np.concatenate([K[block][:, rows.unl] @ share for block in blocks])
        mean, mean_unl = self._mean[self._order], float(self._mean[rows.unl] @ share)
        ordered = empty(K.shape, "the kernel matrix")
        for block in blocks:
            part = K[self._order[block]][:, self._order]
            part -= mean[block, None]
            part -= mean
            part += mean_unl
            ordered[block] = part
        K = ordered
        weights = None if rows.weights is None else rows.weights[unl]
        self._factor = ordered_factor(K, n_pos, rows.n_threads, size=size, weights=weights)
        Z = self._factor.Z
        self.pos = np.ascontiguousarray(Z[:n_pos, Z.shape[1] - self._factor.n_last :])
        roots = None if weights is None else np.sqrt(weights)
        self.gram_unl = _core.tiled_gram(
            Z[n_pos:] if roots is None else Z[n_pos:] * roots[:, None], n_threads=rows.n_threads
        )

    def local(self, R: Any) -> NDArray[np.float64]:
        return _local(self._factor.Z, R[self._order][:, self._order], self.rows.n_threads)

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return expansion_rows(self.rows, self._kernel, np.arange(self.rows.n))

    def block(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._factor.Z[np.argsort(self._order)[numbers]]

    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.empty(self.rows.n)
        found[self._order] = self._factor.Z @ beta
        return found

    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        found: NDArray[np.float64] = on_rows[self._order] @ self._factor.Z
        return found - lam * beta

    def _coefs(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an a with Z'a = beta, on the rows in their own order."""
        found: NDArray[np.float64] = np.empty(self.rows.n)
        found[self._order] = self._factor.coefficients(beta)
        return found

    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        coef = self._coefs(beta)
        coef -= coef.sum() * self.rows.share_unl  # of a sum of 0, from which the mean of the features goes out
        return {**self._shared, "dual_coef": coef, "intercept": float(offset - self._mean @ coef)}


class WideFeatures(KernelFeatures):
    """Rows of more columns than there are rows: those of their products, and w from them by the rows themselves.

    With the factor Z of the products, V = X'a for Z'a = e has orthonormal columns and Z = X V, but for the rounding in
    Z. All but Z is computed by X and V, so that a solution of what is asked of X is found and is known to be one.
    """

    def __init__(self, rows: Rows, kernel: Kernel) -> None:
        self._x = CentredRows(rows)
        x = self._x.x
        native = x
        if sp.issparse(x):
            native = (x.data, np.require(x.indices, np.int32), np.require(x.indptr, np.int64), x.shape)
        centred = copy(rows)
        centred.matrix = replace(rows.matrix, native=native, dtype=np.dtype(np.float64))
        super().__init__(centred, kernel)
        self.rows = rows

    def _w(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._x.back(self._coefs(beta))

    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._x.times(self._w(beta))

    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        along = self._x.times(self._x.back(on_rows) - lam * self._w(beta))
        found: NDArray[np.float64] = self._factor.on_basis(along[self._order])
        return found

    def square(self, beta: NDArray[np.float64]) -> float:
        w = self._w(beta)
        return float(w @ w)

    def misfit(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float, weight: float) -> float:
        return self._x.misfit(on_rows, self._w(beta), lam, weight)

    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        return self._x.fields(self._w(beta), offset)


class NystroemFeatures(Features):
    """Rows that the kernel gives against some of them, the landmarks: z z' is K on the landmarks."""

    def __init__(self, rows: Rows, kernel: Kernel, landmarks: NDArray[np.int64]) -> None:
        super().__init__(rows)
        self._kernel, self._landmarks = kernel, landmarks
        z = kernel_columns(rows, kernel, landmarks)
        inner = np.ascontiguousarray(z[landmarks])
        diagonal = kernel_diagonal(rows, kernel)
        values, vectors = symmetric_eigen(0.5 * inner + 0.5 * inner.T)
        kept = values > values.size * np.finfo(float).eps * max(float(values[-1]), 0.0)
        if not kept.any():
            raise ValueError("X must have rows for which the kernel is not 0, got none among the landmarks")
        self._to_features = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
        z = product(z, self._to_features, n_threads=rows.n_threads)
        self.residual = max(float((diagonal - np.einsum("ij,ij->i", z, z)).mean()), 0.0)
        self._centre: NDArray[np.float64] = rows.share_unl @ z
        z -= self._centre
        self._z = z
        self.pos = taken_rows(z, rows.pos)
        self.gram_unl = weighted_gram(z, rows.unl, rows.weights, rows.n_threads)

    def local(self, R: Any) -> NDArray[np.float64]:
        return _local(self._z, R, self.rows.n_threads)

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return expansion_rows(self.rows, self._kernel, self._landmarks)

    def block(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._z[numbers]

    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._z @ beta
        return found

    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        found: NDArray[np.float64] = on_rows @ self._z
        return found - lam * beta

    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        coef = self._to_features @ beta
        return {**self._shared, "dual_coef": coef, "intercept": float(offset - self._centre @ beta)}


def _check_squares(rows: Rows) -> None:
    """Raise ValueError unless sums of squares and products of the entries of X are numbers."""
    native: Any = rows.matrix.native
    values = native[0] if rows.matrix.is_sparse else native
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest > _LARGEST / math.sqrt(rows.n * rows.matrix.n_features):
        raise ValueError(f"X must have entries so small that their squares do not overflow, got {largest:g}; scale X")


def open_features(
    rows: Rows, kernel: Kernel, n_components: int | None, generator: np.random.Generator | None
) -> Features:
    """Return the features that the kernel, the shape of X and `n_components` (of Nystroem's method) ask for."""
    if kernel.name == "linear":
        _check_squares(rows)
        return LinearFeatures(rows) if rows.matrix.n_features <= rows.n else WideFeatures(rows, kernel)
    if n_components is None or n_components >= rows.n:
        return KernelFeatures(rows, kernel)
    if generator is None:
        raise AssertionError("whoever asks for landmarks gives a generator")
    return NystroemFeatures(rows, kernel, np.sort(generator.choice(rows.n, n_components, replace=False)))


def _local(z: NDArray[np.float64], R: Any, n_threads: int) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.zeros((z.shape[1],) * 2)
    for block in row_strips(*z.shape):
        used = np.flatnonzero(z[block].any(axis=0))  # a factor has zeros on one side
        if used.size:
            columns = slice(int(used[0]), int(used[-1]) + 1)
            left = np.ascontiguousarray(z[block, columns])
            right = np.ascontiguousarray(R[block] @ z)
            total[columns] += product(left, right, n_threads=n_threads, transpose_a=True)
    symmetric: NDArray[np.float64] = 0.5 * (total + total.T)
    return symmetric
