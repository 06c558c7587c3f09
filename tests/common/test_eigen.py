"""Eigenvalues of a symmetric matrix: those of the definition, and errors that say what to do."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.common import _eigen
from fastpu.common._eigen import symmetric_eigen


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


@pytest.mark.parametrize("n", [2, 501])
@pytest.mark.parametrize("entry", [np.nan, np.inf, 1.7e308])
def test_matrices_without_eigenvalues_are_refused(n, entry):
    """LAPACK returns NaN for some of them, and NumPy an error of its own for others."""
    with pytest.raises(ValueError, match="do not overflow; scale X"):
        symmetric_eigen(np.full((n, n), entry))


def test_what_lapack_gives_up_is_refused(monkeypatch):
    def fail(matrix):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(_eigen.np.linalg, "eigh", fail)
    with pytest.raises(ValueError, match="do not overflow; scale X"):
        symmetric_eigen(symmetric(3))
