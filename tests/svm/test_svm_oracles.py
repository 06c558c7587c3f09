"""The oracle of the SVMs against other ways to the same: what the fast code is judged by must itself be right."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import svm as oracle
from svm_cases import CASES, KERNELS, KINDS, ORACLE_TOL, case, kernel_for, problem_of, random_rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("name", CASES)
def test_the_gap_certifies_every_solution(name, kernel, kind):
    rows = case(name)
    K = oracle.kernel_matrix(rows.X, **kernel_for(kernel, name))
    for c in (1e-2, 1.0, 1e2):
        problem = problem_of(kind, rows, K, c=c if kind == "c_svm" else 1.0)
        solution = oracle.solve(problem)
        A, b = problem.equations()
        assert np.all((solution.alpha >= 0) & (solution.alpha <= problem.c))
        np.testing.assert_allclose(A @ solution.alpha, b, rtol=0, atol=ORACLE_TOL * problem.c.sum())
        # The losses of the primal are a cost times a score.
        rounding = (problem.c.sum() + solution.alpha.sum()) * problem.score_rounding(solution.alpha)
        scale = abs(solution.objective) + problem.c.sum() * (1 + np.abs(solution.decision).max())
        assert abs(solution.gap) <= ORACLE_TOL * scale + rounding


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_holds_the_best_intercepts_and_no_others(seed):
    rng = np.random.default_rng([74, seed])
    n = int(rng.integers(2, 12))
    y = rng.choice([-1, 1], size=n)
    y[:2] = 1, -1
    g = np.round(rng.normal(size=n), 1)  # ties
    c = rng.choice([0.1, 0.2, 0.3], size=n) if seed % 2 else np.full(n, 0.1)

    def loss(b):
        return c @ np.maximum(1 - y * (g + np.asarray(b)[:, None]), 0).T

    grid = np.linspace(-4, 4, 8001)
    low, high = oracle.intercept_interval(g, y, c)
    assert np.isfinite([low, high]).all()
    least = loss(np.array([low, high, oracle.midpoint((low, high))]))
    np.testing.assert_allclose(least, loss(grid).min(), rtol=0, atol=1e-12)
    outside = grid[(grid < low - 1e-6) | (grid > high + 1e-6)]
    assert np.all(loss(outside) > least[0] + 1e-9)


def test_solutions_known_by_hand():
    pair = np.array([[1.0, 0.0], [-1.0, 0.0]])
    y, K = np.array([1, -1]), pair @ pair.T
    # The margin is 1 at w = (1, 0): alpha = 1/2 each, 1/2 |w|^2 = 1/2.
    hard = oracle.solve(oracle.Problem("c_svm", K, y, np.array([10.0, 10.0])))
    np.testing.assert_allclose(hard.alpha, [0.5, 0.5], atol=1e-12)
    assert abs(hard.objective + 0.5) < 1e-12
    assert abs(hard.intercept) < 1e-12
    # C = 0.1 stops both at the box: w = 0.2, and margins of 0.2 leave b free in [-0.8, 0.8].
    soft = oracle.solve(oracle.Problem("c_svm", K, y, np.array([0.1, 0.1])))
    np.testing.assert_allclose(soft.alpha, [0.1, 0.1], atol=1e-12)
    np.testing.assert_allclose(oracle.intercept_interval(K @ (y * soft.alpha), y, np.full(2, 0.1)), (-0.8, 0.8))
    # nu = 1/2: sum of alpha = 1, the same direction; rho is the margin of w = (1, 0).
    nu = oracle.solve(oracle.Problem("nu_svm", K, y, np.ones(2), 0.5))
    np.testing.assert_allclose(nu.alpha, [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose([nu.objective, nu.margin, nu.intercept], [0.5, 1.0, 0.0], atol=1e-12)
    # One class of two orthogonal rows: half the mass each; both lie on the boundary.
    one = oracle.solve(oracle.Problem("one_class", np.eye(2), np.ones(2), np.ones(2), 0.5))
    np.testing.assert_allclose(one.alpha, [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(one.decision, 0.0, atol=1e-12)


def test_a_nu_svm_is_a_c_svm_of_another_scale():
    """Divided by rho it solves the C-SVM with C = 1 / rho (Chang and Lin 2001)."""
    rows = random_rows(np.random.default_rng(75), 30, 3)
    problem = problem_of("nu_svm", rows, oracle.kernel_matrix(rows.X, **KERNELS["rbf"]))
    nu = oracle.solve(problem)
    c_svm = oracle.solve(oracle.Problem("c_svm", problem.K, problem.y, problem.c / nu.margin))
    np.testing.assert_allclose(nu.decision / nu.margin, c_svm.decision, rtol=0, atol=1e-7)
