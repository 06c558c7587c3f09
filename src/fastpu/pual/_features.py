"""Feature vectors z of the training rows with z'z = K, and the matrices that all problems of the PUAL family need.

The features are shifted such that the weighted mean of the unlabelled rows is 0, which changes the intercept alone. The
positives come first, and their rows are zero except in the last columns: with a Cholesky factor whose columns are
eliminated in this order, solutions for the positives need only its last block.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from fastpu import _core
from fastpu.common._eigen import symmetric_eigen
from fastpu.data._kept_rows import RowArrays
from fastpu.data._matrix import CsrMatrix, DenseMatrix, Floats, Matrix
from fastpu.kernels._shifted_rows import shifted_csr
from fastpu.pual._kernel_columns import kernel_columns, kernel_diagonal, support_rows
from fastpu.pual._options import BlsSvmOptions
from fastpu.pual._ordered_factor import ordered_factor
from fastpu.pual._pual_rows import PualRows

# Largest entry of X, times the square root of the number of entries: squares must not overflow.
_LARGEST = 1e153
_LARGEST_SUM = 1e307  # largest kernel value: sums of a few of them, with either sign, must not overflow


@dataclass(frozen=True, eq=False)
class FeatureExpansion:
    """f(x) = z(x)'beta + offset as models keep it: factors of training rows, or `coef` for linear features."""

    support: NDArray[np.int64]  # numbers in the caller's X
    dual_coef: NDArray[np.float64]
    intercept: float
    coef: NDArray[np.float64] | None
    vectors: RowArrays[Floats]  # of a kernel that needs the rows


class LinearFeatures:
    """Linear features: the rows of X less the mean of the unlabelled ones, in float64.

    Of CSR only columns with many entries are shifted. What remains of the mean, by rounding or in columns that are not
    shifted, is removed from products by a term of rank one.
    """

    residual = None

    def __init__(self, rows: PualRows) -> None:
        self.rows = rows
        matrix = rows.matrix
        self.x: Any
        if matrix.is_sparse:
            x = matrix.convert(np.dtype(np.float64), sparse=True).table()
            self.x, self._centre = shifted_csr(x, rows.unl)
        else:
            self._centre = matrix.values[rows.unl[0]].astype(np.float64)
            self.x = matrix.values - self._centre
            mean = rows.share_unl @ self.x
            self.x -= mean
            self._centre += mean
        self.mean: NDArray[np.float64] = self.x.T @ rows.share_unl

    @cached_property
    def pos(self) -> NDArray[np.float64]:
        """The last columns of the rows of positives, of shape (n_pos, r_pos); their other columns are 0."""
        part = self.x[self.rows.pos]
        dense: NDArray[np.float64] = part.toarray() if sp.issparse(part) else part
        return dense - self.mean

    @cached_property
    def gram_unl(self) -> NDArray[np.float64]:
        """Z_u'Z_u, with each row multiplied by its weight, of shape (r, r)."""
        unl = self.rows.unl
        if not sp.issparse(self.x):
            return _weighted_gram(self.x[unl], self.rows.weights_of(unl), self.rows.n_threads)
        roots = np.sqrt(self.rows.weights_of(unl))
        part = self.x[unl].multiply(roots[:, None]).tocsr()
        mean = self.mean * math.sqrt(float(roots @ roots))
        centred: NDArray[np.float64] = (part.T @ part).toarray(order="C") - np.outer(mean, mean)
        return centred

    def quadratic_form(self, R: Any) -> NDArray[np.float64]:
        """Return Z'RZ."""
        if not sp.issparse(self.x):  # the form does not depend on a shift of the rows
            return _core.tiled_symmetric_product(self.x, R @ self.x, n_threads=self.rows.n_threads)
        form = (self.x.T @ (R @ self.x)).toarray()
        return np.ascontiguousarray(0.5 * (form + form.T))

    @property
    def matrix(self) -> Matrix:
        """The rows `x`."""
        return CsrMatrix.of(self.x) if sp.issparse(self.x) else DenseMatrix(self.x)

    def solver(self) -> _core.PualSolver:
        return _solver(self, self.matrix, mean=self.mean)

    def back(self, on_rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the rows, each times its factor."""
        sums: NDArray[np.float64] = self.x.T @ on_rows
        sums -= float(on_rows.sum()) * self.mean
        return sums

    def expansion(self, beta: NDArray[np.float64], offset: float) -> FeatureExpansion:
        """Return f(x) = z(x)'beta + offset by the rows themselves."""
        intercept = float(offset - self._centre @ beta - self.mean @ beta)
        return FeatureExpansion(np.empty(0, dtype=np.int64), np.empty(0), intercept, beta, RowArrays())


class DenseFeatures:
    """Features that are computed and stored, a row of `z` for each row of X; models keep the rows `_support`."""

    z: NDArray[np.float64]
    n_last: int  # rows of positives are 0 except in so many last columns
    residual: float | None = None  # of Nystroem's method: the mean of K(x, x) - z'z

    def __init__(self, rows: PualRows, support: NDArray[np.int64]) -> None:
        self.rows, self._support = rows, support

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        numbers = self.rows.numbers[self._support]
        numbers.flags.writeable = False  # the models share them, and nobody else holds them
        return numbers

    @cached_property
    def _vectors(self) -> RowArrays[Floats]:
        return support_rows(self.rows, self._support)

    @cached_property
    def pos(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.z[self.rows.pos, self.z.shape[1] - self.n_last :])

    @cached_property
    def gram_unl(self) -> NDArray[np.float64]:
        rows = self.rows
        return _weighted_gram(self.z[rows.unl], rows.weights_of(rows.unl), rows.n_threads)

    def quadratic_form(self, R: Any) -> NDArray[np.float64]:
        return _core.tiled_symmetric_product(self.z, R @ self.z, n_threads=self.rows.n_threads)

    def solver(self) -> _core.PualSolver:
        return _solver(self, DenseMatrix(self.z))


class KernelFeatures(DenseFeatures):
    """A Cholesky factor of the kernel matrix; the positives are its first rows."""

    def __init__(self, rows: PualRows) -> None:
        super().__init__(rows, np.arange(rows.n))
        order = np.concatenate([rows.pos, rows.unl])
        K = kernel_columns(rows, order)[order]
        size = max(float(K.max()), -float(K.min()))
        if size > _LARGEST_SUM / rows.n:
            raise ValueError(
                f"X must have smaller entries, because sums of kernel values overflow, got a value of {size:g}; scale X"
            )
        share = rows.share_unl[order]
        mean = K @ share  # mean of K(x, x_j) over the unlabelled rows j
        K -= mean
        K -= (mean - float(mean @ share))[:, None]
        factor = ordered_factor(K, rows.pos.size, rows.n_threads, size=size)
        place = np.argsort(order)
        self._mean: NDArray[np.float64] = mean[place]
        self.z, self.n_last = factor.Z[place], factor.n_last
        self._triangle, self._pivots = factor.triangle, order[factor.pivots]

    def _coefs(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coefficients a with Z'a = beta, which are 0 except at the pivots."""
        coefs: NDArray[np.float64] = np.zeros(self.rows.n)
        coefs[self._pivots] = solve_triangular(self._triangle, beta[::-1], lower=True, trans="T", check_finite=False)
        return coefs

    def expansion(self, beta: NDArray[np.float64], offset: float) -> FeatureExpansion:
        coef = self._coefs(beta)
        coef -= coef.sum() * self.rows.share_unl  # makes the sum 0, which accounts for the centring of the features
        return FeatureExpansion(self._numbers, coef, float(offset - self._mean @ coef), None, self._vectors)


class WideFeatures(KernelFeatures):
    """Linear features of rows with more columns than rows: a factor of the matrix of their products.

    With the factor Z of the products, V = X'A for Z'A = I has orthonormal columns, and Z = X V apart from rounding
    errors in Z. The core computes everything but Z from X and V, so that the solution is accurate for X.
    """

    def __init__(self, rows: PualRows) -> None:
        self._x = LinearFeatures(rows)
        centred = copy(rows)
        centred.matrix = self._x.matrix
        super().__init__(centred)
        self.rows = rows

    def solver(self) -> _core.PualSolver:
        return _solver(self, self._x.matrix, mean=self._x.mean, triangle=self._triangle, pivots=self._pivots)

    def expansion(self, beta: NDArray[np.float64], offset: float) -> FeatureExpansion:
        return self._x.expansion(self._x.back(self._coefs(beta)), offset)


class NystroemFeatures(DenseFeatures):
    """Features by Nystroem's method: kernel values with the landmarks, for which z'z = K."""

    def __init__(self, rows: PualRows, landmarks: NDArray[np.int64]) -> None:
        super().__init__(rows, landmarks)
        columns = kernel_columns(rows, landmarks)
        inner = columns[landmarks]
        values, vectors = symmetric_eigen(0.5 * inner + 0.5 * inner.T)
        kept = values > values.size * np.finfo(float).eps * max(float(values[-1]), 0.0)
        if not kept.any():
            raise ValueError("X must have rows for which the kernel is not 0, got none among the landmarks")
        self._to_features = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
        self.z = _core.tiled_product(columns, self._to_features, n_threads=rows.n_threads)
        lacks = kernel_diagonal(rows) - np.einsum("ij,ij->i", self.z, self.z)
        self.residual = max(float(lacks.mean()), 0.0)
        self._centre: NDArray[np.float64] = rows.share_unl @ self.z
        self.z -= self._centre
        self.n_last = self.z.shape[1]

    def expansion(self, beta: NDArray[np.float64], offset: float) -> FeatureExpansion:
        intercept = float(offset - self._centre @ beta)
        return FeatureExpansion(self._numbers, self._to_features @ beta, intercept, None, self._vectors)


Features: TypeAlias = LinearFeatures | KernelFeatures | NystroemFeatures


def open_features(rows: PualRows, options: BlsSvmOptions) -> Features:
    """Return the features for this kernel, shape of X and `n_components` (of Nystroem's method)."""
    n_components = options.n_components
    if rows.kernel.name == "linear":
        values, n_features = rows.matrix.entries, rows.matrix.n_features
        largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
        if largest > _LARGEST / math.sqrt(rows.n * n_features):
            raise ValueError(f"X must have smaller entries, because their squares overflow, got {largest:g}; scale X")
        return LinearFeatures(rows) if n_features <= rows.n else WideFeatures(rows)
    if n_components is None or n_components >= rows.n:
        return KernelFeatures(rows)
    landmarks = np.sort(options.generator.choice(rows.n, n_components, replace=False))
    return NystroemFeatures(rows, landmarks)


def _solver(
    features: LinearFeatures | DenseFeatures, x: Matrix, *, mean: NDArray[np.float64] | None = None,
    triangle: NDArray[np.float64] | None = None, pivots: NDArray[np.int64] | None = None,
) -> _core.PualSolver:  # fmt: skip
    """Return the core's solver for these rows: `x` less `mean`, or what `triangle` and `pivots` make of it."""
    rows = features.rows
    return _core.PualSolver(
        x,
        mean=mean,
        triangle=triangle,
        pivots=pivots,
        positives=features.pos,
        gram_unl=features.gram_unl,
        pos=rows.pos,
        shares_pos=rows.share_pos,
        shares_unl=rows.share_unl,
        mass_pos=rows.mass_pos,
        mass_unl=rows.mass_unl,
    )


def _weighted_gram(z: NDArray[np.float64], weights: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """Return z'z with each row multiplied by its weight; `z` is overwritten."""
    z *= np.sqrt(weights)[:, None]
    return _core.tiled_symmetric_product(z, z, n_threads=n_threads)
