"""Kernels as arguments: checks, the width that data suggest, functions of the caller's, and rows in blocks.

Products with rows are summed by NumPy's own loops, not by its BLAS: the threads of that are not ours to bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fastpu.common._params import check_float, check_int
from fastpu.common._text import describe, short
from fastpu.data._sparse import CSRArrays, Floats, is_sparse, read_sparse
from fastpu.data._validate import Matrix, as_real_array, check_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "KERNELS",
    "KERNELS_WITH_GAMMA",
    "FunctionKernel",
    "Kernel",
    "Native",
    "call_kernel",
    "centred",
    "check_csr",
    "check_dense",
    "check_kernel",
    "check_kernel_fields",
    "check_kernel_matrix",
    "convert_rows",
    "is_rising",
    "linear_coef",
    "resolve_gamma",
    "row_blocks",
    "slice_rows",
    "take_rows",
    "user_rows",
    "value_dtype",
]

Native: TypeAlias = Floats | CSRArrays

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
KERNELS_WITH_GAMMA = ("poly", "rbf", "sigmoid")

_MAX_DEGREE = 1000
_BLOCK_ENTRIES = 1 << 19  # entries of the rows that are copied or converted at a time: 4 MiB of float64
_SYMMETRY = 1e-6  # difference of K(x, z) and K(z, x), relative to the largest entry, that products in float32 leave
_TILE = 512
_SAMPLE = 64  # rows with which a user's kernel function is tested for symmetry
_BALANCED = 1e-12  # a sum below this share of the sum of absolute values is rounding
_DIAGONAL = 64  # entries of the diagonal that are computed with one call of the user's function


@dataclass(frozen=True)
class Kernel:
    """A checked kernel: one of `KERNELS`, or "callable" with its function.

    `gamma` is "scale", "auto" or a number until `resolve_gamma` has seen the rows; then a number, or None where the
    kernel has no use for it.
    """

    name: str
    gamma: float | str | None
    degree: int
    coef0: float
    function: Callable[[Any, Any], object] | None = None


def check_kernel(kernel: object, gamma: object, degree: object, coef0: object) -> Kernel:
    """Check the four arguments that say which kernel is meant."""
    listed = ", ".join(map(repr, KERNELS))
    expected = f"kernel must be one of {listed}, or a function k(A, B) of two matrices of rows"
    if not isinstance(kernel, str) and not callable(kernel):
        raise TypeError(f"{expected}, got {describe(kernel)}")
    if isinstance(kernel, str) and kernel not in KERNELS:
        raise ValueError(f"{expected}, got {short(kernel)}")
    return Kernel(
        name=str(kernel) if isinstance(kernel, str) else "callable",
        gamma=_check_gamma(gamma),
        degree=check_int("degree", degree, low=0, high=_MAX_DEGREE),
        coef0=check_float("coef0", coef0),
        function=None if isinstance(kernel, str) else kernel,
    )


def check_kernel_fields(kernel: Kernel) -> None:
    """Check the kernel that a model says it has, whose file anyone may have written."""
    if kernel.name not in (*KERNELS, "callable"):
        raise ValueError(f"kernel {kernel.name!r} is unknown")
    gamma = kernel.gamma
    if kernel.name in KERNELS_WITH_GAMMA and not (isinstance(gamma, int | float) and 0 < gamma < np.inf):
        raise ValueError(f"gamma must be a positive number for kernel {kernel.name!r}, got {gamma}")
    if not 0 <= kernel.degree <= np.iinfo(np.int32).max or not np.isfinite(kernel.coef0):
        raise ValueError(f"degree must be >= 0 and coef0 finite, got {kernel.degree} and {kernel.coef0}")
    if (kernel.name == "callable") != (kernel.function is not None):
        raise ValueError("function must be there for the kernel 'callable', and for no other")


def _check_gamma(gamma: object) -> float | str:
    if not isinstance(gamma, str):
        try:
            return check_float("gamma", gamma, low=0, open_low=True)
        except TypeError:
            raise TypeError(f"gamma must be 'scale', 'auto' or a number > 0, got {describe(gamma)}") from None
    if gamma not in ("scale", "auto"):
        raise ValueError(f"gamma must be 'scale', 'auto' or a number > 0, got {short(gamma)}")
    return str(gamma)


def check_kernel_matrix(X: object, kernel: Kernel) -> Matrix:
    """Check training rows; a precomputed kernel must be a dense, square and symmetric matrix."""
    if kernel.name != "precomputed":
        return check_matrix(X)
    matrix = check_matrix(X, sparse=False)
    if matrix.n_rows != matrix.n_features:
        raise ValueError(
            f"X must be square for kernel='precomputed', K of every two training rows, "
            f"got shape {(matrix.n_rows, matrix.n_features)}"
        )
    values: Any = matrix.native
    _check_symmetric(values)
    return matrix


def _check_symmetric(K: Floats) -> None:
    """Raise ValueError at the first tile of `K` that differs from its mirror image, without a copy of the whole."""
    n = K.shape[0]
    limit = _SYMMETRY * max(float(K.max()), -float(K.min()))
    for i in range(0, n, _TILE):
        for j in range(i, n, _TILE):
            with np.errstate(over="ignore"):
                apart = np.abs(K[i : i + _TILE, j : j + _TILE] - K[j : j + _TILE, i : i + _TILE].T)
            if not float(apart.max()) <= limit:
                place = divmod(int(np.argmax(apart)), apart.shape[1])
                row, column = i + place[0], j + place[1]
                raise ValueError(
                    f"X must be symmetric for kernel='precomputed', got X[{row}, {column}] = {float(K[row, column]):g} "
                    f"and X[{column}, {row}] = {float(K[column, row]):g}"
                )


# ---------------------------------------------------------------------------------------------------- gamma


def resolve_gamma(kernel: Kernel, matrix: Matrix, weights: NDArray[np.float64] | None) -> Kernel:
    """Return the kernel with the number that its gamma stands for, 1 / (d var(X)) for "scale".

    The variance is that of all entries, zeros of CSR included, where a row counts as often as its weight says, so
    that weights stay the same as repeated rows. A variance of 0 gives 1.
    """
    if kernel.name not in KERNELS_WITH_GAMMA:
        return replace(kernel, gamma=None)
    if kernel.gamma == "auto":
        return replace(kernel, gamma=1.0 / matrix.n_features)
    if kernel.gamma != "scale":
        return _check_precision(kernel, matrix)
    variance = _entry_variance(matrix.native, weights)
    gamma = 1.0 / (matrix.n_features * variance) if variance > 0 else 1.0
    if not (0 < gamma < math.inf):
        raise ValueError(
            f"gamma='scale' is 1 / (n_features * variance of X), which is no positive number for the variance "
            f"{variance:g}; scale X or pass a number"
        )
    return _check_precision(replace(kernel, gamma=gamma), matrix)


def _check_precision(kernel: Kernel, matrix: Matrix) -> Kernel:
    """Refuse a gamma that the precision of the rows cannot hold: the kernel would be another one, or constant."""
    gamma = kernel.gamma
    least, most = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    if value_dtype(kernel.name, matrix.dtype) == np.float32 and isinstance(gamma, float) and not least <= gamma <= most:
        raise ValueError(
            f"gamma must be between {least:.3g} and {most:.3g} for X in float32, got {gamma:g}; scale X or "
            f"pass it as float64"
        )
    return kernel


def _entry_variance(native: Native, weights: NDArray[np.float64] | None) -> float:
    """Return the variance of all entries in float64, in two passes over blocks."""
    n_rows, n_cols = native[3] if isinstance(native, tuple) else native.shape
    # Scaled, so that sums of weights cannot overflow; the variance does not change.
    mass = None if weights is None else weights / weights.max()
    total = n_cols * (float(n_rows) if mass is None else float(mass.sum()))

    def summed(transform: Callable[[NDArray[Any]], NDArray[np.float64]]) -> tuple[float, float]:
        """Return the weighted sum of transformed stored entries, and their weight."""
        result = stored = 0.0
        for rows in row_blocks(native):
            values = transform(_values(native, rows))
            if mass is None:
                result, stored = result + float(values.sum()), stored + values.size
                continue
            lengths = np.diff(native[2][rows.start : rows.stop + 1]) if isinstance(native, tuple) else n_cols
            entries = np.repeat(mass[rows], lengths)
            result, stored = result + float((values * entries).sum()), stored + float(entries.sum())
        return result, stored

    with np.errstate(over="ignore", invalid="ignore"):
        mean = summed(lambda values: values.astype(np.float64))[0] / total
        squares, stored = summed(lambda values: np.square(np.subtract(values, mean, dtype=np.float64)))
        zeros = total - stored if isinstance(native, tuple) else 0.0
        return float((squares + zeros * mean * mean) / total)


def _values(native: Native, rows: slice) -> NDArray[Any]:
    """Return the stored entries of consecutive rows as a vector."""
    if isinstance(native, tuple):
        return native[0][native[2][rows.start] : native[2][rows.stop]]
    return native[rows].reshape(-1)


# ----------------------------------------------------------------------------------------------------- rows


def row_blocks(native: Native, n_per_row: int = 0) -> Iterator[slice]:
    """Yield slices of consecutive rows with few enough entries, or `n_per_row` results, to be copied at a time."""
    if not isinstance(native, tuple):
        step = max(1, _BLOCK_ENTRIES // max(1, native.shape[1], n_per_row))
        yield from (slice(start, min(start + step, len(native))) for start in range(0, len(native), step))
        return
    indptr, n_rows = native[2], native[3][0]
    most = max(1, _BLOCK_ENTRIES // max(1, n_per_row))
    start = 0
    while start < n_rows:
        full = int(np.searchsorted(indptr, indptr[start] + _BLOCK_ENTRIES, side="right")) - 1
        stop = min(max(full, start + 1), start + most, n_rows)
        yield slice(start, stop)
        start = stop


def slice_rows(native: Native, rows: slice) -> Native:
    """Return consecutive rows without a copy of their entries."""
    if not isinstance(native, tuple):
        return native[rows]
    data, indices, indptr, (_, n_cols) = native
    entries = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
    starts = indptr[rows.start : rows.stop + 1] - indptr[rows.start]
    return data[entries], indices[entries], starts, (rows.stop - rows.start, n_cols)


def take_rows(native: Native, rows: NDArray[np.int64]) -> Native:
    """Return a copy of some rows."""
    if not isinstance(native, tuple):
        return native[rows]
    data, indices, indptr, (_, n_cols) = native
    starts = np.zeros(rows.size + 1, dtype=np.int64)
    np.cumsum(np.diff(indptr)[rows], out=starts[1:])
    picked = np.repeat(indptr[rows] - starts[:-1], np.diff(starts))
    picked += np.arange(picked.size)
    return data[picked], indices[picked], starts, (rows.size, n_cols)


def user_rows(native: Native) -> Any:
    """Return rows in a form that users know: an ndarray, or a SciPy CSR array."""
    if not isinstance(native, tuple):
        return native
    return sp.csr_array(native[:3], shape=native[3])


def convert_rows(native: Native, dtype: np.dtype[Any], *, sparse: bool) -> Native:
    """Return rows with entries of `dtype`, as CSR or dense."""
    if isinstance(native, tuple):
        if not sparse:
            return np.ascontiguousarray(user_rows(native).toarray(), dtype=dtype)
        return native[0].astype(dtype, copy=False), *native[1:]
    if not sparse:
        return native.astype(dtype, copy=False)
    matrix = sp.csr_array(native.astype(dtype, copy=False))
    indices = np.require(matrix.indices, np.int32, ["C", "A"])
    return matrix.data, indices, np.require(matrix.indptr, np.int64, ["C", "A"]), native.shape


def centred(native: Native) -> Native:
    """Return rows less their mean if they are dense, and others as they are.

    Where factors of rows sum to 0 the origin does not matter to their sum, but it does to rounding.
    """
    return native if isinstance(native, tuple) else native - native.mean(axis=0)


def value_dtype(kernel: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of kernel values for rows of `dtype`: that of the rows, but float64 for polynomials.

    Powers are so large that a float32 leaves errors of the size of a margin in sums of them.
    """
    return np.dtype(np.float64) if kernel == "poly" else dtype


def linear_coef(native: Native, rows: NDArray[np.int64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_i factors[i] x_(rows[i]) in float64, over blocks of rows of a fixed size.

    Where the factors sum to 0, dense rows are taken from one of them, so that nothing cancels far from the origin.
    """
    n_cols = native[3][1] if isinstance(native, tuple) else native.shape[1]
    origin: NDArray[np.float64] = np.zeros(n_cols)
    with np.errstate(over="ignore"):
        is_balanced = abs(factors.sum()) <= _BALANCED * np.abs(factors).sum()
    if is_balanced and rows.size and not isinstance(native, tuple):
        origin = native[rows[0]].astype(np.float64)
    coef: NDArray[np.float64] = np.zeros(n_cols)
    lengths = np.diff(native[2])[rows] if isinstance(native, tuple) else np.full(rows.size, n_cols)
    ends = np.cumsum(lengths)
    start = 0
    while start < rows.size:
        full = int(np.searchsorted(ends, ends[start] - lengths[start] + _BLOCK_ENTRIES, side="right"))
        stop = max(full, start + 1)
        block = take_rows(native, rows[start:stop])
        if isinstance(block, tuple):
            np.add.at(coef, block[1], block[0] * np.repeat(factors[start:stop], np.diff(block[2])))
        else:
            coef += np.einsum("i,ij->j", factors[start:stop], block.astype(np.float64, copy=False) - origin)
        start = stop
    return coef


def check_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int], name: str
) -> None:
    """Raise ValueError unless the arrays ``<name>_data`` and so on are a finite CSR matrix with ascending columns."""
    if indptr.size != shape[0] + 1 or indptr[0] != 0 or not is_rising(indptr):
        raise ValueError(f"{name}_indptr must rise from 0 in {shape[0] + 1} entries")
    if indptr[-1] != data.size or indices.size != data.size:
        raise ValueError(f"{name}_data and {name}_indices must have {indptr[-1]} entries")
    if indices.size and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ValueError(f"{name}_indices must be in [0, {shape[1]})")
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    if not np.isin(falls, indptr).all():
        raise ValueError(f"{name}_indices must ascend in each row")
    if not np.isfinite(data).all():
        raise ValueError(f"{name}_data must be finite")


def check_dense(values: NDArray[Any], shape: tuple[int, int], name: str) -> None:
    """Raise ValueError unless the array ``<name>_dense`` has a shape and finite entries."""
    if values.shape != shape:
        raise ValueError(f"{name}_dense must have shape {shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name}_dense must be finite")


def is_rising(values: NDArray[Any], *, strictly: bool = False) -> bool:
    """Tell whether no value is below (or, strictly, at) the one before.

    Compared, not subtracted: the difference of large integers of both signs wraps around.
    """
    lower, upper = values[:-1], values[1:]
    return bool(np.all(lower < upper if strictly else lower <= upper))


# ------------------------------------------------------------------------------------ a function of the caller's


class FunctionKernel:
    """A user's kernel between training rows, by their numbers, as the solver asks for it.

    It is called from one thread, and again and again with the same columns: their rows are gathered once.
    """

    def __init__(self, function: Callable[[Any, Any], object], native: Native) -> None:
        self._function, self._rows = function, user_rows(native)
        self._numbers: NDArray[np.int64] | None = None
        self._columns: Any = None
        self._diagonal: NDArray[np.float64] = np.full(self._rows.shape[0], np.nan)
        self._check_symmetric()

    def __call__(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        if left.size == right.size == 1 and left[0] == right[0]:
            return np.full((1, 1), self._entry(int(left[0])))
        if self._numbers is None or not np.array_equal(self._numbers, right):
            self._columns = self._rows[right]
            for array in vars(self._columns).values() if is_sparse(self._columns) else (self._columns,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
            self._numbers = right.copy()
        return call_kernel(self._function, self._rows[left], self._columns)

    def _check_symmetric(self) -> None:
        """Raise ValueError if K(a, b) and K(b, a) differ for some of a sample of rows: no solver would get anywhere."""
        n_rows = self._diagonal.size
        sample = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE)).astype(np.int64))
        left, right = sample[::2], sample[1::2]
        if not right.size:
            return
        there = call_kernel(self._function, self._rows[left], self._rows[right])
        back = call_kernel(self._function, self._rows[right], self._rows[left]).T
        with np.errstate(over="ignore"):
            apart = np.abs(there - back)
        if apart.max() <= _SYMMETRY * max(np.abs(there).max(), np.abs(back).max()):
            return
        i, j = divmod(int(np.argmax(apart)), right.size)
        raise ValueError(
            f"kernel must be symmetric, K(a, b) = K(b, a), got {there[i, j]:g} for rows {left[i]} and {right[j]} of X "
            f"and {back[i, j]:g} for rows {right[j]} and {left[i]}"
        )

    def _entry(self, row: int) -> float:
        """Return K(row, row); its neighbours on the diagonal, soon wanted too, are computed with it."""
        if math.isnan(self._diagonal[row]):
            start = row - row % _DIAGONAL
            numbers = np.arange(start, min(start + _DIAGONAL, self._diagonal.size))
            values = call_kernel(self._function, self._rows[numbers], self._rows[numbers])
            self._diagonal[numbers] = np.diagonal(values)
        return float(self._diagonal[row])


def call_kernel(function: Callable[[Any, Any], object], left: Any, right: Any) -> NDArray[np.float64]:
    """Return function(left, right) as a C-contiguous float64 matrix, after checking what it is."""
    result = function(left, right)
    if is_sparse(result):
        # CSR times CSR, as a linear kernel gives it; SciPy would trust its indices.
        data, indices, indptr, shape = read_sparse(result, "the result of kernel")
        result = sp.csr_array((data, indices, indptr), shape=shape).toarray()
    values = as_real_array(result, "the result of kernel")
    expected = (left.shape[0], right.shape[0])
    if values.shape != expected:
        raise ValueError(
            f"kernel must return a matrix of shape {expected}, a row for each row of its first argument and a column "
            f"for each of its second, got {describe(result)}"
        )
    with np.errstate(over="ignore"):
        block = np.ascontiguousarray(values, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(block.reshape(-1)))
    if bad.size:
        row, column = divmod(int(bad[0]), expected[1])
        raise ValueError(
            f"kernel must return finite numbers, got {block[row, column]} in row {row}, column {column} of a block"
        )
    return block
