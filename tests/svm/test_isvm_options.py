"""ISVM, IPSI and BPSI: forms of rows, weights, many costs, what the model says, callbacks, warnings."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fastpu
from fastpu.common._sharing import shared_parameters
from isvm_cases import FIT_TOL, FITS, each_fit, each_iteration, pu_rows, stepped
from machine_cases import each_form
from method_recipes import model_bits

quiet = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")


@pytest.fixture(scope="module")
def data():
    """Exact in float32."""
    X, y, _ = pu_rows(80, 4, seed=3)
    return np.round(X * 64) / 64, y


# -- weights -----------------------------------------------------------------------------------------------------------


@each_iteration
def test_weights_have_no_scale(fit, data):
    """As S holds means; the default of C alone takes them for numbers of rows."""
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    model, heavy = (fit(X, y, C=1.0, sample_weight=scale * weights) for scale in (1.0, 1024.0))
    np.testing.assert_allclose(heavy.coef, model.coef, atol=FIT_TOL)


# -- many costs --------------------------------------------------------------------------------------------------------


def test_select_fits_many_costs_at_once(data):
    X, y = data
    for name, fit in FITS.items():
        assert shared_parameters(fit.function) == ("C",), name
    calls = []

    def counted(X, y, *, C):
        calls.append(C)
        return fastpu.fit_isvm(X, y, C=C)

    counted.shares = ("C",)
    chosen = fastpu.select(counted, X, y, {"C": [0.1, 1.0, 10.0]}, cv=2, random_state=0)
    assert [len(C) for C in calls[:-1]] == [3, 3]
    alone = fastpu.fit_isvm(X, y, C=chosen.best_params["C"])
    assert model_bits(chosen.model) == model_bits(alone)


# -- the model ---------------------------------------------------------------------------------------------------------


@each_form
def test_scores_that_overflow_are_refused(form, data):
    model = dataclasses.replace(fastpu.fit_isvm(*data), coef=np.full(4, 1e300))
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [1e30, -1e30, 0.0, 0.0]])
    with pytest.raises(ValueError, match="X has entries so large that its scores overflow, first in row 1"):
        model.decision_function(form(rows))


# -- interrupts, errors, text ------------------------------------------------------------------------------------------


def test_an_error_in_one_of_many_fits_comes_through(data):
    X, y = data
    with pytest.raises(ValueError, match="C must be at most 1e.100, .* got 1e.101"):
        fastpu.fit_isvm(X, y, C=[1.0, 1e101, 2.0], n_threads=2)


# -- callbacks ---------------------------------------------------------------------------------------------------------


@each_fit
def test_the_callback_hears_of_every_classifier(fit, data):
    X, y = data
    heard = []
    models = fit(X, y, C=[1.0, 10.0], callback=heard.append)
    assert all(isinstance(info, fastpu.models.MarginRound) for info in heard)
    for model in models:
        mine = [info for info in heard if model.params["C"] == info.C]
        assert [info.step for info in mine] == list(range(model.n_iter + 1))
        assert {info.max_iter for info in mine} == {100}
        np.testing.assert_array_equal([info.n_changed for info in mine], model.history["n_changed"])
        np.testing.assert_array_equal([info.gap for info in mine], model.history["gap"])
        values = model.history.get("objective_fitted", model.objective)
        np.testing.assert_array_equal([info.objective for info in mine], values)
    assert [model_bits(model) for model in models] == [model_bits(model) for model in fit(X, y, C=[1.0, 10.0])]


@each_fit
def test_a_true_callback_ends_the_fit_without_a_warning(fit, data):
    X, y = data
    full = fit(X, y, C=10.0)
    models = stepped(fit, X, y, C=10.0)
    assert [model.n_iter for model in models] == list(range(full.n_iter + 1))
    for model in models[:-1]:
        assert (model.status, model.converged) == ("callback", False)
    assert model_bits(models[-1]) == model_bits(full)
    few = fit(X, y, C=[1.0, 10.0, 100.0], callback=lambda info: info.C == 10.0)
    assert [model.status == "callback" for model in few] == [False, True]
    assert model_bits(few[0]) == model_bits(fit(X, y, C=1.0))


# -- warnings ----------------------------------------------------------------------------------------------------------


@quiet
@each_fit
def test_sub_problems_that_are_not_solved_are_told_with_their_gap(fit):
    X, y, _ = pu_rows(100, 5, seed=1, apart=3.0)
    options = {**fit.options, "C": 300.0, "solver": "iadmm", "solver_max_iter": 5}
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        model = fit.function(X, y, **options)
    message = next(str(warning.message) for warning in caught if "sub-problems" in str(warning.message))
    assert message.startswith(f"{fit.function.__name__}: for C = 300, ")
    assert "sub-problems were not solved to solver_tol = 1e-09: the worst has the duality gap " in message
    assert (
        "after 5 steps (iadmm); raise solver_max_iter, scale the features of X, or accept a larger solver_tol"
        in message
    )
    assert caught[0].filename == __file__
    assert not model.converged
    assert model.params["solver_max_iter"] == 5


@quiet
@each_fit
def test_flaws_of_many_costs_are_told_once(fit):
    X, y, _ = pu_rows(100, 5, seed=1, apart=3.0)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        fit(X, y, C=[100.0, 200.0, 300.0], solver="iadmm", solver_max_iter=5)
    found = [str(warning.message) for warning in caught if "sub-problems" in str(warning.message)]
    assert len(found) == 1
    assert "for 3 of 3 values of C, the first C = 100, " in found[0]
