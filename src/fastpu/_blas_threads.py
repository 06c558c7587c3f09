"""One thread for BLAS while code of ours calls it from threads of its own."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_blas_thread"]


class _Limit:
    """The limit is the whole process's: the first who wants it sets it, the last one takes it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._controller: Any = None
        self._limiter: Any = None
        self._holders = 0

    def take(self) -> None:
        with self._lock:
            if self._holders == 0:
                if self._controller is None:
                    # Both find their libraries when they are loaded: SciPy's BLAS, which the core calls, is one.
                    import scipy.linalg  # noqa: F401, PLC0415 - see above; only who fits such a model needs it

                    threadpoolctl = import_module("threadpoolctl")  # it has no types

                    self._controller = threadpoolctl.ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
                self._limiter.__enter__()
            self._holders += 1

    def give_back(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limiter.__exit__(None, None, None)
                self._limiter = None


_LIMIT = _Limit()


def _forget() -> None:
    """In a forked child nobody holds the limit whose thread the fork left behind."""
    global _LIMIT  # noqa: PLW0603 - the limit is the process's, and this is another process
    _LIMIT = _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's BLAS to one thread in all of the process; calls may overlap."""
    limit = _LIMIT
    limit.take()
    try:
        yield
    finally:
        limit.give_back()
