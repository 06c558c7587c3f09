"""Estimates of the class prior: against slow versions, on simulated data of known truth, and what they promise."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement

import numpy as np
import pytest

import fastpu
from fastpu.exceptions import EstimateWarning
from fastpu.metrics import pu_auc
from fastpu.priors import PriorEstimate, bbe, km2, sensitivity
from fastpu.priors._kernel import from_hull, kernel_factor, mixture_share
from fastpu.priors._likelihood import best_bin
from fastpu.priors._sample import Sample
from helpers import refused
from oracles import priors as oracle

# What is told of estimates has tests of its own, which look at it.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")

METHODS = {"km2": km2, "bbe": bbe}
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
    expected = oracle.km2(Z, 12, from_hull, tol=4e-3)
    assert mixture_share(Z, mixture / 12, ~mixture / 8) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_no_row_is_on_the_side_of_the_point_beyond_the_nearest_point_of_the_hull(seed):
    rng = np.random.default_rng(seed)
    Z = np.round(rng.normal(size=(40, 1 + 3 * seed)), seed % 3)
    for point in (Z[0], Z.mean(axis=0), 3 * rng.normal(size=Z.shape[1]), 10 * Z[1]):
        apart = from_hull(Z, point)
        assert ((Z - (point - apart)) @ apart).max() <= 1e-9 * max(1.0, apart @ apart)
    np.testing.assert_array_equal(from_hull(Z, Z.mean(axis=0)), 0)


@pytest.mark.parametrize("seed", range(40))  # for some of them the constants of the bound decide
def test_best_bin_equals_every_cut_tried(seed):
    rng = np.random.default_rng(seed)
    pos, unl = np.round(rng.normal(1, 1, 60), 1), np.round(rng.normal(0, 1, 90), 1)
    assert best_bin(pos, unl) == pytest.approx(oracle.best_bin(pos, unl))
    assert best_bin(pos, pos)[0] == 1.0
    assert best_bin(np.zeros(50), np.ones(50)) == (1.0, 1.0)
    assert best_bin(np.repeat([0.0, 2.0], [49, 1]), np.ones(50)) == (1.0, 1.0)


# -- simulation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.15, pytest.param(0.5, marks=pytest.mark.slow), 0.8])
@each_method
def test_estimates_are_near_the_truth_where_classes_are_apart(method, prior):
    draws = range(10 if method is bbe else 5)
    values = [method(*draw(seed, prior=prior)[:2], random_state=seed).value for seed in draws]
    assert abs(np.mean(values) - prior) < 0.07
    assert np.std(values) < 0.1


def test_an_unlucky_partition_into_folds_hardly_moves_bbe():
    """The estimates of some single partitions of these rows are .25 too low."""
    values = [bbe(*draw(seed, prior=0.8)[:2], random_state=seed).value for seed in range(5, 10)]
    assert np.std(values) < 0.04


def test_groups_that_are_alike_have_a_prior_near_1():
    X = np.random.default_rng(0).normal(size=(600, 2))
    assert bbe(X, np.arange(600) % 3 == 0, random_state=0).value > 0.8


def test_km2_says_that_groups_that_are_alike_give_noise():
    X = np.random.default_rng(0).normal(size=(600, 2))
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"km2: the estimate is made of noise"):
        km2(X, np.arange(600) % 3 == 0, random_state=0)
    X[:200] += 3.0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        km2(X, np.arange(600) < 200, random_state=0)
    assert not any("made of noise" in str(one.message) for one in told)


@each_method
def test_no_positive_among_the_unlabelled_rows(method):
    X, y, _ = draw(0, prior=0.0, apart=6.0)
    assert method(X, y, random_state=0).value < 0.06


@pytest.mark.parametrize("method", [bbe, pytest.param(km2, marks=pytest.mark.slow)], ids=["bbe", "km2"])
def test_the_spread_of_the_bootstrap_is_that_of_the_estimate(method):
    values = [method(*draw(seed)[:2], random_state=seed).value for seed in range(15)]
    found = method(*draw(100)[:2], n_boot=15, random_state=0)
    assert np.std(values) / 2 < np.std(found.samples) < np.std(values) * 2
    low, high = found.interval
    np.testing.assert_allclose((low, high), np.quantile(found.samples, [0.025, 0.975]))
    assert found.samples.shape == (15,)
    assert not found.samples.flags.writeable


def test_repeated_rows_share_a_fold():
    sample = Sample(np.array([0, 0, 1, 2, 2, 2]), np.array([5, 6, 6, 7]))
    pos, unl, n_folds = sample.folds(np.random.default_rng(0))
    assert n_folds == 3
    assert len({*pos[:2]}) == len({*pos[3:]}) == len({*unl[1:3]}) == 1
    assert set(pos) == set(unl) == {0, 1, 2}


def test_a_bootstrap_sample_is_any_but_of_one_row_alone():
    sample, generator = Sample(np.arange(3), np.arange(3, 6)), np.random.default_rng(0)
    seen = {tuple(sample.redrawn(generator).pos.tolist()) for _ in range(300)}
    assert seen == {rows for rows in combinations_with_replacement(range(3), 3) if len({*rows}) > 1}


# -- promises ----------------------------------------------------------------------------------------------------------


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


def test_an_estimate_that_nothing_speaks_against_is_told_and_can_be_a_prior():
    X, y = np.ones((60, 2)), np.arange(60) % 2
    for rows, labels in ((X, y), (X, np.arange(60) < 10), (X[:4], y[:4])):
        text = r"^bbe: the data contradict no share, and the largest, 0.99, is returned: either labelled"
        with pytest.warns(fastpu.exceptions.EstimateWarning, match=text) as told:
            found = bbe(rows, labels, n_boot=3, random_state=0)
        assert len(told) == 1  # of the rows, not of the samples
        assert found.value == 0.99
        assert found.interval == (0.99, 0.99)
    fastpu.baselines.fit_pnu_auc(np.arange(60.0)[:, None], np.tile([1, 0, -1], 20), prior=found.value)


def test_km2_of_rows_that_are_all_alike_can_be_a_prior():
    with pytest.warns(fastpu.exceptions.EstimateWarning, match="km2: the estimate is made of noise"):
        assert 0.9 < km2(np.ones((60, 2)), np.arange(60) % 2, random_state=0).value < 1
    with pytest.warns(fastpu.exceptions.EstimateWarning, match="km2: the estimate is made of noise"):
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
    text = "fit must return a model with decision_function, got 3 (int)"
    refused(TypeError, text, bbe, X, y, fit=lambda rows, labels: 3)


@each_method
def test_the_fewest_rows(method):
    value = method([[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 0], random_state=0, n_boot=2).value
    assert 0 < value < 1
    assert 0 < method(np.ones((9, 2)), np.arange(9) < 4, random_state=0).value < 1
    refused(ValueError, "y must have at least two positive rows", method, [[0.0], [1.0], [2.0]], [1, 0, 0])
    refused(ValueError, "y must have at least two unlabelled rows", method, [[0.0], [1.0], [2.0]], [1, 1, 0])


# -- sensitivity -------------------------------------------------------------------------------------------------------


def test_sensitivity_calls_the_function_for_every_prior():
    curve = sensitivity(lambda prior: 2 * prior, [0.1, 0.4])
    np.testing.assert_array_equal(curve.values, [0.2, 0.8])
    X, y, _ = draw(6)
    found = bbe(X, y, n_boot=2, random_state=0)
    score = X[:, 0] + 2 * np.random.default_rng(0).normal(size=len(y))
    curve = sensitivity(lambda prior: pu_auc(y, score, prior=prior), found, n_points=4)
    assert found.is_wide  # so the range goes on from the bootstrap's to all that is allowed
    np.testing.assert_allclose(curve.priors, np.linspace(1e-6, max(found.interval[1], found.allowed[1]), 4))
    assert (np.diff(curve.values) > 0).all()


def test_sensitivity_to_an_estimate_keeps_away_from_0_and_1():
    found = sensitivity(float, PriorEstimate(0.5, (0.0, 1.0), np.zeros(0)))
    np.testing.assert_array_equal(found.priors, np.linspace(1e-6, 1 - 1e-6, 11))


def test_sensitivity_leaves_gaps_where_the_function_refuses_priors_that_an_estimate_allows():
    y, score = np.repeat([1, 0], [500, 1000]), np.r_[np.linspace(1, 2, 500), np.linspace(-2, 2, 1000)]
    allowed, function = PriorEstimate(0.2, None, np.zeros(0), (0.1, 1.0)), lambda prior: pu_auc(y, score, prior=prior)
    with pytest.warns(EstimateWarning) as told:
        curve = sensitivity(function, allowed, n_points=4)
    np.testing.assert_array_equal(np.isfinite(curve.values), [True, False, False, False])
    text = str(told[0].message)
    assert text.startswith("sensitivity: function has no value for 3 of 4 priors that the estimate allows, from 0.4 ")
    assert "prior does not fit the scores" in text
    refused(ValueError, "prior does not fit the scores", sensitivity, function, [0.1, 0.7])
    beyond = PriorEstimate(0.8, None, np.zeros(0), (0.7, 1.0))
    refused(ValueError, "prior does not fit the scores", sensitivity, function, beyond)


def test_bad_input_of_sensitivity():
    refused(ValueError, "priors must have an interval", sensitivity, float, PriorEstimate(0.5, None, np.zeros(0)))
    refused(TypeError, "function(0.2) must be a number", sensitivity, str, [0.2])
