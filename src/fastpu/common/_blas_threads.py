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

_lock = threading.RLock()  # a holder that is interrupted may end, as garbage, in a thread that has the lock
_holders: dict[object, int] = {}  # the thread of each holder of the limit
_counts: list[tuple[Any, int]] | None = None  # each library, and its threads before the limit; None if there is none


@cache
def _controller() -> Any:
    import_module("scipy.linalg")  # SciPy's BLAS, which the core calls, is found once it is loaded
    return import_module("threadpoolctl").ThreadpoolController()


def _free_control() -> None:
    """Let this thread change the limit: from threadpoolctl 3.7 on only the thread that set the last one may."""
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _set_counts(counts: list[tuple[Any, int]]) -> None:
    _free_control()
    for library, n_threads in counts:
        library.set_num_threads(n_threads)
    _free_control()


def _hold(holder: object) -> None:
    """Limit BLAS for a holder. The counts are kept before they are changed, so that `_release` undoes half a limit."""
    global _counts  # noqa: PLW0603 - BLAS's threads are the process's
    with _lock:
        _holders[holder] = threading.get_ident()
        if _counts is None:
            libraries = [library for library in _controller().lib_controllers if library.user_api == "blas"]
            _counts = [(library, library.num_threads) for library in libraries]
        _set_counts([(library, 1) for library, _ in _counts])


def _release(holder: object) -> None:
    """Give BLAS its threads back if nobody else holds the limit. It may be called again after an interrupt."""
    global _counts  # noqa: PLW0603 - BLAS's threads are the process's
    with _lock:
        _holders.pop(holder, None)
        if not _holders and _counts is not None:
            _set_counts(_counts)
            _counts = None


def _forget_others() -> None:
    """In a forked child only its one thread can hold the limit: the others stayed behind, and will not give it back."""
    global _lock  # noqa: PLW0603 - another thread may have had it
    _lock = threading.RLock()
    here = threading.get_ident()
    for holder in [holder for holder, thread in _holders.items() if thread != here]:
        _release(holder)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_others)


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
    global _n_callers_with_room  # noqa: PLW0603 - BLAS's memory is the process's
    _make_room(n_callers)
    holder = object()
    try:
        _hold(holder)  # within the block, as Ctrl-C may come right behind it
        yield
    finally:
        try:
            _release(holder)
        except BaseException:  # Ctrl-C, which is raised once
            _release(holder)
            raise
    _n_callers_with_room = max(_n_callers_with_room, n_callers)
