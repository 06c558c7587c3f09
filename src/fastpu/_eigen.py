"""Eigenvalues of a symmetric matrix, such that Ctrl-C ends the wait for them."""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from typing import TYPE_CHECKING

import numpy as np

from fastpu._blas_threads import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["symmetric_eigen"]

_AT_ONCE = 500  # rows of a matrix that takes some hundredths of a second
_LOOK_SECONDS = 0.05  # how often Ctrl-C is looked at where a waiting thread does not see it by itself (Windows)

_OVERFLOW = "X must have entries so small that sums of their squares, or of kernel values, do not overflow; scale X"

_AT_WORK: set[_thread.LockType] = set()  # of each thread in LAPACK: the lock that it releases at its end


_IS_ENDING = threading.Event()  # of the process: from here on nobody goes to LAPACK in another thread


def _wait_for_all() -> None:
    _IS_ENDING.set()
    for finished in list(_AT_WORK):
        finished.acquire()


atexit.register(_wait_for_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_AT_WORK.clear)  # the fork has left the threads behind


def symmetric_eigen(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of `matrix`, rising, and its eigenvectors in columns.

    Raises ValueError if they are no numbers.

    LAPACK cannot be stopped. Of a large matrix a thread of its own does the work, and is left alone by an exception in
    this one (KeyboardInterrupt): it ends by itself, and nobody takes what it has found. The end of the process waits
    for it, as OpenBLAS cannot be taken down while it works; nor can a fork be made while it works with threads of its
    own, so that it has none here.
    """
    if len(matrix) <= _AT_ONCE or _IS_ENDING.is_set():
        return _eigen(matrix)
    found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    errors: list[BaseException] = []
    finished = _thread.allocate_lock()

    def work() -> None:
        _AT_WORK.add(finished)
        try:
            if not _IS_ENDING.is_set():
                with one_blas_thread():
                    found.append(_eigen(matrix))
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            errors.append(error)
        finally:
            _AT_WORK.discard(finished)
            finished.release()

    finished.acquire()
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:  # no memory for the stack of a thread: then this one waits in LAPACK
        return _eigen(matrix)
    while not found and not errors:
        finished.acquire(timeout=_LOOK_SECONDS)
    if errors:
        raise errors[0]
    return found[0]


def _eigen(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        values, vectors = np.linalg.eigh(matrix)
    except MemoryError as error:
        raise MemoryError(f"cannot allocate {3 * matrix.nbytes} bytes for the eigenvectors of a matrix") from error
    except np.linalg.LinAlgError:  # of entries that are no numbers, or so large that LAPACK's sums are none
        raise ValueError(_OVERFLOW) from None
    if not np.isfinite(values).all():
        raise ValueError(_OVERFLOW)
    return values, vectors
