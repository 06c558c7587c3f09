"""Wording shared by error messages."""

from __future__ import annotations

import contextlib
import re
import reprlib
from collections.abc import Hashable, Iterator

import numpy as np

_MOST_BITS = 10_000  # longest integer that messages print: Python itself refuses to print somewhat longer ones


def short(value: object) -> str:
    """Return a repr that stays on one line: NumPy scalars as plain numbers, long ones cut."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length()} bits"
    return reprlib.repr(value)


def describe(value: object) -> str:
    """Say what `value` is: type, shape and dtype of an array, else its repr and type."""
    kind = type(value).__name__
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and not isinstance(value, np.generic):
        with_dtype = f" and dtype {dtype}" if dtype is not None else ""
        return f"{kind} of shape {shape}{with_dtype}"
    return f"{short(value)} ({kind})"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def variable(name: str) -> str:
    """Return the variable that an argument's name begins with: `X` for "X of eval_set"."""
    return name.partition(" ")[0]


def where_column(column: int, names: tuple[Hashable, ...] | None) -> str:
    """Name a column by its number and, if there is one, its name."""
    return f"column {column}" + (f" ({short(names[column])})" if names is not None else "")


@contextlib.contextmanager
def columns_named(names: tuple[Hashable, ...] | None) -> Iterator[None]:
    """Put names beside the numbers of columns in errors of the core, which knows the numbers alone."""
    try:
        yield
    except ValueError as error:
        named = re.sub(r"\bcolumn (\d+)(?! \()", lambda match: where_column(int(match[1]), names), str(error))
        if named == str(error):
            raise
        raise ValueError(named) from None
