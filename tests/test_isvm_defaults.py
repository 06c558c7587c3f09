"""The default C of ISVM and IPSI, and the warning of more positives than there can be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import estimators
from fastpu.margin._defaults import default_cost, largest_share
from isvm_cases import each_iteration


def imbalanced(seed=0, n=3000, prior=0.05, apart=1.5, d=6):
    """Rows of which few are positive, half of them labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    X = rng.normal(size=(n, d))
    X[:, :2] += apart * truth[:, None]
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


def test_the_estimators_take_the_default():
    X, y, _ = imbalanced(n=300, prior=0.4)
    for classifier, fit in ((estimators.ISVMClassifier, fastpu.fit_isvm), (estimators.IPSIClassifier, fastpu.fit_ipsi)):
        assert classifier().get_params()["C"] is None
        np.testing.assert_array_equal(classifier().fit(X, y).coef_[0], fit(X, y).coef)


@each_iteration
@pytest.mark.parametrize("factor", [1e-8, 1e-3, 1e5])
def test_the_units_of_the_rows_do_not_matter(fit, factor):
    X, y, _ = imbalanced(n=200, prior=0.4)
    model, scaled = fit(X, y), fit(factor * X, y)
    np.testing.assert_allclose(scaled.decision_function(factor * X), model.decision_function(X), rtol=1e-5, atol=1e-5)
    assert scaled.status == model.status


@each_iteration
def test_weights_are_numbers_of_rows(fit):
    X, y, _ = imbalanced(n=120, prior=0.4)
    repeats = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = fit(X, y, sample_weight=repeats.astype(float))
    repeated = fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    assert weighted.params["C"] == pytest.approx(repeated.params["C"], rel=1e-12)
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-6, atol=1e-8)


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
        csr = sp.csr_array(X)
        for native in (X, (csr.data, csr.indices, csr.indptr, csr.shape)):
            assert default_cost(native, is_labelled, weights) == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_all_equal_have_a_default_too():
    assert default_cost(np.full((4, 2), 3.0), np.array([True, False, False, False]), None) == 80 / np.sqrt(2)


# -- more positives than there can be ----------------------------------------------------------------------------------


@each_iteration
@pytest.mark.parametrize("seed", range(3))
def test_too_many_positives_get_a_warning(fit, seed):
    X, y, truth = imbalanced(seed)
    with pytest.warns(fastpu.DegenerateModelWarning, match="of the unlabelled rows positive, but its own scores say"):
        model = fit(X, y)
    called = np.mean(model.predict(X[y == 0]) > 0)
    assert called > 3 * np.mean(truth[y == 0])  # so that the warning is right


@each_iteration
def test_models_of_the_papers_examples_get_none(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("error", fastpu.DegenerateModelWarning)
        for seed in range(20):
            X, truth = fastpu.datasets.make_two_normals(400, random_state=seed)
            for labeled in (10, 20):
                split = fastpu.datasets.split_case_control(truth, labeled=labeled, random_state=seed)
                fit(X[split.train], split.y_train)


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
        r, q = j / n_pos, max(np.mean(scores[~is_labelled] >= threshold), 1 / n_unl)
        low = r - 2 * np.sqrt(r * (1 - r) / n_pos) - 0.5 * 3 / n_pos
        if j >= 5 and low > 0:
            least = min(least, (q + 2 * np.sqrt(q * (1 - q) / n_unl)) / low)
    assert least < 1
    assert largest_share(scores, is_labelled, 3) == pytest.approx(least, rel=1e-12)
    assert largest_share(scores, is_labelled, 1000) == 1.0  # as many coefficients as rows say nothing
