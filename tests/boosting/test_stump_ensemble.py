"""The model of the boosting functions as an object: files, copies, immutability, what it says of its fit."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import each_fit, make_problem, to_csr


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


@each_fit
def test_a_rule_that_did_not_end_the_fit_is_reported(fit, data):
    """A fit that made all its rounds has converged, unless a stopping rule was asked for and not met."""
    X, y = data
    valid = (X[y != 0], y[y != 0])
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="all 4 rounds before stop_tol = 0.001 ended the fit"
    ) as caught:
        model = fit(X, y, n_rounds=4, stop_tol=1e-3)
    assert (model.status, model.converged) == ("n_rounds", False)
    (message,) = [str(warning.message) for warning in caught]
    assert f"{model.deltas[-1]:.3g}" in message
    assert "eval_set" not in message
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="all 4 rounds before early stopping ended the fit"
    ) as caught:
        model = fit(X, y, n_rounds=4, eval_set=valid, early_stopping_rounds=50)
    (message,) = [str(warning.message) for warning in caught]
    curve = model.history["eval_auc"]
    assert f"the best AUC of eval_set so far, {curve.max():.4g}, is that of round {model.n_iter}" in message
    assert message.endswith("and 50 rounds must pass without a better one; raise n_rounds")
    assert "stop_tol" not in message
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning,
        match=r"before early stopping or stop_tol = 0.001 ended the fit.*;.*; raise",
    ):
        fit(X, y, n_rounds=4, eval_set=valid, early_stopping_rounds=50, stop_tol=1e-3)


@each_fit
def test_an_empty_model_is_reported(fit):
    for rows in (np.zeros((4, 2)), to_csr(np.zeros((4, 2)))):
        with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match=f"{fit.__name__}.*empty"):
            model = fit(rows, [1, 1, -1, -1])
        assert (model.n_iter, model.status, model.converged) == (0, "no_gain", True)
        np.testing.assert_array_equal(model.decision_function(np.ones((3, 2))), np.zeros(3))
        np.testing.assert_array_equal(model.predict(np.ones((3, 2))), [-1, -1, -1])
        np.testing.assert_array_equal(model.feature_importances, np.zeros(2))
