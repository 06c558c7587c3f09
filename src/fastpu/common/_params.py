"""Checks of single parameters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from fastpu.common._text import describe, short

_Word = TypeVar("_Word", bound=str)

MANY = 2**62  #: More than there can be of anything; larger limits are cut to it, as the core reads no larger integers.


def check_int(name: str, value: object, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int within [low, high]."""
    expected = f"{name} must be an integer{_range_text(low, high)}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{expected}, got {describe(value)}")
    number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{expected}, got {short(number)}")
    return number


def check_float(
    name: str,
    value: object,
    *,
    low: float | None = None,
    high: float | None = None,
    open_low: bool = False,
    open_high: bool = False,
    allow_inf: bool = False,
) -> float:
    """Return `value` as a float within the interval; NaN is never in it, inf if `allow_inf`."""
    interval = _range_text(low, high, open_low=open_low, open_high=open_high)
    kind = "number" if allow_inf or interval.startswith(" in") else "finite number"
    expected = f"{name} must be a {kind}{interval}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{expected}, got {describe(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{expected}, got {short(value)}") from None
    too_low = low is not None and (number < low or (open_low and number == low))
    too_high = high is not None and (number > high or (open_high and number == high))
    if math.isnan(number) or (math.isinf(number) and not allow_inf) or too_low or too_high:
        raise ValueError(f"{expected}, got {short(number)}")
    return number


def check_k(k: object, n_unl: int | None = None) -> int:
    """Return how many of `n_unl` rows `k` stands for; without `n_unl` only what does not depend on it is checked."""
    most = "" if n_unl is None else f" from 1 to {n_unl}"
    expected = f"k must be a whole number of unlabelled rows{most or ' >= 1'}, or a share of them in (0, 1]"
    if isinstance(k, bool) or not isinstance(k, numbers.Real):
        raise TypeError(f"{expected}, got {describe(k)}")
    if isinstance(k, numbers.Integral):
        rows = int(k)
        is_possible = rows >= 1 and (n_unl is None or rows <= n_unl)
    else:
        is_possible = 0 < float(k) <= 1
        rows = max(1, round(float(k) * (n_unl or 1))) if is_possible else 0
    if not is_possible:
        raise ValueError(f"{expected}, got {short(k)}")
    return rows


def check_choice(name: str, value: object, choices: Sequence[_Word], other: str = "") -> _Word:
    """Return `value` if it is one of the strings in `choices`; `other` says what it may be beside these."""
    of = "one of " if len(choices) > 1 else ""
    expected = f"{name} must be {of}{', '.join(map(repr, choices))}{other}"
    if not isinstance(value, str):
        raise TypeError(f"{expected}, got {describe(value)}")
    for choice in choices:
        if value == choice:
            return choice
    raise ValueError(f"{expected}, got {short(value)}")


def check_word_or_number(name: str, value: object, words: Sequence[_Word]) -> _Word | float:
    """Return `value` if it is one of the strings in `words`, or as a float > 0."""
    expected = f"{name} must be {', '.join(map(repr, words))} or a number > 0"
    if isinstance(value, str):
        for word in words:
            if value == word:
                return word
        raise ValueError(f"{expected}, got {short(value)}")
    try:
        return check_float(name, value, low=0, open_low=True)
    except TypeError:
        raise TypeError(f"{expected}, got {describe(value)}") from None


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool; only True and False (NumPy's included) are taken."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {describe(value)}")
    return bool(value)


def check_random_state(value: object) -> np.random.Generator:
    """Return the generator that `value` (None, an integer >= 0 or a Generator) stands for."""
    if value is None:
        return np.random.default_rng()
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        hint = "; pass numpy.random.default_rng(seed) instead" if isinstance(value, np.random.RandomState) else ""
        raise TypeError(
            f"random_state must be None, an integer >= 0 or a numpy.random.Generator, got {describe(value)}{hint}"
        )
    return np.random.default_rng(check_int("random_state", value, low=0))


def value_key(value: object) -> tuple[object, ...]:
    """Return what tells values of a parameter apart: 1, 1.0 and True are equal for Python, and ask for other things.

    `max_features`, for one, takes 1 for one feature and 1.0 for all of them. Keys are equal if the values are of one
    type and equal, and so are the entries of tuples.
    """
    if isinstance(value, tuple):
        return (tuple, *map(value_key, value))
    return type(value), value


def check_scores_rows(model: object, expected: str = "fit must return a model with decision_function") -> None:
    """Raise TypeError with what is `expected` unless the model, a user's own perhaps, has a `decision_function`."""
    if not callable(getattr(model, "decision_function", None)):
        raise TypeError(f"{expected}, got {describe(model)}")


def _range_text(low: float | None, high: float | None, *, open_low: bool = False, open_high: bool = False) -> str:
    if low is not None and high is not None:
        return f" in {'(' if open_low else '['}{_bound(low)}, {_bound(high)}{')' if open_high else ']'}"
    if low is not None:
        return f" {'>' if open_low else '>='} {_bound(low)}"
    if high is not None:
        return f" {'<' if open_high else '<='} {_bound(high)}"
    return ""


def _bound(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def is_sequence(value: object) -> bool:
    """Return whether an argument is a sequence of values, not a single one."""
    return (isinstance(value, np.ndarray) and value.ndim > 0) or (
        isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    )


def entries_of(name: str, value: Any) -> dict[str, Any]:
    """Return the entries of a sequence by their names, or a single value by its own."""
    if not is_sequence(value):
        return {name: value}
    if not len(value):
        raise ValueError(f"{name} must be one value or a sequence of at least one, got {describe(value)}")
    return {f"{name}[{i}]": entry for i, entry in enumerate(value)}


def check_one_length(lengths: Mapping[str, int]) -> None:
    """Raise ValueError unless all sequences, by their names, have one length."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ValueError(f"sequences of parameters must have the same length, one entry for each model, got {listed}")
