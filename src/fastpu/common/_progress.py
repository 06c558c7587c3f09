"""Callbacks and progress bars: one function for a fit to call in every round."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from fastpu.common._functions import check_function
from fastpu.common._params import check_bool
from fastpu.common._text import describe

#: What a loop calls after a round with a record of it; True ends the fit.
Report: TypeAlias = Callable[[Any], bool]

_SECONDS = 10.0  # between the lines of a fit without tqdm


@contextlib.contextmanager
def make_report(callback: object, progress: object, *, total: int | None, description: str) -> Iterator[Report | None]:
    """Combine a user's callback and a progress bar of `total` rounds into one function for the loop, or None.

    The callback must return a bool or None: what happens to return something else would stop the fit unasked.
    """
    expected = "a function of the record of a round, or None"
    observe = None if callback is None else check_function("callback", callback, expected, arguments=("record",))
    bar = _open_bar(total, description) if check_bool("progress", progress) else None
    if observe is None and bar is None:
        yield None
        return

    def call(info: Any) -> bool:
        if bar is not None:
            bar.update()
        result = None if observe is None else observe(info)
        if result is not None and not isinstance(result, bool | np.bool_):
            raise TypeError(f"callback must return True to stop, False or None, got {describe(result)}")
        return bool(result)

    try:
        yield call
    finally:
        if bar is not None:
            bar.close()


def on_round(report: Report | None, record: Callable[..., Any]) -> Callable[..., bool] | None:
    """Return what the core is to call in every round: `record` makes what `report` takes of its numbers."""
    return None if report is None else lambda *numbers: report(record(*numbers))


def _open_bar(total: int | None, description: str) -> Any:
    try:
        return import_module("tqdm.auto").tqdm(total=total, desc=description)
    except ImportError:
        return _PlainBar(total, description)


class _PlainBar:
    """A counter on standard error: a line every ten seconds, and one at the end."""

    def __init__(self, total: int | None, description: str) -> None:
        self._total, self._description = total, description
        self._done = 0
        self._start = self._last = time.monotonic()

    def update(self) -> None:
        self._done += 1
        if time.monotonic() >= self._last + _SECONDS:
            self.close()

    def close(self) -> None:
        self._last = time.monotonic()
        of_total = "" if self._total is None else f"/{self._total}"
        # A closed or missing stream must not end a fit.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"{self._description}: {self._done}{of_total} [{self._last - self._start:.1f} s]\n")
