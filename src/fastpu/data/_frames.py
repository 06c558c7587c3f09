"""pandas and polars frames as plain matrices, without importing either library.

An object can only be a frame of a library that is imported already, so `sys.modules` is enough.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from fastpu.common._methods import methods_that_take
from fastpu.common._text import short
from fastpu.data._categories import (
    LEVELS,
    Categories,
    Kept,
    check_values,
    has_levels,
    is_categorical,
    read_categories,
)
from fastpu.data._levels import levels_of, places_of_levels
from fastpu.data._matrix import check_whole_numbers


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


def read_frame(X: Any, kind: str, name: str, categories: Categories) -> tuple[Any, Kept]:
    """Return the entries of a frame (an array, or a SciPy COO matrix) and its categories."""
    kinds, dtypes = kinds_of_columns(X, kind, name, categories), list(X.dtypes)
    if _is_sparse_dtype(dtypes[0]):
        return X.sparse.to_coo(), {}
    if isinstance(dtypes[0], np.dtype) and dtypes[0].kind in "biuf" and len(set(dtypes)) == 1:
        return X.to_numpy(), {}  # one block of pandas, which may need no copy at all
    is_single = all(k == "categories" or _is_single(dtype, kind) for k, dtype in zip(kinds, dtypes, strict=True))
    entries = np.empty(X.shape, dtype=np.float32 if is_single else np.float64)
    known: Kept = {} if isinstance(categories, str) else categories
    kept: dict[str, tuple[Any, ...]] = {}
    read = _pandas_numbers if kind == "pandas" else _polars_numbers
    for column, of_column in enumerate(kinds):
        series, title = _column(X, column, kind), f"column {short(X.columns[column])}"
        if of_column == "categories":
            where, key, levels = f"{name}, in {title},", str(column), levels_of(series)
            of_model = known.get(key, levels)  # of a model, or all levels of an ordered column
            entries[:, column], kept[key] = read_categories(series, kind, where, of_model)
            if key not in known and levels is not None:
                check_values(levels, where)
                kept[LEVELS] = (*kept.get(LEVELS, ()), key)
            if levels is not None and has_levels(known, column):
                entries[:, column] = places_of_levels(series, known[key])
        else:
            entries[:, column] = read(series, name, title, entries.dtype, is_duration=of_column == "durations")
    if LEVELS in known:
        kept[LEVELS] = known[LEVELS]
    return entries, kept


def kinds_of_columns(X: Any, kind: str, name: str, categories: Categories = "learn") -> list[str]:
    """Return for each column "numbers", "durations" or "categories"; raise TypeError for one that is not taken."""
    known = None if isinstance(categories, str) else categories
    n_sparse = sum(map(_is_sparse_dtype, X.dtypes))
    kinds = []
    for column, dtype in enumerate(X.dtypes):
        of_column = kind_of_column(X, column, kind)
        is_mixed = _is_sparse_dtype(dtype) and (n_sparse < X.shape[1] or dtype.fill_value != 0)
        if of_column == "empty":
            is_known = categories == "learn" if known is None else str(column) in known
            of_column = "categories" if is_known and kind == "pandas" else "numbers"
        is_other = known is not None and (str(column) in known) != (of_column == "categories")
        is_taken = of_column in ("numbers", "durations") or (of_column == "categories" and categories != "refuse")
        if is_other or is_mixed or not is_taken:
            _refuse_column(X, column, kind, name, categories, of_column=of_column, is_other=is_other, is_mixed=is_mixed)
        kinds.append(of_column)
    return kinds


def kind_of_column(X: Any, column: int, kind: str) -> str:
    """Return what a column holds: "numbers", "durations", "categories", "empty" (nothing, of no type) or "others"."""
    dtype = _column(X, column, kind).dtype
    if is_categorical(dtype):
        return "categories"
    if kind == "polars":
        polars = sys.modules["polars"]
        if dtype == polars.Null:
            return "empty"
        if dtype == polars.Duration:
            return "durations"
        return "numbers" if dtype.is_numeric() or dtype == polars.Boolean else "others"
    code = getattr(dtype, "kind", "O")  # extension types have one too
    if code in "biufm":
        return "durations" if code == "m" else "numbers"
    if not _is_of_objects(dtype):
        return "others"
    return _OF_OBJECTS.get(sys.modules["pandas"].api.types.infer_dtype(X.iloc[:, column], skipna=True), "others")


#: What a column of Python objects holds, by what pandas says of its entries that are not missing.
_OF_OBJECTS = {
    "string": "categories",
    "empty": "empty",
    **dict.fromkeys(("timedelta", "timedelta64"), "durations"),
    **dict.fromkeys(("boolean", "integer", "floating", "mixed-integer-float", "decimal"), "numbers"),
}


def _column(X: Any, column: int, kind: str) -> Any:
    return X.iloc[:, column] if kind == "pandas" else X.get_columns()[column]


def concat_frames(frames: list[Any], kind: str) -> Any:
    """Return frames that have the same columns, one below the other; a column has the categories of all of them."""
    return _concat_pandas(frames) if kind == "pandas" else _concat_polars(frames)


def _concat_pandas(frames: list[Any]) -> Any:
    pandas = sys.modules["pandas"]
    result = pandas.concat(frames, ignore_index=True)
    for column, dtype in enumerate(result.dtypes):
        parts = [frame.iloc[:, column] for frame in frames]
        if hasattr(dtype, "categories"):
            continue  # one dtype for all, whose order stays
        if all(hasattr(part.dtype, "categories") for part in parts):
            result.isetitem(column, pandas.api.types.union_categoricals(parts, ignore_order=True))
        elif _is_of_objects(dtype) and {kind_of_column(frame, column, "pandas") for frame in frames} == {"numbers"}:
            # Booleans below numbers, for example.
            values = result.iloc[:, column].to_numpy(dtype=np.float64, na_value=np.nan)
            result.isetitem(column, values)
    return result


def _concat_polars(frames: list[Any]) -> Any:
    polars = sys.modules["polars"]
    # Enums with different categories have no type in common but Categorical.
    of_columns = zip(frames[0].columns, *(frame.dtypes for frame in frames), strict=True)
    apart = [name for name, *dtypes in of_columns if all(map(is_categorical, dtypes)) and len(set(dtypes)) > 1]
    parts = [frame.with_columns(polars.col(apart).cast(polars.Categorical)) if apart else frame for frame in frames]
    return polars.concat(parts, how="vertical_relaxed")


def _is_of_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_sparse_dtype(dtype: object) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def _is_single(dtype: Any, kind: str) -> bool:
    """Tell whether float32 holds all numbers of a type."""
    return str(dtype) in ("Float16", "Float32") if kind == "polars" else bool(dtype.kind == "f" and dtype.itemsize <= 4)


def _pandas_numbers(series: Any, name: str, title: str, target: np.dtype[Any], *, is_duration: bool) -> Any:
    dtype, pandas = series.dtype, sys.modules["pandas"]
    if is_duration:
        return pandas.to_timedelta(series).dt.total_seconds()
    if getattr(dtype, "kind", "O") in "iuO":
        whole = series.dropna()
        whole = pandas.to_numeric(whole) if _is_of_objects(dtype) else whole
        check_whole_numbers(whole.to_numpy(), name, lambda _: title)
    is_plain = isinstance(dtype, np.dtype) and not _is_of_objects(dtype)
    return series.to_numpy() if is_plain else series.to_numpy(dtype=target, na_value=np.nan)


def _polars_numbers(series: Any, name: str, title: str, target: np.dtype[Any], *, is_duration: bool) -> Any:
    polars = sys.modules["polars"]
    floats = polars.Float32 if target == np.float32 else polars.Float64
    if is_duration:
        units = {"ms": 1e3, "us": 1e6, "ns": 1e9}[series.dtype.time_unit]
        return series.to_physical().cast(floats).to_numpy() / units
    if series.dtype.is_integer():
        check_whole_numbers(series.drop_nulls().to_numpy(), name, lambda _: title)
    return series.cast(floats).to_numpy()


# ---- What is said of a column that is neither numbers nor, where they are taken, categories ----


def _refuse_column(
    X: Any, column: int, kind: str, name: str, categories: Categories, *, of_column: str, is_other: bool, is_mixed: bool
) -> NoReturn:
    """Raise TypeError for a column, with the line of pandas or polars that mends it.

    `is_other` says that the training data held something else there, `is_mixed` that others are not sparse.
    """
    title = X.columns[column]
    dtype = _column(X, column, kind).dtype
    if is_other:
        wanted = "numbers" if of_column == "categories" else "categories (strings, or dtype category or enum)"
        raise TypeError(
            f"{name} must have {wanted} in column {short(title)}, like the training data, got dtype {dtype}"
        )
    kinds = "numeric or boolean" if categories == "refuse" else "numeric, boolean or categorical"
    if is_mixed:
        hint = " among columns that are not sparse"
    elif of_column == "categories":
        dummies = "pandas.get_dummies" if kind == "pandas" else "to_dummies"
        numbers = "pandas.to_numeric" if kind == "pandas" else "cast(polars.Float64)"
        hint = (
            f"; if it holds numbers, make them so with {numbers}; if words, make numbers of them with "
            f"{dummies}; {methods_that_take('categories')} take categories"
        )
    else:
        hint = _line_of_dates(X, column, kind)
    raise TypeError(f"{name} must have {kinds} columns, got dtype {dtype} in column {short(title)}{hint}")


def _line_of_dates(X: Any, column: int, kind: str) -> str:
    """Return the line that makes numbers of a column of dates; "" for others."""
    title, series = X.columns[column], _column(X, column, kind)
    if kind == "pandas":
        held = sys.modules["pandas"].api.types.infer_dtype(series, skipna=True)
        are_dates = held.startswith("date") or str(series.dtype).startswith(("date", "timestamp"))
        line = f"X[{title!r}] = (pandas.to_datetime(X[{title!r}], utc=True) - pandas.Timestamp(0, tz='UTC')).dt.days"
    else:
        polars = sys.modules["polars"]
        are_dates = series.dtype in (polars.Date, polars.Datetime)
        line = f"X = X.with_columns(polars.col({title!r}).dt.epoch('d'))"
    return f"; make numbers of its times, such as the days since 1970: {line}" if are_dates else ""
