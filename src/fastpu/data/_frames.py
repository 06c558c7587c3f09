"""pandas and polars frames as plain matrices, without importing either library.

An object can only be a frame of a library that is imported already, so `sys.modules` is enough.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fastpu.common._text import short

__all__ = ["check_frame", "column_names", "concat_frames", "frame_kind", "read_frame"]


def frame_kind(X: object) -> str | None:
    """Return "pandas" or "polars" if `X` is a DataFrame of that library, else None."""
    for library in ("pandas", "polars"):
        # A library that another thread is still importing has no DataFrame yet.
        frame = getattr(sys.modules.get(library), "DataFrame", None)
        if frame is not None and isinstance(X, frame):
            return library
    return None


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names if all of them are strings, else None."""
    names = tuple(X.columns)
    return tuple(map(str, names)) if all(isinstance(n, str) for n in names) else None


def check_frame(X: Any, kind: str, name: str) -> None:
    """Raise TypeError, naming the column, unless all columns are numeric or boolean."""
    if kind == "polars":
        boolean = sys.modules["polars"].Boolean
        for column, dtype in X.schema.items():
            if not (dtype.is_numeric() or dtype == boolean):
                _refuse_column(name, column, dtype)
        return
    sparse = [_is_sparse_dtype(dtype) for dtype in X.dtypes]
    for column, dtype in enumerate(X.dtypes):
        # Extension types carry a kind too; a category's may be that of its labels.
        letter = "O" if hasattr(dtype, "categories") else getattr(dtype, "kind", "O")
        if letter not in "biuf" or (sparse[column] and not all(sparse)):
            _refuse_column(name, X.columns[column], dtype, mixed=sparse[column])
        if sparse[column] and dtype.fill_value != 0:
            _refuse_column(name, X.columns[column], dtype)


def read_frame(X: Any, kind: str, name: str) -> tuple[Any, tuple[str, ...] | None]:
    """Return the entries of a frame (an array, or a SciPy COO matrix) and its column names."""
    check_frame(X, kind, name)
    return (_read_pandas(X) if kind == "pandas" else _read_polars(X)), column_names(X)


def concat_frames(frames: list[Any], kind: str) -> Any:
    """Return frames that have the same columns, one below the other."""
    library = sys.modules[kind]
    if kind == "polars":
        return library.concat(frames, how="vertical_relaxed")
    result = library.concat(frames, ignore_index=True)
    for column, dtype in enumerate(result.dtypes):
        if dtype.kind == "O":  # booleans below numbers
            values = result.iloc[:, column].to_numpy(dtype=np.float64, na_value=np.nan)
            result.isetitem(column, values)
    return result


def _is_sparse_dtype(dtype: object) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def _read_pandas(X: Any) -> Any:
    dtypes = list(X.dtypes)
    if _is_sparse_dtype(dtypes[0]):
        return X.sparse.to_coo()
    if len(set(dtypes)) == 1 and isinstance(dtypes[0], np.dtype):
        return X.to_numpy()  # one block, which may need no copy at all
    single = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in dtypes)
    matrix = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for column, dtype in enumerate(dtypes):
        series = X.iloc[:, column]
        if isinstance(dtype, np.dtype):
            matrix[:, column] = series.to_numpy()
        else:
            matrix[:, column] = series.to_numpy(dtype=matrix.dtype, na_value=np.nan)
    return matrix


def _read_polars(X: Any) -> Any:
    polars = sys.modules["polars"]
    # Float16 is young, and not in every polars.
    narrow = [getattr(polars, t) for t in ("Float16", "Float32") if hasattr(polars, t)]
    single = all(dtype in narrow for dtype in X.dtypes)
    target = polars.Float32 if single else polars.Float64
    matrix = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for column, series in enumerate(X.get_columns()):
        matrix[:, column] = series.cast(target).to_numpy()
    return matrix


def _refuse_column(name: str, column: object, dtype: object, *, mixed: bool = False) -> None:
    reason = " among columns that are not sparse" if mixed else ""
    raise TypeError(f"{name} must have numeric or boolean columns, got dtype {dtype} in column {short(column)}{reason}")
