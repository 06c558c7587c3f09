"""Columns and costs of any size: a right model by extended precision, or a warning that there is none.

Every model's S is computed again from its coefficients on the given rows in long double, and bounded from below by the
dual value of what the engine finds for its labels. What is not that close has to say so.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from isvm_cases import each_iteration
from margin_engine_cases import make_engine, oracle, solve

WIDE = np.longdouble
FORMS = [np.asarray, sp.csr_array]
each_form = pytest.mark.parametrize("form", FORMS, ids=["dense", "csr"])

pytestmark = pytest.mark.skipif(np.finfo(WIDE).eps > 1e-18, reason="long double is no wider than double here")


def rows(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = ((X[:, 0] + 0.7 * rng.normal(size=n) > 0) & (rng.random(n) < 0.6)).astype(int)
    y[:2] = 1, 0
    return X, y


def fit_recorded(fit, X, y, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(X, y, **options)
    warned = any(issubclass(w.category, fastpu.exceptions.ConvergenceWarning) for w in caught)
    assert warned is not model.converged
    return model


def exact_gap(X, model, C):
    """Return S of the model and how far it is from the dual value of its labels, in long double."""
    labels = model.pseudo_labels.astype(WIDE)
    costs = C / np.where(labels > 0, (labels > 0).sum(), (labels < 0).sum()).astype(np.float64)
    wide, coef = X.astype(WIDE), model.coef.astype(WIDE)
    margins = labels * (wide @ coef + WIDE(model.intercept))
    primal = coef @ coef / 2 + costs @ np.maximum(1 - margins, 0)
    problem = oracle.Problem(X, np.asarray(labels, dtype=np.float64), costs, np.zeros(len(X)))
    found = solve(make_engine(X), problem)
    beta = np.clip(found["beta"], 0, costs).astype(WIDE)
    centre = wide.mean(axis=0)
    along = (beta * labels) @ (wide - centre)
    off = abs((beta * labels).sum()) * (abs(WIDE(model.intercept) + centre @ coef) + 1)
    return float(primal), float(primal - (beta.sum() - along @ along / 2 - off))


@each_form
@pytest.mark.parametrize("columns", [slice(None), slice(1, 2)], ids=["all", "one"])
@pytest.mark.parametrize("exponent", [-8, -4, 0, 4, 8])
def test_a_model_is_right_or_says_that_it_is_not(exponent, columns, form):
    n_right = 0
    for seed in range(3):
        X, y = rows(seed)
        X[:, columns] *= 10.0**exponent
        for C in (1e-6, 1e-2, 1.0, 1e2, 1e6, 1e10):
            model = fit_recorded(fastpu.fit_isvm, form(X), y, C=C)
            if not model.converged or model.status == "tol":  # the last labels are then not those it was fitted to
                continue
            primal, gap = exact_gap(X, model, C)
            assert gap <= 1e-6 * primal
            if model.status == "labels":
                assert model.objective[-1] == pytest.approx(primal, rel=1e-6)
            n_right += 1
    assert n_right >= 10


@each_form
@each_iteration
def test_a_column_far_from_zero(fit, form):
    X, y = rows(0, n=200)
    far = X + np.array([0.0, 2.0**27, 0.0])
    exact = far - np.array([0.0, 2.0**27, 0.0])  # what is left of the digits
    model, near = fit_recorded(fit, form(far), y), fit_recorded(fit, form(exact), y)
    np.testing.assert_allclose(model.coef, near.coef, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(form(far)), near.decision_function(form(exact)), atol=1e-5)
