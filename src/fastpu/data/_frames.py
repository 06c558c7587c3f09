"""Tables of pandas, polars and pyarrow as plain matrices, without importing these libraries."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fastpu.common._text import short
from fastpu.data._arrow import concat_arrow, is_of, kind_of_arrow
from fastpu.data._categories import (
    LEVELS,
    ColumnCategories,
    Places,
    are_numbers,
    check_values,
    has_levels,
    is_categorical,
    mend_levels,
    places_in,
    read_categories,
    unseen_place,
)
from fastpu.data._levels import levels_of, places_of_levels
from fastpu.data._matrix import check_whole_numbers
from fastpu.data._refused_columns import RefusedColumn, refuse_columns
from fastpu.data._tables import titles_of


def read_frame(
    X: Any, library: str, name: str, kinds: list[str], known: ColumnCategories
) -> tuple[Any, ColumnCategories]:
    """Return the entries of a frame whose columns are of these kinds, as an array or a SciPy COO matrix.

    With them come the categories of its columns: the `known` ones, and those of the frame in the other columns.
    """
    dtypes = dtypes_of(X, library)
    if _is_sparse_dtype(dtypes[0]):
        return X.sparse.to_coo(), {}
    if (
        isinstance(dtypes[0], np.dtype)
        and dtypes[0].kind in "biuf"
        and len(set(dtypes)) == 1
        and not {"categories", "missing"}.intersection(kinds)
    ):
        return X.to_numpy(), {}  # one block of pandas, which may need no copy at all
    any_width = ("categories", "missing")
    is_single = all(kind in any_width or _is_single(dtype, library) for kind, dtype in zip(kinds, dtypes, strict=True))
    entries = np.empty(X.shape, dtype=np.float32 if is_single else np.float64)
    titles = titles_of(X)
    kept: dict[str, tuple[Any, ...]] = {}
    read = {"pandas": _pandas_numbers, "polars": _polars_numbers, "pyarrow": _arrow_numbers}[library]
    for column, of_column in enumerate(kinds):
        series, title = column_of(X, column, library), f"column {short(titles[column])}"
        if of_column == "categories":
            where, key = f"{name}, in {title},", str(column)
            levels = levels_of(series) if library == "pandas" else None
            places: Places | None = None
            if key in known:
                places = places_in(known, key)
            elif levels is not None:  # all levels of an ordered column, also those that no row has
                places = {level: float(place) for place, level in enumerate(levels)}
            of_model = known.get(key, levels)
            unseen = unseen_place(known, key) if key in known else np.nan
            entries[:, column], kept[key] = read_categories(series, library, where, of_model, places, unseen)
            if key not in known and levels is not None:
                check_values(levels, where, mend_levels(where))
                kept[LEVELS] = (*kept.get(LEVELS, ()), key)
            if levels is not None and has_levels(known, column):
                entries[:, column] = places_of_levels(series, known[key])
        elif of_column == "missing":
            entries[:, column] = np.nan
            if str(column) in known:
                kept[str(column)] = known[str(column)]
        else:
            entries[:, column] = read(series, name, title, entries.dtype, is_duration=of_column == "durations")
    if LEVELS in known:
        kept[LEVELS] = known[LEVELS]
    return entries, kept


def kinds_of_columns(
    X: Any, library: str, name: str, categories: ColumnCategories | None = None, *, takes_categories: bool = True
) -> list[str]:
    """Return for each column "numbers", "durations" or "categories"; raise TypeError if some are not taken.

    With the `categories` of a model, columns must have categories where the training data had some, and only there. A
    column of another type without a single entry is then "missing": readers of files give such a column any type.
    """
    may_be_categories = takes_categories or categories is not None
    dtypes = dtypes_of(X, library)
    n_sparse = sum(map(_is_sparse_dtype, dtypes))
    kinds, refused = [], []
    for column, dtype in enumerate(dtypes):
        of_column = kind_of_column(X, column, library, dtype)
        is_mixed = _is_sparse_dtype(dtype) and (n_sparse < X.shape[1] or dtype.fill_value != 0)
        if of_column == "empty":
            is_known = takes_categories if categories is None else str(column) in categories
            of_column = "categories" if is_known and library != "polars" else "numbers"
        if of_column == "numbers" and categories is not None and are_numbers(categories.get(str(column), ())):
            of_column = "categories"  # which are numbers; some libraries have no other column of them
        is_other = categories is not None and (str(column) in categories) != (of_column == "categories")
        is_taken = of_column in ("numbers", "durations") or (of_column == "categories" and may_be_categories)
        if categories is not None and (is_other or not is_taken) and not is_mixed and _is_blank(X, column, library):
            of_column = "missing"
        elif is_other or is_mixed or not is_taken:
            refused.append(RefusedColumn(column, dtype, column_of(X, column, library), of_column, is_other, is_mixed))
        kinds.append(of_column)
    if refused:
        refuse_columns(titles_of(X), library, name, refused, takes_categories=may_be_categories)
    return kinds


def kind_of_column(X: Any, column: int, library: str, dtype: Any = None) -> str:
    """Return what a column holds: "numbers", "durations", "categories", "empty" (nothing, of no type) or "others"."""
    if library == "pyarrow":
        return kind_of_arrow(X.schema.types[column])
    dtype = column_of(X, column, library).dtype if dtype is None else dtype
    if is_categorical(dtype):
        return "categories"
    if library == "polars":
        polars = sys.modules["polars"]
        if dtype == polars.Null:
            return "empty"
        if dtype == polars.Duration:
            return "durations"
        return "numbers" if dtype.is_numeric() or dtype == polars.Boolean else "others"
    code = getattr(dtype, "kind", "O")  # extension types have one too
    if code in "biufm":
        return "durations" if code == "m" else "numbers"
    if str(dtype).startswith("decimal"):  # of Arrow
        return "numbers"
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


def dtypes_of(X: Any, library: str) -> list[Any]:
    return list(X.schema.types if library == "pyarrow" else X.dtypes)


def column_of(X: Any, column: int, library: str) -> Any:
    if library == "pyarrow":
        return X.column(column)
    return X.iloc[:, column] if library == "pandas" else X.get_columns()[column]


def take_rows(X: Any, library: str | None, rows: Any) -> Any:
    """Return rows of a table, or of an array, by their numbers."""
    if library == "pandas":
        return X.iloc[rows]
    return X.take(rows) if library == "pyarrow" else X[rows]


def take_columns(X: Any, library: str | None, columns: list[int]) -> Any:
    """Return columns of a table, or of an array, by their numbers."""
    if library == "pandas":
        return X.iloc[:, columns]
    return X.select(columns) if library == "pyarrow" else X[:, columns]


def concat_frames(frames: list[Any], library: str) -> Any:
    """Return frames that have the same columns, one below the other; a column has the categories of all of them."""
    return {"pandas": _concat_pandas, "polars": _concat_polars, "pyarrow": concat_arrow}[library](frames)


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


def _is_blank(X: Any, column: int, library: str) -> bool:
    """Tell whether all entries of a column are missing."""
    entries = column_of(X, column, library)
    if library == "pandas":
        return bool(entries.isna().all())
    if library == "polars":
        return bool((entries.is_null() | entries.is_nan() if entries.dtype.is_float() else entries.is_null()).all())
    return bool(entries.is_null(nan_is_null=True).to_numpy().all())


def _is_of_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_sparse_dtype(dtype: object) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def _is_single(dtype: Any, library: str) -> bool:
    """Tell whether float32 holds all numbers of a type."""
    if library == "pandas":
        return bool(dtype.kind == "f" and dtype.itemsize <= 4)
    return str(dtype) in ("Float16", "Float32", "halffloat", "float")


_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


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
        return series.to_physical().cast(floats).to_numpy() / _UNITS[series.dtype.time_unit]
    if series.dtype.is_integer():
        check_whole_numbers(series.drop_nulls().to_numpy(), name, lambda _: title)
    return series.cast(floats).to_numpy()


def _arrow_numbers(column: Any, name: str, title: str, target: np.dtype[Any], *, is_duration: bool) -> Any:
    pyarrow = sys.modules["pyarrow"]
    floats = pyarrow.float32() if target == np.float32 else pyarrow.float64()
    if is_duration:
        return column.cast(pyarrow.int64()).cast(floats, safe=False).to_numpy() / _UNITS[column.type.unit]
    if is_of(column.type, ("is_integer",)):
        check_whole_numbers(column.drop_null().to_numpy(), name, lambda _: title)
    return column.cast(floats, safe=False).to_numpy()
