"""Threads that fit several values of C at a time; the core solves sub-problems without Python's lock."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from fastpu.svm._margin_rows import MarginRows

_Result = TypeVar("_Result")

# Fits to fewer entries take about a millisecond each, and would spend as much on waiting for each other.
_LEAST_ENTRIES = 4096


def n_fits_at_once(n_fits: int, rows: MarginRows, n_threads: int, *, has_callback: bool) -> int:
    """Return how many threads are to fit; with a callback one does, so that it sees the rounds in their order."""
    is_small = rows.matrix.entries.size < _LEAST_ENTRIES
    return 1 if has_callback or is_small else min(n_threads, n_fits)


@contextmanager
def fit_threads(n_threads: int, rows: MarginRows) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; if an error or Ctrl-C ends the block, the fits that still run end soon."""
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            yield pool
        except BaseException:
            rows.engine.stop()  # the solver looks for this now and then
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def begin_fit(pool: ThreadPoolExecutor, fit: Callable[[float], _Result], C: float) -> Future[_Result]:
    try:
        # A copy of the context has what this thread has told NumPy and this package about warnings.
        return pool.submit(contextvars.copy_context().run, fit, C)
    except RuntimeError:  # the system refuses another thread: this one fits
        done: Future[_Result] = Future()
        done.set_result(fit(C))
        return done
