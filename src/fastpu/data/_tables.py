"""What is a table with titles: pandas, polars and pyarrow are read as they are, others become one of these.

None of these libraries is imported for a table of theirs: it can only be one of a library that is imported already, so
`sys.modules` is enough. Rows that are not in memory are refused, and never fetched in silence.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from fastpu.common._text import short, variable
from fastpu.common._warn import recorded

Titles: TypeAlias = tuple[Hashable, ...] | None
"""The titles of the columns of a table: strings, numbers, tuples of them (of a MultiIndex); None for an array."""

_TABLES = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}
#: Libraries whose tables are queries or lie on a cluster, though they have a protocol that would fetch all of it.
_NOT_IN_MEMORY = {"pyspark": "toPandas()", "ibis": "to_pyarrow()", "snowflake": "to_pandas()"}
_MOST_LISTED = 8


def table_library(X: object) -> str | None:
    """Return "pandas", "polars" or "pyarrow" if `X` is a table of that library, else None."""
    for library, names in _TABLES.items():
        for name in names:
            # A library that another thread is still importing has no DataFrame yet.
            table = getattr(sys.modules.get(library), name, None)
            if table is not None and isinstance(X, table):
                return library
    return None


def is_lazy(X: object) -> bool:
    """Tell whether this is a collection of Dask."""
    return hasattr(X, "__dask_graph__")


def known_table(X: Any, name: str = "X") -> Any:
    """Return a table of any library as one of those that `table_library` knows; what is no table is returned as it is.

    A table of narwhals is the one that it stands for. Others are read through the Arrow PyCapsule interface, or the
    older dataframe interchange protocol.
    """
    library = table_library(X)
    if library is not None:
        is_batch = library == "pyarrow" and not hasattr(X, "to_batches")
        return sys.modules["pyarrow"].Table.from_batches([X]) if is_batch else X
    if isinstance(X, np.ndarray | list | tuple):
        return X
    _refuse_rows_that_are_not_in_memory(X, name)
    narwhals = type(X).__module__.partition(".")[0] == "narwhals"
    if narwhals and hasattr(X, "to_native") and hasattr(X, "columns"):
        return known_table(X.to_native(), name)
    is_series = hasattr(X, "dtype") or hasattr(X, "type")
    has_capsule = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if is_series or not (has_capsule or hasattr(X, "__dataframe__")):
        return X
    return _from_capsule(X, name) if has_capsule else _from_protocol(X, name)


def _refuse_rows_that_are_not_in_memory(X: Any, name: str) -> None:
    """Raise TypeError for rows that are not in memory."""
    library = type(X).__module__.partition(".")[0]
    if is_lazy(X):
        raise TypeError(
            f"{name} must be in memory, got a Dask {type(X).__name__}, whose rows are on other machines: the functions "
            f"of fastpu.dask fit to them there, models score them there, and {variable(name)}.compute() fetches them"
        )
    if library in ("polars", "narwhals") and type(X).__name__ == "LazyFrame":
        raise TypeError(
            f"rows must be in memory, got a {library} LazyFrame, which has none yet: pass what its collect() returns"
        )
    if library in _NOT_IN_MEMORY and hasattr(X, "columns"):
        raise TypeError(
            f"{name} must be in memory, got a {type(X).__name__} of {library}, whose rows are not: pass what its "
            f"{_NOT_IN_MEMORY[library]} returns"
        )


def _from_capsule(X: Any, name: str) -> Any:
    for library, build in (("pyarrow", "table"), ("polars", "DataFrame")):
        if (module := _imported(library)) is not None:
            try:
                return getattr(module, build)(X)
            except Exception as error:
                raise TypeError(
                    f"{name} cannot be read as a table by its Arrow interface ({type(X).__name__}): {error}"
                ) from error
    raise _no_reader(X, name, "pyarrow or polars")


def _from_protocol(X: Any, name: str) -> Any:
    for library, module in (("pyarrow", "pyarrow.interchange"), ("pandas", "pandas.api.interchange")):
        if _imported(library) is None:
            continue
        try:
            with recorded():  # that the protocol is the older one; it is the only one that `X` has
                return importlib.import_module(module).from_dataframe(X)
        except Exception as error:
            raise TypeError(
                f"{name} cannot be read as a table by the dataframe protocol ({type(X).__name__}): {error}"
            ) from error
    raise _no_reader(X, name, "pyarrow or pandas")


def _imported(library: str) -> Any:
    """Return a library that is imported, or that is installed and the table at hand cannot be read without."""
    try:
        return sys.modules.get(library) or importlib.import_module(library)
    except ImportError:
        return None


def _no_reader(X: object, name: str, libraries: str) -> TypeError:
    return TypeError(f"{name} is a {type(X).__name__}, which is read with the help of {libraries}: install one of them")


# ---- Titles ----


def titles_of(X: Any) -> tuple[Hashable, ...]:
    """Return the titles of the columns of a table, in a form that a model file can hold."""
    return tuple(map(plain_title, X.column_names if table_library(X) == "pyarrow" else X.columns))


def plain_title(title: object) -> Hashable:
    """Return a title as a string, a number, None or a tuple of them; what is none of these, such as a date, as text."""
    if isinstance(title, np.generic):
        title = title.item()
    if isinstance(title, tuple):
        return tuple(map(plain_title, title))
    if isinstance(title, float) and math.isnan(title):
        return None
    if title is None or type(title) in (bool, int, float, str):
        return title
    return str(title)


def check_titles(titles: Titles, expected: Titles, name: str, like: str) -> None:
    """Raise ValueError unless two tables have the same titles in the same order, where both have some."""
    if titles is None or expected is None or titles == expected:
        return
    titles, expected = _comparable(titles, expected)
    for column, (wanted, got) in enumerate(zip(expected, titles, strict=False)):
        if wanted == got:
            continue
        hint = missing_and_unexpected(titles, expected)
        if not hint and like == "the training data":
            hint = f"; for their order use {variable(name)}[list(model.feature_names)]"
        elif hint:
            hint += f"; if they are the same columns under other names, pass {variable(name)} as an array"
        raise ValueError(
            f"{name} must have the feature names of {like}, in the same order: column {column} must be "
            f"{short(wanted)}, got {short(got)}{hint}"
        )


def missing_and_unexpected(titles: Titles, expected: Titles) -> str:
    """Return "; missing: ...; unexpected: ..." for the titles of two tables, and "" where they are the same."""
    if titles is None or expected is None:
        return ""
    titles, expected = _comparable(titles, expected)
    here, there = set(titles), set(expected)
    parts = {
        "missing": [title for title in expected if title not in here],
        "unexpected": [title for title in titles if title not in there],
    }
    return "".join(f"; {word}: {listed(titles)}" for word, titles in parts.items() if titles)


def _comparable(
    titles: tuple[Hashable, ...], expected: tuple[Hashable, ...]
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Return titles of two tables as text where one of them has only text: some libraries know no other titles."""
    are_text = [all(isinstance(title, str) for title in each) for each in (titles, expected)]
    if are_text[0] == are_text[1]:
        return titles, expected
    return tuple(map(_text, titles)), tuple(map(_text, expected))


def _text(title: Hashable) -> str:
    """Return a title as text, without the quotes that libraries put around the entries of tuples or do not."""
    return str(title).replace("'", "").replace('"', "")


def listed(titles: Sequence[Hashable]) -> str:
    """Return titles in one line: the first ones, and how many more there are."""
    more = f" and {len(titles) - _MOST_LISTED} more" if len(titles) > _MOST_LISTED else ""
    return ", ".join(map(short, titles[:_MOST_LISTED])) + more
