"""Eigenvalues of a symmetric matrix, such that Ctrl-C ends the wait for them."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["symmetric_eigen"]

_AT_ONCE = 500  # rows of a matrix that takes some hundredths of a second
_LOOK_SECONDS = 0.05  # how often Ctrl-C is looked at where a waiting thread does not see it by itself (Windows)

_OVERFLOW = "X must have entries so small that sums of their squares, or of kernel values, do not overflow; scale X"


def symmetric_eigen(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of `matrix`, rising, and its eigenvectors in columns.

    Raises ValueError if they are no numbers.

    LAPACK cannot be stopped. Of a large matrix a thread of its own does the work, and is left alone by an exception in
    this one (KeyboardInterrupt): it ends by itself, and nobody takes what it has found.
    """
    if len(matrix) <= _AT_ONCE:
        return _eigen(matrix)
    found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    errors: list[BaseException] = []
    finished = _thread.allocate_lock()

    def work() -> None:
        try:
            found.append(_eigen(matrix))
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            errors.append(error)
        finally:
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
