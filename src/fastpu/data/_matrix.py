"""Rows of features as everything below validation takes them: dense or CSR, of float32 or float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._text import short
from fastpu.data._categories import ColumnCategories
from fastpu.data._tables import Titles

Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.signedinteger[Any]]

_EXACT = 2**53  # all whole numbers up to this size are numbers of float64
_BLOCK_ENTRIES = 1 << 19  # entries of the rows that are copied or converted at a time: 4 MiB of float64


@dataclass(frozen=True, eq=False)
class DenseMatrix:
    """Rows in a C-contiguous array; of a column in `categories` the places of its entries among these, or NaN.

    `index` has the labels of the rows of a pandas frame that was read, and is None for others and for parts of rows.
    """

    values: Floats
    feature_names: Titles = None
    categories: ColumnCategories = field(default_factory=dict)
    index: object = None

    is_sparse: ClassVar[Literal[False]] = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def entries(self) -> Floats:
        """All entries, row after row, as a view."""
        return self.values.reshape(-1)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many entries each row has."""
        return np.full(self.n_rows, self.n_features)

    def __getitem__(self, rows: slice | Numbers) -> DenseMatrix:
        """Return the rows of these numbers as a copy, or those of a slice as a view."""
        return DenseMatrix(self.values[rows], self.feature_names, self.categories)

    def blocks(self, n_per_row: int = 0) -> Iterator[slice]:
        """Yield slices of consecutive rows with few enough entries, or `n_per_row` results, to be copied at a time."""
        step, n = max(1, _BLOCK_ENTRIES // max(1, self.n_features, n_per_row)), self.n_rows
        yield from (slice(start, min(start + step, n)) for start in range(0, n, step))

    def table(self) -> Any:
        """Return the rows in the form that users know, an ndarray."""
        return self.values

    def convert(self, dtype: np.dtype[Any], *, sparse: bool) -> Matrix:
        """Return the rows with entries of `dtype`, as CSR if `sparse`, and copied only if they are not so yet."""
        values: Floats = self.values.astype(dtype, copy=False)
        if sparse:
            return CsrMatrix.of(sp.csr_array(values), self.feature_names)
        return DenseMatrix(values, self.feature_names)


@dataclass(frozen=True, eq=False)
class CsrMatrix:
    """Rows in CSR, whose columns ascend in each row, without duplicates; its members are those of `DenseMatrix`."""

    data: Floats
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    n_features: int
    feature_names: Titles = None
    index: object = None

    is_sparse: ClassVar[Literal[True]] = True
    categories: ClassVar[ColumnCategories] = {}

    @classmethod
    def of(cls, array: Any, feature_names: Titles = None) -> CsrMatrix:
        """Return the rows of a SciPy CSR array that has ascending columns and no duplicates."""
        indices, indptr = (
            np.require(part, dtype, ["C", "A"]) for part, dtype in ((array.indices, np.int32), (array.indptr, np.int64))
        )
        return cls(array.data, indices, indptr, array.shape[1], feature_names)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    @property
    def n_rows(self) -> int:
        return self.indptr.size - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def entries(self) -> Floats:
        """The stored entries, row after row."""
        return self.data

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.indptr)

    def __getitem__(self, rows: slice | Numbers) -> CsrMatrix:
        """Return the rows of these numbers as a copy, or those of a slice without a copy of their entries."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.n_rows)
            chosen: Any = slice(int(self.indptr[start]), int(self.indptr[stop]))
            starts = self.indptr[start : stop + 1] - self.indptr[start]
        else:
            starts = np.zeros(rows.size + 1, dtype=np.int64)
            np.cumsum(np.diff(self.indptr)[rows], out=starts[1:])
            chosen = np.repeat(self.indptr[rows] - starts[:-1], np.diff(starts))
            chosen += np.arange(chosen.size)
        return CsrMatrix(self.data[chosen], self.indices[chosen], starts, self.n_features, self.feature_names)

    def blocks(self, n_per_row: int = 0) -> Iterator[slice]:
        return entry_blocks(self.indptr, n_per_row)

    def table(self, *, is_spmatrix: bool = False) -> Any:
        """Return the rows in the form that users know, a SciPy CSR array, or one of the older CSR matrices."""
        build = sp.csr_matrix if is_spmatrix else sp.csr_array
        # SciPy takes one type for all indices; given two, it copies the columns to the wider one.
        has_many = self.data.size > np.iinfo(np.int32).max
        starts = self.indptr if has_many else self.indptr.astype(np.int32)
        return build((self.data, self.indices, starts), shape=self.shape)

    def convert(self, dtype: np.dtype[Any], *, sparse: bool) -> Matrix:
        if not sparse:
            return DenseMatrix(np.ascontiguousarray(self.table().toarray(), dtype=dtype), self.feature_names)
        data: Floats = self.data.astype(dtype, copy=False)
        return CsrMatrix(data, self.indices, self.indptr, self.n_features, self.feature_names)


Matrix: TypeAlias = DenseMatrix | CsrMatrix


def entry_blocks(starts: NDArray[np.int64], n_per_row: int = 0) -> Iterator[slice]:
    """Yield the blocks of rows whose entries begin at `starts`, the last of which is where they end."""
    most = max(1, _BLOCK_ENTRIES // max(1, n_per_row))
    start, n_rows = 0, starts.size - 1
    while start < n_rows:
        full = int(np.searchsorted(starts, starts[start] + _BLOCK_ENTRIES, side="right")) - 1
        stop = min(max(full, start + 1), start + most, n_rows)
        yield slice(start, stop)
        start = stop


def native_floats(array: NDArray[Any]) -> Floats:
    """Return `array` C-contiguous, aligned and of native float32 or float64; a copy if need be."""
    target = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
    with np.errstate(over="ignore"):  # beyond float64: inf
        return np.require(array, target, ["C", "A"])


def stacked(parts: list[Matrix]) -> Matrix:
    """Return matrices of one form, one below the other."""
    tables, names = [part.table() for part in parts], parts[0].feature_names
    if parts[0].is_sparse:
        return CsrMatrix.of(sp.vstack(tables, format="csr"), names)
    return DenseMatrix(np.concatenate(tables), names)


# ---- Whole numbers that float64 cannot hold: next to each other they would become the same number ----


def first_rounded(values: NDArray[Any]) -> int | None:
    """Return the first position, in C order, of a whole number that is not exact in float64, or None."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return None
    if values.max() <= _EXACT and (values.dtype.kind == "u" or values.min() >= -_EXACT):
        return None
    floats = values.astype(np.float64)
    with np.errstate(invalid="ignore"):  # what is rounded up to the end of the type does not come back
        is_rounded = (floats.astype(values.dtype) != values) | (floats > np.iinfo(values.dtype).max - 1)
    return int(np.argmax(is_rounded)) if is_rounded.any() else None


def check_whole_numbers(values: NDArray[Any], name: str, where: Callable[[int], str]) -> None:
    """Raise ValueError if one of the values is not exact in float64, saying where it is by its position in C order."""
    if (position := first_rounded(values)) is not None:
        raise ValueError(
            f"{name} must hold whole numbers that float64 can hold (all up to 2**53 in size), got "
            f"{short(int(values.ravel()[position]))} in {where(position)}: float64 would round it to another "
            f"number; make strings of numbers that are names (astype(str) in a frame makes categories of them), or use "
            f"astype(float) if rounding does no harm"
        )
