"""pandas and polars frames as plain matrices, without importing either library.

An object can only be a frame of a library that is imported already, so `sys.modules` is enough.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from fastpu.common._methods import methods_that_take
from fastpu.common._text import short
from fastpu.data._categories import Categories, Kept, is_categorical, read_categories

__all__ = ["check_frame", "column_names", "concat_frames", "frame_kind", "read_frame"]


def frame_kind(X: object) -> str | None:
    """Return "pandas" or "polars" if `X` is a DataFrame of that library, else None; a LazyFrame is refused."""
    lazy = getattr(sys.modules.get("polars"), "LazyFrame", None)
    if lazy is not None and isinstance(X, lazy):
        raise TypeError(
            "rows must be in memory, got a polars LazyFrame, which has none yet: pass what its collect() returns"
        )
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


def check_frame(X: Any, kind: str, name: str, categories: Categories = "learn") -> None:
    """Raise TypeError, naming the column, unless all columns are numeric, boolean or, where allowed, categorical."""
    known = None if isinstance(categories, str) else categories
    sparse = [_is_sparse_dtype(dtype) for dtype in X.dtypes]
    for column, dtype in enumerate(X.dtypes):
        categorical = is_categorical(dtype)
        is_other = known is not None and (str(column) in known) != categorical
        if categorical:
            is_taken = categories != "refuse"
        else:
            is_taken = _is_numeric(dtype, kind) and (not sparse[column] or (all(sparse) and dtype.fill_value == 0))
        if is_other or not is_taken:
            _refuse_column(name, X.columns[column], dtype, kind, categories, is_other=is_other, mixed=sparse[column])


def read_frame(X: Any, kind: str, name: str, categories: Categories) -> tuple[Any, Kept]:
    """Return the entries of a frame (an array, or a SciPy COO matrix) and its categories."""
    check_frame(X, kind, name, categories)
    known: Kept = {} if isinstance(categories, str) else categories
    kept = {}
    entries = _read_pandas(X) if kind == "pandas" else _read_polars(X)
    for column, dtype in enumerate(X.dtypes):
        if is_categorical(dtype):
            series = X.iloc[:, column] if kind == "pandas" else X.get_columns()[column]
            where = f"{name}, in column {short(X.columns[column])},"
            entries[:, column], kept[str(column)] = read_categories(series, kind, where, known.get(str(column)))
    return entries, kept


def concat_frames(frames: list[Any], kind: str) -> Any:
    """Return frames that have the same columns, one below the other; a column has the categories of all of them."""
    categorical = [all(map(is_categorical, dtypes)) for dtypes in zip(*(frame.dtypes for frame in frames), strict=True)]
    return (_concat_pandas if kind == "pandas" else _concat_polars)(frames, categorical)


def _concat_pandas(frames: list[Any], categorical: list[bool]) -> Any:
    pandas = sys.modules["pandas"]
    result = pandas.concat(frames, ignore_index=True)
    for column, dtype in enumerate(result.dtypes):
        if categorical[column]:
            parts = [frame.iloc[:, column] for frame in frames]
            result.isetitem(column, pandas.api.types.union_categoricals(parts, ignore_order=True))
        elif dtype.kind == "O":  # booleans below numbers
            values = result.iloc[:, column].to_numpy(dtype=np.float64, na_value=np.nan)
            result.isetitem(column, values)
    return result


def _concat_polars(frames: list[Any], categorical: list[bool]) -> Any:
    polars = sys.modules["polars"]
    # Enums with different categories have no type in common but Categorical.
    apart = [
        name
        for column, name in enumerate(frames[0].columns)
        if categorical[column] and len({frame.schema[name] for frame in frames}) > 1
    ]
    parts = [frame.with_columns(polars.col(apart).cast(polars.Categorical)) if apart else frame for frame in frames]
    return polars.concat(parts, how="vertical_relaxed")


def _is_numeric(dtype: Any, kind: str) -> bool:
    if kind == "polars":
        return bool(dtype.is_numeric() or dtype == sys.modules["polars"].Boolean)
    # Extension types carry a kind too.
    return getattr(dtype, "kind", "O") in "biuf"


def _is_sparse_dtype(dtype: object) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def _read_pandas(X: Any) -> Any:
    dtypes = list(X.dtypes)
    if _is_sparse_dtype(dtypes[0]):
        return X.sparse.to_coo()
    if len(set(dtypes)) == 1 and isinstance(dtypes[0], np.dtype):
        return X.to_numpy()  # one block, which may need no copy at all
    single = all(is_categorical(dtype) or (dtype.kind == "f" and dtype.itemsize <= 4) for dtype in dtypes)
    matrix = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for column, dtype in enumerate(dtypes):
        if is_categorical(dtype):
            continue
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
    single = all(is_categorical(dtype) or dtype in narrow for dtype in X.dtypes)
    target = polars.Float32 if single else polars.Float64
    matrix = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for column, series in enumerate(X.get_columns()):
        if is_categorical(series.dtype):
            continue
        matrix[:, column] = series.cast(target).to_numpy()
    return matrix


def _refuse_column(
    name: str, column: object, dtype: object, kind: str, categories: Categories, *, is_other: bool, mixed: bool
) -> NoReturn:
    where = f"dtype {dtype} in column {short(column)}"
    if is_other:
        wanted = "numbers" if is_categorical(dtype) else "categories (dtype category or enum)"
        raise TypeError(
            f"{name} must have {wanted} in column {short(column)}, like the training data, got dtype {dtype}"
        )
    kinds = "numeric or boolean" if categories == "refuse" else "numeric, boolean or categorical"
    hint = " among columns that are not sparse" if mixed else ""
    dummies = "pandas.get_dummies" if kind == "pandas" else "to_dummies"
    numbers = "pandas.to_numeric" if kind == "pandas" else "cast(polars.Float64)"
    if is_categorical(dtype):
        hint = f"; make numbers of it, for example with {dummies}; {methods_that_take('categories')} take categories"
    elif str(dtype).lower().startswith(("date", "time", "duration", "period")):
        hint = "; make a number of each time, such as the days since the first one, the month or the hour"
    elif str(dtype).lower().startswith(("obj", "str", "utf8", "large_str")) and categories == "refuse":
        hint = f"; if it holds numbers, make them so with {numbers}; if words, make numbers of them with {dummies}"
    elif categories != "refuse" and not mixed:
        hint = (
            "; make categories of it if it holds few different values (dtype category or enum), "
            f"or numbers if it holds numbers ({numbers})"
        )
    raise TypeError(f"{name} must have {kinds} columns, got {where}{hint}")
