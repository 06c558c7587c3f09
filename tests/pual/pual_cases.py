"""Rows, graphs and comparisons that the tests of PUAL, GLLC and the biased LS-SVM share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from oracles import pual
from oracles.svm import kernel_matrix

#: Scores of two solutions whose relative gaps are 1e-9 differ by about the square root of that; with a margin.
FIT_TOL = 2e-4

#: Scores of two closed forms of one problem, whose sums are in another order.
CLOSED_TOL = 1e-7


FITS = {"pual": fastpu.fit_pual, "gllc": fastpu.fit_gllc, "bls_svm": fastpu.baselines.fit_bls_svm}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

quiet = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

#: A linear model and two with kernels.
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.0},
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def pu_rows(n: int = 60, d: int = 4, *, seed: int = 0, apart: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two groups and PU labels {1, 0}, exact in float32; some entries are 0."""
    rng = np.random.default_rng([7, seed])
    truth = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, d)) + 0.5
    X[:, 0] += apart * truth
    X[rng.random(X.shape) < 0.2] = 0.0
    y = (truth & (rng.random(n) < 0.6)).astype(np.int64)
    y[0] = 1
    return np.round(X * 64) / 64, y


def features(X: np.ndarray, kernel: dict[str, Any]) -> np.ndarray:
    """Z with Z Z' = K, for the oracle: the rows themselves, or an eigendecomposition."""
    if kernel["kernel"] == "linear":
        return X
    values, vectors = np.linalg.eigh(kernel_matrix(X, **kernel))
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def problem(
    X: np.ndarray, y: np.ndarray, *, C_pos: float = 1.0, C_unl: float = 0.1, lam: float = 1.0, sigma: float = 1.0,
    n_neighbors: int = 5, kernel: dict[str, Any] | None = None,
) -> pual.Problem:  # fmt: skip
    """The oracle's problem of the arguments of `fit_pual`."""
    R = pual.laplacian(X, n_neighbors, sigma)
    return pual.Problem(features(X, kernel or KERNELS["linear"]), y == 1, R, C_pos, C_unl, lam)


def graph(X: np.ndarray, n_neighbors: int = 5, sigma: float = 1.0) -> tuple[Any, Any]:
    """(W, R) by the oracle, as the argument `graph` takes it."""
    R = pual.laplacian(X, n_neighbors, sigma)
    return sp.csr_array(np.diag(np.diag(R)) - R) * len(X), sp.csr_array(R)
