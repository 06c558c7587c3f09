"""BPSI: the difference-of-convex iteration at fixed costs, against its oracle."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from isvm_cases import COSTS, FIT_TOL, FITS, ROUNDING, pu_rows, quiet, stepped
from oracles import isvm

fit_bpsi = FITS["bpsi"]


@pytest.fixture(scope="module", params=range(4))
def data(request):
    return pu_rows(seed=request.param)


def biased(y, C_pos, C_unl):
    """Labels and costs of the oracle."""
    return np.where(y == 1, 1, -1), np.where(y == 1, C_pos, C_unl)


@quiet
@pytest.mark.parametrize("share", [0.05, 0.15, 0.5])
def test_it_is_the_difference_of_convex_iteration_from_the_hinge_solution(share, data):
    X, y, _ = data
    for C in COSTS:
        labels, costs = biased(y, C * (1 - share) / share, C)
        path = isvm.minimise_psi(X, labels, costs, isvm.minimise(X, labels, costs))
        model = fit_bpsi(X, y, C_pos=C * (1 - share) / share, C_unl=C)
        scale = 1 + np.abs(path[-1].scores(X)).max()
        np.testing.assert_allclose(model.coef, path[-1].w, atol=FIT_TOL * scale)
        np.testing.assert_allclose(model.decision_function(X), path[-1].scores(X), atol=FIT_TOL * scale)
        assert model.status == ("collapsed" if np.abs(path[-1].w).max() < 1e-8 else "repeat")
        values = [isvm.value(f, X, labels, costs, "psi") for f in path]
        np.testing.assert_allclose(model.objective, values[: len(model.objective)], rtol=1e-6)
        np.testing.assert_allclose(model.objective[-1], values[-1], rtol=1e-6)
        assert np.all(np.diff(model.objective) <= 1e-9 * model.objective[:-1])


def test_the_history_is_that_of_the_steps(data):
    X, y, _ = data
    options = {"C_pos": 40.0, "C_unl": 8.0}
    models = stepped(fit_bpsi, X, y, **options)
    last = models[-1]
    assert last.n_iter == len(models) - 1
    assert set(last.history) == {"n_changed", "intercept_low", "intercept_high", "gap", "n_problems", "n_steps"}
    labels, _ = biased(y, 1, 1)
    flat = np.zeros(len(y), dtype=bool)
    for k, model in enumerate(models):
        now = labels * model.decision_function(X) < 0
        assert last.history["n_changed"][k] == np.sum(now != flat)
        assert last.history["intercept_low"][k] == model.intercept_low
        assert last.history["n_problems"][k] == 1
        np.testing.assert_allclose(last.objective[k], model.objective[-1], rtol=ROUNDING)
        flat = now
    assert last.pseudo_labels is None
    assert last.history["n_changed"][-1] == 0


def test_costs_multiply(data):
    X, y, _ = data
    model = fit_bpsi(X, y, C=16.0, C_pos=2.0, C_unl=0.5)
    same = fit_bpsi(X, y, C_pos=32.0, C_unl=8.0)
    np.testing.assert_array_equal(model.coef, same.coef)
    assert (same.params["C"], same.params["C_pos"], same.params["C_unl"]) == (1.0, 32.0, 8.0)
    assert same.params["method"] == "fit_bpsi"


def test_running_out_of_steps_is_told(data):
    X, y, _ = pu_rows(200, 5, seed=1, apart=1.0)
    options = {"C_pos": 4.0, "C_unl": 1.0}
    assert fit_bpsi(X, y, **options).n_iter > 1
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="the last of all max_iter = 1 steps still changed .* rows"
    ):
        model = fit_bpsi(X, y, max_iter=1, **options)
    assert (model.status, model.converged, model.n_iter) == ("max_iter", False, 1)
