"""The inexact ADMM of section 4: its fixed point, its residuals, and what the errata of the paper are about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margin_engine_cases import Rows, case, certify, make_engine, problem_of, solve
from oracles import large_margin as oracle

STEPS = ("exact", "linear")

each_step = pytest.mark.parametrize("step", STEPS)

#: The exact step is made with at most so many features.
MOST_EXACT = 2000


def widened(rows: Rows) -> Rows:
    """With columns of zeros, which change no solution, so that there are too many columns for the exact step."""
    n, d = rows.X.shape
    return Rows(np.hstack([rows.X, np.zeros((n, MOST_EXACT + 1 - d))]), rows.y)


def iadmm(rows: Rows, problem: oracle.Problem, step: str, **options: Any) -> dict[str, Any]:
    """Solve with one of the two steps."""
    d = rows.X.shape[1]
    engine = make_engine(rows.X) if step == "exact" else make_engine(widened(rows).X, sparse=True)
    result = solve(engine, problem, solver="iadmm", **options)
    assert not result["coef"][d:].any()
    return result | {"coef": result["coef"][:d]}


def standardised(rows: Rows) -> np.ndarray:
    """What the engine does to X before the linear step."""
    X = rows.X - rows.X.mean(axis=0)
    return X / X.std(axis=0)


# -- fast equals slow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hinge", "psi", "uneven"])
@pytest.mark.parametrize("n_iter", [3, 9])
def test_the_exact_step_does_the_iterations_of_the_slow_one(kind, n_iter):
    """Up to the tenth, which may change rho. The oracle gets columns as the engine centres them."""
    rows = case("random")
    rows = Rows(standardised(rows), rows.y)
    problem = problem_of(kind, rows)
    slow = oracle.iadmm(problem, rho=float(problem.c.mean()), max_iter=n_iter)
    fast = iadmm(rows, problem, "exact", max_iter=n_iter)
    assert (fast["status"], fast["n_iter"]) == ("max_iter", n_iter)
    np.testing.assert_allclose(fast["coef"], slow[1:], rtol=0, atol=1e-9 * np.abs(slow).max())


# -- to a gap ----------------------------------------------------------------------------------------------------------


@each_step
@pytest.mark.parametrize("name", ["random", "contradictory", "far_away", "constant_columns", "single_feature"])
@pytest.mark.parametrize("kind", ["hinge", "class_means", "psi"])
def test_it_goes_on_until_the_gap_holds(kind, name, step):
    rows = case(name)
    problem = problem_of(kind, rows)
    result = iadmm(rows, problem, step, tol=1e-6, max_iter=10**6)
    assert result["method"] == "iadmm"
    certify(problem, result, tol=1e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("d", [30, 2500])
def test_many_features_and_sparse_rows(d, sparse):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(80, d)) * (rng.random((80, d)) < 0.1)
    y = np.where(X.sum(axis=1) + rng.normal(size=80) > 0, 1, -1).astype(np.int8)
    problem = oracle.Problem(X, y, np.full(80, 0.1), np.zeros(80))
    engine = make_engine(X, sparse=sparse)
    result = solve(engine, problem, solver="iadmm", tol=1e-5, max_iter=10**6)
    certify(problem, result, tol=1e-5)


# -- starts and ends ---------------------------------------------------------------------------------------------------


@each_step
def test_a_solution_as_start_is_where_it_stays(step):
    rows = case("random")
    problem = problem_of("psi", rows)
    engine = make_engine(rows.X)
    best = solve(engine, problem)
    again = iadmm(rows, problem, step, tol=1e-6, start=best)
    cold = iadmm(rows, problem, step, tol=1e-6, max_iter=10**6)
    certify(problem, again, tol=1e-6)
    assert again["n_iter"] < cold["n_iter"]


@each_step
def test_out_of_iterations_says_so_and_is_certified_all_the_same(step):
    rows = case("random")
    problem = problem_of("hinge", rows)
    result = iadmm(rows, problem, step, max_iter=3)
    assert (result["status"], result["n_iter"]) == ("max_iter", 3)
    best = solve(make_engine(rows.X), problem)
    assert result["gap"] > 1e-9 * result["objective"]
    assert result["objective"] - result["gap"] <= best["objective"] <= result["objective"]
