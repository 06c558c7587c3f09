"""Eigenvalues of a symmetric matrix: those of the definition, and errors that say what to do."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.common import _eigen
from fastpu.common._eigen import symmetric_eigen


def symmetric(n: int) -> np.ndarray:
    A = np.random.default_rng(n).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("error", [MemoryError(), np.linalg.LinAlgError("gave up"), KeyboardInterrupt()])
def test_errors_say_what_to_do(monkeypatch, error):
    def fail(matrix):
        raise error

    monkeypatch.setattr(_eigen.np.linalg, "eigh", fail)
    kind = ValueError if isinstance(error, np.linalg.LinAlgError) else type(error)
    text = {ValueError: "overflow; scale X", MemoryError: "cannot allocate 96 bytes for the eigenvectors"}
    with pytest.raises(kind, match=text.get(kind)):
        symmetric_eigen(symmetric(2))


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1.7e308])
def test_matrices_without_eigenvalues_are_refused(entry):
    """LAPACK returns NaN for some of them, and NumPy an error of its own for others."""
    with pytest.raises(ValueError, match="overflow; scale X"):
        symmetric_eigen(np.full((2, 2), entry))
