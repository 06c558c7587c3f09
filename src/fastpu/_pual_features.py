"""Feature vectors z of the training rows with z'z = K, and what all problems of the PUAL family take from them.

All have the mean of the unlabelled rows at 0, which moves the intercept alone. The positives come first, and their
rows may have entries in the last columns only: a Cholesky factor whose columns are eliminated in this order then gives
what is asked of the positives from its last block.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fastpu import _core
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
    """Checked training rows with the numbers of the positive and of the unlabelled ones."""

    def __init__(self, matrix: Matrix, labels: NDArray[np.int8], n_threads: int) -> None:
        self.matrix = matrix
        self.n_threads = n_threads
        self.pos: NDArray[np.int64] = np.flatnonzero(labels == 1)
        self.unl: NDArray[np.int64] = np.flatnonzero(labels == 0)
        self.is_unl: NDArray[np.bool_] = labels == 0

    @property
    def n(self) -> int:
        return self.matrix.n_rows


class Features(ABC):
    """Feature vectors of the training rows.

    Attributes
    ----------
    gram_unl : ndarray of shape (r, r)
        Z_u'Z_u.
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
    def scores(self, betas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z'beta for each beta (a row) and training row."""

    @abstractmethod
    def expansions(
        self, betas: NDArray[np.float64], coefs: NDArray[np.float64], offsets: NDArray[np.float64]
    ) -> list[dict[str, Any]]:
        """Return fields of the models f(x) = z(x)'beta + offset; `coefs` are the a of f = K a (where that is asked)."""

    needs_coefs = False  # whether `expansions` looks at its `coefs`


# ----------------------------------------------------------------------------------------------- linear


class DenseFeatures(Features):
    """Rows of few columns, dense."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        native: Any = rows.matrix.native
        z = empty(native.shape, "the centred rows of X")
        blocks = row_strips(*native.shape)
        total = np.zeros(native.shape[1])
        for block in blocks:
            z[block] = native[block]
            total += z[block][rows.is_unl[block]].sum(axis=0)
        self.centre: NDArray[np.float64] = total / rows.unl.size
        for block in blocks:
            z[block] -= self.centre
        self._set(z)

    def _set(self, z: NDArray[np.float64]) -> None:
        rows = self.rows
        self.z = z
        self.pos = taken_rows(z, rows.pos)
        self.gram_unl = np.zeros((z.shape[1],) * 2)
        for block in row_strips(*z.shape):
            self.gram_unl += _core.tiled_gram(z[block][rows.is_unl[block]], n_threads=rows.n_threads)

    def local(self, R: Any) -> NDArray[np.float64]:
        return _local(self.z, R, self.rows.n_threads)

    def scores(self, betas: NDArray[np.float64]) -> NDArray[np.float64]:
        return times_rows(betas, self.z, n_threads=self.rows.n_threads, transpose=True)

    def expansions(
        self,
        betas: NDArray[np.float64],
        coefs: NDArray[np.float64],  # noqa: ARG002 - others look at it
        offsets: NDArray[np.float64],
    ) -> list[dict[str, Any]]:
        return [
            {"coef": beta, "intercept": float(offset - self.centre @ beta)}
            for beta, offset in zip(betas, offsets, strict=True)
        ]


class SparseFeatures(DenseFeatures):
    """CSR rows of few columns: centred in thought only."""

    def __init__(self, rows: Rows) -> None:
        Features.__init__(self, rows)
        self._x = user_rows(convert_rows(rows.matrix.native, np.dtype(np.float64), sparse=True))
        unl = self._x[rows.unl]
        self.centre = np.asarray(unl.sum(axis=0)).reshape(-1) / rows.unl.size
        self.pos = self._x[rows.pos].toarray() - self.centre
        gram = _to_dense(unl.T @ unl)
        self.gram_unl = gram - rows.unl.size * np.outer(self.centre, self.centre)

    def local(self, R: Any) -> NDArray[np.float64]:
        found = _to_dense(self._x.T @ (R @ self._x))
        symmetric: NDArray[np.float64] = 0.5 * (found + found.T)
        return symmetric

    def scores(self, betas: NDArray[np.float64]) -> NDArray[np.float64]:
        # Row by row, so that one has the same bits as many.
        return np.array([self._x @ beta - float(self.centre @ beta) for beta in betas])


# ----------------------------------------------------------------------------------------------- kernels


class KernelFeatures(Features):
    """A Cholesky factor of the kernel matrix; the positives are its first rows, and the last of its columns."""

    needs_coefs = True

    def __init__(self, rows: Rows, kernel: Kernel) -> None:
        super().__init__(rows)
        self._kernel = kernel
        self._order = np.concatenate([rows.pos, rows.unl])
        n_pos, n = rows.pos.size, rows.n
        K = kernel_columns(rows, kernel, np.arange(n))
        blocks = row_strips(n, n)
        size = max(float(np.abs(K[block]).max()) for block in blocks)
        if size > _LARGEST_SUM / n:
            raise ValueError(
                f"X must have entries so small that sums of kernel values do not overflow, got {size:g}; scale X"
            )
        # Of K(x, x_j) over the unlabelled j.
        self._mean: NDArray[np.float64] = np.concatenate([K[block][:, rows.unl].mean(axis=1) for block in blocks])
        mean, mean_unl = self._mean[self._order], float(self._mean[rows.unl].mean())
        ordered = empty(K.shape, "the kernel matrix")
        for block in blocks:
            part = K[self._order[block]][:, self._order]
            part -= mean[block, None]
            part -= mean
            part += mean_unl
            ordered[block] = part
        K = ordered
        self._factor, n_last = ordered_factor(K, n_pos, rows.n_threads, size=size)
        self.pos = np.ascontiguousarray(self._factor[:n_pos, self._factor.shape[1] - n_last :])
        self.gram_unl = _core.tiled_gram(self._factor[n_pos:], n_threads=rows.n_threads)

    def local(self, R: Any) -> NDArray[np.float64]:
        return _local(self._factor, R[self._order][:, self._order], self.rows.n_threads)

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return expansion_rows(self.rows, self._kernel, np.arange(self.rows.n))

    def share(self) -> None:
        self._shared  # noqa: B018 - computed when first looked at

    def scores(self, betas: NDArray[np.float64]) -> NDArray[np.float64]:
        ordered = times_rows(betas, self._factor, n_threads=self.rows.n_threads, transpose=True)
        found = np.empty_like(ordered)
        found[:, self._order] = ordered
        return found

    def expansions(
        self,
        betas: NDArray[np.float64],  # noqa: ARG002 - others look at it
        coefs: NDArray[np.float64],
        offsets: NDArray[np.float64],
    ) -> list[dict[str, Any]]:
        shared = self._shared
        fields = []
        for coef, offset in zip(coefs, offsets, strict=True):
            one: dict[str, Any] = {"dual_coef": coef, "intercept": float(offset - self._mean @ coef)}
            if self._kernel.name == "linear":
                x = user_rows(self.rows.matrix.native)
                fields.append({"coef": np.asarray(x.T @ coef).reshape(-1), "intercept": one["intercept"]})
            else:
                fields.append({**shared, **one})
        return fields


class NystroemFeatures(DenseFeatures):
    """Rows that the kernel gives against some of them, the landmarks: z z' is K on the landmarks."""

    def __init__(self, rows: Rows, kernel: Kernel, landmarks: NDArray[np.int64]) -> None:
        Features.__init__(self, rows)
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
        self.centre = z[rows.unl].mean(axis=0)
        z -= self.centre
        self._set(z)

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return expansion_rows(self.rows, self._kernel, self._landmarks)

    def share(self) -> None:
        self._shared  # noqa: B018 - computed when first looked at

    def expansions(
        self,
        betas: NDArray[np.float64],
        coefs: NDArray[np.float64],  # noqa: ARG002 - others look at it
        offsets: NDArray[np.float64],
    ) -> list[dict[str, Any]]:
        shared = self._shared
        return [
            {**shared, "dual_coef": self._to_features @ beta, "intercept": float(offset - self.centre @ beta)}
            for beta, offset in zip(betas, offsets, strict=True)
        ]


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
    if kernel.name == "linear" and rows.matrix.n_features <= rows.n:
        _check_squares(rows)
        return SparseFeatures(rows) if rows.matrix.is_sparse else DenseFeatures(rows)
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
    fields: dict[str, Any] = {"support": support.astype(np.int64)}
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


def _to_dense(matrix: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
