"""The factor of a kernel matrix in which the first rows come last: what it is a factor of, its zeros and its rank."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.pual._ordered_factor import ordered_factor

#: Largest error of Z Z', relative to the kernel values that K is made from.
TOL = 1e-11


def centred(K: np.ndarray, n_first: int) -> np.ndarray:
    """K with the mean of the later rows at the origin."""
    n = len(K)
    J = np.eye(n) - np.outer(np.ones(n), np.arange(n) >= n_first) / (n - n_first)
    return J @ K @ J.T


def kernel(n: int, d: int, gamma: float, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize("n_first", [1, 7, 58, 59])
@pytest.mark.parametrize("gamma", [1e-6, 0.01, 0.5, 100.0])
def test_it_is_a_factor_with_zeros_where_they_belong(gamma, n_first):
    K = centred(kernel(60, 3, gamma), n_first)
    found = ordered_factor(K.copy(), n_first, 2, size=1.0)
    Z, n_last = found.Z, found.n_last
    np.testing.assert_allclose(Z @ Z.T, K, rtol=0, atol=TOL)
    assert not Z[:n_first, : Z.shape[1] - n_last].any()
    assert Z.shape[1] <= 59


def test_the_rank_is_found():
    rng = np.random.default_rng(1)
    for rank in (1, 3, 10):
        X = rng.normal(size=(40, rank))
        for n_first in (1, 5, 30):
            K = centred(X @ X.T, n_first)
            found = ordered_factor(K.copy(), n_first, 1, size=np.abs(X @ X.T).max())
            Z, n_last = found.Z, found.n_last
            assert Z.shape[1] == rank
            assert not Z[:n_first, : rank - n_last].any()
            np.testing.assert_allclose(Z @ Z.T, K, atol=1e-10)


def test_rows_that_repeat():
    K = np.tile(kernel(20, 2, 0.3), (3, 3))
    for n_first in (4, 20, 50):
        C = centred(K, n_first)
        Z = ordered_factor(C.copy(), n_first, 2, size=1.0).Z
        assert Z.shape[1] <= 20
        np.testing.assert_allclose(Z @ Z.T, C, atol=1e-11)


def test_nothing_is_a_column_of_zeros():
    found = ordered_factor(np.zeros((5, 5)), 2, 1, size=1.0)
    Z, n_last = found.Z, found.n_last
    assert Z.shape == (5, 1)
    assert n_last == 1
    assert not Z.any()


def test_a_kernel_with_negative_parts_is_refused():
    K = kernel(30, 2, 0.5) - 0.9 * kernel(30, 2, 5.0)
    with pytest.raises(ValueError, match="kernel must be positive semidefinite, .* n_components leaves out"):
        ordered_factor(centred(K, 10), 10, 1, size=1.0)
    rough = kernel(30, 2, 0.01).astype(np.float32).astype(np.float64)  # negative by rounding alone
    Z = ordered_factor(centred(rough, 10), 10, 1, size=1.0).Z
    np.testing.assert_allclose(Z @ Z.T, centred(rough, 10), atol=1e-5)
