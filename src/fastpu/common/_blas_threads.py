"""One thread for BLAS while code of ours calls it from threads of its own, and memory for its work."""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

_lock = threading.Lock()
_n_holders = 0
_limiter: Any = None  # what sets BLAS's threads back; None while nobody holds the limit


@cache
def _controller() -> Any:
    import_module("scipy.linalg")  # SciPy's BLAS, which the core calls, is found once it is loaded
    return import_module("threadpoolctl").ThreadpoolController()


def _free_control() -> None:
    """Let this thread change the limit: from threadpoolctl 3.7 on only the thread that set the last one may."""
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _forget() -> None:
    """In a forked child nobody holds the limit: the threads that held it stayed behind."""
    global _lock, _n_holders, _limiter
    _lock, _n_holders, _limiter = threading.Lock(), 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


_WORK_BYTES = 33 << 20  # what OpenBLAS allocates for each thread that calls it
_n_callers_with_room = 0  # threads that have called it at once: their memory is kept


def _make_room(n_callers: int) -> None:
    """Raise MemoryError unless there is memory for the first calls of BLAS by so many threads at once.

    BLAS keeps that memory. Without it OpenBLAS would end the process, or try for ever.
    """
    missing = n_callers - _n_callers_with_room
    if missing <= 0:
        return
    libraries = 2 if _n_callers_with_room == 0 else 1  # SciPy's, and NumPy's, which one thread only calls
    wanted = _WORK_BYTES * (missing + libraries - 1)
    try:
        mmap.mmap(-1, wanted).close()
    except (OSError, MemoryError):
        raise MemoryError(f"cannot allocate {wanted} bytes for the work of BLAS") from None
    if libraries == 2:
        np.linalg.cholesky(np.eye(2))
        import_module("scipy.linalg").cholesky(np.eye(2))


@contextmanager
def one_blas_thread(n_callers: int = 1) -> Iterator[None]:
    """Keep NumPy's and SciPy's BLAS to one thread in all of the process, for so many threads that call it at once."""
    global _n_callers_with_room, _n_holders, _limiter  # noqa: PLW0603 - BLAS's memory and threads are the process's
    _make_room(n_callers)
    with _lock:
        if _n_holders == 0:
            _free_control()
            _limiter = _controller().limit(limits=1, user_api="blas")
        _n_holders += 1
    try:
        yield
    finally:
        with _lock:
            _n_holders -= 1
            if _n_holders == 0:
                _free_control()
                _limiter.restore_original_limits()
                _free_control()
                _limiter = None
    _n_callers_with_room = max(_n_callers_with_room, n_callers)
