"""One thread for BLAS while code of ours calls it from threads of its own, and memory for its work."""

from __future__ import annotations

import mmap
import os
import threading
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_blas_thread"]


class _Limit:
    """The limit is the whole process's: the first who wants it sets it, the last one takes it back.

    Not through threadpoolctl's own context managers, which let nobody but one thread change a limit, while here the
    last one may be another thread than the first. Ctrl-C may come between any two steps, so each of them leaves a state
    from which giving back goes on.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a hold that the garbage collector finds may be given back within `take`
        self._libraries: list[Any] | None = None
        self._before: list[int] | None = None  # None: the limit is not set
        self._holds: set[int] = set()

    def take(self, hold: _Hold) -> None:
        with self._lock:
            if self._libraries is None:
                self._libraries = _blas_libraries()
            self._holds.add(id(hold))
            if self._before is None:
                before = [library.get_num_threads() for library in self._libraries]
                self._before = before
                for library in self._libraries:
                    _set(library, 1)

    def give_back(self, hold: _Hold) -> None:
        with self._lock:
            if self._holds == {id(hold)} and self._before is not None:
                for library, n_threads in zip(self._libraries or (), self._before, strict=True):
                    _set(library, n_threads)
                self._before = None
            self._holds.discard(id(hold))


class _Hold:
    """What one holder has: if Ctrl-C comes while it is given back, the rest is done when it is dropped."""

    def __init__(self, limit: _Limit) -> None:
        self._limit = limit

    def take(self) -> None:
        self._limit.take(self)

    def give_back(self) -> None:
        self._limit.give_back(self)

    def __del__(self) -> None:
        self.give_back()


def _blas_libraries() -> list[Any]:
    import_module("scipy.linalg")  # SciPy's BLAS, which the core calls, is found once it is loaded
    controller = import_module("threadpoolctl").ThreadpoolController()
    return [library for library in controller.lib_controllers if library.user_api == "blas"]


def _set(library: Any, n_threads: int) -> None:
    # From threadpoolctl 3.7 on set_num_threads does nothing in a thread that is not in control.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


_LIMIT = _Limit()


def _forget() -> None:
    """In a forked child nobody holds the limit whose thread the fork left behind."""
    global _LIMIT  # noqa: PLW0603 - the limit is the process's, and this is another process
    _LIMIT = _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


_WORK_BYTES = 33 << 20  # of OpenBLAS, for each thread that calls it
_n_callers_with_room = 0


def _make_room(n_callers: int) -> None:
    """Raise MemoryError unless there is room for what BLAS takes at its first calls, and keeps.

    Where there is none OpenBLAS ends the process or tries for ever.
    """
    missing = n_callers - _n_callers_with_room
    if missing <= 0:
        return
    libraries = 2 if _n_callers_with_room == 0 else 1  # NumPy's is called by one thread only
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
    """Keep NumPy's and SciPy's BLAS to one thread in all of the process; calls may overlap.

    `n_callers` is how many threads call it at once. MemoryError if there is no room for that.
    """
    global _n_callers_with_room  # noqa: PLW0603 - the memory is the process's
    _make_room(n_callers)
    hold = _Hold(_LIMIT)
    try:
        hold.take()
        yield
    finally:
        hold.give_back()
    _n_callers_with_room = max(_n_callers_with_room, n_callers)
