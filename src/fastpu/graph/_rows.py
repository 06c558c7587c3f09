"""Training rows of the PUAL family: which of them are what, less their mean, their kernel values, and dense algebra."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fastpu import _core
from fastpu.common._params import forced_isa
from fastpu.kernels._centring import shifted_csr
from fastpu.kernels._kernels import call_kernel, convert_rows, row_blocks, slice_rows, take_rows, user_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.data._validate import Matrix
    from fastpu.kernels._kernels import Kernel, Native

__all__ = [
    "CentredRows",
    "Rows",
    "empty",
    "expansion_rows",
    "kernel_columns",
    "kernel_diagonal",
    "product",
    "row_strips",
    "taken_rows",
    "to_dense",
    "weighted_gram",
]

_CHUNK = 1 << 20  # entries of a block of rows that is worked on at a time
_DIAGONAL = 64


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
            return to_dense(part.T @ part) - np.outer(mean, mean)
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


def to_dense(matrix: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
