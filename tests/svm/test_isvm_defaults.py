"""The default C of ISVM and IPSI, and the warning of more positives than there can be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit

import fastpu
from fastpu.data._validate import check_matrix
from fastpu.svm import _positive_share
from fastpu.svm._default_cost import default_cost
from fastpu.svm._positive_share import largest_share
from helpers import refused
from isvm_cases import each_iteration


def imbalanced(seed=0, n=3000, prior=0.05, apart=1.5, d=6):
    """Rows of which few are positive, half of them labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    X = rng.normal(size=(n, d))
    X[:, :2] += apart * truth[:, None]
    return X, (truth & (rng.random(n) < 0.5)).astype(int), truth


def logistic(seed, slope, n=3000, prior=0.05, d=6):
    """Rows with labels drawn from a logistic model of three columns, half of the positive ones labelled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = slope * X[:, :3].sum(axis=1) / np.sqrt(3)
    truth = rng.random(n) < expit(z + brentq(lambda b: expit(z + b).mean() - prior, -30, 30))
    return X, (truth & (rng.random(n) < 0.5)).astype(int), truth


# -- the default C -----------------------------------------------------------------------------------------------------


@each_iteration
def test_the_default_is_what_is_documented(fit):
    X, y, _ = imbalanced(n=300, prior=0.4)
    s2 = np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    model = fit(X, y)
    assert model.params["C"] == pytest.approx(80 * np.sqrt(y.sum()) / s2, rel=1e-12)
    named = fit(X, y, C=model.params["C"])
    np.testing.assert_array_equal(model.coef, named.coef)
    assert fit(X, y, C=None).params == model.params
    few = np.where(np.cumsum(y) <= 3, y, 0)  # fewer labelled rows than features
    assert fit(X, few).params["C"] == pytest.approx(80 * 3 / s2 / np.sqrt(6), rel=1e-12)


@pytest.mark.parametrize("n", [300, 70_000])  # less and more than a block of rows
@pytest.mark.parametrize("shift", [0.0, 2.0**27])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_mean_square_is_that_of_all_entries(dtype, shift, n):
    rng = np.random.default_rng(0)
    X = (rng.random((n, 3)) * (rng.random((n, 3)) < 0.3)).astype(dtype)
    X[:, 1] += dtype(shift)
    is_labelled = np.arange(len(X)) < 100
    for weights in (None, rng.integers(1, 5, len(X)).astype(float)):
        exact = np.asarray(X, dtype=np.longdouble)
        given = np.ones(len(X)) if weights is None else weights
        mean = np.average(exact, axis=0, weights=given)
        square = float(np.average(((exact - mean) ** 2).sum(axis=1), weights=given))
        expected = 80 * np.sqrt(given[:100].sum()) / square
        for rows in (X, sp.csr_array(X)):
            assert default_cost(check_matrix(rows), is_labelled, weights) == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_all_equal_have_a_default_too():
    assert default_cost(
        check_matrix(np.full((4, 2), 3.0)), np.array([True, False, False, False]), None
    ) == 80 / np.sqrt(2)


@each_iteration
def test_the_default_suits_rows_of_any_size_or_is_refused(fit):
    X, y, _ = imbalanced(n=300, prior=0.4)
    usual = fit(X, y)
    for exponent in (-160, 250, 300):
        model = fit(np.ldexp(X, exponent), y)
        assert model.params["C"] == np.ldexp(usual.params["C"], -2 * exponent)
        np.testing.assert_allclose(np.ldexp(model.coef, exponent), usual.coef, rtol=1e-6)
    for exponent in (-200, -600):
        refused(
            ValueError,
            "C must be given for these rows, because its default would not be above 0",
            fit,
            np.ldexp(X, exponent),
            y,
        )


# -- more positives than there can be ----------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.05, 0.4])
def test_the_warning_comes_where_far_too_many_are_called_and_hardly_elsewhere(prior):
    """24 draws: normal and logistic classes, half or a quarter of the positives labelled."""
    called = warned = wrong = 0
    for seed in range(24):
        X, y, truth = imbalanced(seed, prior=prior, apart=1.0) if seed % 2 else logistic(seed, 1.0, prior=prior)
        if seed % 4 > 1:
            y[np.flatnonzero(y)[::2]] = 0
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            share = np.mean(fastpu.fit_isvm(X, y).predict(X[y == 0]) > 0) / np.mean(truth[y == 0])
        has_warning = any("of the unlabelled rows positive" in str(one.message) for one in told)
        called += share > 4
        warned += has_warning and share > 4
        wrong += has_warning and share <= 1.3
    assert called == (24 if prior == 0.05 else 0)
    assert warned >= 0.6 * called
    assert wrong == 0


def test_the_largest_share_is_above_the_truth():
    for seed in range(40):
        prior = (0.02, 0.1, 0.3, 0.5)[seed % 4]
        X, y, truth = imbalanced(seed, prior=prior, apart=(1.0, 3.0)[seed % 2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = fastpu.fit_isvm(X, y).decision_function(X)
        assert largest_share(scores, y == 1, X.shape[1] + 1) >= np.mean(truth[y == 0])


def test_the_largest_share_by_its_definition():
    rng = np.random.default_rng(4)
    is_labelled = rng.random(300) < 0.3
    scores = np.round(rng.normal(size=300) + 2 * is_labelled, 1)  # ties
    n_pos, n_unl = is_labelled.sum(), (~is_labelled).sum()
    least = 1.0
    for j, threshold in enumerate(np.sort(scores[is_labelled])[::-1], start=1):
        above, kept = np.count_nonzero(scores[~is_labelled] >= threshold), j - 0.05 * 3
        q = 1.0 if above == n_unl else stats.beta.ppf(0.95, above + 1, n_unl - above)
        least = min(least, q / stats.beta.ppf(0.05, kept, n_pos - kept + 1))
    assert least < 1
    assert largest_share(scores, is_labelled, 3) == pytest.approx(least, rel=1e-9)
    assert largest_share(scores, is_labelled, n_pos) < 1
    assert largest_share(scores, is_labelled, n_pos + 1) == 1.0  # nothing is known


def test_the_largest_share_of_many_rows_is_nearly_that_of_all_thresholds(monkeypatch):
    rng = np.random.default_rng(4)  # with which the least bound is not at one of the few
    is_labelled = rng.random(30_000) < 0.2
    scores = rng.normal(size=30_000) + 2 * (is_labelled | (rng.random(30_000) < 0.1))
    few = largest_share(scores, is_labelled, 3)
    monkeypatch.setattr(_positive_share, "_MOST_THRESHOLDS", 10**6)
    every = largest_share(scores, is_labelled, 3)
    assert every < few < 1.02 * every


@pytest.mark.parametrize("total", [1.0, 2.0**-900])
def test_weights_that_sum_to_little_have_the_cost_of_as_many_rows(total):
    X, truth = fastpu.datasets.make_two_normals(128, random_state=0)
    y = (truth == 1) & (np.arange(128) % 2 == 0)
    for fit in (fastpu.fit_isvm, fastpu.fit_ipsi):
        model, plain = fit(X, y, sample_weight=np.full(128, total / 128)), fit(X, y)
        assert model.params["C"] == pytest.approx(plain.params["C"], rel=1e-12)
        np.testing.assert_allclose(model.coef, plain.coef, rtol=1e-6)
