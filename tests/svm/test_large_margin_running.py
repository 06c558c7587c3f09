"""How the large-margin engine runs: the same bits for any threads, starts, callbacks, interrupts, and bad arguments."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers import refused
from margin_engine_cases import case, certify, make_engine, problem_of, solve
from oracles import large_margin as oracle
from svm_cases import labels_of


def bits(result) -> tuple:
    keys = ("coef", "beta", "decision", "intercept", "intercept_low", "intercept_high", "objective", "gap")
    return (*(np.asarray(result[key]).tobytes() for key in keys), result["n_iter"], result["status"], result["method"])


@pytest.fixture(scope="module")
def many() -> oracle.Problem:
    """Rows enough to be cut into groups."""
    rng = np.random.default_rng(92)
    X = rng.normal(size=(6_000, 20))
    y = labels_of(rng, X[:, 0] + X[:, 1])
    return oracle.Problem(X, y, rng.uniform(0.5, 2, size=6_000), (rng.random(6_000) < 0.05).astype(float))


# -- the same bits -----------------------------------------------------------------------------------------------------


def test_threads_of_the_caller_get_the_solutions_that_one_thread_gets(many):
    engine = make_engine(many.X)
    start = solve(engine, many, tol=1e-6)
    problems = [oracle.Problem(many.X, many.y, many.c * 2.0**k, many.s) for k in range(5)]

    def solved(k, n_threads):
        return bits(solve(engine, problems[k], start=start if k % 2 else None, tol=1e-6, n_threads=n_threads))

    alone = [solved(k, 1) for k in range(5)]
    assert [solved(k, 3) for k in range(5)] == alone
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(solved, range(5), [1] * 5)) == alone


def test_another_thread_can_end_it(many):
    """Which `fit_isvm` does where one of several fits fails or is interrupted."""
    engine = make_engine(many.X)
    seen = threading.Event()

    def stop():
        seen.wait()
        engine.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(RuntimeError, match="the solver was stopped by another thread"):
        solve(engine, many, solver="iadmm", tol=1e-14, max_iter=10**9, callback=lambda *_: seen.set())
    thread.join()
    with pytest.raises(RuntimeError, match="stopped"):
        solve(engine, many)


# -- starts ------------------------------------------------------------------------------------------------------------


def test_neighbours_on_a_grid_of_costs_are_solved_from_each_other():
    rows = case("random")
    engine = make_engine(rows.X)
    previous, methods = None, set()
    for C in 10.0 ** np.arange(-3, 3, 0.1):
        problem = problem_of("class_means", rows, C)
        previous = solve(engine, problem, start=previous)
        certify(problem, previous)
        methods.add(previous["method"])
    assert "active_set" in methods


# -- ends --------------------------------------------------------------------------------------------------------------


def test_out_of_steps_says_so_and_is_certified_all_the_same():
    rows = case("contradictory")
    problem = problem_of("hinge", rows)
    best = solve(make_engine(rows.X), problem)["objective"]
    for max_iter in (1, 2, 4):
        result = solve(make_engine(rows.X), problem, max_iter=max_iter)
        assert (result["status"], result["n_iter"]) == ("max_iter", max_iter)
        assert result["objective"] - result["gap"] <= best * (1 + 1e-12)
        assert best <= result["objective"] * (1 + 1e-12)


# -- bad arguments -----------------------------------------------------------------------------------------------------


def test_bad_arguments_are_named():
    rows = case("random")
    engine = make_engine(rows.X)
    n = len(rows.y)
    y, c, s = rows.y.copy(), np.ones(n), np.zeros(n)

    def attempt(error, text, *, y=y, c=c, s=s, **options):
        refused(error, text, solve, engine, oracle.Problem(rows.X, y, c, s), **options)

    def with_value(array, value):
        changed = array.copy()
        changed[3] = value
        return changed

    for value, text in ((np.nan, "nan"), (np.inf, "inf"), (1e200, "1e+200")):
        attempt(ValueError, f"cost of row 3 must be between 0 and 1e+100, got {text}", c=with_value(c, value))
    attempt(ValueError, "costs must be a 1-D array", c=c[:-1])
    attempt(TypeError, "costs has the wrong type", c=c.astype(np.float32))
    for tol in (1.0, -1e-9, np.nan):
        attempt(ValueError, "tol must be between 0 and 1, got", tol=tol)
    attempt(ValueError, "solver has no value 'newton'", solver="newton")
    other = solve(make_engine(rows.X[:3]), oracle.Problem(rows.X[:3], y[:3], c[:3], s[:3]))
    attempt(ValueError, "start must be of the same rows", start=other)
