"""ISVM, IPSI and BPSI: forms of rows, weights, many costs, what the model says, callbacks, warnings."""

from __future__ import annotations

import _thread
import contextlib
import threading
import time

import numpy as np
import pytest

import fastpu
from fastpu.svm._margin_problem import MarginSolver
from helpers import refused
from isvm_cases import FIT_TOL, each_fit, each_iteration, pu_rows, quiet, stepped
from method_recipes import model_bits


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


# -- solvers -----------------------------------------------------------------------------------------------------------


@quiet
@each_iteration
@pytest.mark.parametrize("seed", range(4))
def test_both_solvers_give_the_same_model(seed, fit):
    X, y, _ = pu_rows(seed=seed)
    for C in (0.01, 1.0, 100.0):
        exact, admm = (fit(X, y, C=C, solver=solver, solver_tol=1e-8) for solver in ("exact", "iadmm"))
        assert admm.status == exact.status
        np.testing.assert_array_equal(admm.pseudo_labels, exact.pseudo_labels)
        np.testing.assert_allclose(admm.objective, exact.objective, rtol=1e-6)
        assert admm.params["solver"] == "iadmm"


# -- errors ------------------------------------------------------------------------------------------------------------


@each_fit
def test_arguments_are_checked_before_the_rows_are_looked_at(fit, data):
    """A wrong option is told although y is wrong too."""
    refused(ValueError, "solver must be one of", fit, data[0], [1, 2], solver="fast")


def test_an_error_in_one_of_many_fits_comes_through(data):
    X, y = data
    with pytest.raises(ValueError, match="C must be at most 1e.100, .* got 1e.101"):
        fastpu.fit_isvm(X, y, C=[1.0, 1e101, 2.0], n_threads=2)


# -- many costs --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def larger():
    """Rows with so many entries that several values of C are fitted in threads."""
    X, y, _ = pu_rows(700, 8, seed=4)
    return X, y


@quiet
@each_fit
def test_many_costs_in_threads_give_the_models_that_each_gives_alone(fit, larger):
    X, y = larger
    costs = np.geomspace(0.01, 100, 20)
    alone = [model_bits(fit(X, y, C=cost, n_threads=1)) for cost in costs]
    for n_threads in (1, 2, 5):
        assert [model_bits(model) for model in fit(X, y, C=costs, n_threads=n_threads)] == alone


@quiet
@pytest.mark.parametrize("n_given", [0, 1])
def test_fewer_threads_than_were_asked_for_give_the_same_models(n_given, larger, monkeypatch):
    X, y = larger
    costs = np.geomspace(0.01, 100, 12)
    expected = [model_bits(model) for model in fastpu.fit_isvm(X, y, C=costs, n_threads=1)]
    start, started = _thread.start_new_thread, []

    def refusing(function, args):
        if len(started) == n_given:
            raise RuntimeError("can't start new thread")
        started.append(function)
        return start(function, args)

    monkeypatch.setattr(_thread, "start_new_thread", refusing)
    assert [model_bits(model) for model in fastpu.fit_isvm(X, y, C=costs, n_threads=3)] == expected
    assert len(started) == n_given


@each_fit
def test_an_error_in_one_of_the_threads_ends_the_others(fit, larger, monkeypatch):
    X, y = larger
    solve = MarginSolver.solve

    def failing(self, problem, slopes, start):
        if problem.costs.max() > 1e4 / len(y):
            raise ValueError("this one")
        return solve(self, problem, slopes, start)

    monkeypatch.setattr(MarginSolver, "solve", failing)
    n_before = threading.active_count()
    with pytest.raises(ValueError, match="this one"):
        fit(X, y, C=[1.0, 1e6, *np.full(20, 1e3)], n_threads=3, callback=None)
    assert threading.active_count() == n_before


@quiet
@each_fit
@pytest.mark.parametrize("n_before", [0, 1, 2, 5, 20])
def test_ctrl_c_behind_the_lock_of_a_condition_leaves_no_thread_waiting(n_before, fit, larger, monkeypatch):
    """Pools, futures and events have such locks. Ctrl-C may come when one is taken, before the block that frees it."""
    X, y = larger
    enter, main_thread, n_left = threading.Condition.__enter__, threading.get_ident(), n_before

    def interrupted(self):
        nonlocal n_left
        entered = enter(self)
        if threading.get_ident() == main_thread:
            n_left -= 1
            if n_left == -1:
                raise KeyboardInterrupt
        return entered

    python_threads = threading.enumerate()
    monkeypatch.setattr(threading.Condition, "__enter__", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        fit(X, y, C=np.geomspace(0.01, 100, 20), n_threads=3)
    assert threading.enumerate() == python_threads


@quiet
@each_fit
@pytest.mark.parametrize("n_before", [0, 1, 2])
def test_ctrl_c_behind_the_lock_of_a_thread_that_has_ended_leaves_nobody_waiting(n_before, fit, larger, monkeypatch):
    """Python does not promise that Ctrl-C never comes between the lock of a `with` and its block."""
    X, y = larger
    n_left, main_thread = n_before, threading.get_ident()

    class Interrupted(type(threading.RLock())):
        def __enter__(self):
            nonlocal n_left
            self.acquire()
            if threading.get_ident() == main_thread:
                n_left -= 1
                if n_left == -1:
                    raise KeyboardInterrupt
            return True

    monkeypatch.setattr(threading, "RLock", Interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        fit(X, y, C=np.geomspace(0.01, 100, 20), n_threads=3)


@quiet
@each_fit
def test_ctrl_c_while_a_thread_starts_ends_it_as_well(fit, larger, monkeypatch):
    X, y = larger
    start, solve, running = _thread.start_new_thread, MarginSolver.solve, []

    def interrupted(function, args):
        start(function, args)
        while not running:
            time.sleep(0.001)
        raise KeyboardInterrupt

    def slow(self, problem, slopes, start):
        running.append(1)
        time.sleep(0.05)
        try:
            return solve(self, problem, slopes, start)
        finally:
            running.pop()

    monkeypatch.setattr(_thread, "start_new_thread", interrupted)
    monkeypatch.setattr(MarginSolver, "solve", slow)
    with pytest.raises(KeyboardInterrupt):
        fit(X, y, C=np.geomspace(0.01, 100, 20), n_threads=3)
    assert not running


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
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        model = fit(X, y, C=300.0, solver="iadmm", solver_max_iter=5)
    message = next(str(warning.message) for warning in caught if "sub-problems" in str(warning.message))
    assert message.startswith(f"{fit.func.__name__}: for C = 300, ")
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
