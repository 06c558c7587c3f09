"""Columns of categories in tables: their categories, and the numbers that stand for their entries.

Columns of strings are columns of categories too. A category is known by its value, never by the code that a library
happens to give it, for two frames with the same values may code them differently. The entry of a matrix is the place of
the category among those that are kept, from 0, and NaN for missing entries.

A node or stump takes a set of the categories of a column, where these are few. Many categories are put in an order by
the labels (`_category_order.py`), and their places are split like any other number. Those of a pandas column that is
ordered are levels, whose places are split like numbers as well (`_levels.py`).

A category that is not kept, which training did not have, says nothing (`unseen_place`). Among few it gets the place
behind the last one, which no training row has: a node or stump sends it with the larger part of its rows. Where all 255
places are taken it counts as missing. Among many it gets the place in the middle of the order.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastpu.common._frozen import FrozenMapping
from fastpu.common._text import short
from fastpu.data._arrow import arrow_codes

#: The most categories of a column that is split by sets of them: with the place of missing entries they fit one byte.
MOST_IN_SETS = 255

#: Beside the numbers of columns, the entry of `ColumnCategories` that lists those whose categories are levels.
LEVELS = "levels"

ColumnCategories: TypeAlias = Mapping[str, tuple[Any, ...]]
"""The categories of each categorical column, by the number of the column as text: as a model keeps them."""

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Places: TypeAlias = Mapping[Any, float]

_FEW = 1000  # entries whose words take less time than finding the distinct ones among them
_PLAIN = (str, int, float)  # and bool, which is an int


def is_categorical(dtype: Any) -> bool:
    """Tell whether a column has categories by its type: pandas' "category", polars' Categorical and Enum, and strings.

    The type of a pandas column of Python objects does not tell; `fastpu.data._frames` looks at its entries.
    """
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(dtype, polars.Categorical | polars.Enum | polars.String):
        return True
    kind = type(dtype).__name__
    texts = ("string", "large_string", "dictionary<values=string", "dictionary<values=large_string")
    return kind in ("CategoricalDtype", "StringDtype") or (kind == "ArrowDtype" and str(dtype).startswith(texts))


def are_numbers(kept: tuple[Any, ...]) -> bool:
    """Tell whether categories are numbers, so that a column of numbers can have them too."""
    return bool(kept) and not isinstance(kept[0], str)


def places_in(kept: ColumnCategories, column: str) -> Places:
    """Return the place of each category of a column; a model has found them once."""
    if isinstance(kept, FrozenMapping):
        return kept.places(column)
    return {value: float(place) for place, value in enumerate(kept[column])}


def unseen_place(kept: ColumnCategories, column: str) -> float:
    """Return the place that categories get which a column did not have in training."""
    n_kept = len(kept[column])
    if n_kept == MOST_IN_SETS or column in kept.get(LEVELS, ()):
        return math.nan
    return float(n_kept if n_kept < MOST_IN_SETS else middle_place(n_kept))


def middle_place(n_categories: int) -> float:
    """Return the place in an order of categories that says least of a label; none of them has it."""
    return n_categories // 2 + 0.5


def read_categories(
    series: Any, library: str, where: str, kept: tuple[Any, ...] | None, places: Places | None, unseen: float
) -> tuple[Floats, tuple[Any, ...]]:
    """Return the entries of one column as numbers, and its categories; messages call it `where`.

    The categories are those that are `kept`, whose places these are, others having the place `unseen`; or those that
    occur in the column, in the order of its dtype, and those of strings by the alphabet; a fit puts them in an order of
    its own.
    """
    if kept is not None and places is not None:
        return _KNOWN[library](series, where, kept, _Coding(places, unseen)), kept
    codes, values = _CODES[library](series)
    occurs = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    kept = tuple(value for value, is_there in zip(values, occurs, strict=True) if is_there)
    check_values(kept, where, _mend_values(where, library))
    # The last entry is for missing values, whose code is -1.
    return np.append(np.where(occurs, np.cumsum(occurs) - 1.0, np.nan), np.nan)[codes], kept


def _mend_values(where: str, library: str) -> str:
    """Return the line that makes strings of categories of another kind."""
    title = where.partition(", in column ")[2].removesuffix(",")
    if library != "pandas" or not title:
        return ""
    column = f"X[{title}]"
    return f"; make strings of them: {column} = {column}.astype(str).where({column}.notna())"


def mend_levels(where: str) -> str:
    """Return the line that makes numbers of the levels of an ordered column of pandas, in their order."""
    column = f"X[{where.partition(', in column ')[2].removesuffix(',')}]"
    return f"; make numbers of them, in their order: {column} = {column}.cat.codes.where({column}.notna())"


@dataclass(frozen=True)
class _Coding:
    """What stands for the categories of a model: their places, and one for all others."""

    places: Places
    unseen: float

    def of(self, values: list[Any]) -> list[float]:
        """Return the places of values; missing ones have none."""
        known = self.places.get
        return [
            place if (place := known(value)) is not None else math.nan if is_missing(value) else self.unseen
            for value in values
        ]


def _of_codes(
    codes: Any, n_values: int, take: Callable[[Any], list[Any]], where: str, kept: tuple[Any, ...], coding: _Coding
) -> Floats:
    """Return the places of entries by their codes, -1 where they are missing; `take` gives the values of codes.

    Where entries are fewer than values, only those that occur are looked at: one row may come with 100,000 of them.
    """
    if codes.size < n_values:
        distinct, of_entries = np.unique(codes, return_inverse=True)
    else:
        distinct, of_entries = np.arange(-1, n_values), codes.astype(np.int64) + 1
    values = take(distinct[distinct >= 0])
    _check_kind(values, where, kept)
    missing = [np.nan] * (distinct.size - len(values))
    return np.array([*missing, *coding.of(values)], dtype=np.float64)[of_entries]


def _of_values(values: list[Any], where: str, kept: tuple[Any, ...], coding: _Coding) -> Floats:
    """Return the places of the entries of a column of strings or of numbers; missing ones have none."""
    _check_kind(values, where, kept)
    return np.array(coding.of(values), dtype=np.float64)


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def is_missing(value: object) -> bool:
    """Tell whether an entry is None, NaN, pandas.NA or NaT."""
    return value is None or is_nan(value) or type(value).__name__ in ("NAType", "NaTType")


def _check_kind(values: list[Any], where: str, kept: tuple[Any, ...]) -> None:
    """Raise TypeError if entries are words where the training data have numbers, or the other way round."""
    present = next((value for value in values if isinstance(value, _PLAIN) and not is_nan(value)), None)
    if present is None or not kept or isinstance(present, str) == isinstance(kept[0], str):
        return
    hint = "" if isinstance(kept[0], str) else "; pass these as a column of numbers"
    raise TypeError(
        f"{where} must have categories of the kind of the training data's, such as {short(kept[0])}, got "
        f"{short(present)}{hint}"
    )


def _known_pandas(series: Any, where: str, kept: tuple[Any, ...], coding: _Coding) -> Floats:
    if not hasattr(series.dtype, "categories"):
        return _of_values(series.tolist(), where, kept, coding)
    coded = series.array  # a Categorical, without the detour of the accessor
    values = coded.categories
    return _of_codes(coded.codes, len(values), lambda codes: values.take(codes).tolist(), where, kept, coding)


def _known_polars(series: Any, where: str, kept: tuple[Any, ...], coding: _Coding) -> Floats:
    polars = sys.modules["polars"]
    if not isinstance(series.dtype, polars.Categorical | polars.Enum):
        return _of_values(series.to_list(), where, kept, coding)
    if len(series) < _FEW:
        return _of_values(series.cast(polars.String).to_list(), where, kept, coding)
    codes, values = _polars_codes(series)
    return _of_codes(codes, len(values), lambda codes: [values[code] for code in codes], where, kept, coding)


def _known_arrow(column: Any, where: str, kept: tuple[Any, ...], coding: _Coding) -> Floats:
    codes, values = arrow_codes(column)
    return _of_codes(codes, len(values), lambda codes: [values[code] for code in codes], where, kept, coding)


def _pandas_codes(series: Any) -> tuple[Any, list[Any]]:
    if not hasattr(series.dtype, "categories"):
        series = series.astype(object).astype("category")  # which sorts strings
    return series.cat.codes.to_numpy().astype(np.int64), series.cat.categories.tolist()


def _polars_codes(series: Any) -> tuple[Any, list[Any]]:
    polars = sys.modules["polars"]
    if isinstance(series.dtype, polars.String):
        series = series.cast(polars.Categorical)
    distinct = series.drop_nulls().unique()
    text = distinct.cast(polars.String).to_list()
    physical = distinct.to_physical().to_list()
    # A Categorical numbers its categories in the order in which this or another column met them, so they are sorted by
    # their text. An Enum has an order of its own.
    is_enum = isinstance(series.dtype, polars.Enum)
    order = sorted(range(len(text)), key=(physical if is_enum else text).__getitem__)
    code_of = np.full(max(physical, default=0) + 2, -1, dtype=np.int64)
    for code, i in enumerate(order):
        code_of[physical[i]] = code
    numbers = series.to_physical().cast(polars.Int64).fill_null(len(code_of) - 1).to_numpy()
    return code_of[numbers], [text[i] for i in order]


_CODES = {"pandas": _pandas_codes, "polars": _polars_codes, "pyarrow": arrow_codes}
_KNOWN = {"pandas": _known_pandas, "polars": _known_polars, "pyarrow": _known_arrow}


def check_values(values: tuple[Any, ...], where: str, hint: str = "") -> None:
    """Raise TypeError unless categories are strings, or numbers."""
    for value in values:
        if not isinstance(value, _PLAIN):
            raise TypeError(f"{where} must have categories that are strings or numbers, got {short(value)}{hint}")
        if isinstance(value, str) != isinstance(values[0], str):
            raise TypeError(
                f"{where} must have categories of one kind, strings or numbers, got {short(values[0])} and "
                f"{short(value)}{hint}"
            )


def check_kept(kept: ColumnCategories, n_features: int) -> None:
    """Raise ValueError or TypeError unless these can be the categories of a model; a damaged file may have others."""
    for column, values in kept.items():
        if not isinstance(values, tuple):
            raise TypeError(f"categories must be tuples, got {short(values)} for column {column}")
        if column == LEVELS:
            if not set(values) <= kept.keys() - {LEVELS}:
                raise ValueError(f"columns of levels must be among those of categories, got {short(values)}")
            continue
        if not column.isdecimal() or str(int(column)) != column or int(column) >= n_features:
            raise ValueError(f"categories must be of columns 0 to {n_features - 1}, got {short(column)}")
        check_values(values, f"column {column}")
        if len(set(values)) != len(values):
            raise ValueError(f"categories must be distinct, got {short(values)} for column {column}")


def categorical_columns(kept: ColumnCategories) -> list[int]:
    """Return the columns that have categories, ascending."""
    return sorted(int(column) for column in kept if column != LEVELS)


def has_levels(kept: ColumnCategories, column: int) -> bool:
    """Tell whether the categories of a column are levels, which are split like numbers."""
    return str(column) in kept.get(LEVELS, ())


def columns_in_sets(kept: ColumnCategories) -> list[int]:
    """Return the columns that are split by sets of their categories, which are few."""
    columns = categorical_columns(kept)
    return [c for c in columns if len(kept[str(c)]) <= MOST_IN_SETS and not has_levels(kept, c)]


def columns_in_order(kept: ColumnCategories) -> list[int]:
    """Return the columns whose many categories are in an order by the labels, and are split by their places in it."""
    columns = categorical_columns(kept)
    return [c for c in columns if len(kept[str(c)]) > MOST_IN_SETS and not has_levels(kept, c)]


def category_flags(kept: ColumnCategories, n_features: int) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
    """Return 1 for each column that is split by sets of categories and 0 for the others, or None if there is none."""
    columns = columns_in_sets(kept)
    if not columns:
        return None
    flags = np.zeros(n_features, dtype=np.uint8)
    flags[columns] = 1
    return flags
