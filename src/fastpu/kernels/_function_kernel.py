"""A kernel that is a function of the caller's: the rows that it is given, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._text import describe
from fastpu.data._matrix import Matrix
from fastpu.data._sparse import read_sparse
from fastpu.data._validate import as_real_array
from fastpu.kernels._kernel import SYMMETRY, Kernel

_SAMPLE = 64  # rows with which a user's kernel function is tested for symmetry
_DIAGONAL = 64  # entries of the diagonal that are computed with one call of the user's function


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
        if apart.max() <= SYMMETRY * max(np.abs(values).max(), np.abs(mirrored).max()):
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
