"""Estimates of the class prior: against slow versions, on simulated data of known truth, and what they promise."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._validate import check_matrix
from fastpu.judge import _prior_shares, _prior_tree
from fastpu.judge._prior_kernel import kernel_factor, mixture_share
from fastpu.judge._prior_likelihood import best_bin
from fastpu.judge._prior_sampling import Sample, bootstrap, folds_of
from fastpu.judge._prior_shares import penalized_l1
from fastpu.judge._prior_tree import label_frequency, quarters
from fastpu.metrics import pu_auc
from fastpu.priors import PriorEstimate, bbe, km2, pen_l1, sensitivity, tice
from helpers import refused
from oracles import priors as oracle

# What is told of estimates has tests of its own, which look at it.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.EstimateWarning")

METHODS = {"km2": km2, "tice": tice, "pen_l1": pen_l1, "bbe": bbe}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def draw(seed, *, prior=0.35, n_pos=250, n_unl=500, apart=3.5, d=2):
    """Normal classes that hardly overlap, so that there is something to estimate."""
    rng = np.random.default_rng([13, seed])
    truth = rng.random(n_unl) < prior
    X = rng.normal(size=(n_pos + n_unl, d))
    X[:n_pos, 0] += apart
    X[n_pos:, 0] += apart * truth
    return X, np.repeat([1, 0], [n_pos, n_unl]), truth


# -- fast equals slow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_factor_of_a_kernel_and_km2_equal_the_slow_ones(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(12) < 0.4
    X = np.concatenate([rng.normal(size=12) + 3 * truth, 3 + rng.normal(size=8)])
    K = np.exp(-((X[:, None] - X) ** 2) / 2)
    Z = kernel_factor(K)
    assert Z.shape[1] < len(K)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6)
    mixture = np.arange(20) < 12
    assert mixture_share(Z, mixture / 12, ~mixture / 8) == pytest.approx(oracle.km2(K, 12, tol=4e-3), abs=0.01)


@pytest.mark.parametrize("seed", range(40))  # for some of them the constants of the bound decide
def test_best_bin_equals_every_cut_tried(seed):
    rng = np.random.default_rng(seed)
    pos, unl = np.round(rng.normal(1, 1, 60), 1), np.round(rng.normal(0, 1, 90), 1)
    assert best_bin(pos, unl) == pytest.approx(oracle.best_bin(pos, unl))
    assert best_bin(pos, pos)[0] == 1.0
    assert best_bin(np.zeros(50), np.ones(50)) == (1.0, 1.0)
    assert best_bin(np.repeat([0.0, 2.0], [49, 1]), np.ones(50)) == (1.0, 1.0)


def test_the_penalised_distance_is_the_sum_over_its_multipliers(monkeypatch):
    """With one width and one ridge there is nothing to choose."""
    X, y, _ = draw(0)
    rng = np.random.default_rng(0)
    centers = X[rng.choice(len(X), 20, replace=False)]
    of_pos, of_unl = (np.exp(-((X[y == g][:, None] - centers) ** 2).sum(axis=2) / 2) for g in (1, 0))
    folds = np.arange(len(of_pos)) % 5, np.arange(len(of_unl)) % 5
    for ridge in (1e-3, 1e-2):
        monkeypatch.setattr(_prior_shares, "RIDGES", (ridge,))
        grid = np.arange(1, 100) / 100
        distances = [oracle.penalized_distance(of_pos, of_unl, ridge, share) for share in grid]
        assert penalized_l1([(of_pos, of_unl)], folds) == grid[np.argmin(distances)]


def test_groups_without_a_basis_function_in_common_have_the_least_share_that_is_tried():
    folds = np.arange(8) % 4, np.arange(10) % 4
    assert penalized_l1([(np.ones((8, 3)), np.zeros((10, 3)))], folds) == 0.01


def test_widths_and_ridges_are_chosen_by_what_the_other_folds_say():
    """Of the fifth fold there are no positive rows, so that it says nothing."""
    X, y, _ = draw(0, n_pos=40, n_unl=60, apart=0.5)
    centers = X[::5]
    widths = [
        tuple(np.exp(-((X[y == g][:, None] - centers) ** 2).sum(axis=2) / (2 * w**2)) for g in (1, 0)) for w in (0.3, 2)
    ]
    folds = np.arange(40) % 4, np.arange(60) % 5
    expected, chosen = oracle.penalized_share(widths, folds, 4)
    assert len(chosen) > 2
    assert penalized_l1(widths, folds) == expected


@pytest.mark.parametrize("size", [0.9, 0.003])
def test_the_share_of_large_and_of_small_basis_functions_equals_the_slow_one(size):
    """Large ones are penalised at the largest ridge, small ones at the smallest alone."""
    for seed in (6, 8, 9):
        rng = np.random.default_rng(seed)
        widths = [
            tuple(size * rng.random((n, 20)) ** power for n, power in zip((8, 10), powers, strict=True))
            for powers in rng.uniform(0.3, 4, size=(2, 2))
        ]
        folds = np.arange(8) % 4, np.arange(10) % 4
        assert penalized_l1(widths, folds) == oracle.penalized_share(widths, folds, 4)[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_label_frequency_of_trees_equals_that_by_sets(seed):
    X, y, _ = draw(seed, n_pos=200, n_unl=300, d=4, apart=2.0)
    X[:, 1] += X[:, 0]
    folds = np.random.default_rng(seed).integers(0, 5, 500)
    codes = quarters(check_matrix(X))
    expected = oracle.label_frequency(codes.tolist(), y == 1, folds.tolist())
    assert label_frequency(codes, y == 1, folds) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", [4, 7, 8])
def test_the_most_promising_subsets_are_split_first(monkeypatch, seed):
    """Two columns are nearly constant: some subsets of the rows that judge are not divided by them."""
    assert _prior_tree._MOST_SPLITS == 500
    X, y, _ = draw(seed, n_pos=200, n_unl=300, d=4, apart=2.0)
    rng = np.random.default_rng(seed)
    X[:, 2:] = rng.random((500, 2)) < 0.01
    codes, folds = quarters(check_matrix(X)), rng.integers(0, 5, 500)
    for most_splits in (2, 3, 5):
        monkeypatch.setattr(_prior_tree, "_MOST_SPLITS", most_splits)
        expected = oracle.label_frequency(codes.tolist(), y == 1, folds.tolist(), most_splits)
        assert label_frequency(codes, y == 1, folds) == pytest.approx(expected, abs=1e-12)


def test_quarters_of_ranges():
    X = np.array([[0.0, 5.0, -1e308], [1.0, 5.0, 1e308], [0.25, 5.0, 0.0], [0.74, 5.0, 9e307]])
    np.testing.assert_array_equal(quarters(check_matrix(X)), [[0, 0, 0], [3, 0, 3], [1, 0, 2], [2, 0, 3]])


# -- simulation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.15, pytest.param(0.5, marks=pytest.mark.slow), 0.8])
@each_method
def test_estimates_are_near_the_truth_where_classes_are_apart(method, prior):
    """The mean of five or ten; of TIcE, which starts from a lower bound, what it exceeds the truth by."""
    draws = range(10 if method is bbe else 5)
    values = [method(*draw(seed, prior=prior)[:2], random_state=seed).value for seed in draws]
    error = np.mean(values) - prior
    if method is tice:
        assert 0 <= error < 0.25
    else:
        assert abs(error) < 0.07
    assert np.std(values) < 0.1


def test_an_unlucky_partition_into_folds_hardly_moves_bbe():
    """The estimates of some single partitions of these rows are .25 too low."""
    values = [bbe(*draw(seed, prior=0.8)[:2], random_state=seed).value for seed in range(5, 10)]
    assert np.std(values) < 0.04


@pytest.mark.parametrize("method", [km2, pen_l1, bbe], ids=["km2", "pen_l1", "bbe"])
def test_more_rows_come_nearer(method):
    """Not of TIcE, whose quarters of the features' ranges stay as coarse as they are."""
    errors = [
        np.mean([abs(method(*draw(s, n_pos=n, n_unl=2 * n)[:2], random_state=s).value - 0.35) for s in range(4)])
        for n in (30, 800)
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("method", [tice, pen_l1, bbe], ids=["tice", "pen_l1", "bbe"])
def test_groups_that_are_alike_have_a_prior_near_1(method):
    X = np.random.default_rng(0).normal(size=(600, 2))
    assert method(X, np.arange(600) % 3 == 0, random_state=0).value > 0.8


def test_km2_says_that_groups_that_are_alike_give_noise():
    X = np.random.default_rng(0).normal(size=(600, 2))
    with pytest.warns(fastpu.EstimateWarning, match=r"km2: the groups cannot be told apart"):
        km2(X, np.arange(600) % 3 == 0, random_state=0)
    X[:200] += 3.0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        km2(X, np.arange(600) < 200, random_state=0)
    assert not any("cannot be told apart" in str(one.message) for one in told)


@each_method
def test_no_positive_among_the_unlabelled_rows(method):
    X, y, _ = draw(0, prior=0.0, apart=6.0)
    assert method(X, y, random_state=0).value < (0.2 if method is tice else 0.06)


def test_the_bound_of_the_label_frequency_holds():
    """TIcE's frequency is below the true one, and near it with many rows."""
    for seed in range(5):
        X, y, truth = draw(seed, prior=0.3, n_pos=1000, n_unl=2000)
        frequency = label_frequency(quarters(check_matrix(X)), y == 1, np.arange(3000) % 5)
        true = 1000 / (1000 + truth.sum())
        assert true - 0.15 < frequency < true + 0.02


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, id=name, marks=() if name == "tice" else pytest.mark.slow)
        for name, method in METHODS.items()
    ],
)
def test_the_spread_of_the_bootstrap_is_that_of_the_estimate(method):
    scale = 3.0 if method is pen_l1 else 2.0  # it is on a grid, with a choice of widths in every sample
    values = [method(*draw(seed)[:2], random_state=seed).value for seed in range(25)]
    found = method(*draw(100)[:2], n_boot=25, random_state=0)
    assert np.std(values) / scale < np.std(found.samples) < np.std(values) * scale
    low, high = found.interval
    np.testing.assert_allclose((low, high), np.quantile(found.samples, [0.025, 0.975]))
    assert found.samples.shape == (25,)
    assert not found.samples.flags.writeable


def test_repeated_rows_share_a_fold():
    sample = Sample(np.array([0, 0, 1, 2, 2, 2]), np.array([5, 6, 6, 7]))
    pos, unl, n_folds = folds_of(sample, np.random.default_rng(0))
    assert n_folds == 3
    assert len({*pos[:2]}) == len({*pos[3:]}) == len({*unl[1:3]}) == 1
    assert set(pos) == set(unl) == {0, 1, 2}


def test_a_bootstrap_sample_is_any_but_of_one_row_alone():
    seen = set()

    def estimate(drawn):
        seen.add(tuple(drawn.pos.tolist()))
        return 0.5

    bootstrap(estimate, Sample(np.arange(3), np.arange(3, 6)), 300, np.random.default_rng(0))
    assert seen == {rows for rows in combinations_with_replacement(range(3), 3) if len({*rows}) > 1}


# -- promises ----------------------------------------------------------------------------------------------------------


def test_tice_takes_the_same_rows_dense_and_sparse():
    X, y, _ = draw(2, d=4)
    X[:, 1] = np.maximum(X[:, 1], 0)
    X[np.abs(X) < 0.4] = 0
    X[:, 3] += 20  # without a 0
    X[:, 2] = np.minimum(X[:, 2], 0)
    expected = tice(X, y, random_state=0).value
    assert tice(sp.csr_array(X), y, random_state=0).value == expected
    assert tice(sp.csc_matrix(X), y, random_state=0).value == expected
    assert tice(X.astype(np.float32) * 2 + 5, y, random_state=0).value == pytest.approx(expected, abs=0.02)


def test_sparse_quarters_are_those_of_dense_rows_and_stay_sparse(monkeypatch):
    X = sp.random_array((300, 40), density=0.05, rng=np.random.default_rng(0)).tocsr()
    X.data[::7] *= -3
    X.data[::11] = 0  # stored
    dense, sparse = quarters(check_matrix(X.toarray())), quarters(check_matrix(X))
    rows = np.random.default_rng(1).integers(0, 300, 90)
    for feature in range(40):
        np.testing.assert_array_equal(sparse.column(rows, feature), dense[rows, feature])
    expected = np.stack([np.count_nonzero(dense[rows] == q, axis=0) for q in range(4)], axis=1)
    np.testing.assert_array_equal(sparse.counts(rows), expected)
    np.testing.assert_array_equal(sparse[rows].counts(np.arange(90)), expected)
    wide = sp.csr_array((np.ones(400), (np.arange(400), np.arange(400) * 100)), shape=(400, 40_000))
    assert 0 < label_frequency(quarters(check_matrix(wide)), np.arange(400) < 200, np.arange(400) % 5) <= 1


def test_km2_draws_rows_of_large_groups():
    X, y, _ = draw(3, n_pos=400, n_unl=900)
    few = km2(X, y, max_rows=100, random_state=0).value
    assert abs(few - 0.35) < 0.15
    assert few != km2(X, y, max_rows=100, random_state=1).value


def test_km2_takes_the_steps_that_data_of_many_dimensions_need():
    # On the digits nearly all of the 600 columns are needed, and the nearest point takes 12 steps a row.
    datasets = pytest.importorskip("sklearn.datasets")
    X, digit = datasets.load_digits(return_X_y=True)
    X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    labelled = (digit % 2 == 0) & (np.random.default_rng(2).random(digit.size) < 0.3)
    found = km2(X, labelled, random_state=2)
    assert abs(found.value - np.mean(digit[~labelled] % 2 == 0)) < 0.05


@pytest.mark.parametrize("method", [tice, pen_l1, bbe], ids=["tice", "pen_l1", "bbe"])
def test_an_estimate_that_nothing_speaks_against_is_told_and_can_be_a_prior(method):
    X, y = np.ones((60, 2)), np.arange(60) % 2
    for rows, labels in ((X, y), (X, np.arange(60) < 10), (X[:4], y[:4])):
        text = rf"^{method.__name__}: no share is contradicted by the data, and the largest, 0.99, is returned: the gr"
        with pytest.warns(fastpu.EstimateWarning, match=text) as told:
            found = method(rows, labels, n_boot=3, random_state=0)
        assert len(told) == 1  # of the rows, not of the samples
        assert found.value == 0.99
        assert found.interval == (0.99, 0.99)
    fastpu.fit_pnu_auc(np.arange(60.0)[:, None], np.tile([1, 0, -1], 20), prior=found.value)


def test_km2_of_rows_that_are_all_alike_can_be_a_prior():
    with pytest.warns(fastpu.EstimateWarning, match="km2: the groups cannot be told apart"):
        assert 0.9 < km2(np.ones((60, 2)), np.arange(60) % 2, random_state=0).value < 1
    with pytest.warns(fastpu.EstimateWarning, match="km2: the groups cannot be told apart"):
        assert 0.9 < km2(np.full((59, 2), 0.1, np.float32), np.arange(59) < 20, random_state=0).value < 1


def test_bbe_takes_a_fit_of_the_users():
    X, y, truth = draw(4)
    seen = []

    def fit(rows, labels):
        seen.append((rows.shape, sorted(set(labels.tolist()))))
        return fastpu.fit_bsvm(rows, labels, C_pos=2, C_unl=1)

    assert abs(bbe(X, y, fit=fit, random_state=0).value - truth.mean()) < 0.08
    assert len(seen) == 15
    assert all(kinds == [0, 1] and shape == (600, 2) for shape, kinds in seen)
    refused(TypeError, "fit must be a function", bbe, X, y, fit="svm")
    text = "fit must return a model with decision_function, got 3 (int)"
    refused(TypeError, text, bbe, X, y, fit=lambda rows, labels: 3)


@each_method
def test_the_fewest_rows(method):
    value = method([[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 0], random_state=0, n_boot=2).value
    assert 0 < value < 1
    assert 0 < method(np.ones((9, 2)), np.arange(9) < 4, random_state=0).value < 1
    refused(ValueError, "y must have at least two positive rows", method, [[0.0], [1.0], [2.0]], [1, 0, 0])
    refused(ValueError, "y must have at least two unlabelled rows", method, [[0.0], [1.0], [2.0]], [1, 1, 0])


def test_bad_options_of_their_own():
    X, y, _ = draw(5, n_pos=10, n_unl=20)
    refused(ValueError, "max_rows must be an integer >= 2, got 1", km2, X, y, max_rows=1)
    refused(ValueError, "n_centers must be an integer >= 1, got 0", pen_l1, X, y, n_centers=0)
    few, many = (pen_l1(X, y, n_centers=n, random_state=0).value for n in (30, 10**400))
    assert few == many  # more than there are rows


# -- sensitivity -------------------------------------------------------------------------------------------------------


def test_sensitivity_calls_the_function_for_every_prior():
    curve = sensitivity(lambda prior: 2 * prior, [0.1, 0.4])
    np.testing.assert_array_equal(curve.values, [0.2, 0.8])
    X, y, _ = draw(6)
    found = tice(X, y, n_boot=2, random_state=0)
    score = X[:, 0] + 2 * np.random.default_rng(0).normal(size=len(y))
    curve = sensitivity(lambda prior: pu_auc(score[y == 1], score[y == 0], prior=prior), found, n_points=4)
    np.testing.assert_allclose(curve.priors, np.linspace(*found.interval, 4))
    assert (np.diff(curve.values) > 0).all()


def test_sensitivity_to_an_estimate_keeps_away_from_0_and_1():
    found = sensitivity(float, PriorEstimate(0.5, (0.0, 1.0), np.zeros(0)))
    np.testing.assert_array_equal(found.priors, np.linspace(1e-6, 1 - 1e-6, 11))


def test_bad_input_of_sensitivity():
    X, y, _ = draw(7, n_pos=20, n_unl=40)
    refused(TypeError, "function must be a function of a prior", sensitivity, 0.3, [0.2])
    refused(ValueError, "priors must have an interval", sensitivity, float, bbe(X, y, random_state=0))
    refused(ValueError, "priors[1] must be a number in (0, 1), got 1.2", sensitivity, float, [0.2, 1.2])
    refused(ValueError, "n_points must be an integer in [2, 1000000], got 1", sensitivity, float, [0.2], n_points=1)
    refused(TypeError, "function(0.2) must be a number", sensitivity, str, [0.2])
