"""Marks of fit functions, such as that one fits many values of a parameter with shared work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Fit = TypeVar("_Fit", bound="Callable[..., Any]")


def marked(
    *,
    shares: tuple[str, ...] = (),
    shares_together: bool = False,
    takes_many: tuple[str, ...] = (),
    prior_where: tuple[str, tuple[str, ...]] | None = None,
    svm_method: type | None = None,
) -> Callable[[_Fit], _Fit]:
    """Give a fit function the attributes that are passed.

    `fastpu.select` says what `shares`, `shares_together` and `prior_where` mean; a function of the user's may have
    them too. `takes_many` are the parameters that take sequences, for which the core shares work only in a grid of
    kernel machines, and `svm_method` is the class of such a machine, whose `point` takes the arguments of the function.
    """
    marks: dict[str, object] = {
        "shares": shares,
        "shares_together": shares_together,
        "takes_many": takes_many,
        "prior_where": prior_where,
        "svm_method": svm_method,
    }

    def mark(function: _Fit) -> _Fit:
        vars(function).update({name: value for name, value in marks.items() if value})
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
