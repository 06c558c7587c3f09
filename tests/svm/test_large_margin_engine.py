"""The engine of the large-margin problem finds its optimum: section 8 of the specification for one problem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fastpu import _core
from fastpu.data._matrix import CsrMatrix
from margin_engine_cases import CASES, PROBLEMS, case, certify, kept, make_engine, problem_of, solve
from oracles import large_margin as oracle

each_case = pytest.mark.parametrize("name", CASES)
each_problem = pytest.mark.parametrize("kind", PROBLEMS)


# -- the optimum -------------------------------------------------------------------------------------------------------


@each_case
@each_problem
def test_it_finds_the_optimum_and_all_that_the_intercept_may_be(kind, name):
    rows = case(name)
    problem = problem_of(kind, rows)
    result = solve(make_engine(rows.X), problem)
    certify(problem, result)
    found = result["intercept_low"], result["intercept_high"]
    best = kept(problem).best_intercepts(result["coef"])
    np.testing.assert_allclose(found, best, atol=1e-9 * (1 + np.abs(rows.X @ result["coef"]).max()))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_row_or_a_few(n, rng):
    """One row of each class, or of one only, where w is 0."""
    X = rng.normal(size=(n, 2))
    y = np.array([1, -1, 1], dtype=np.int8)[:n]
    problem = oracle.Problem(X, y, np.ones(n), np.zeros(n))
    result = solve(make_engine(X), problem)
    certify(problem, result)
    if n == 1:
        np.testing.assert_array_equal(result["coef"], 0)
        assert (result["intercept"], result["intercept_low"], result["intercept_high"]) == (1.0, 1.0, np.inf)
        assert result["objective"] == 0


def test_rows_that_want_the_same_side_leave_w_at_zero(rng):
    """Positive rows with s = 1 want f <= 1, and negative ones f <= -1."""
    rows = case("random")
    problem = problem_of("psi_of_a_class", rows)
    result = solve(make_engine(rows.X), problem)
    np.testing.assert_array_equal(result["coef"], 0)
    assert (result["intercept_low"], result["intercept_high"], result["intercept"]) == (-np.inf, -1.0, -1.0)
    assert result["objective"] == (problem.y > 0).sum()
    assert result["gap"] == 0


@pytest.mark.parametrize(("n", "d"), [(60, 300), (300, 60), (40, 2500), (2500, 40)])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_shapes_for_which_other_methods_are_chosen(C, sparse, n, d):
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    problem = oracle.Problem(X, y, np.full(n, C), np.zeros(n))
    result = solve(make_engine(X, sparse=sparse), problem, tol=1e-7)
    certify(problem, result, tol=1e-7)


@pytest.mark.parametrize("sides", ["equal costs", "unequal costs"])
@pytest.mark.parametrize(("n", "d", "C"), [(900, 600, 1e-4), (900, 600, 1e-3), (200, 300, 1.0), (150, 2100, 1.0)])
@pytest.mark.parametrize("most", [0, 20])
def test_small_costs_and_few_rows_take_some_rounds_of_descent_and_an_active_set(n, d, C, sides, most):
    """Few rows end between their bounds there, and systems with an equation for each feature are not needed."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + np.sqrt(d) * rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    c = C * np.where((y > 0) & (sides == "unequal costs"), 3.0, 1.0)
    problem = oracle.Problem(X, y, c, np.zeros(n))
    calls = []
    options = {"max_iter": most, "callback": lambda n_iter, objective, gap: calls.append(n_iter) is not None}
    result = solve(make_engine(X), problem, **options)
    certify(problem, result)
    assert result["method"] == "active_set" or (most == 0 and result["method"] == "coordinate_descent")
    # The interior point, which counts its own steps, would be heard as well.
    assert calls == list(range(1, len(calls) + 1))
    assert len(calls) == 20 if most else len(calls) <= 110
    assert result["n_iter"] <= len(calls) + 8


def test_hundreds_of_dense_columns_get_as_many_rounds_of_descent():
    """The first 20 rounds do not show where the rows end, and the progress from there to the end is irregular."""
    rng = np.random.default_rng(900)
    X = rng.normal(size=(900, 300))
    y = np.where(X @ rng.normal(size=300) + np.sqrt(300) * rng.normal(size=900) > 0, 1, -1).astype(np.int8)
    problem = oracle.Problem(X, y, np.full(900, 0.01), np.zeros(900))
    result = solve(make_engine(X), problem)
    certify(problem, result)
    assert result["method"] == "coordinate_descent"
    assert 100 < result["n_iter"] <= 300


def test_short_sparse_rows_of_more_values_than_a_cache_holds_are_taken_in_groups(rng):
    X = sp.csr_matrix(rng.random((36_000, 400), dtype=np.float32) < 0.15, dtype=np.float64)
    y = np.where(X @ (np.arange(400) < 20) + rng.normal(size=36_000) > 3, 1, -1).astype(np.int8)
    cost = 1e-4
    engine = _core.LargeMarginEngine(CsrMatrix.of(X), n_threads=1)
    result = engine.solve(y, np.full(y.size, cost), None, None, _core.MarginOptions(), None, n_threads=1)
    beta, coef = result.beta, result.coef
    assert result.method == "coordinate_descent"
    assert beta.min() >= 0
    assert beta.max() <= cost * (1 + 1e-12)
    np.testing.assert_allclose(y @ beta, 0, atol=1e-9)
    np.testing.assert_allclose(X.T @ (y * beta), coef, atol=1e-9)
    half_norm, losses = coef @ coef / 2, np.maximum(1 - y * (X @ coef + result.intercept), 0)
    assert half_norm + cost * losses.sum() == pytest.approx(beta.sum() - half_norm, rel=1e-7)


def test_where_descent_does_not_suffice_rows_near_their_margin_are_solved_alone():
    rng = np.random.default_rng(901)
    X = rng.normal(size=(4200, 210))
    y = np.where(X @ rng.normal(size=210) + rng.normal(size=4200) > 0, 1, -1).astype(np.int8)
    problem = oracle.Problem(X, y, np.full(4200, 10.0), np.zeros(4200))
    result = solve(make_engine(X), problem)
    certify(problem, result)
    assert result["method"] == "interior_point"
    assert result["n_iter"] > 210  # the rounds of descent count, unless an interior point of all rows has followed


def test_rows_between_their_bounds_move_together(rng):
    """One after the other they take 255 to 268 rounds; equal rows of both classes leave the matrix singular."""
    X = rng.random((400, 2500)) * (rng.random((400, 2500)) < 0.012)
    y = np.where(X @ rng.standard_normal(2500) + 0.5 * rng.standard_normal(400) > 0, 1, -1)
    X[:6], y[:6] = X[6:12], -y[6:12]
    problem = oracle.Problem(X, y, np.full(400, 10.0), np.zeros(400))
    told = []
    result = solve(make_engine(X, sparse=True), problem, callback=lambda *each: told.append(each))
    certify(problem, result)
    assert result["method"] == "coordinate_descent"
    assert result["n_iter"] <= 150
    # The dual objective that is kept up to date from move to move is that of the solution.
    _, objective, gap = told[-1]
    assert objective - gap == pytest.approx(result["objective"] - result["gap"], rel=1e-8)


def test_balanced_costs_of_rows_fewer_than_features_are_no_worse_a_start():
    """Where all rows at their costs is feasible but far from optimal, descent starts from 0 instead."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2100)), np.repeat(np.array([1, -1], dtype=np.int8), 30)
    problem = oracle.Problem(X, y, np.full(60, 100.0), np.zeros(60))
    result = solve(make_engine(X), problem)
    certify(problem, result)
    assert result["method"] == "active_set"
    assert result["n_iter"] <= 28


@pytest.mark.parametrize(
    ("C", "dtype", "sparse"),
    [(1.0, np.float64, False), (1.0, np.float32, True), (1e3, np.float32, False), (1e3, np.float64, True)],
)
def test_wide_rows_of_low_rank_are_solved_by_pairs(C, dtype, sparse):
    """Descent hardly gets on with them, and they have too many columns for the interior point."""
    problem = wide_of_low_rank(C)
    result = solve(make_engine(problem.X, dtype=dtype, sparse=sparse), problem, tol=1e-6)
    assert (result["method"], result["status"]) == ("smo", "gap")
    certify(problem, result, tol=1e-6)
    calls = [0]

    def stop(n_iter, objective, gap):
        calls.append(n_iter)
        return n_iter > calls[-2] + 9  # a round of descent is one iteration, an active set has up to 8, pairs many

    stopped = solve(make_engine(problem.X, dtype=dtype, sparse=sparse), problem, tol=1e-6, callback=stop)
    assert (stopped["method"], stopped["status"]) == ("smo", "callback")
    assert stopped["n_iter"] == calls[-1] < result["n_iter"]
    assert stopped["objective"] - stopped["gap"] <= result["objective"] <= stopped["objective"]


def wide_of_low_rank(C: float, n: int = 200, d: int = 2500, rank: int = 5) -> oracle.Problem:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, rank)) @ (rng.normal(size=(rank, d)) * (rng.random((rank, d)) < 0.3))
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    return oracle.Problem(X.astype(np.float32).astype(np.float64), y, np.full(n, C), np.zeros(n))


def test_the_interval_for_small_costs_is_wide_and_its_middle_is_taken():
    """All margins are below 1, and w = sum c_i y_i x_i: where the paper's algorithm stops anywhere."""
    rows = case("random")
    problem = problem_of("class_means", rows, 1e-3)
    result = solve(make_engine(rows.X), problem)
    assert result["method"] == "bounds"
    assert result["intercept_high"] - result["intercept_low"] > 1.9
    assert result["intercept"] == pytest.approx((result["intercept_low"] + result["intercept_high"]) / 2, abs=1e-15)
    X, y = rows.X, rows.y
    np.testing.assert_allclose(result["coef"] / 1e-3, X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("C", [17.8, 31.6, 56.2])
def test_rows_far_out_do_not_keep_it_from_the_optimum(C):
    # Few rows have a feature, some of them hugely: an interior point comes to a standstill at a gap of 1e-4.
    rng = np.random.default_rng(11)
    X = np.exp(rng.normal(0, 2.5, size=(3000, 30))) * (rng.random((3000, 30)) < 0.02)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(rng.random(3000) < 0.1 + 0.3 * (X[:, :5] > 0).any(axis=1), 1, -1)
    costs = C / np.where(y > 0, (y > 0).sum(), (y < 0).sum())
    problem = oracle.Problem(X, y, costs, np.zeros(3000))
    result = solve(make_engine(X), problem)
    assert result["status"] == "gap"
    certify(problem, result)
