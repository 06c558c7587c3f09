"""How a fit function says that it fits many values of a parameter with shared work."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["shared_parameters", "shares_work"]

_Fit = TypeVar("_Fit", bound="Callable[..., Any]")


def shares_work(*names: str) -> Callable[[_Fit], _Fit]:
    """Mark a fit function that takes a sequence for any one of these parameters and returns a list of models.

    The models are those of the single values, in their order. The mark is the attribute `shares` of the function, a
    tuple of names; `fastpu.select` then fits all values at once. A user's function may have it too.
    """

    def mark(function: _Fit) -> _Fit:
        vars(function)["shares"] = names
        return function

    return mark


def shared_parameters(fit: Any) -> tuple[str, ...]:
    """Return the names of the parameters of which `fit` takes a sequence; partial functions keep their mark."""
    while isinstance(fit, functools.partial):
        fit = fit.func
    return tuple(getattr(fit, "shares", ()))
