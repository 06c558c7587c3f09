"""Kernels as arguments: checks, a default width from the data, the caller's own functions, and rows in blocks.

Products with rows are summed by NumPy's own loops and not by its BLAS, whose threads this package cannot limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_float, check_int, check_word_or_number
from fastpu.common._text import describe
from fastpu.data._matrix import DenseMatrix, Floats, Matrix, entry_blocks
from fastpu.data._moments import column_moments
from fastpu.data._sparse import read_sparse
from fastpu.data._validate import as_real_array

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
KERNELS_WITH_GAMMA = ("poly", "rbf", "sigmoid")

_MAX_DEGREE = 1000
_FILLED = 0.5  # a column with entries in a smaller share of the rows is not shifted: its mean is within its spread
_SYMMETRY = 1e-6  # difference of K(x, z) and K(z, x), relative to the largest entry, that products in float32 leave
_TILE = 512
_SAMPLE = 64  # rows with which a user's kernel function is tested for symmetry
_BALANCED = 1e-12  # a sum below this share of the sum of absolute values is rounding
_DIAGONAL = 64  # entries of the diagonal that are computed with one call of the user's function


@dataclass(frozen=True)
class Kernel:
    """A checked kernel: one of `KERNELS`, or "callable" with its function.

    `gamma` is "scale", "auto" or a number until `resolve_gamma` has seen the rows; then a number, or None if the
    kernel does not use it.
    """

    name: str
    gamma: float | str | None
    degree: int
    coef0: float
    function: Callable[[Any, Any], object] | None = None

    @property
    def core_gamma(self) -> float:
        """The number that `_core` takes for gamma, which is any where the kernel has none."""
        return self.gamma if isinstance(self.gamma, int | float) else 1.0

    @property
    def core_params(self) -> _core.KernelParams | None:
        """What `_core` takes for the kernel; None where a matrix or a function has its values."""
        if self.name in ("precomputed", "callable"):
            return None
        return _core.KernelParams(kind=self.name, gamma=self.core_gamma, degree=self.degree, coef0=self.coef0)

    def check(self) -> None:
        """Raise ValueError if this cannot be the kernel of a model, which may come from a damaged or hostile file."""
        if self.name not in (*KERNELS, "callable"):
            raise ValueError(f"kernel {self.name!r} is unknown")
        gamma = self.gamma
        if self.name in KERNELS_WITH_GAMMA and not (isinstance(gamma, int | float) and 0 < gamma < np.inf):
            raise ValueError(f"gamma must be a positive number for kernel {self.name!r}, got {gamma}")
        if not 0 <= self.degree <= np.iinfo(np.int32).max or not np.isfinite(self.coef0):
            raise ValueError(f"degree must be >= 0 and coef0 finite, got {self.degree} and {self.coef0}")
        if (self.name == "callable") != (self.function is not None):
            raise ValueError("function must be there for the kernel 'callable', and for no other")

    def params(self) -> dict[str, Any]:
        return {"kernel": self.name, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}

    def fields(self, rows: Any) -> dict[str, Any]:
        """Return the fields of a `KernelModel` of these training rows, or of those of another model."""
        names = {"n_features": rows.n_features, "feature_names": rows.feature_names}
        return {**names, **self.params(), "function": self.function}


def check_kernel(kernel: object, gamma: object, degree: object, coef0: object) -> Kernel:
    other = ", or a function k(A, B) of two matrices of rows"
    function = None
    if callable(kernel):
        expected = f"one of {', '.join(map(repr, KERNELS))}{other}"
        function = check_function("kernel", kernel, expected, arguments=("A", "B"))
    return Kernel(
        name="callable" if function is not None else check_choice("kernel", kernel, KERNELS, other),
        gamma=check_word_or_number("gamma", gamma, ("scale", "auto")),
        degree=check_int("degree", degree, low=0, high=_MAX_DEGREE),
        coef0=check_float("coef0", coef0),
        function=function,
    )


def check_symmetric(K: Floats) -> None:
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

    The variance is that of all entries, zeros of CSR included, weighted by row, so that a weight has the effect of
    repeating the row. A variance of 0 gives 1.
    """
    if kernel.name not in KERNELS_WITH_GAMMA:
        return replace(kernel, gamma=None)
    if kernel.gamma == "auto":
        return replace(kernel, gamma=1.0 / matrix.n_features)
    if kernel.gamma == "scale":
        of = column_moments(matrix, weights)
        variance = float(of.variances.mean() + (of.means - of.means[0]).var()) * of.unit * of.unit
        gamma = 1.0 / (matrix.n_features * variance) if variance > 0 else 1.0
        if not (0 < gamma < math.inf):
            raise ValueError(
                f"gamma='scale' is 1 / (n_features * variance of X), which is no positive number for the variance "
                f"{variance:g}; scale X or pass a number"
            )
        kernel = replace(kernel, gamma=gamma)
    # A gamma that float32 cannot hold would make another kernel, or a constant one.
    least, most = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    if value_dtype(kernel.name, matrix.dtype) == np.float32 and not least <= kernel.core_gamma <= most:
        raise ValueError(
            f"gamma must be between {least:.3g} and {most:.3g} for X in float32, got {kernel.gamma:g}; scale X or "
            f"pass it as float64"
        )
    return kernel


# ----------------------------------------------------------------------------------------------------- rows


def score_rows(
    matrix: Matrix, dtype: np.dtype[Any], score: Callable[[Matrix], NDArray[np.float64]], *, sparse: bool
) -> NDArray[np.float64]:
    """Return the scores of rows, converted to `dtype`, and to CSR if `sparse`, a block at a time if need be."""
    if matrix.dtype == dtype and matrix.is_sparse == sparse:
        return score(matrix)
    blocks = (matrix[rows].convert(dtype, sparse=sparse) for rows in matrix.blocks())
    return np.concatenate([score(block) for block in blocks])


def centred(matrix: Matrix) -> Matrix:
    """Return rows less their mean if they are dense, and others as they are.

    If the factors of rows sum to 0, a sum of rows does not depend on the origin, but its rounding errors do.
    """
    return matrix if matrix.is_sparse else DenseMatrix(matrix.values - matrix.values.mean(axis=0))


def shifted_csr(x: Any, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.float64]]:
    """Return a CSR array, of float64 if anything is shifted, and the shift of each column: they add up to the rows `x`.

    The columns that are filled in more than half of `rows` are shifted by the mean of their entries there, and are
    filled wholly in what is returned: it has at most twice the entries of these rows. The others have at least as many
    zeros as entries, so that their mean is no larger than their spread, and stay as they are.
    """
    few = x[rows]
    counts = np.bincount(few.indices, minlength=x.shape[1])
    filled = np.flatnonzero(counts > _FILLED * rows.size)
    shift: NDArray[np.float64] = np.zeros(x.shape[1])
    if not filled.size:
        return x, shift
    sums = np.bincount(few.indices, weights=few.data, minlength=x.shape[1])
    is_filled = np.zeros(x.shape[1], dtype=bool)
    is_filled[filled] = True
    x = x.astype(np.float64, copy=False)
    dense = x[:, filled].toarray()
    # A rounded mean may lie outside the range: a constant column has to become 0.
    shift[filled] = np.clip(sums[filled] / counts[filled], dense.min(axis=0), dense.max(axis=0))
    dense -= shift[filled]
    kept = ~is_filled[x.indices]
    starts = np.concatenate([[0], np.cumsum(kept)])[x.indptr]
    rest = sp.csr_array((x.data[kept], x.indices[kept], starts), shape=x.shape)
    starts = np.arange(len(dense) + 1) * filled.size
    whole = sp.csr_array((dense.reshape(-1), np.tile(filled, len(dense)), starts), shape=x.shape)
    return sp.csr_array(rest + whole), shift


def value_dtype(kernel: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of kernel values for rows of `dtype`: that of the rows, but float64 for polynomials.

    Powers may be so large that rounding errors of float32 in their sums reach the size of a margin.
    """
    return np.dtype(np.float64) if kernel == "poly" else dtype


def linear_coef(matrix: Matrix, rows: NDArray[np.int64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_i factors[i] x_(rows[i]) in float64, over blocks of rows of a fixed size.

    Where the factors sum to 0, dense rows are taken from one of them, so that nothing cancels far from the origin.
    """
    origin: NDArray[np.float64] = np.zeros(matrix.n_features)
    with np.errstate(over="ignore"):
        is_balanced = abs(factors.sum()) <= _BALANCED * np.abs(factors).sum()
    if is_balanced and rows.size and not matrix.is_sparse:
        origin = matrix.values[rows[0]].astype(np.float64)
    coef: NDArray[np.float64] = np.zeros(matrix.n_features)
    starts = np.concatenate([[0], np.cumsum(matrix.lengths[rows])])
    for part in entry_blocks(starts):
        block = matrix[rows[part]]
        if block.is_sparse:
            np.add.at(coef, block.indices, block.data * np.repeat(factors[part], block.lengths))
        else:
            coef += np.einsum("i,ij->j", factors[part], block.values.astype(np.float64, copy=False) - origin)
    return coef


# ------------------------------------------------------------------------------------ a function of the caller's


def for_core(kernel: Kernel, matrix: Matrix) -> tuple[Any, FunctionKernel | None]:
    """Return the rows for a solver of the core, and the user's kernel function if there is one.

    With a function the solver reads only the number of rows from the first.
    """
    if kernel.function is None:
        return matrix, None
    return np.zeros((matrix.n_rows, 1)), FunctionKernel(kernel.function, matrix)


class FunctionKernel:
    """A user's kernel between training rows, by their numbers, as the solver asks for it.

    It is called from one thread, and again and again with the same columns: their rows are gathered once.
    """

    def __init__(self, function: Callable[[Any, Any], object], matrix: Matrix) -> None:
        self._function, self._rows = function, matrix.table()
        self._numbers: NDArray[np.int64] | None = None
        self._columns: Any = None
        self._diagonal: NDArray[np.float64] = np.full(self._rows.shape[0], np.nan)
        self._check_symmetric()

    def __call__(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        if left.size == right.size == 1 and left[0] == right[0]:
            return np.full((1, 1), self._entry(int(left[0])))
        if self._numbers is None or not np.array_equal(self._numbers, right):
            self._columns = self._rows[right]
            for array in vars(self._columns).values() if sp.issparse(self._columns) else (self._columns,):
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
        values = call_kernel(self._function, self._rows[left], self._rows[right])
        mirrored = call_kernel(self._function, self._rows[right], self._rows[left]).T
        with np.errstate(over="ignore"):
            apart = np.abs(values - mirrored)
        if apart.max() <= _SYMMETRY * max(np.abs(values).max(), np.abs(mirrored).max()):
            return
        i, j = divmod(int(np.argmax(apart)), right.size)
        raise ValueError(
            f"kernel must be symmetric, K(a, b) = K(b, a), got {values[i, j]:g} for rows {left[i]} and {right[j]} of X "
            f"and {mirrored[i, j]:g} for rows {right[j]} and {left[i]}"
        )

    def _entry(self, row: int) -> float:
        """Return K(row, row); its neighbours on the diagonal, soon wanted too, are computed with it."""
        if math.isnan(self._diagonal[row]):
            start = row - row % _DIAGONAL
            numbers = np.arange(start, min(start + _DIAGONAL, self._diagonal.size))
            values = call_kernel(self._function, self._rows[numbers], self._rows[numbers])
            self._diagonal[numbers] = np.diagonal(values)
        return float(self._diagonal[row])


def kernel_values(kernel: Kernel, x: Matrix, y: Matrix, n_threads: int) -> NDArray[np.float64]:
    """Return K(x_i, y_j) of all rows of two matrices of one form, in float64; not of a precomputed kernel."""
    if kernel.function is not None:
        values: NDArray[np.float64] = np.empty((x.n_rows, y.n_rows))
        for block in x.blocks(y.n_rows):
            values[block] = call_kernel(kernel.function, users_table(x[block]), users_table(y))
        return values
    x, y = (rows.convert(np.dtype(np.float64), sparse=rows.is_sparse) for rows in (x, y))
    return _core.kernel_matrix(x, y, kernel.core_params, n_threads=n_threads)


def users_table(matrix: Matrix, *, is_spmatrix: bool = False) -> Any:
    """Return rows for a function of the user's, which cannot write to dense ones: they may be the caller's own."""
    if matrix.is_sparse:
        return matrix.table(is_spmatrix=is_spmatrix)
    table = matrix.values.view()
    table.flags.writeable = False
    return table


def call_kernel(function: Callable[[Any, Any], object], left: Any, right: Any) -> NDArray[np.float64]:
    """Return function(left, right) as a C-contiguous float64 matrix, after checking what it is."""
    result = function(left, right)
    if sp.issparse(result):
        # What a linear kernel of CSR rows returns. Its indices are checked here, since SciPy would trust them.
        result = read_sparse(result, "the result of kernel").table().toarray()
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
