"""Marks of fit functions, such as that one fits many values of a parameter with shared work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Fit = TypeVar("_Fit", bound="Callable[..., Any]")


def marked(**marks: Any) -> Callable[[_Fit], _Fit]:
    """Give a fit function attributes, such as `shares` and `prior_where`: `fastpu.select` says what they mean."""

    def mark(function: _Fit) -> _Fit:
        vars(function).update(marks)
        return function

    return mark


def shared_parameters(fit: Any) -> tuple[str, ...]:
    """Return the names of the parameters that `fit`, or the function behind a partial one, takes sequences of."""
    return tuple(getattr(unwrapped(fit), "shares", ()))


def parameters_of_many(fit: Any) -> tuple[str, ...]:
    """Return the names of all parameters that `fit` takes sequences of, with shared work or without."""
    return (*shared_parameters(fit), *getattr(unwrapped(fit), "takes_many", ()))


def shares_together(fit: Any) -> bool:
    """Tell whether `fit` takes sequences for several parameters at once."""
    return bool(getattr(unwrapped(fit), "shares_together", False))


def unwrapped(fit: Any) -> Any:
    """Return the function behind a partial one; functools makes one partial function of several."""
    return fit.func if isinstance(fit, functools.partial) else fit


def bound_arguments(fit: Any) -> dict[str, Any]:
    """Return the keywords that a partial function has already."""
    return fit.keywords if isinstance(fit, functools.partial) else {}
