"""Eigenvalues of a symmetric matrix: as of the definition, and Ctrl-C while LAPACK is at work."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from fastpu import _eigen
from fastpu._blas_threads import one_blas_thread
from fastpu._eigen import symmetric_eigen
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix


def symmetric(n: int) -> np.ndarray:
    A = np.random.default_rng(n).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("n", [1, 7, 500, 501])
def test_vectors_are_orthonormal_and_are_stretched_by_their_values(n):
    A = symmetric(n)
    values, vectors = symmetric_eigen(A)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0, atol=1e-11)
    np.testing.assert_allclose(A @ vectors, vectors * values, rtol=0, atol=1e-10 * n)


@pytest.mark.parametrize("error", [MemoryError(), ValueError("of a thread"), KeyboardInterrupt()])
@pytest.mark.parametrize("n", [2, 501])
def test_errors_come_out(monkeypatch, error, n):
    def fail(matrix):
        raise error

    monkeypatch.setattr(_eigen.np.linalg, "eigh", fail)
    with pytest.raises(type(error)) as caught:
        symmetric_eigen(symmetric(n))
    assert str(caught.value) == (
        f"cannot allocate {24 * n * n} bytes for the eigenvectors of a matrix"
        if isinstance(error, MemoryError)
        else str(error)
    )


def test_where_no_thread_can_be_started_it_waits(monkeypatch):
    def fail(work, arguments):
        raise RuntimeError("can't start new thread")

    expected = symmetric_eigen(symmetric(501))
    monkeypatch.setattr(_eigen._thread, "start_new_thread", fail)
    with one_blas_thread():
        found = symmetric_eigen(symmetric(501))
    for part, value in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, value)


@posix
def test_ctrl_c_does_not_wait_for_lapack(monkeypatch):
    go_on = threading.Event()
    eigh = np.linalg.eigh

    def slow(matrix):
        go_on.wait(60)
        return eigh(matrix)

    monkeypatch.setattr(_eigen.np.linalg, "eigh", slow)
    try:
        assert interrupted_after(lambda: symmetric_eigen(symmetric(501))) < INTERRUPT_SECONDS
    finally:
        go_on.set()


@posix
def test_the_process_ends_after_an_interrupt_while_lapack_is_at_work():
    """OpenBLAS was taken down while the thread that had been left alone worked with it, which had no end at times."""
    code = """
import os, signal, threading
import numpy as np
from fastpu._eigen import symmetric_eigen
signal.signal(signal.SIGINT, signal.default_int_handler)
A = np.random.default_rng(0).normal(size=(1200, 1200))
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    symmetric_eigen(A + A.T)
except KeyboardInterrupt:
    print("interrupted")
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    child = "if os.fork() == 0:\n    raise SystemExit  # waits for nobody\n"
    done = subprocess.run([sys.executable, "-c", code + child + "print(os.wait()[1])"], capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert (done.returncode, done.stdout.split()[-1], done.stderr) == (0, "0", "")


@pytest.mark.parametrize("n", [2, 501])
@pytest.mark.parametrize("entry", [np.nan, np.inf, 1.7e308])
def test_matrices_without_eigenvalues_are_refused(n, entry):
    """LAPACK returns NaN for some of them, and NumPy an error of its own for others."""
    with pytest.raises(ValueError, match="do not overflow; scale X"):
        symmetric_eigen(np.full((n, n), entry))
