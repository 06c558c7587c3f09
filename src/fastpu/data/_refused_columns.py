"""What is said of the column of a frame that is neither numbers nor, where they are taken, categories."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from fastpu.common._methods import methods_that_take
from fastpu.common._text import short

if TYPE_CHECKING:
    from fastpu.data._categories import Categories


_DAYS = "; make numbers of its times, such as the days from one that is the same for all data"


def refuse_column(
    X: Any, column: int, kind: str, name: str, categories: Categories, *, of_column: str, is_other: bool, is_mixed: bool
) -> NoReturn:
    """Raise TypeError for a column, with the line of pandas or polars that mends it.

    Parameters
    ----------
    X : DataFrame
    column : int
    kind : {"pandas", "polars"}
    name : str
        Name of the argument in messages.
    categories
        As `check_matrix` takes them.
    of_column : str
        What the column holds; see `fastpu.data._frames`.
    is_other, is_mixed : bool
        Whether it held something else in the training data; whether it is sparse beside columns that are not.
    """
    title = X.columns[column]
    dtype = X.dtypes[column] if kind == "polars" else X.dtypes.iloc[column]
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
        hint = _pandas_line(X.iloc[:, column], title) if kind == "pandas" else _polars_line(X, column, title)
    raise TypeError(f"{name} must have {kinds} columns, got dtype {dtype} in column {short(title)}{hint}")


def _pandas_line(series: Any, title: object) -> str:
    """Return the line that makes numbers of a column of dates; "" for others."""
    pandas = sys.modules["pandas"]
    held = pandas.api.types.infer_dtype(series, skipna=True)
    if held not in ("date", "datetime", "datetime64") and not str(series.dtype).startswith(("date", "timestamp")):
        return ""
    column, start = f"X[{title!r}]", f"pandas.Timestamp({str(pandas.to_datetime(series).min())!r})"
    times = column if series.dtype.kind == "M" else f"pandas.to_datetime({column})"
    return f"{_DAYS}: {column} = ({times} - {start}).dt.days"


def _polars_line(X: Any, column: int, title: str) -> str:
    """Return the line that makes numbers of a column of dates; "" for others."""
    polars = sys.modules["polars"]
    series = X.get_columns()[column]
    if series.dtype not in (polars.Date, polars.Datetime):
        return ""
    first, zone = series.min(), getattr(series.dtype, "time_zone", None)
    moment = "" if first is None else f"{first.year}, {first.month}, {first.day}"
    start = f"polars.datetime({moment}, time_zone={zone!r})" if zone else f"polars.date({moment})"
    return f"{_DAYS}: X = X.with_columns((polars.col({title!r}) - {start}).dt.total_days())"
