"""Functions of the caller (callbacks, kernels, criteria, fits), checked before the work that they are called in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from fastpu.common._text import describe


def check_function(
    name: str,
    value: object,
    expected: str,
    *,
    arguments: tuple[str, ...],
    has_keywords: bool = False,
    may_be_class: bool = False,
) -> Callable[..., Any]:
    """Return a function that can be called with so many arguments, which the message names.

    With `has_keywords` it gets keywords as well, which are not known here. A class is refused, since a call of it makes
    an instance, unless such instances are what is wanted.
    """
    if not callable(value):
        raise TypeError(f"{name} must be {expected}, got {describe(value)}")
    if isinstance(value, type) and not may_be_class:
        raise TypeError(
            f"{name} must be {expected}, got the class {value.__name__}, which makes an instance when it is called: "
            f"if its instances can be called, pass one of them"
        )
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return value
    try:
        (signature.bind_partial if has_keywords else signature.bind)(*arguments)
    except TypeError as error:
        wanted = f"argument{'s' * (len(arguments) > 1)} {' and '.join(arguments)}"
        raise TypeError(
            f"{name} must be {expected}, got {describe(value)}, which does not take the {wanted}: {error}"
        ) from None
    return value
