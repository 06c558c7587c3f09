"""fit_pnu_auc_boost and fit_rankboost_auc against their oracle: fast == slow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from boosting_cases import (
    GROUPS,
    SCORE_TOL,
    Problem,
    assert_same_run,
    draw_options,
    in_float32,
    make_problem,
    to_csr,
    warns_if_empty,
)
from oracles import stump_boost as decoupled

#: Cuts of a feature: none, fewer than the values, at the limits of one byte, and more than one byte holds.
MAX_BINS = (None, 1, 2, 5, 32, 255, 300)


def fit(problem: Problem, X=None, **options):
    X = problem.X if X is None else X
    return fastpu.fit_pnu_auc_boost(X, problem.y, sample_weight=problem.weights, **options)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("max_bins", MAX_BINS)
def test_fits_equal_the_oracle(groups, max_bins):
    rng = np.random.default_rng([7, sorted(GROUPS).index(groups), max_bins or 0])
    n = int(rng.integers(300, 2001))
    problem = make_problem(
        rng, n=n, d=int(rng.integers(1, 13)), groups=groups, weighted=str(rng.choice(["whole", "real"]))
    )
    if rng.random() < 0.3:
        problem = Problem(problem.X, problem.y, None)
    options = {"n_rounds": 25, "max_bins": max_bins, **draw_options(rng)}
    oracle = decoupled.fit_decoupled(problem.X, problem.y, sample_weight=problem.weights, **options)
    for X in (problem.X, to_csr(problem.X)):
        with warns_if_empty(oracle):
            model = fit(problem, X, **options)
        assert_same_run(model, oracle)
        np.testing.assert_allclose(model.decision_function(X), oracle.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


@pytest.mark.parametrize("max_bins", [None, 5, 255])
@pytest.mark.parametrize("seed", range(4))
def test_float32_is_used_as_it_is(max_bins, seed):
    """float32 values are compared as they are, and thresholds lie between them in float64."""
    rng = np.random.default_rng([11, seed])
    problem = make_problem(rng, n=300, d=6)
    X = in_float32(problem.X)
    options = {"n_rounds": 25, "max_bins": max_bins, **draw_options(rng)}
    oracle = decoupled.fit_decoupled(X, problem.y, **options)
    for matrix in (X, to_csr(X)):
        assert matrix.dtype == np.float32
        model = fit(problem, matrix, **options)
        assert_same_run(model, oracle)
        np.testing.assert_allclose(model.decision_function(matrix), oracle.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


def test_neighbouring_float32_values_are_told_apart():
    """The midpoint of two neighbouring floats exists in float64 only; a comparison in float32 would lose the cut."""
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    X = np.array([[high], [high], [low], [low]], dtype=np.float32)
    y = np.array([1, 1, -1, -1], dtype=np.int8)
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=1, rho=0.0)
    assert float(low) <= model.thresholds[0] < float(high)
    scores = model.decision_function(X)
    assert scores[:2].min() > scores[2:].max()
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, scores)


@pytest.mark.parametrize("groups", ["PNU", "PN"])
@pytest.mark.parametrize("seed", range(8))
def test_rankboost_equals_its_oracle(groups, seed):
    rng = np.random.default_rng([17, seed])
    problem = make_problem(rng, n=55, d=5, groups=groups, weighted=(None, "whole", "real")[seed % 3])
    options = {"n_rounds": 20, "rho": float(rng.choice([0.0, 0.05])), "max_bins": MAX_BINS[seed % 4]}
    model = fastpu.baselines.fit_rankboost_auc(problem.X, problem.y, sample_weight=problem.weights, **options)
    oracle = decoupled.fit_rankboost(problem.X, problem.y, sample_weight=problem.weights, **options)
    assert_same_run(model, oracle)
    scores = model.decision_function(problem.X[problem.y != 0])
    np.testing.assert_allclose(scores, oracle.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


def test_rho_above_the_cap_takes_no_negative_step():
    """Delta = 1 is capped at 1 - 1e-6, which is below this rho: a step would have to be negative."""
    X = np.array([[1.0], [1.0], [0.0], [0.0]])
    y = np.array([1, 1, -1, -1], dtype=np.int8)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="empty"):
        model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=3, rho=1 - 1e-7, stop_tol=0.0)
    assert np.all(np.asarray(model.alphas) > 0)
    assert np.all(np.isfinite(model.decision_function(X)))


@st.composite
def small_problems(draw):
    n = draw(st.integers(3, 14))
    d = draw(st.integers(1, 3))
    values = st.sampled_from([-1.5, -0.0, 0.0, 1.0, 2.0, 1e-3, np.nan, np.inf, -np.inf])
    X = np.array(draw(st.lists(values, min_size=n * d, max_size=n * d))).reshape(n, d)
    y = np.array(draw(st.lists(st.sampled_from([1, 0, -1]), min_size=n, max_size=n)), dtype=np.int8)
    y[:2] = draw(st.sampled_from([(1, 0), (1, -1), (0, -1)]))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if weights is not None:
        weights = np.array(weights, dtype=np.float64)
        weights[:2] = 1.0
    options = {
        "n_rounds": draw(st.integers(1, 12)),
        "gamma": draw(st.sampled_from([0.0, 0.5, 0.9, 1.0])),
        "rho": draw(st.sampled_from([0.0, 0.02, 0.3])),
        "max_bins": draw(st.sampled_from([None, 1, 2, 3])),
        "step": draw(st.sampled_from(["jensen", "line_search"])),
    }
    return Problem(X, y, weights), options


@given(small_problems())
def test_fits_of_any_few_rows_equal_the_oracle(case):
    problem, options = case
    oracle = decoupled.fit_decoupled(problem.X, problem.y, sample_weight=problem.weights, **options)
    for X in (problem.X, to_csr(problem.X)):
        with warns_if_empty(oracle):
            model = fit(problem, X, **options)
        assert_same_run(model, oracle)
