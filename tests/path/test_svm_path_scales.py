"""Linear paths of columns of unlike scale: every point that is returned is optimal, judged in exact arithmetic."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")  # that is the subject

#: Relative duality gap. What a path returns is optimal to 1e-6 by its own test; between two points it may be a little
#: more, and where columns differ by less than 1e7 far less.
GAP, FAR_BETTER = 1e-5, 1e-9

SEVEN = np.array(
    [[-5e4, -0.4, -0.9], [1e4, -0.1, 1.0], [-5e4, -0.4, 1.9], [-4e4, 1.4, 0.7], [-4e4, 0.6, -1.2], [-1e4, 1.3, -1.5],
     [1.5e5, 1.3, -0.9]]
)  # fmt: skip
INTEGERS = np.array(
    [[2000, -2, 3], [-1000, -1, -2], [-3000, -2, -3], [3000, -2, 3], [-2000, -2, 3], [-1000, 0, 0]], dtype=np.float64
)


def exact(values) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def exact_gap(path: fastpu.models.SVMPath, X: np.ndarray, lam: float) -> tuple[float, float]:
    """The relative duality gap of the machine at lam, and how much of 1 a hard row lacks: exactly."""
    machine = path.at(lam)
    rows = [exact(row) for row in X[path.rows]]
    y = [int(label) for label in path.labels]
    upper = [exact(path.alpha_at(k)) for k in range(path.knots.size)]
    knots = exact(path.knots)
    if lam >= path.knots[0]:
        alpha = exact(path.start_alpha)
    else:
        k = int(np.searchsorted(-path.knots, -lam))
        share = (knots[k - 1] - Fraction(lam)) / (knots[k - 1] - knots[k])
        alpha = [(1 - share) * a + share * b for a, b in zip(upper[k - 1], upper[k], strict=True)]
    w, b, at = exact(machine.coef), Fraction(machine.intercept), Fraction(lam)
    lack = [1 - sign * (sum(p * q for p, q in zip(w, row, strict=True)) + b) for sign, row in zip(y, rows, strict=True)]
    costs = [Fraction(float(c)) if np.isfinite(c) else None for c in path.costs]
    loss = sum((a if c is None else c) * max(Fraction(0), s) for a, c, s in zip(alpha, costs, lack, strict=True))
    hard = max((s for c, s in zip(costs, lack, strict=True) if c is None), default=Fraction(0))
    primal = loss + at / 2 * sum(p * p for p in w)
    beta = [a * sign for a, sign in zip(alpha, y, strict=True)]
    assert abs(sum(beta)) <= 1e-9 * sum(alpha)
    mass = [sum(p * row[f] for p, row in zip(beta, rows, strict=True)) for f in range(X.shape[1])]
    # The dual at alpha, whose sum over y is 0 but for rounding: that much of b is not its own.
    dual = sum(alpha) - sum(p * p for p in mass) / (2 * at) - b * sum(beta)
    return float(abs(primal - dual) / primal) if primal else 0.0, float(hard)


def fit(X, y, **options) -> fastpu.models.SVMPath:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
        warnings.simplefilter("ignore", fastpu.exceptions.ConvergenceWarning)  # of paths that say that they stop early
        return fastpu.fit_svm_path(X, y, kernel="linear", n_threads=1, **options)


def worst_gap(path: fastpu.models.SVMPath, X: np.ndarray, n: int = 6) -> float:
    if path.status == "trivial":
        return 0.0
    found = [exact_gap(path, X, lam) for lam in np.geomspace(path.end, 2 * path.lams[0], n)]
    assert max(hard for _, hard in found) <= 1e-6
    return max(gap for gap, _ in found)


def primal(X, signs, costs, machine, lam: float) -> float:
    loss = costs * np.maximum(0, 1 - signs * machine.decision_function(X))
    return float(loss.sum() + lam / 2 * (machine.coef**2).sum())


def test_a_large_column_does_not_end_a_path_at_its_first_breakpoint():
    y = np.array([1, -1, -1, -1, -1, 1, 1])
    path = fit(SEVEN, y)
    assert path.status == "zero"
    assert path.lams.size > 4
    assert primal(SEVEN, y, 1.0, path.at(1.0), 1.0) == pytest.approx(2.57785532, rel=1e-7)
    assert worst_gap(path, SEVEN) < FAR_BETTER


def test_integers_of_unlike_size_have_the_least_objective():
    y = np.array([1, 0, 1, 0, 1, 1])
    path = fastpu.fit_pu_svm_path(INTEGERS, y, C_pos=1.0)
    signs = np.where(y > 0, 1, -1)
    assert primal(INTEGERS, signs, 1.0, path.at(0.1), 0.1) == pytest.approx(0.12307712307692, rel=1e-9)
    assert worst_gap(path, INTEGERS) < FAR_BETTER


@pytest.mark.parametrize("scale", [1e-8, 1e3, 1e4, 1e6, 1e8])
def test_a_column_of_another_scale_costs_nothing_dense_or_sparse(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=40) > 0, 1, -1)
    X[:, 3] *= scale
    path, sparse = fit(X, y), fit(sp.csr_array(X), y)
    assert (path.status, path.converged) == ("zero", True)
    assert path.lams.size > 20
    assert path.violation < 1e-8
    assert worst_gap(path, X, 4) < FAR_BETTER
    np.testing.assert_array_equal(sparse.knots, path.knots)
    np.testing.assert_array_equal(sparse.coef, path.coef)


@given(st.data())
def test_any_scales_give_optimal_points_or_say_that_they_stop(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n, d = data.draw(st.integers(3, 12)), data.draw(st.integers(1, 3))
    X = rng.integers(-3, 4, size=(n, d)).astype(float) if data.draw(st.booleans()) else rng.normal(size=(n, d))
    exponents = st.integers(-8, 8)
    kind = data.draw(st.sampled_from(["all", "one", "each"]))
    if kind == "all":
        X *= 10.0 ** data.draw(exponents)
    elif kind == "one":
        X[:, data.draw(st.integers(0, d - 1))] *= 10.0 ** data.draw(exponents)
    else:
        X *= 10.0 ** np.array([data.draw(exponents) for _ in range(d)])
    y = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    costs = rng.uniform(0.2, 3.0, n) * 10.0 ** data.draw(st.integers(-6, 10))
    if data.draw(st.booleans()):
        costs[y > 0] = np.inf
    path = fit(sp.csr_array(X) if data.draw(st.booleans()) else X, y, sample_cost=costs)
    assert path.status in ("zero", "trivial", "stalled", "precision")
    assert path.converged == (path.status in ("zero", "trivial"))
    if path.converged:
        assert worst_gap(path, X, 4) < GAP
    if kind == "all":
        assert path.converged


def test_a_point_that_is_not_optimal_is_not_returned_silently():
    """Columns of 1e-8, 1 and 1e8: products of rows span more digits than float64 has."""
    rng = np.random.default_rng(0)
    n_early = 0
    for _ in range(10):
        X = rng.integers(-3, 4, size=(12, 3)) * [1e-8, 1.0, 1e8]
        y = rng.choice([-1, 1], 12)
        y[:2] = 1, -1
        path = fit(X, y)
        n_early += not path.converged
        if path.converged:
            assert worst_gap(path, X, 4) < GAP
    assert n_early
