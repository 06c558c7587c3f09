"""Matrices in every form that is taken, and in every form that is not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp


class Measured(np.ndarray):
    """A subclass whose own operators would spoil whatever used them."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the operators of a subclass were used")


class Exporting:
    """What is no array and can be made one."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._array.astype(dtype or self._array.dtype)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _every_other(X: np.ndarray) -> np.ndarray:
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _unaligned(X: np.ndarray) -> np.ndarray:
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    raw[:] = np.frombuffer(X.tobytes(), dtype=np.uint8)
    return raw.view(np.float64).reshape(X.shape)


def _mapped(X: np.ndarray) -> np.ndarray:
    handle, name = tempfile.mkstemp(dir=_folder().name)
    os.close(handle)
    Path(name).write_bytes(X.tobytes())
    return np.memmap(Path(name), dtype=X.dtype, mode="r", shape=X.shape)


_KINDS = ("float64", "Float64")

#: The same numbers as X, which are float64: the result has the same bits.
SAME: dict[str, Callable[[np.ndarray], Any]] = {
    "read only": _read_only,
    "Fortran order": np.asfortranarray,
    "not contiguous": _every_other,
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "no strides": lambda X: np.lib.stride_tricks.as_strided(X.copy(), X.shape, X.strides, writeable=False),
    "big-endian": lambda X: X.astype(">f8"),
    "unaligned": _unaligned,
    "memory map": _mapped,
    "subclass": lambda X: X.copy().view(Measured),
    "np.matrix": lambda X: X.copy().view(np.matrix),
    "extended precision": lambda X: X.astype(np.longdouble),
    "lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "can be made an array": Exporting,
    "pandas": lambda X: pd.DataFrame(X.copy(), columns=[f"c{j}" for j in range(X.shape[1])]),
    "pandas, mixed": lambda X: pd.DataFrame({f"c{j}": pd.Series(c, dtype=_KINDS[j > 0]) for j, c in enumerate(X.T)}),
    "polars": lambda X: pl.DataFrame({f"c{j}": column for j, column in enumerate(X.T)}),
}

_OBJECT = np.array([[1.0, None, 2.0]] * 24, dtype=object)
_WRONG: tuple[type[Exception], ...] = (TypeError, ValueError)

#: What is no matrix of numbers, with the error; each is made of a matrix of the right shape.
NO_MATRIX: dict[str, tuple[Callable[[np.ndarray], Any], Any]] = {
    "a vector": (lambda X: X[:, 0].copy(), ValueError),
    "three dimensions": (lambda X: X[:, :, None].copy(), ValueError),
    "no dimension": (lambda _: np.array(1.0), ValueError),
    "no rows": (lambda X: X[:0].copy(), ValueError),
    "no columns": (lambda X: X[:, :0].copy(), ValueError),
    "nothing": (lambda _: [], ValueError),
    "rows of nothing": (lambda _: [[]], ValueError),
    "rows of different lengths": (lambda _: [[1.0, 2.0, 3.0], [1.0]], _WRONG),
    "complex": (lambda X: X.astype(complex), TypeError),
    "objects": (lambda X: X.astype(object), TypeError),
    "None in it": (lambda X: _OBJECT[: len(X)].copy(), TypeError),
    "strings": (lambda X: X.astype(str), TypeError),
    "bytes": (lambda X: X.astype("S"), TypeError),
    "dates": (lambda X: X.astype("i8").astype("M8[s]"), TypeError),
    "time spans": (lambda X: X.astype("i8").astype("m8[s]"), TypeError),
    "records": (lambda X: np.zeros(X.shape, dtype=[("a", "f8"), ("b", "i4")]), TypeError),
    "masked": (lambda X: np.ma.masked_array(X.copy(), mask=X > 1), TypeError),
    "a set": (lambda _: {1.0, 2.0}, _WRONG),
    "a generator": (lambda X: (row for row in X), _WRONG),
    "strings in a frame": (lambda X: pd.DataFrame(X.astype(str)), TypeError),
    "dates in a frame": (lambda X: pl.DataFrame({"a": [None] * len(X)}, schema={"a": pl.Date}), TypeError),
    "NaN": (lambda X: _with(X, np.nan), ValueError),
    "inf": (lambda X: _with(X, np.inf), ValueError),
    "-inf": (lambda X: _with(X, -np.inf), ValueError),
    "float32 NaN": (lambda X: _with(X, np.nan).astype(np.float32), ValueError),
    "a gap in a frame": (
        lambda X: pd.DataFrame({"a": pd.array([None] * len(X), "Float64"), "b": 1.0, "c": 2.0}),
        ValueError,
    ),
    "beyond float64": (lambda X: _with(X.astype(np.longdouble), np.longdouble("1e400")), ValueError),
    "sparse NaN": (lambda X: sp.csr_array(_with(X, np.nan)), _WRONG),
    "sparse complex": (lambda X: sp.csr_array(X.astype(complex)), TypeError),
    "sparse, no rows": (lambda X: sp.csr_array((0, X.shape[1])), _WRONG),
}
#: Of these the ones that methods take which allow NaN and inf, and columns of categories.
HOLES = {"NaN", "inf", "-inf", "float32 NaN", "a gap in a frame", "beyond float64", "sparse NaN", "strings in a frame"}


def _with(X: np.ndarray, value: Any) -> np.ndarray:
    X = X.copy()
    X[-1, 1] = value
    return X


# -- sparse ------------------------------------------------------------------------------------------------------------


def sparse_of(X: np.ndarray) -> sp.csr_array:
    """A canonical CSR array; a third of the entries is left out."""
    return sp.csr_array(np.where(np.abs(X) < 0.4, 0.0, X))


def _raw(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> sp.csr_array:
    """A CSR array with whatever arrays, past the checks of SciPy."""
    made = sp.csr_array(shape, dtype=np.float64)
    made.data, made.indices, made.indptr = np.asarray(data), np.asarray(indices), np.asarray(indptr)
    return made


def _changed(S: sp.csr_array, **arrays: Any) -> sp.csr_array:
    parts = {"data": S.data.copy(), "indices": S.indices.copy(), "indptr": S.indptr.copy(), **arrays}
    return _raw(parts["data"], parts["indices"], parts["indptr"], S.shape)


def _unsorted(S: sp.csr_array) -> sp.csr_array:
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True)])
    return _changed(S, data=S.data[order], indices=S.indices[order])


def _halves(S: sp.csr_array) -> sp.csr_array:
    """Every entry twice, each half of it."""
    return _changed(S, data=np.repeat(S.data / 2, 2), indices=np.repeat(S.indices, 2), indptr=2 * S.indptr)


def _longer(S: sp.csr_array) -> sp.csr_array:
    """With room behind the last entry, where there is no number and no index."""
    return _changed(S, data=np.append(S.data, np.nan), indices=np.append(S.indices, 10**6).astype(np.int32))


def _read_only_parts(S: sp.csr_array) -> sp.csr_array:
    made = S.copy()
    for part in (made.data, made.indices, made.indptr):
        part.flags.writeable = False
    return made


#: The same numbers as a canonical CSR array: the result has the same bits.
SAME_SPARSE: dict[str, Callable[[sp.csr_array], Any]] = {
    "csr_matrix": sp.csr_matrix,
    "int64 indices": lambda S: _changed(S, indices=S.indices.astype(np.int64), indptr=S.indptr.astype(np.int64)),
    "unsigned indices": lambda S: _changed(S, indices=S.indices.astype(np.uint32), indptr=S.indptr.astype(np.uint64)),
    "int16 indices": lambda S: _changed(S, indices=S.indices.astype(np.int16), indptr=S.indptr.astype(np.int16)),
    "unsorted": _unsorted,
    "duplicates": _halves,
    "room behind the last": _longer,
    "read only": _read_only_parts,
    "strided": lambda S: _changed(S, data=np.repeat(S.data, 2)[::2], indices=np.repeat(S.indices, 2)[::2]),
    "big-endian": lambda S: _changed(S, data=S.data.astype(">f8"), indices=S.indices.astype(">i4")),
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "pandas": lambda S: pd.DataFrame.sparse.from_spmatrix(
        sp.csr_matrix(S), columns=[f"c{j}" for j in range(S.shape[1])]
    ),
}


def stored_zeros(S: sp.csr_array) -> dict[str, Any]:
    """The same numbers with zeros that are stored."""
    return {
        "all of one row": _zeros_in_row(S),
        "whole blocks": sp.bsr_array(S, blocksize=(2, S.shape[1])),
        "-0.0 everywhere": _all_stored(S, -0.0),
    }


def _all_stored(S: sp.csr_array, zero: float) -> sp.csr_array:
    dense = S.toarray()
    n, d = S.shape
    columns = np.tile(np.arange(d, dtype=np.int32), n)
    return _raw(np.where(dense == 0, zero, dense).ravel(), columns, np.arange(n + 1, dtype=np.int32) * d, S.shape)


def _zeros_in_row(S: sp.csr_array) -> sp.csr_array:
    full = S.tolil()
    made = S.tocoo()
    missing = [j for j in range(S.shape[1]) if j not in full.rows[1]]
    rows, columns = np.append(made.row, [1] * len(missing)), np.append(made.col, missing)
    return sp.csr_array((np.append(made.data, [0.0] * len(missing)), (rows, columns)), shape=S.shape)


def _first(array: np.ndarray, value: Any) -> np.ndarray:
    array = array.copy()
    array[0] = value
    return array


def _dip(indptr: np.ndarray) -> np.ndarray:
    indptr = indptr.copy()
    indptr[2] = indptr[1] - 1
    return indptr


#: Sparse arrays that are none: reading them as they say would leave the memory that is theirs.
BAD_SPARSE: dict[str, Callable[[sp.csr_array], Any]] = {
    "index past the last column": lambda S: _changed(S, indices=_first(S.indices, S.shape[1])),
    "enormous index": lambda S: _changed(S, indices=_first(S.indices, 2**31 - 1)),
    "enormous int64 index": lambda S: _changed(S, indices=_first(S.indices.astype(np.int64), 2**62)),
    "index that wraps": lambda S: _changed(S, indices=_first(S.indices.astype(np.int64), 2**32)),
    "negative index": lambda S: _changed(S, indices=_first(S.indices, -1)),
    "most negative index": lambda S: _changed(S, indices=_first(S.indices, -(2**31))),
    "indptr decreases": lambda S: _changed(S, indptr=_dip(S.indptr)),
    "indptr starts late": lambda S: _changed(S, indptr=_first(S.indptr, 1)),
    "indptr starts below 0": lambda S: _changed(S, indptr=_first(S.indptr, -1)),
    "indptr too short": lambda S: _changed(S, indptr=S.indptr[:-1].copy()),
    "indptr too long": lambda S: _changed(S, indptr=np.append(S.indptr, S.indptr[-1])),
    "indptr ends far out": lambda S: _changed(S, indptr=np.append(S.indptr[:-1], 2**30).astype(np.int32)),
    "indptr ends beyond int64": lambda S: _changed(S, indptr=np.append(S.indptr[:-1].astype(np.uint64), 2**63)),
    "no indptr": lambda S: _changed(S, indptr=np.zeros(0, np.int32)),
    "float indices": lambda S: _changed(S, indices=S.indices.astype(float)),
    "float indptr": lambda S: _changed(S, indptr=S.indptr.astype(float)),
    "fewer entries than indices": lambda S: _changed(S, data=S.data[:-3].copy()),
    "fewer indices than entries": lambda S: _changed(S, indices=S.indices[:-3].copy()),
    "entries in two dimensions": lambda S: _changed(S, data=S.data[:, None].copy()),
    "csc with a row too many": lambda S: _moved(sp.csc_array(S), "indices", S.shape[0]),
    "coo with a column too many": lambda S: _moved(sp.coo_array(S), "col", S.shape[1]),
    "coo with a negative row": lambda S: _moved(sp.coo_array(S), "row", -1),
    "bsr with a block too many": lambda S: _moved(sp.bsr_array(S, blocksize=(2, S.shape[1])), "indices", 7),
}


def _moved(S: Any, name: str, value: int) -> Any:
    setattr(S, name, _first(getattr(S, name), value))
    return S
