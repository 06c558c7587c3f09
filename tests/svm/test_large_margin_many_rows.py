"""Problems of so many rows that only those near their margin take part: the same solutions as of all rows.

With `max_iter`, which is `solver_max_iter` of the fit functions, the engine takes all rows into its interior point:
that is the oracle here.
"""

from __future__ import annotations

import numpy as np
import pytest

from margin_engine_cases import certify, make_engine, oracle, solve

N = 51_000  # the least is 50,000, and 20,000 with a start
ALL_ROWS = 1000  # max_iter of the oracle


def rows_of(kind, rng, n=N, p=5):
    X = rng.normal(size=(n, p))
    if kind == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif kind == "grid":  # ties: many rows are equal, and many lie on their margin
        X = np.round(X)
    elif kind == "constant":
        X[:, 1] = 3.0
    elif kind == "scales":
        X *= 10.0 ** np.array([-3, 0, 3, 0, 1])
        X += 100
    return X


def problem_of(kind, C, rng):
    X = rows_of(kind, rng)
    n = len(X)
    z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    y = np.where(z[:, 0] + 0.5 * z[:, 2] + rng.normal(size=n) > 0, 1.0, -1.0)
    s = np.zeros(n)
    if kind == "few_positives":
        y = np.where((y > 0) & (rng.random(n) < 0.002), 1.0, -1.0)
    if kind == "psi":
        s = (rng.random(n) < 0.1).astype(float)
    if kind == "uneven":
        c = C * 10.0 ** rng.uniform(-2, 2, size=n) / n
    else:
        c = C / np.where(y > 0, (y > 0).sum(), (y < 0).sum())
    if kind == "dropped":
        c[rng.random(n) < 0.02] = 0.0
    return oracle.Problem(X, y, c, s)


def same(a, b):
    """a is a solution within 1e-9, as b is within its gap; |w - w'|^2 / 2 is at most the sum of both gaps."""
    assert a["status"] == "gap"
    assert a["gap"] <= 1e-9 * a["objective"]
    assert abs(a["objective"] - b["objective"]) <= a["gap"] + b["gap"] + 1e-12 * a["objective"]
    apart = 0.5 * np.sum((a["coef"] - b["coef"]) ** 2)
    assert apart <= 2 * (a["gap"] + b["gap"]) + 1e-12 * np.sum(b["coef"] ** 2)


KINDS = ("plain", "sorted", "grid", "constant", "scales", "few_positives", "psi", "uneven", "dropped")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_rows_near_the_margin_give_the_solution_of_all(C, kind):
    problem = problem_of(kind, C, np.random.default_rng(3))
    engine = make_engine(problem.X)
    by_few, by_all = (solve(engine, problem, max_iter=most) for most in (0, ALL_ROWS))
    same(by_few, by_all)
    if kind != "dropped":
        certify(problem, by_few)
    # From a start whose labels are others in part, as in Algorithm 1, or that is no guess at all.
    flipped = np.where(by_all["decision"] > 0, 1.0, problem.y)
    if (flipped < 0).any():
        next_one = oracle.Problem(problem.X, flipped, problem.c, problem.s)
        same(solve(engine, next_one, start=by_all), solve(engine, next_one, max_iter=ALL_ROWS))
    # The scores of the first have the other sign, those of the second are one number.
    for labels in (-problem.y, np.ones(len(flipped))):
        no_guess = solve(engine, oracle.Problem(problem.X, labels, problem.c, problem.s))
        same(solve(engine, problem, start=no_guess), by_all)


def test_most_steps_are_those_of_few_rows():
    """What this is for: the near rows are an eighth or less of all in each step after the first."""
    problem = problem_of("plain", 10.0, np.random.default_rng(0))
    engine = make_engine(problem.X)
    result = solve(engine, problem)
    again = solve(engine, problem, start=result)
    assert again["n_iter"] < 60  # an interior point or two: none of all rows after one that failed
    assert again["method"] == "interior_point"
