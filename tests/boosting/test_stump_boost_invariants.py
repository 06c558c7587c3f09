"""The invariants of PNUAUCBoost, numbered as in section 10 of its specification, on fits by the public functions."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import GROUPS, SCORE_TOL, SUM_TOL, Problem, assert_same_run, make_problem
from fastpu import metrics
from oracles import stump_boost as decoupled
from oracles import stump_boost_pairwise as pairwise

#: sum g is the difference of two sums that are 1 up to rounding.
BALANCE_TOL = 1e-13

#: Scores of two fits whose sums run in a different order: alphas agree to 1e-14 a round, over tens of rounds.
REORDER_TOL = 1e-12

GAMMAS = (0.0, 0.3, 0.95, 1.0)
RHOS = (0.0, 0.01, 0.1)


def problem_of(seed: int, *, n: int = 60, d: int = 5, groups: str = "PNU", weighted: str | None = None) -> Problem:
    rng = np.random.default_rng([41, seed])
    return make_problem(
        rng, n=n, d=d, groups=groups, weighted=weighted, kinds=("normal", "normal", "rounded", "missing", "zeros")
    )


def continuous(seed: int, *, n: int = 60, d: int = 4, groups: str = "PNU") -> Problem:
    """No two values alike, so that no tie but those of round 1 decides a stump."""
    return make_problem(np.random.default_rng([43, seed]), n=n, d=d, groups=groups, kinds=("normal",))


def stages(model, X: np.ndarray) -> list[np.ndarray]:
    """Scores before the first round and after each one."""
    return [np.zeros(X.shape[0]), *[np.array(s) for s in model.staged_decision_function(X)]]


def kl(p: float, q: np.ndarray) -> np.ndarray:
    """Binary relative entropy KL(p || q)."""
    return p * np.log(p / q) + (1 - p) * np.log1p(-p) - (1 - p) * np.log1p(-q)


def pair_weights(scores: np.ndarray, y: np.ndarray, gamma: float) -> dict[str, np.ndarray]:
    """D of section 2 straight from the scores."""
    raw = {}
    for kind, share in pairwise.pair_shares(y, np.ones(len(y)), gamma).items():
        better, worse = (scores[y == label] for label in pairwise.KINDS[kind])
        raw[kind] = share / (len(better) * len(worse)) * np.exp(-np.subtract.outer(better, worse))
    total = sum(w.sum() for w in raw.values())
    return {kind: w / total for kind, w in raw.items()}


@pytest.mark.parametrize("gamma", [0.3, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_01_decoupled_weights_are_the_pair_weights(gamma, seed):
    problem = problem_of(seed, n=45)
    X, y = problem.X, problem.y
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=25, gamma=gamma, rho=0.01)
    naive = pairwise.fit_pairwise(X, y, n_rounds=25, gamma=gamma, rho=0.01)
    assert_same_run(model, naive)
    scores = stages(model, X)
    for D, f in zip(naive.pair_weights, scores[:-1], strict=True):
        from_scores = pair_weights(f, y, gamma)
        assert abs(sum(w.sum() for w in D.values()) - 1) < SUM_TOL
        for kind, weights in D.items():
            np.testing.assert_allclose(from_scores[kind], weights, rtol=0, atol=SUM_TOL)

    h = np.array(
        [
            decoupled.answers(X[:, e], theta, s)
            for e, theta, s in zip(model.features, model.thresholds, model.polarity, strict=True)
        ]
    )
    ratio = np.sqrt(2 * gamma / (1 - gamma))
    for state, f in zip(pairwise.paper_weights(y, h, model.alphas, gamma=gamma), scores, strict=True):
        np.testing.assert_allclose(state["nu_p"], ratio * state["omega_p"], rtol=SUM_TOL)
        np.testing.assert_allclose(state["nu_n"], ratio * state["omega_n"], rtol=SUM_TOL)
        D = pair_weights(f, y, gamma)
        for kind, (left, right) in {
            "PU": ("omega_p", "omega_u_minus"),
            "UN": ("omega_u_plus", "omega_n"),
            "PN": ("nu_p", "nu_n"),
        }.items():
            np.testing.assert_allclose(np.outer(state[left], state[right]), D[kind], rtol=0, atol=SUM_TOL)


@pytest.mark.parametrize("groups", GROUPS)
def test_02_row_values_of_the_search_sum_to_zero(groups):
    problem = problem_of(1, n=300, groups=groups)
    shares = decoupled.pair_shares(problem.y, np.ones(300), 0.4)
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=60, gamma=0.4)
    for f in stages(model, problem.X):
        state = decoupled.State(problem.y, np.ones(300), shares, f)
        assert abs(state.g.sum()) < BALANCE_TOL


@pytest.mark.parametrize("step", ["jensen", "line_search"])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("rho", RHOS)
def test_03_objective_is_log_j_of_the_scores(gamma, rho, step):
    problem = problem_of(2, n=50, weighted="real")
    X, y, weights = problem.X, problem.y, problem.weights
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=40, gamma=gamma, rho=rho, step=step, sample_weight=weights)
    alphas = np.asarray(model.alphas)
    np.testing.assert_allclose(model.objective, np.cumsum(rho * alphas + np.log(model.z)), rtol=0, atol=SCORE_TOL)
    for t, f in enumerate(stages(model, X)[1:]):
        log_j = pairwise.log_objective_from_scores(
            f, y, gamma=gamma, rho=rho, sum_alpha=alphas[: t + 1].sum(), sample_weight=weights
        )
        assert abs(model.objective[t] - log_j) < SCORE_TOL


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


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("seed", range(4))
def test_05_gamma_one_is_rankboost_on_the_labelled_rows(rho, seed):
    problem = problem_of(seed, n=120)
    X, y = problem.X, problem.y
    labelled = y != 0
    ours = fastpu.fit_pnu_auc_boost(X, y, n_rounds=40, gamma=1.0, rho=rho)
    for rankboost in (
        fastpu.baselines.fit_rankboost_auc(X, y, n_rounds=40, rho=rho),
        fastpu.baselines.fit_rankboost_auc(X[labelled], y[labelled], n_rounds=40, rho=rho),
        fastpu.fit_pnu_auc_boost(X[labelled], y[labelled], n_rounds=40, gamma=0.123, rho=rho),
    ):
        for name in ("deltas", "z"):
            np.testing.assert_allclose(getattr(ours, name), getattr(rankboost, name), rtol=0, atol=BALANCE_TOL)
        np.testing.assert_allclose(np.tanh(ours.alphas), np.tanh(rankboost.alphas), rtol=0, atol=BALANCE_TOL)
        np.testing.assert_allclose(
            ours.decision_function(X[labelled]), rankboost.decision_function(X[labelled]), rtol=0, atol=REORDER_TOL
        )


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


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("change", ["permuted", "doubled", "doubled in blocks"])
def test_07_row_order_and_doubled_rows_do_not_matter(change, max_bins):
    problem = problem_of(6, n=180)
    rows = np.arange(180)
    rows = {
        "permuted": np.random.default_rng(0).permutation(rows),
        "doubled": np.repeat(rows, 2),
        "doubled in blocks": np.concatenate([rows, rows]),
    }[change]
    options = {"n_rounds": 40, "gamma": 0.6, "rho": 0.01, "max_bins": max_bins}
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    other = fastpu.fit_pnu_auc_boost(problem.X[rows], problem.y[rows], **options)
    assert_same_run(other, model)
    np.testing.assert_allclose(
        other.decision_function(problem.X), model.decision_function(problem.X), rtol=0, atol=REORDER_TOL
    )


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


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("seed", range(3))
def test_09_round_one_sees_the_labelled_rows_only(gamma, seed):
    problem = problem_of(seed, n=90)
    ours = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=1, gamma=gamma, rho=0.0)
    rankboost = fastpu.baselines.fit_rankboost_auc(problem.X, problem.y, n_rounds=1, rho=0.0)
    np.testing.assert_allclose(ours.deltas[0], (1 + gamma) / 2 * rankboost.deltas[0], rtol=0, atol=BALANCE_TOL)
    shares = decoupled.pair_shares(problem.y, np.ones(90), gamma)
    state = decoupled.State(problem.y, np.ones(90), shares, np.zeros(90))
    np.testing.assert_allclose(state.g[problem.y == 0], 0, atol=BALANCE_TOL)


@pytest.mark.parametrize("weighted", [None, "whole", "real"])
@pytest.mark.parametrize("n", [100, 256, 257, 700])
def test_10_enough_bins_are_exact(n, weighted):
    problem = problem_of(10, n=n, weighted=weighted)
    options = {"n_rounds": 30, "gamma": 0.5, "rho": 0.01, "sample_weight": problem.weights}
    exact = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    for max_bins in (n - 1, n, 60000):
        assert_same_run(fastpu.fit_pnu_auc_boost(problem.X, problem.y, max_bins=max_bins, **options), exact)


def test_12_a_turned_stump_is_the_stump_of_the_complement():
    rng = np.random.default_rng(12)
    y = rng.choice([1, 0, -1], size=200).astype(np.int8)
    X = (rng.random((200, 6)) < 0.5 + 0.1 * y[:, None]).astype(np.float64)
    options = {"n_rounds": 50, "gamma": 0.5, "rho": 0.01}
    model = fastpu.fit_pnu_auc_boost(X, y, **options)
    complement = fastpu.fit_pnu_auc_boost(1 - X, y, **options)
    np.testing.assert_array_equal(model.features, complement.features)
    np.testing.assert_array_equal(model.polarity, -np.asarray(complement.polarity))
    for here, there in zip(stages(model, X), stages(complement, 1 - X), strict=True):
        D, E = pair_weights(here, y, 0.5), pair_weights(there, y, 0.5)
        for kind in D:
            np.testing.assert_allclose(D[kind], E[kind], rtol=0, atol=SUM_TOL)


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
    log_j = pairwise.log_objective_from_scores(
        scores, problem.y, gamma=gamma, rho=0.0, sum_alpha=float(np.sum(model.alphas))
    )
    assert abs(model.objective[-1] - log_j) <= SCORE_TOL * max(1, abs(log_j))


def test_13_conflicting_labels_converge_instead_of_looping():
    """Equal rows with every label: log J has a finite minimum, Delta falls to rounding, and nothing drifts."""
    rng = np.random.default_rng(131)
    X = np.repeat(rng.integers(0, 3, size=(12, 2)).astype(np.float64), 3, axis=0)
    y = np.tile(np.array([1, 0, -1], dtype=np.int8), 12)
    y[:8] = 1
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=8000, gamma=0.5, rho=0.0, stop_tol=0.0)
    log_j = pairwise.log_objective_from_scores(
        model.decision_function(X), y, gamma=0.5, rho=0.0, sum_alpha=float(np.sum(model.alphas))
    )
    assert abs(model.objective[-1] - log_j) < SCORE_TOL
    assert np.all(np.isfinite(model.alphas))


def test_14_auc_counts_ties_half_and_turns_with_the_score():
    problem = problem_of(14, n=150)
    labelled = problem.y != 0
    X, y = problem.X[labelled], problem.y[labelled]
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=3)
    score = model.decision_function(X)
    assert len(np.unique(score)) < len(score)
    value = metrics.auc(y, score)
    assert abs(value - decoupled.auc(y, score)) < SUM_TOL
    assert abs(metrics.auc(y, -score) + value - 1) < SUM_TOL
    assert metrics.auc(y, np.zeros(len(y))) == 0.5


@pytest.mark.parametrize("step", ["jensen", "line_search"])
@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize(("groups", "weighted"), [("PNU", None), ("PNU", "real"), ("PU", "whole"), ("UN", None)])
def test_15_replay_certificate(groups, weighted, max_bins, step):
    problem = problem_of(15, n=600, d=8, groups=groups, weighted=weighted)
    options = {"n_rounds": 150, "gamma": 0.6, "rho": 0.01, "max_bins": max_bins, "step": step}
    options["sample_weight"] = problem.weights
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    decoupled.verify_model(model, problem.X, problem.y, **options)


def test_15_replay_certificate_of_a_long_fit():
    problem = problem_of(150, n=3000, d=6)
    options = {"n_rounds": 700, "gamma": 0.8, "rho": 0.0, "max_bins": 64}
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, **options)
    decoupled.verify_model(model, problem.X, problem.y, **options)
