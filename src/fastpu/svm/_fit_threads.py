"""Threads that fit several values of C at a time; the core solves sub-problems without Python's lock.

Ctrl-C is raised in the main thread, wherever it is. In `concurrent.futures` and in `threading.Thread.start` it may come
right behind a lock that is taken and then never given back, so that all other threads wait for ever. So the main thread
shares with its helpers only a deque, and a lock for each helper that nobody else waits for.
"""

from __future__ import annotations

import _thread
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from fastpu.svm._margin_rows import MarginRows

_Result = TypeVar("_Result")

# Fits to fewer entries take about a millisecond each, and would spend as much on waiting for each other.
_LEAST_ENTRIES = 4096


def n_fits_at_once(n_fits: int, rows: MarginRows, n_threads: int, *, has_callback: bool) -> int:
    """Return how many threads are to fit; with a callback one does, so that it sees the rounds in their order."""
    is_small = rows.matrix.entries.size < _LEAST_ENTRIES
    return 1 if has_callback or is_small else min(n_threads, n_fits)


def fit_at_once(
    fit: Callable[[float], _Result], costs: Sequence[float], rows: MarginRows, n_threads: int
) -> list[_Result]:
    """Return fit(C) for all values of C; this thread and `n_threads` - 1 others each take the next value of C.

    After an error no thread takes another value, and it is raised once the fits that run have ended. After Ctrl-C those
    fits end soon as well.
    """
    pending = deque(enumerate(costs))
    results: dict[int, _Result] = {}
    errors: list[BaseException] = []
    helpers: list[threading.RLock] = []  # of each helper the lock that it has until its last fit ends

    def fit_pending() -> None:
        while True:
            try:
                place, C = pending.popleft()
            except IndexError:  # another thread has taken the last one
                return
            results[place] = fit(C)

    def help_to_fit() -> None:
        lock = threading.RLock()
        with lock:
            helpers.append(lock)  # before it takes a value: when there are none left, all helpers that fit are listed
            try:
                fit_pending()
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)
                pending.clear()

    def wait_for_helpers() -> None:
        for lock in helpers:
            with lock:  # Ctrl-C may leave it taken by this thread, which may then take it a second time
                pass

    try:
        try:
            for _ in range(n_threads - 1):
                # A copy of the context has what this thread has told NumPy and this package about warnings.
                _thread.start_new_thread(contextvars.copy_context().run, (help_to_fit,))
        except RuntimeError:  # the system refuses another thread: those that there are fit all
            pass
        fit_pending()
        wait_for_helpers()
    except BaseException:
        pending.clear()
        rows.engine.stop()  # the solver looks for this now and then
        wait_for_helpers()
        raise
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(costs))]
