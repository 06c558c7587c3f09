"""The invariants of PNUAUCBoost, numbered as in section 10 of its specification, on fits by the public functions."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import GROUPS, SCORE_TOL, SUM_TOL, Problem, assert_same_run, make_problem
from oracles import stump_boost as decoupled

#: sum g is the difference of two sums that are 1 up to rounding.
BALANCE_TOL = 1e-13

RHOS = (0.0, 0.01, 0.1)


def problem_of(seed: int, *, n: int = 60, d: int = 5, groups: str = "PNU", weighted: str | None = None) -> Problem:
    rng = np.random.default_rng([41, seed])
    return make_problem(
        rng, n=n, d=d, groups=groups, weighted=weighted, kinds=("normal", "normal", "rounded", "missing", "zeros")
    )


def continuous(seed: int, *, n: int = 60, d: int = 4, groups: str = "PNU") -> Problem:
    """No two values alike, so that no tie but those of round 1 decides a stump."""
    return make_problem(np.random.default_rng([43, seed]), n=n, d=d, groups=groups, kinds=("normal",))


def log_risk(f: np.ndarray, y: np.ndarray, gamma: float, weights: np.ndarray | None = None) -> float:
    """log R of the scores of the rows of positive weight."""
    w = np.ones(y.size) if weights is None else weights
    y, w, f = y[w > 0], w[w > 0], f[w > 0]
    return decoupled.State(y, w, decoupled.pair_shares(y, w, gamma), f).log_risk


def kl(p: float, q: np.ndarray) -> np.ndarray:
    """Binary relative entropy KL(p || q)."""
    return p * np.log(p / q) + (1 - p) * np.log1p(-p) - (1 - p) * np.log1p(-q)


@pytest.mark.parametrize("step", ["jensen", "line_search"])
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("groups", GROUPS)
def test_04_each_round_gains_at_least_its_bound(groups, rho, step):
    problem = problem_of(3, n=200, groups=groups)
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=150, gamma=0.5, rho=rho, step=step)
    deltas = np.minimum(model.deltas, 1 - 1e-6)
    bound = kl((1 + rho) / 2, (1 + deltas) / 2)
    gain = -np.diff([0.0, *model.objective])
    rounding = 1e-14 * np.maximum(1, np.abs(model.objective))
    assert np.all(gain >= bound - rounding)
    assert np.all(gain[bound > rounding] > 0)
    t = np.arange(1, model.n_iter + 1)
    assert np.all(model.objective <= -np.cumsum(bound) + SCORE_TOL)
    assert np.all(-np.cumsum(bound) <= -t / 2 * (np.minimum.accumulate(deltas) - rho) ** 2 + SCORE_TOL)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("max_bins", [None, 8])
def test_06_negated_labels_turn_every_stump_round(groups, max_bins):
    problem = problem_of(5, n=150, groups=groups)
    options = {"n_rounds": 40, "gamma": 0.4, "rho": 0.02, "max_bins": max_bins}
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    mirror = fastpu.fit_pnu_auc_boost(problem.X, -problem.y, **options)
    np.testing.assert_array_equal(model.features, mirror.features)
    np.testing.assert_array_equal(model.thresholds, mirror.thresholds)
    np.testing.assert_array_equal(model.polarity, -np.asarray(mirror.polarity))
    both = model.decision_function(problem.X) + mirror.decision_function(problem.X)
    np.testing.assert_allclose(both, np.sum(model.alphas), rtol=SUM_TOL)


@pytest.mark.parametrize("seed", range(3))
def test_08_increasing_transforms_leave_the_training_scores(seed):
    problem = problem_of(seed, n=150)
    options = {"n_rounds": 40, "gamma": 0.6, "rho": 0.01}
    X = problem.X.copy()
    X[:, 0] = np.arctan(X[:, 0])
    X[:, 1] = np.exp(X[:, 1] * 3)
    X[:, 2] = X[:, 2] ** 3 - 5
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    moved = fastpu.fit_pnu_auc_boost(X, problem.y, **options)
    np.testing.assert_array_equal(moved.decision_function(X), model.decision_function(problem.X))

    flipped = fastpu.fit_pnu_auc_boost(-np.nan_to_num(problem.X), problem.y, **options)
    upright = fastpu.fit_pnu_auc_boost(np.nan_to_num(problem.X), problem.y, **options)
    np.testing.assert_allclose(flipped.deltas[0], upright.deltas[0], rtol=0, atol=BALANCE_TOL)


@pytest.mark.parametrize("step", ["jensen", "line_search"])
@pytest.mark.parametrize(("groups", "gamma"), [("PN", 1.0), ("PNU", 1.0), ("PNU", 0.9), ("PU", 0.5)])
def test_13_eight_thousand_rounds_stay_finite_and_true(groups, gamma, step):
    """Separable only by many stumps: the scores spread by hundreds and the pair weights fall below any float."""
    problem = continuous(13, n=60, d=3, groups=groups)
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=8000, gamma=gamma, rho=0.0, stop_tol=0.0, step=step)
    assert model.n_iter == 8000
    scores = model.decision_function(problem.X)
    for name in ("alphas", "deltas", "z", "objective"):
        assert np.all(np.isfinite(getattr(model, name))), name
    assert np.all(np.isfinite(scores))
    log_j = log_risk(scores, problem.y, gamma)
    assert abs(model.objective[-1] - log_j) <= SCORE_TOL * max(1, abs(log_j))


def test_13_conflicting_labels_converge_instead_of_looping():
    """Equal rows with every label: log J has a finite minimum, Delta falls to rounding, and nothing drifts."""
    rng = np.random.default_rng(131)
    X = np.repeat(rng.integers(0, 3, size=(12, 2)).astype(np.float64), 3, axis=0)
    y = np.tile(np.array([1, 0, -1], dtype=np.int8), 12)
    y[:8] = 1
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=8000, gamma=0.5, rho=0.0, stop_tol=0.0)
    log_j = log_risk(model.decision_function(X), y, 0.5)
    assert abs(model.objective[-1] - log_j) < SCORE_TOL
    assert np.all(np.isfinite(model.alphas))


@pytest.mark.parametrize("step", ["jensen", "line_search"])
@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize(("groups", "weighted"), [("PNU", None), ("PNU", "real"), ("PU", "whole"), ("UN", None)])
def test_15_a_long_fit_is_greedy_in_every_round(groups, weighted, max_bins, step):
    problem = problem_of(15, n=600, d=8, groups=groups, weighted=weighted)
    options = {"n_rounds": 150, "gamma": 0.6, "rho": 0.01, "max_bins": max_bins, "step": step}
    options["sample_weight"] = problem.weights
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    assert_same_run(model, decoupled.fit_decoupled(problem.X, problem.y, **options))
