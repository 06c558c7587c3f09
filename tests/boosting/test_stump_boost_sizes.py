"""Sizes and proportions at which blocks, codes and fixed widths end, and what happens when memory does."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import fastpu
from boosting_cases import SCORE_TOL, Problem, assert_same_run, assert_same_stumps, make_problem, to_csr
from method_recipes import model_bits
from oracles import stump_boost as oracles


def check(problem: Problem, **options) -> None:
    """Dense and CSR fits equal the oracle, scores included."""
    options = {"n_rounds": 8, "rho": 0.0, "sample_weight": problem.weights, **options}
    oracle = oracles.fit_decoupled(problem.X, problem.y, **{"gamma": 0.5, **options})
    for X in (problem.X, to_csr(problem.X)):
        model = fastpu.fit_pnu_auc_boost(X, problem.y, n_threads=3, **options)
        assert_same_run(model, oracle)
        np.testing.assert_allclose(model.decision_function(X), oracle.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


#: One less, as many, one more than: a word of bits, a block of predictions, the smallest radix sort, a block of rows.
ROWS = (63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 8193)


@pytest.mark.parametrize("max_bins", [None, 40])
@pytest.mark.parametrize("n", ROWS)
def test_numbers_of_rows_around_a_block(n, max_bins):
    check(make_problem(np.random.default_rng([1, n]), n=n, d=3, kinds=("normal", "zeros")), max_bins=max_bins)


@pytest.mark.parametrize("n", [4097, 8193])
def test_a_line_search_counts_the_rows_inside_a_bin(n):
    """With so many values a threshold of the exact search stands inside a bin."""
    check(make_problem(np.random.default_rng([2, n]), n=n, d=3, kinds=("normal",)), step="line_search")


@pytest.mark.parametrize("max_bins", [None, 5, 300])
@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 130])
def test_numbers_of_features_around_a_line(d, max_bins):
    check(make_problem(np.random.default_rng([2, d]), n=320, d=d), max_bins=max_bins)


@pytest.mark.parametrize("values", [2, 254, 255, 256, 257, 258, 400])
def test_numbers_of_values_around_a_byte(values):
    """255 cuts need 256 codes; the exact search of more values looks inside the bins."""
    rng = np.random.default_rng([3, values])
    X = np.concatenate([np.arange(values), rng.integers(0, values, size=900 - values)])[:, None].astype(np.float64)
    y = rng.choice([1, 0, -1], size=900)
    y[X[:, 0] >= values - 1] = 1  # the last boundary matters
    y[X[:, 0] < 1] = -1
    for max_bins in (None, 254, 255, 256, 257):
        check(Problem(X, y, None), max_bins=max_bins)


@pytest.mark.parametrize("counts", [(1, 3000, 1), (3000, 1, 1), (1, 1, 3000), (2, 0, 3000), (3000, 1, 0)])
def test_groups_of_very_different_size(counts):
    problem = make_problem(np.random.default_rng(4), n=sum(counts), d=4, kinds=("normal", "rounded"))
    check(Problem(problem.X, np.repeat(np.array([1, 0, -1], dtype=np.int8), counts), None), max_bins=None)


def test_weights_over_twenty_four_orders_of_magnitude():
    """Importance weights: Delta is a sum of terms of every size, and none of the large ones may be lost."""
    problem = make_problem(np.random.default_rng(5), n=500, d=4, kinds=("normal", "rounded"))
    weights = 10.0 ** np.random.default_rng(6).uniform(-12, 12, size=500)
    check(Problem(problem.X, problem.y, weights), max_bins=None)


@pytest.mark.parametrize("step", ["jensen", "line_search"])
def test_steps_at_the_cap_follow_one_another(step):
    """Almost perfect stumps multiply weights by e^7 a round; the sums lose bits as fast and must be refreshed."""
    rng = np.random.default_rng(7)
    y = rng.choice([1, -1], size=400).astype(np.int8)
    X = np.repeat(y[:, None].astype(np.float64), 6, axis=1)
    for e in range(6):
        X[7 * e : 7 * e + 3, e] *= -1  # every feature has its own few mistakes
    assert fastpu.fit_pnu_auc_boost(X, y, n_rounds=40, rho=0.0, step=step).deltas.max() > 0.98
    check(Problem(X, y, None), n_rounds=40, step=step)


@pytest.mark.parametrize("labelled", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("fit", [fastpu.fit_pnu_auc_boost, fastpu.baselines.fit_pnu_adaboost])
def test_no_copy_of_the_rows_is_made(fit, labelled):
    """Not for the threshold either, which only the labelled rows decide."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(40_000, 150))
    y = np.where(rng.random(40_000) < labelled, np.where(X[:, 0] > 0, 1, -1), 0)
    tracemalloc.start()
    fit(X, y, n_rounds=2, max_bins=8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (1 << 22) + 100 * len(y)  # the rows scored at a time, and vectors
    assert peak < X.nbytes / 5


@pytest.mark.parametrize("weighted", [None, "real"])
def test_the_threshold_does_not_depend_on_how_rows_are_gathered(weighted, monkeypatch):
    problem = make_problem(np.random.default_rng(13), n=900, d=6, weighted=weighted)
    y = np.where(np.arange(900) % 3 > 0, 0, problem.y)  # few labelled rows
    options = {"n_rounds": 20, "sample_weight": problem.weights}
    expected = fastpu.fit_pnu_auc_boost(to_csr(problem.X), y, **options).threshold  # scores every row
    for n_entries in (1, 7 * 6, 1 << 19):
        monkeypatch.setattr("fastpu.data._matrix._BLOCK_ENTRIES", n_entries)
        threshold = fastpu.fit_pnu_auc_boost(problem.X, y, **options).threshold
        np.testing.assert_allclose(threshold, expected, rtol=SCORE_TOL)


# -- which features are searched at every threshold --------------------------------------------------------------------


def many_values(n):
    """A column of n distinct values in no order, one of 20,000 at most and one of 300, and labels."""
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.permutation(n) / 7.0, rng.integers(0, 20_000, n), rng.integers(0, 300, n)])
    X = X.astype(np.float64)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * (X / X.max(axis=0) - 0.5).sum(axis=1))), 1, -1)
    return X, np.where(rng.random(n) < 0.3, 0, y)


@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_by_default_features_of_many_values_are_cut_at_quantiles(form):
    """Of more than 20,000 values 255 quantiles are searched, of others every boundary, whatever the other columns."""
    X, y = many_values(20_001)
    assert [np.unique(column).size > 20_000 for column in X.T] == [True, False, False]
    rows = {"float32": X.astype(np.float32), "csr": to_csr(X)}.get(form, X)
    model = fastpu.fit_pnu_auc_boost(rows, y, n_rounds=40)
    parts = [
        fastpu.bin_features(rows[:, :1], max_bins=255).cuts[0],
        fastpu.bin_features(rows[:, 1:2], max_bins=65535).cuts[0],
        fastpu.bin_features(rows[:, 2:], max_bins=65535).cuts[0],
    ]
    for feature, cuts in enumerate(parts):
        used = model.thresholds[model.features == feature]
        assert used.size
        assert np.isin(used, cuts).all()
    assert not np.isin(model.thresholds[model.features == 1], fastpu.bin_features(rows, max_bins=255).cuts[1]).all()
    exact = fastpu.fit_pnu_auc_boost(rows, y, n_rounds=40, max_bins="exact")
    assert not np.isin(exact.thresholds[exact.features == 0], parts[0]).all()
    assert exact.objective[-1] < model.objective[-1]
    one = fastpu.fit_pnu_auc_boost(rows[:, :1], y, n_rounds=20)
    same = fastpu.fit_pnu_auc_boost(rows[:, :1], y, n_rounds=20, max_bins=255)
    assert model_bits(one) == model_bits(same)


def test_up_to_20_000_rows_every_threshold_is_searched():
    X, y = many_values(20_000)
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=20)
    assert model_bits(model) == model_bits(fastpu.fit_pnu_auc_boost(X, y, n_rounds=20, max_bins="exact"))


@pytest.mark.parametrize("n", [9_000, 20_500])
def test_repeated_rows_are_searched_like_their_weights(n):
    """What counts is the number of values, which repeated rows leave as it is, and no scale of weights changes."""
    X, y = many_values(n)
    times = np.random.default_rng(1).integers(1, 5, n)
    weighted = fastpu.fit_pnu_auc_boost(X, y, n_rounds=15, sample_weight=times)
    repeated = fastpu.fit_pnu_auc_boost(np.repeat(X, times, axis=0), np.repeat(y, times), n_rounds=15)
    assert_same_stumps(weighted, repeated)
    scaled = fastpu.fit_pnu_auc_boost(X, y, n_rounds=15, sample_weight=times * 2.0**40)
    assert_same_stumps(weighted, scaled)
