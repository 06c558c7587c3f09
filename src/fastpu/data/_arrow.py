"""Columns of pyarrow tables: what they hold, and the codes of their categories."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS = ("is_boolean", "is_integer", "is_floating", "is_decimal")
_TEXTS = ("is_string", "is_large_string", "is_string_view")


def is_of(dtype: Any, names: tuple[str, ...]) -> bool:
    types = sys.modules["pyarrow"].types
    return any(getattr(types, name)(dtype) for name in names if hasattr(types, name))  # older ones have no string views


def kind_of_arrow(dtype: Any) -> str:
    """Return what a column of this type holds: "numbers", "durations", "categories", "empty" or "others"."""
    if is_of(dtype, ("is_dictionary", *_TEXTS)):
        return "categories"
    if is_of(dtype, ("is_null",)):
        return "empty"
    if is_of(dtype, ("is_duration",)):
        return "durations"
    return "numbers" if is_of(dtype, _NUMBERS) else "others"


def arrow_codes(column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the code of each entry, -1 where it is missing, and the values of the codes, sorted.

    A dictionary has its values in the order in which they came, unless it says that this order means something.
    """
    coded = column if is_of(column.type, ("is_dictionary",)) else column.dictionary_encode()
    values = coded.type.value_type
    if is_of(column.type, ("is_null",)) or is_of(values, ("is_null",)):
        return np.full(len(column), -1, dtype=np.int64), []
    whole = coded.unify_dictionaries().combine_chunks()
    parts = whole.chunks if hasattr(whole, "chunks") else [whole]
    if not parts:
        return np.empty(0, dtype=np.int64), []
    codes = np.concatenate([part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in parts])
    values, codes = parts[0].dictionary.to_pylist(), codes.astype(np.int64)
    if None in values:  # a dictionary may hold the missing entry itself
        codes[codes == values.index(None)] = -1
    if getattr(column.type, "ordered", False):
        return codes, values
    order = sorted((code for code, value in enumerate(values) if value is not None), key=values.__getitem__)
    new = np.full(len(values) + 1, -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    return new[codes], [values[code] for code in order]


def concat_arrow(tables: list[Any]) -> Any:
    """Return tables that have the same columns, one below the other; a column has the categories of all of them."""
    pyarrow = sys.modules["pyarrow"]
    first = tables[0].schema
    for number, field in enumerate(first):
        types = {table.schema.types[number] for table in tables}
        if len(types) > 1 and "categories" in map(kind_of_arrow, types):
            tables = [_as_text(table, number, field.name) for table in tables]
    return pyarrow.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def _as_text(table: Any, number: int, title: str) -> Any:
    column = table.column(number)
    values = getattr(column.type, "value_type", column.type)
    text = sys.modules["pyarrow"].large_string() if is_of(values, _TEXTS) else values
    return table.set_column(number, title, column.cast(text))
