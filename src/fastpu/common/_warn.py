"""A warning at the caller's line, and warnings that are not for the caller.

`warnings.catch_warnings` changes what the whole process hears. Where two threads leave it in another order than they
entered it, the process goes on as one of them had it, and may never hear a warning again. So warnings of this package
are kept from the caller by what its own thread has asked for, and one thread at a time uses Python's recorder.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu.exceptions import DegenerateModelWarning

#: Packages that may stand between the user's code and a fit. A warning names the user's line, not one of theirs.
_BETWEEN = frozenset({"fastpu", "joblib", "sklearn"})

#: What this thread has asked for, the latest at the end: categories that are not heard, or a list of what is.
_filters: ContextVar[tuple[tuple[type[Warning], ...] | list[warnings.WarningMessage], ...]] = ContextVar(
    "_filters", default=()
)
#: The threads of all blocks of `recorded`, in the order in which they were entered. The first uses Python's recorder.
_recorders: dict[object, int] = {}

_Value = TypeVar("_Value")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into this package, directly or by an estimator, a search or a pipeline."""
    level, frame = 2, sys._getframe(1)
    while (caller := frame.f_back) is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        level, frame = level + 1, caller
    for wanted in reversed(_filters.get()):
        if isinstance(wanted, list):
            wanted.append(
                warnings.WarningMessage(category(message), category, frame.f_code.co_filename, frame.f_lineno)
            )
            return
        if issubclass(category, wanted):
            return
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def set_within(variable: ContextVar[_Value], value: _Value) -> Iterator[None]:
    """Give a context variable a value within the block.

    Ctrl-C at any moment leaves the former value behind. If it comes while Python leaves the block, the former value is
    back once the traceback of that KeyboardInterrupt is dropped.
    """
    before = variable.get()
    try:
        variable.set(value)  # within the block, as Ctrl-C may come right behind it
        yield
    finally:
        variable.set(before)


@contextmanager
def silenced(*categories: type[Warning]) -> Iterator[None]:
    """Keep warnings of this package, of these categories, from whoever called."""
    with set_within(_filters, (*_filters.get(), categories)):
        yield


@contextmanager
def recorded() -> Iterator[list[warnings.WarningMessage]]:
    """Record all warnings; while another thread records, those of this package alone, and others are heard at once."""
    block, this_thread = object(), threading.get_ident()
    try:
        _recorders[block] = this_thread
        first_thread = next(iter(_recorders.copy().values()))  # of a copy: other threads change it meanwhile
        if first_thread == this_thread:
            with set_within(_filters, ()), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield caught
        else:
            own: list[warnings.WarningMessage] = []
            with set_within(_filters, (own,)):
                yield own
    finally:
        _recorders.pop(block, None)  # one step, which Ctrl-C cannot divide


def span_of(scores: NDArray[np.float64], threshold: float = 0.0) -> tuple[int, int, float, float]:
    """Return how many scores are above a threshold, how many there are, and the least and the largest."""
    return int(np.count_nonzero(scores > threshold)), scores.size, float(scores.min()), float(scores.max())


def one_verdict(n_positive: int, n_rows: int, least: float, most: float, kind: str = "training") -> str:
    """Return what is said of a model that calls all rows the same, with their scores; "" if it does not."""
    if 0 < n_positive < n_rows:
        return ""
    verdict = "positive" if n_positive else "negative"
    return f"calls all {n_rows} {kind} rows {verdict}: their scores are between {least:.3g} and {most:.3g}"


def warn_if_alike(function: str, span: tuple[int, int, float, float], advice: str) -> None:
    """Warn if a model calls all training rows the same, by `span_of` their scores."""
    if verdict := one_verdict(*span):
        text = f"{function}: the model {verdict}; {advice}, or rank by the scores (with_threshold)"
        warn(text, DegenerateModelWarning)
