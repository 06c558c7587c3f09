"""Unlabelled rows twice, with weights: that they are the derived ones, and that the fit gives the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from estimator_cases import pu_rows
from fastpu.data._folds import stratified_folds
from fastpu.estimators import WeightedUnlabeledClassifier
from fastpu.estimators._weighted_unlabeled import shares_of
from helpers import refused
from meta_cases import exact_regression, plain, pnu_codes
from oracles import meta

ODDS = st.lists(st.tuples(st.floats(-20, 20), st.floats(0.1, 5)), min_size=1, max_size=30)


@given(ODDS, st.floats(0.01, 0.99))
def test_shares_are_cut_odds_whose_mean_is_the_prior(pairs, prior):
    logs, weights = np.array(pairs).T
    odds = np.exp(logs)
    shares = shares_of(odds, weights, prior)
    np.testing.assert_allclose(np.average(shares, weights=weights), prior, rtol=1e-9)
    np.testing.assert_allclose(shares, np.minimum(1, (shares / odds).max() * odds), rtol=1e-9)


@pytest.mark.parametrize("with_negatives", [False, True])
def test_a_fit_is_that_of_plain_loops(with_negatives):
    X, truth, labelled = pu_rows(n=60, apart=1.0)
    codes = pnu_codes(truth, labelled) if with_negatives else labelled.astype(int)
    weights = np.random.default_rng(0).uniform(0.2, 2.0, 60)
    fitted = WeightedUnlabeledClassifier(exact_regression(), prior=0.3).fit(X, codes, sample_weight=weights)
    shares = fitted.unlabeled_shares_
    np.testing.assert_array_equal(np.isnan(shares), codes != 0)
    np.testing.assert_allclose(np.average(shares[codes == 0], weights=weights[codes == 0]), 0.3)
    scores = meta.weighted_unlabeled(plain("predict_proba"), X, codes, weights, shares, 0.3)
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], scores, atol=1e-6)
    np.testing.assert_allclose(fitted.decision_function(X), scores - 0.5, atol=1e-6)


def cells(n_pos, n_unl, chances, seed=0, n_neg=0):
    """One-hot rows: labelled positives, unlabelled rows whose cell k has chances[k], and labelled negatives."""
    rng = np.random.default_rng(seed)
    chances = np.asarray(chances)
    unl = rng.integers(chances.size, size=n_unl)
    pos = rng.choice(chances.size, n_pos, p=chances / chances.sum())
    neg = rng.choice(chances.size, n_neg, p=(1 - chances) / (1 - chances).sum())
    return np.eye(chances.size)[np.concatenate([pos, unl, neg])], np.repeat([1, 0, -1], [n_pos, n_unl, n_neg])


@pytest.mark.parametrize("n_neg", [0, 5000])
def test_the_fit_gives_the_posterior_among_unlabelled_rows(n_neg):
    """However many rows are labelled: at sizes where a fit of labelled against unlabelled rows is far from it."""
    chances = np.array([0.95, 0.7, 0.4, 0.1, 0.02])
    for n_pos in (2000, 50_000):
        X, y = cells(n_pos, 50_000, chances, n_neg=n_neg)
        model = WeightedUnlabeledClassifier(LogisticRegression(C=1e6), prior=chances.mean()).fit(X, y)
        # Of 2,000 labelled rows 35 to 876 are in a cell: relative errors of .17 to .03.
        np.testing.assert_allclose(model.predict_proba(np.eye(5))[:, 1], chances, atol=0.04)
        naive = LogisticRegression(C=1e6).fit(X, y == 1).predict_proba(np.eye(5))[:, 1]
        assert np.abs(naive - chances).max() > 0.2


def test_a_second_round_is_that_of_plain_loops():
    X, truth, labelled = pu_rows(n=60, apart=1.0)
    codes = pnu_codes(truth, labelled)
    first, second = (
        WeightedUnlabeledClassifier(exact_regression(), prior=0.3, cv=3, n_rounds=n).fit(X, codes) for n in (1, 2)
    )
    rows = np.flatnonzero(codes >= 0)
    values = np.zeros(60)
    for kept, held in stratified_folds((codes[rows] == 1).astype(np.int8), 3, np.random.default_rng(0)):
        part = np.concatenate([rows[kept], np.flatnonzero(codes == -1)])
        shares = first.unlabeled_shares_[part]
        machines = []

        def fit(*arguments, machines=machines):
            machines.append(plain("predict_proba")(*arguments))
            return machines[-1]

        meta.weighted_unlabeled(fit, X[part], codes[part], np.ones(part.size), shares, 0.3)
        values[rows[held]] = [machines[0](x) for x in X[rows[held]]]
    unlabelled = codes == 0
    expected = shares_of(values[unlabelled], np.ones(unlabelled.sum()), 0.3)
    np.testing.assert_allclose(second.unlabeled_shares_[unlabelled], expected, atol=1e-6)


def test_probabilities_of_zero_and_one_are_taken():
    X, _, labelled = pu_rows(n=300, apart=1.0)
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    model = WeightedUnlabeledClassifier(forest, prior=0.05).fit(X, labelled)
    np.testing.assert_allclose(model.unlabeled_shares_[~labelled].mean(), 0.05)


def test_what_cannot_be_weighted_is_refused():
    X, _, labelled = pu_rows(n=60)
    refused(TypeError, "estimator of WeightedUnlabeledClassifier must take sample_weight in its fit",
            WeightedUnlabeledClassifier(KNeighborsClassifier(), prior=0.3).fit, X, labelled)  # fmt: skip
    for prior in (0, 1.0, np.nan):
        refused(ValueError, "prior must be a number in (0, 1)",
                WeightedUnlabeledClassifier(LogisticRegression(), prior=prior).fit, X, labelled)  # fmt: skip
    refused(ValueError, "n_rounds must be an integer >= 1, got 0",
            WeightedUnlabeledClassifier(LogisticRegression(), prior=0.3, n_rounds=0).fit, X, labelled)  # fmt: skip
    refused(ValueError, "y must have at least 2 labelled positive rows and 2 others",
            WeightedUnlabeledClassifier(LogisticRegression(), prior=0.3).fit, X, np.arange(60) < 1)  # fmt: skip
