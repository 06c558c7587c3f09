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
from fastpu._centring import shifted_csr
from fastpu._eigen import symmetric_eigen
from fastpu._kernels import call_kernel, convert_rows, row_blocks, slice_rows, take_rows, user_rows
from fastpu._ordered_factor import ordered_factor
from fastpu._params import forced_isa

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu._kernels import Kernel, Native
    from fastpu._validate import Matrix

__all__ = [
    "Features",
    "Rows",
    "empty",
    "expansion_rows",
    "in_fours",
    "kernel_columns",
    "open_features",
    "product",
    "row_strips",
    "taken_rows",
    "times_rows",
    "weighted_gram",
]

_AT_ONCE = 4  # rows of a product that has to give the same bits for one and for many
_LARGEST = 1e153  # of an entry of X, times the root of their number: its square is a number
_LARGEST_SUM = 1e307  # of kernel values: some of them, with either sign, are added to it
_CHUNK = 1 << 20  # entries of a block of rows that is worked on at a time


def empty(shape: tuple[int, ...], what_for: str) -> NDArray[np.float64]:
    """Return an array, or raise a MemoryError that says how many bytes were wanted for what."""
    try:
        return np.empty(shape)
    except MemoryError:
        n_bytes = 8 * int(np.prod([int(size) for size in shape], dtype=object))
        raise MemoryError(f"cannot allocate {n_bytes} bytes for {what_for}") from None


def row_strips(n: int, n_cols: int) -> list[slice]:
    """Return blocks of consecutive rows, so small that Ctrl-C, which is looked at between them, has not to wait."""
    step = max(1, _CHUNK // max(1, n_cols))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def taken_rows(matrix: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return these rows of a matrix, as indexing does."""
    taken = empty((rows.size, matrix.shape[1]), "rows of the features")
    for block in row_strips(*taken.shape):
        taken[block] = matrix[rows[block]]
    return taken


class Rows:
    """Checked training rows with the numbers of the positive and of the unlabelled ones.

    Rows of weight 0 are left out; `numbers` says which of the caller's rows the others are, and `weights` is None
    where all of them are 1.
    """

    def __init__(
        self,
        matrix: Matrix,
        labels: NDArray[np.int8],
        n_threads: int,
        *,
        weights: NDArray[np.float64] | None = None,
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        self.matrix = matrix
        self.n_threads = n_threads
        self.pos: NDArray[np.int64] = np.flatnonzero(labels == 1)
        self.unl: NDArray[np.int64] = np.flatnonzero(labels == 0)
        self.is_unl: NDArray[np.bool_] = labels == 0
        self.weights = weights
        self.numbers: NDArray[np.int64] = np.arange(matrix.n_rows) if numbers is None else numbers
        #: The share of each unlabelled row in the weight of all of them, and 0 for positives.
        self.share_unl: NDArray[np.float64] = self.is_unl / self.unl.size
        if weights is not None:
            self.share_unl = np.where(self.is_unl, weights / float(weights[self.unl].max()), 0.0)
            self.share_unl /= self.share_unl.sum()

    @property
    def n(self) -> int:
        return self.matrix.n_rows

    def weigh(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of some rows."""
        return np.ones(rows.size) if self.weights is None else self.weights[rows]


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

    def share(self) -> None:  # noqa: B027 - a hook, and most features have nothing to add
        """Compute what all models share, before several threads ask for it."""

    def with_one_thread(self) -> Features:
        """Return the same features with room of their own to work in, and one thread."""
        mine = copy(self)
        mine.__dict__.pop("scratch", None)
        mine.rows = copy(self.rows)
        mine.rows.n_threads = 1
        return mine

    @cached_property
    def scratch(self) -> NDArray[np.float64]:
        """Room for one matrix of the shape of `gram_unl`: pages that are new each time cost as much as the copy."""
        return empty(self.gram_unl.shape, "the matrix of the smooth part")

    @abstractmethod
    def local(self, R: Any) -> NDArray[np.float64]:
        """Return Z'RZ."""

    @abstractmethod
    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z'beta for each training row."""

    @abstractmethod
    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        """Return Z'on_rows - lam beta."""

    def square(self, beta: NDArray[np.float64]) -> float:
        """Return |w|^2 of the function z'beta."""
        return float(beta @ beta)

    def misfit(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float, weight: float) -> float:  # noqa: ARG002
        """Return the root of what the best step along one feature of X gains, for squared losses of this weight."""
        return 0.0  # of kernels, whose matrix is what is given: Z is as right as that

    @abstractmethod
    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        """Return fields of the model f(x) = z(x)'beta + offset."""


# ----------------------------------------------------------------------------------------------- linear


class CentredRows:
    """Rows of X less the mean of the unlabelled ones, in float64; CSR loses the mean of well-filled columns alone.

    What rounding leaves of the mean, and all that CSR keeps of it, goes out of the products by a term of rank one.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        native: Any = rows.matrix.native
        self.x: Any
        if rows.matrix.is_sparse:
            x = user_rows(convert_rows(native, np.dtype(np.float64), sparse=True))
            self.x, self.centre = shifted_csr(x, rows.unl)
        else:
            self.x = empty(native.shape, "the centred rows of X")
            self.centre = native[rows.unl[0]].astype(np.float64)
            mean = np.zeros(native.shape[1])
            for block in row_strips(*native.shape):
                np.subtract(native[block], self.centre, out=self.x[block])
                mean += rows.share_unl[block] @ self.x[block]
            self.centre += mean
            for block in row_strips(*native.shape):
                self.x[block] -= mean
        self._mean: NDArray[np.float64] = self.x.T @ rows.share_unl

    def block(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows as a dense matrix."""
        part = self.x[rows]
        dense: NDArray[np.float64] = part.toarray() if sp.issparse(part) else part
        return dense - self._mean

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with w of each row."""
        found: NDArray[np.float64] = self.x @ w
        return np.subtract(found, float(self._mean @ w), out=found)

    def back(self, on_rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the rows times these factors."""
        found: NDArray[np.float64] = self.x.T @ on_rows
        found -= float(on_rows.sum()) * self._mean
        return found

    def gram_unl(self) -> NDArray[np.float64]:
        """Return the products of the columns over the unlabelled rows, every row as often as its weight says."""
        unl = self.rows.unl
        roots = np.sqrt(self.rows.weigh(unl))
        if sp.issparse(self.x):
            part = self.x[unl].multiply(roots[:, None]).tocsr()
            mean = self._mean * math.sqrt(float(roots @ roots))
            return _to_dense(part.T @ part) - np.outer(mean, mean)
        return weighted_gram(self.x, unl, self.rows.weights, self.rows.n_threads)

    def misfit(self, on_rows: NDArray[np.float64], w: NDArray[np.float64], lam: float, weight: float) -> float:
        """Return the root of what the best step along one column gains, 1/2 (slope of it)^2 / (its curvature)."""
        lacks = np.abs(self.back(on_rows) - lam * w) / np.hypot(math.sqrt(lam), math.sqrt(weight) * self.lengths)
        return float(lacks.max())

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The length of each column."""
        squares = self.x.multiply(self.x).sum(axis=0) if sp.issparse(self.x) else np.einsum("ij,ij->j", self.x, self.x)
        return np.sqrt(np.asarray(squares, dtype=np.float64).reshape(-1))

    def fields(self, w: NDArray[np.float64], offset: float) -> dict[str, Any]:
        return {"coef": w, "intercept": float(offset - self.centre @ w - self._mean @ w)}


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
        found = _to_dense(x.T @ (R @ x))
        symmetric: NDArray[np.float64] = 0.5 * (found + found.T)
        return symmetric

    def scores(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._x.times(beta)

    def slope(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        return self._x.back(on_rows) - lam * beta

    def misfit(self, on_rows: NDArray[np.float64], beta: NDArray[np.float64], lam: float, weight: float) -> float:
        return self._x.misfit(on_rows, beta, lam, weight)

    def fields(self, beta: NDArray[np.float64], offset: float) -> dict[str, Any]:
        return self._x.fields(beta, offset)


# ----------------------------------------------------------------------------------------------- kernels


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

    def share(self) -> None:
        self._shared  # noqa: B018 - computed when first looked at
        self._factor.triangle  # noqa: B018

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

    def share(self) -> None:
        self._factor.triangle  # noqa: B018 - computed when first looked at
        self._x.lengths  # noqa: B018

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

    def share(self) -> None:
        self._shared  # noqa: B018 - computed when first looked at

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


# --------------------------------------------------------------------------------------------- kernel values


def kernel_columns(rows: Rows, kernel: Kernel, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return K(x_i, x_j) of all rows i and the rows `columns`, in float64."""
    native = rows.matrix.native
    if kernel.name == "precomputed":
        out = empty((rows.n, columns.size), "the kernel matrix")
        out[...] = native[:, columns]  # type: ignore[call-overload] # precomputed kernels are dense
        found = out
    elif kernel.function is not None:
        found = empty((rows.n, columns.size), "the kernel matrix")
        right = user_rows(take_rows(native, columns))
        for block in row_blocks(native, columns.size):
            found[block] = call_kernel(kernel.function, user_rows(slice_rows(native, block)), right)
    else:
        empty((rows.n, columns.size), "the kernel matrix")  # refused before work begins
        found = _core.kernel_matrix(
            convert_rows(native, np.dtype(np.float64), sparse=rows.matrix.is_sparse),
            columns,
            kernel=kernel.name,
            gamma=kernel.gamma if isinstance(kernel.gamma, float) else 1.0,
            degree=kernel.degree,
            coef0=kernel.coef0,
            n_threads=rows.n_threads,
            isa=forced_isa(_core.isa_levels()),
        )
    if not all(np.isfinite(found[block]).all() for block in row_strips(*found.shape)):
        raise ValueError("X must have entries so small that kernel values do not overflow; scale X")
    return found


def kernel_diagonal(rows: Rows, kernel: Kernel) -> NDArray[np.float64]:
    """Return K(x, x) of every row."""
    native = rows.matrix.native
    if kernel.name == "precomputed":
        return np.diagonal(native).astype(np.float64)  # type: ignore[arg-type] # precomputed kernels are dense
    if kernel.name == "rbf":
        return np.ones(rows.n)
    if kernel.function is not None:
        parts = []
        for block in row_blocks(native, _DIAGONAL):
            for first in range(block.start, block.stop, _DIAGONAL):
                few = user_rows(slice_rows(native, slice(first, min(first + _DIAGONAL, block.stop))))
                parts.append(np.diagonal(call_kernel(kernel.function, few, few)))
        return np.concatenate(parts)
    squares = np.concatenate([_squares(slice_rows(native, block)) for block in row_blocks(native)])
    if kernel.name == "linear":
        return squares
    inner: NDArray[np.float64] = squares * kernel.gamma + kernel.coef0
    result: NDArray[np.float64] = inner**kernel.degree if kernel.name == "poly" else np.tanh(inner)
    return result


_DIAGONAL = 64


def _squares(native: Native) -> NDArray[np.float64]:
    if isinstance(native, tuple):
        x = user_rows(native)
        return np.asarray(x.multiply(x).sum(axis=1), dtype=np.float64).reshape(-1)
    wide = native.astype(np.float64, copy=False)
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide)
    return squares


def expansion_rows(rows: Rows, kernel: Kernel, support: NDArray[np.int64]) -> dict[str, Any]:
    """Return the fields of a kernel expansion over some training rows, one copy of them for all models."""
    fields: dict[str, Any] = {"support": rows.numbers[support]}
    if kernel.name not in {"linear", "precomputed"}:
        taken = take_rows(rows.matrix.native, support)
        names = ("support_data", "support_indices", "support_indptr")
        fields |= dict(zip(names, taken[:3], strict=True)) if isinstance(taken, tuple) else {"support_dense": taken}
    for value in fields.values():
        value.flags.writeable = False  # ours alone: the models share them
    return fields


# ------------------------------------------------------------------------------------------------ dense algebra


def product(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    *,
    n_threads: int,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> NDArray[np.float64]:
    """Return op(a) op(b), with the same bits for every number of threads."""
    return _core.tiled_product(a, b, transpose_a=transpose_a, transpose_b=transpose_b, n_threads=n_threads)


def times_rows(
    rows: NDArray[np.float64], b: NDArray[np.float64], *, n_threads: int, transpose: bool
) -> NDArray[np.float64]:
    """Return rows b, or rows b', with the same bits of a row whatever the others are, and how many."""

    def times(few: NDArray[np.float64]) -> NDArray[np.float64]:
        return product(few, b, n_threads=n_threads, transpose_b=transpose)

    return in_fours(rows, times)


def in_fours(
    rows: NDArray[np.float64], function: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return what a function of rows gives, called with four of them each time: BLAS sums fewer in other orders."""
    parts = []
    for first in range(0, len(rows), _AT_ONCE):
        few = rows[first : first + _AT_ONCE]
        block = np.zeros((_AT_ONCE, rows.shape[1]))
        block[: len(few)] = few
        parts.append(function(block)[: len(few)])
    return np.concatenate(parts)


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


def weighted_gram(
    z: NDArray[np.float64], rows: NDArray[np.int64], weights: NDArray[np.float64] | None, n_threads: int
) -> NDArray[np.float64]:
    """Return Z'Z of some rows, each as often as its weight says."""
    found: NDArray[np.float64] = np.zeros((z.shape[1],) * 2)
    for block in row_strips(rows.size, z.shape[1]):
        part = z[rows[block]]
        if weights is not None:
            part *= np.sqrt(weights[rows[block]])[:, None]
        found += _core.tiled_gram(part, n_threads=n_threads)
    return found


def _to_dense(matrix: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
