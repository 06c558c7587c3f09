"""Rows, fits and comparisons that the tests of the squared-loss AUC methods share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu

#: Two fits whose means and covariances are summed in another order; the condition number is about 1e4.
ROUNDING = 1e-9

#: The same for rows in float32, whose sums are taken in float64.
SINGLE = 1e-4


_GAUSS = {"model": "gauss", "n_centers": 12, "random_state": 5}
#: The public functions with arguments.
FITS = {
    "ls_auc": partial(fastpu.baselines.fit_ls_auc, random_state=5),
    "samult": partial(fastpu.baselines.fit_samult, gamma=0.3),
    "pnu_pu": partial(fastpu.baselines.fit_pnu_auc, prior=0.4, eta=0.6),
    "pnu_nu": partial(fastpu.baselines.fit_pnu_auc, prior=0.4, eta=-0.5),
    "pnu_only_pu": partial(fastpu.baselines.fit_pnu_auc, prior=0.4, eta=1.0),
    "samult_gauss": partial(fastpu.baselines.fit_samult, gamma=0.7, **_GAUSS),
    "pnu_gauss": partial(fastpu.baselines.fit_pnu_auc, prior=0.4, eta=0.3, **_GAUSS),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def pnu_rows(n: int = 90, d: int = 4, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of two groups that overlap, exact in float32, labels {1, 0, -1} and true labels."""
    rng = np.random.default_rng([8, seed])
    truth = np.where(rng.random(n) < 0.4, 1, -1)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    X[:, 0] += 1.5 * (truth == 1)
    y = np.where(rng.random(n) < 0.4, truth, 0)
    y[:6] = [1, 1, 0, 0, -1, -1]
    return np.round(X * 64) / 64, y, truth


def centers_of(model: Any) -> np.ndarray:
    centers = model.centers
    return centers.toarray() if sp.issparse(centers) else np.asarray(centers)


def assert_same(model: Any, expected: Any, tol: float = ROUNDING) -> None:
    """Two fits agree."""
    scale = np.abs(expected.coef).max()
    np.testing.assert_allclose(model.coef, expected.coef, atol=tol * scale, rtol=0)
    np.testing.assert_allclose(model.threshold, expected.threshold, atol=10 * tol * scale)
    np.testing.assert_allclose(model.objective[-1], expected.objective[-1], atol=10 * tol)
    assert model.status == expected.status
