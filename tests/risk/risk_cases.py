"""Rows, fits and comparisons that the tests of uPU and nnPU share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core

#: Two fits of about a hundred steps, with sums of float64 terms in another order.
ROUNDING = 1e-10

#: The same in float32.
SINGLE = 2e-4

LOSSES = ("sigmoid", "logistic", "squared")

quiet = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")


#: lam=None and batch_size="auto" depend on the scale of weights, which may stand for repeated rows.
_SHORT = {"n_epochs": 30, "learning_rate": 0.02, "lam": 0.0, "batch_size": None}
_ALL = {"prior": 0.45, "random_state": 7}
#: The public functions with arguments that make a short fit to labels {+1, 0}.
FITS = {
    "upu_logistic": partial(fastpu.fit_upu, loss="logistic", lam=0.01, **_ALL),
    "upu_squared": partial(fastpu.fit_upu, loss="squared", lam=0.01, **_ALL),
    "upu_gauss": partial(fastpu.fit_upu, loss="logistic", lam=0.01, model="gauss", n_centers=20, **_ALL),
    "nnpu_sigmoid": partial(fastpu.fit_nnpu, loss="sigmoid", **{**_SHORT, "lam": 0.01}, **_ALL),
    "nnpu_linear": partial(fastpu.fit_nnpu, **_SHORT, **_ALL),
    "nnpu_gauss": partial(fastpu.fit_nnpu, model="gauss", n_centers=20, **_SHORT, **_ALL),
    "nnpu_mlp": partial(fastpu.fit_nnpu, model="mlp", n_hidden=20, **_SHORT, **_ALL),
    "nnpu_batches": partial(fastpu.fit_nnpu, model="mlp", n_hidden=9, **{**_SHORT, "batch_size": 32}, **_ALL),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

#: The fits that are trained by Adam.
BY_ADAM = {name: fit for name, fit in FITS.items() if "n_epochs" in fit.keywords}
each_by_adam = pytest.mark.parametrize("fit", BY_ADAM.values(), ids=BY_ADAM)

#: The fits that take weights.
WEIGHTED = {name: fit for name, fit in FITS.items() if fit.keywords.get("batch_size") is None}
each_weighted = pytest.mark.parametrize("fit", WEIGHTED.values(), ids=WEIGHTED)


def pu_rows(
    n: int = 120, d: int = 3, *, seed: int = 0, share: float = 0.3, apart: float = 1.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of two groups that overlap, exact in float32, PU labels {1, 0} and true labels."""
    rng = np.random.default_rng([6, seed])
    truth = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * (truth == 1)
    y = ((truth == 1) & (rng.random(n) < share)).astype(np.int64)
    y[np.flatnonzero(truth == 1)[:2]] = 1
    return np.round(X * 64) / 64, y, truth


def train(
    X: Any, y: np.ndarray, start: Any, risk: Any, *, weights: Any = None, eval_rows: Any = None, n_threads: int = 2,
    **options: Any,
) -> Any:  # fmt: skip
    """Epochs of the core's training, from a net given as a dict."""
    made = _core.NnpuOptions(**vars(risk), **{"learning_rate": 1e-2, **options})
    labels, net = y.astype(np.int8), _core.Net(**start)
    return _core.fit_nnpu(
        X, labels, weights, net, made, chosen=None, eval_rows=eval_rows, callback=None, n_threads=n_threads
    )


def learned(model: Any) -> list[np.ndarray]:
    """All parameters of a model."""
    parts = [model.coef, np.array(model.intercept)]
    if isinstance(model, fastpu.models.RiskNetwork):
        parts += [model.hidden_coef, model.hidden_intercept]
    elif model.basis == "gauss":
        centers = model.centers.toarray() if sp.issparse(model.centers) else model.centers
        parts += [centers, np.array(model.bandwidth)]
    return parts


def assert_same(model: Any, expected: Any, tol: float) -> None:
    """The parameters and the course of two fits agree."""
    for found, wanted in zip(learned(model), learned(expected), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)
    assert (model.status, model.n_iter) == (expected.status, expected.n_iter)
    for name, values in expected.history.items():
        np.testing.assert_allclose(model.history[name], values, rtol=tol, atol=tol)
