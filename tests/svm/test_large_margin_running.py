"""How the large-margin engine runs: the same bits for any threads, starts, callbacks, interrupts, and bad arguments."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
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


@pytest.mark.parametrize("n_problems", [1, 5])
def test_problems_that_are_solved_together_are_those_that_are_solved_alone(n_problems, many):
    slopes = many.s.astype(np.uint8)
    for n_threads in (1, 3):
        engine = make_engine(many.X, n_threads=n_threads)
        start = solve(engine, many, tol=1e-6)
        problems = [
            (many.y.astype(np.int8), many.c * 2.0**k, slopes, start if k % 2 else None) for k in range(n_problems)
        ]
        options = _core.MarginOptions(tol=1e-6)
        together = engine.solve_each(problems, options)
        alone = [engine.solve_each([problem], options)[0] for problem in problems]
        assert [bits(found) for found in together] == [bits(found) for found in alone]
        bad = [*problems, (np.zeros(6_000, np.int8), *problems[0][1:])]
        words = "label of row 0 must be 1 or -1, got 0"
        refused(ValueError, words, engine.solve_each, bad, options)
        assert engine.solve_each([], options) == []


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
        attempt(ValueError, f"cost of row 3 must be between 0 and 1e100, got {text}", c=with_value(c, value))
    attempt(ValueError, "costs must be a 1-D array", c=c[:-1])
    attempt(TypeError, "costs has the wrong type", c=c.astype(np.float32))
    for tol in (1.0, -1e-9, np.nan):
        attempt(ValueError, "tol must be between 0 and 1, got", tol=tol)
    attempt(ValueError, "solver has no value 'newton'", solver="newton")
    attempt(KeyError, "beta", start={})
    attempt(ValueError, "beta of start must be a 1-D array", start={"beta": np.zeros(3), "intercept": 0.0})
    attempt(
        ValueError, "beta of start of row 3 must be finite", start={"beta": with_value(c, np.nan), "intercept": 0.0}
    )
