"""The mark of a fit function that fits many values of a parameter with shared work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Fit = TypeVar("_Fit", bound="Callable[..., Any]")


def shares_work(*names: str, together: bool = False) -> Callable[[_Fit], _Fit]:
    """Mark a fit function that takes a sequence for any one of these parameters and returns a list of models.

    `fastpu.select` says what the marks mean: the attributes `shares` and, with `together`, `shares_together`.
    """

    def mark(function: _Fit) -> _Fit:
        vars(function)["shares"] = names
        if together:
            vars(function)["shares_together"] = True
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
