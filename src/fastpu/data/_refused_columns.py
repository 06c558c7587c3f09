"""What is said of columns that are neither numbers nor categories that are taken, with the line that mends them.

All columns with the fault of the first one are named at once.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from fastpu.common._methods import methods_that_take
from fastpu.common._text import short


@dataclass(frozen=True)
class RefusedColumn:
    """A column that is not taken.

    `is_other` says that the training data had something else there, `is_mixed` that others are not sparse.
    """

    number: int
    dtype: Any
    entries: Any
    holds: str
    is_other: bool
    is_mixed: bool

    def fault(self, library: str) -> str:
        """Return what is wrong with it: columns with the same fault are mended in the same way."""
        if self.is_other:
            return f"other {self.holds == 'categories'}"
        if self.is_mixed:
            return "mixed sparse"
        return "words" if self.holds == "categories" else _CONTENT[library](self.entries)


def refuse_columns(
    titles: Sequence[Hashable],
    library: str,
    name: str,
    refused: Sequence[RefusedColumn],
    *,
    takes_categories: bool,
) -> NoReturn:
    """Raise TypeError for columns, with the line of their library that mends them."""
    first, fault = refused[0], refused[0].fault(library)
    alike = [column for column in refused if column.fault(library) == fault]
    named = [titles[column.number] for column in alike]
    where = f"in column{'s' * (len(named) > 1)} {', '.join(map(short, named))}"
    dtype = f"dtype {', '.join(dict.fromkeys(str(column.dtype) for column in alike))}"
    if first.is_other:
        wanted = "numbers" if first.holds == "categories" else "categories (strings, or dtype category or enum)"
        raise TypeError(f"{name} must have {wanted} {where}, like the training data, got {dtype}")
    kinds = "numeric, boolean or categorical" if takes_categories else "numeric or boolean"
    if fault == "mixed sparse":
        hint = " among columns that are not sparse"
    elif fault == "words":
        hint = _of_words(library, "they" if len(named) > 1 else "it")
    else:
        hint = _LINES[library](fault, named, [column.number for column in alike], takes_categories)
    raise TypeError(f"{name} must have {kinds} columns, got {dtype} {where}{hint}")


def _of_words(library: str, subject: str) -> str:
    numbers = {"pandas": "pandas.to_numeric", "polars": "cast(polars.Float64)", "pyarrow": "cast('float64')"}[library]
    dummies = {"pandas": "pandas.get_dummies", "polars": "to_dummies", "pyarrow": "pandas.get_dummies of to_pandas()"}[
        library
    ]
    return (
        f"; if {subject} hold{'s' * (subject == 'it')} numbers, make them so with {numbers}; if words, make numbers of "
        f"them with {dummies}; if texts, with scikit-learn's TfidfVectorizer; {methods_that_take('categories')} take "
        f"categories"
    )


# ---- What a column of objects, or of a type that is not read, holds ----


def _content_by_pandas(series: Any) -> str:
    dtype = str(series.dtype)
    for beginning, content in _OF_TYPES.items():
        if dtype.startswith(beginning):
            return content
    if dtype != "object":
        return "others"
    inferred = str(sys.modules["pandas"].api.types.infer_dtype(series, skipna=True))
    if inferred.startswith("mixed"):
        return "others" if series.map(lambda entry: isinstance(entry, _CONTAINERS)).any() else "mixed"
    return "dates" if inferred.startswith("date") else _OF_OBJECTS.get(inferred, "others")


_CONTAINERS = (list, dict, set)
_OF_TYPES = {
    "date": "dates",
    "timestamp": "dates",
    "time": "times",
    "period": "periods",
    "interval": "intervals",
    "binary": "bytes",
    "large_binary": "bytes",
}
_OF_OBJECTS = {"time": "times", "period": "periods", "interval": "intervals", "bytes": "bytes"}


def _content_by_polars(series: Any) -> str:
    polars = sys.modules["polars"]
    if series.dtype in (polars.Date, polars.Datetime):
        return "dates"
    return {polars.Time: "times", polars.Binary: "bytes", polars.Object: "mixed"}.get(type(series.dtype), "others")


def _content_by_arrow(column: Any) -> str:
    types = sys.modules["pyarrow"].types
    if types.is_date(column.type) or types.is_timestamp(column.type):
        return "dates"
    if types.is_time(column.type):
        return "times"
    return "bytes" if types.is_binary(column.type) or types.is_large_binary(column.type) else "others"


_CONTENT = {"pandas": _content_by_pandas, "polars": _content_by_polars, "pyarrow": _content_by_arrow}

# ---- The lines ----

_DAYS = "make numbers of their times, such as the days since 1970"
_SECONDS = "make numbers of their times, the seconds since midnight"
_LEAVE_OUT = "no method takes them: leave them out"


def _with_reason(reason: str, titles: Sequence[Hashable], line: str) -> str:
    if len(titles) == 1:
        reason = reason.replace("their", "its").replace("them", "it")
    return f"; {reason}: {line}"


def _line_of_pandas(fault: str, titles: Sequence[Hashable], _: Sequence[int], takes_categories: bool) -> str:
    text = "{0}.astype(str).where({0}.notna())"
    decoded = "{0}.map(bytes.decode, na_action='ignore')"
    ways = {
        "dates": (_DAYS, "(pandas.to_datetime({0}, utc=True) - pandas.Timestamp(0, tz='UTC')).dt.days"),
        "times": (_SECONDS, "pandas.to_timedelta({0}.map(str, na_action='ignore')).dt.total_seconds()"),
        "periods": (
            "make numbers of them, such as the days since 1970 on which they begin",
            "({0}.astype(object).map(lambda p: p.start_time, na_action='ignore') - pandas.Timestamp(0)).dt.days",
        ),
        "intervals": (
            "make numbers of them, such as their middles",
            "{0}.astype(object).map(lambda i: i.mid, na_action='ignore').astype(float)",
        ),
    }
    if takes_categories:
        ways |= {
            "intervals": ("make strings of them, which are categories", text),
            "mixed": ("make strings of them, which are categories, or numbers with pandas.to_numeric", text),
            "bytes": ("make strings of them, which are categories", decoded),
        }
    else:
        numbers = "pandas.to_numeric({0}, errors='coerce')"
        ways |= {
            "mixed": ("make numbers of them, and missing entries of what is none", numbers),
            "bytes": ("make numbers of them, and missing entries of what is none", numbers.format(decoded)),
        }
    if fault not in ways:
        return _with_reason(_LEAVE_OUT, titles, f"X = X.drop(columns={list(titles)!r})")
    reason, expression = ways[fault]
    if len(titles) == 1:
        column = f"X[{titles[0]!r}]"
        return _with_reason(reason, titles, f"{column} = {expression.format(column)}")
    columns = f"X[{list(titles)!r}]"
    line = f"{columns} = {columns}.apply(lambda column: {expression.format('column')})"
    return _with_reason(reason, titles, line)


def _line_of_polars(fault: str, titles: Sequence[Hashable], _: Sequence[int], takes_categories: bool) -> str:
    columns = f"polars.col({', '.join(map(repr, titles))})"
    numbers = "" if takes_categories else ".cast(polars.Float64, strict=False)"
    made = "make strings of them, which are categories" if takes_categories else "make numbers of them"
    ways = {
        "dates": (_DAYS, f"{columns}.dt.epoch('d')"),
        "times": (_SECONDS, f"{columns}.cast(polars.Int64) / 1e9"),
        "bytes": (made, f"{columns}.cast(polars.String){numbers}"),
        "mixed": (made, f"{columns}.map_elements(str, return_dtype=polars.String){numbers}"),
    }
    if fault not in ways:
        return _with_reason(_LEAVE_OUT, titles, f"X = X.drop({list(titles)!r})")
    reason, expression = ways[fault]
    return _with_reason(reason, titles, f"X = X.with_columns({expression})")


def _line_of_arrow(fault: str, titles: Sequence[Hashable], numbers: Sequence[int], takes_categories: bool) -> str:
    ways = {
        "dates": (_DAYS, ".cast('date32', safe=False).cast('int32')"),
        "times": ("make numbers of them", ".cast('time64[us]').cast('int64')"),
        "bytes": (
            ("make strings of them, which are categories", ".cast('string')")
            if takes_categories
            else ("make numbers of them", ".cast('string').cast('float64')")
        ),
    }
    if fault not in ways:
        return _with_reason(_LEAVE_OUT, titles, f"X = X.drop_columns({list(titles)!r})")
    reason, cast = ways[fault]
    pairs = zip(numbers, titles, strict=True)
    line = "".join(f".set_column({number}, {title!r}, X.column({number}){cast})" for number, title in pairs)
    return _with_reason(reason, titles, f"X = X{line}")


_LINES = {"pandas": _line_of_pandas, "polars": _line_of_polars, "pyarrow": _line_of_arrow}
