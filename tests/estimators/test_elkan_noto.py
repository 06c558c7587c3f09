"""Elkan and Noto's classifier: the label frequency by folds, and what it is where classes overlap."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import fastpu
from estimator_cases import pu_rows
from fastpu.data._folds import stratified_folds
from fastpu.estimators import ElkanNotoClassifier
from helpers import refused
from meta_cases import exact_regression, plain, pnu_codes
from oracles import meta


@pytest.mark.parametrize("cv", [2, 5])
def test_a_fit_is_that_of_plain_loops(cv):
    X, truth, labelled = pu_rows(n=60, apart=1.0)
    codes = pnu_codes(truth, labelled)
    weights = np.random.default_rng(0).uniform(0.2, 2.0, 60)
    folds = stratified_folds((codes == 1).astype(np.int8), cv, np.random.default_rng(0))
    c, scores = meta.elkan_noto(plain("predict_proba"), X, codes, weights, folds)
    fitted = ElkanNotoClassifier(exact_regression(), cv=cv).fit(X, codes, sample_weight=weights)
    assert abs(fitted.c_ - c) < 1e-7
    np.testing.assert_allclose(fitted.decision_function(X), scores - 0.5, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(X), np.where(scores > 0.5, 1, -1))


def cells(n, chances, c, seed=0):
    """One-hot rows of which those of cell k are positive with chances[k], and positives labelled with the chance c."""
    rng = np.random.default_rng(seed)
    cell = rng.integers(len(chances), size=n)
    truth = rng.random(n) < np.asarray(chances)[cell]
    return np.eye(len(chances))[cell], truth, truth & (rng.random(n) < c)


def test_where_classes_overlap_the_label_frequency_is_too_small_by_the_posterior_of_positives():
    """The mean of P(s = 1 | x) over labelled rows is c E[P(y = 1 | x) | y = 1]."""
    chances, c = np.array([0.9, 0.6, 0.2, 0.0]), 0.5
    X, _, labelled = cells(40_000, chances, c)
    fitted = ElkanNotoClassifier(LogisticRegression(C=1e6)).fit(X, labelled)
    shrunk = c * (chances**2).sum() / chances.sum()
    assert abs(fitted.c_ - shrunk) < 0.01
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"1 of 4 probabilities were above 1, up to 1\.2"):
        probabilities = fitted.predict_proba(np.eye(4))
    np.testing.assert_allclose(probabilities[:, 1], np.minimum(1, chances * c / shrunk), atol=0.03)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_folds_see_no_row_that_they_score():
    """A tree that learns every row by heart gives labelled rows 1; out of folds it does not."""
    rng = np.random.default_rng(0)
    X, labelled = rng.standard_normal((400, 2)), np.arange(400) < 100
    fitted = ElkanNotoClassifier(DecisionTreeClassifier(random_state=0)).fit(X, labelled)
    assert fitted.estimator_.predict_proba(X[:100])[:, 1].min() == 1.0
    assert fitted.c_ < 0.5


def test_few_rows_make_fewer_folds():
    X, _, labelled = pu_rows(n=40)
    for few in (labelled & (np.cumsum(labelled) <= 3), ~labelled | (np.cumsum(~labelled) > 3)):
        three = ElkanNotoClassifier(LogisticRegression(), cv=3).fit(X, few)
        assert ElkanNotoClassifier(LogisticRegression(), cv=9).fit(X, few).c_ == three.c_


def test_folds_may_be_those_of_scikit_learn():
    X, _, labelled = pu_rows(n=60)
    weights = np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    splitter = KFold(4, shuffle=True, random_state=0)
    fitted = ElkanNotoClassifier(exact_regression(), cv=splitter).fit(X, labelled, sample_weight=weights)
    folds = [tuple(part[weights[part] > 0] for part in fold) for fold in splitter.split(X)]
    c, _ = meta.elkan_noto(plain("predict_proba"), X, labelled, weights, folds)
    assert abs(fitted.c_ - c) < 1e-7
    listed = ElkanNotoClassifier(exact_regression(), cv=list(splitter.split(X))).fit(X, labelled, sample_weight=weights)
    assert listed.c_ == fitted.c_
    refused(ValueError, "cv must hold every row out once, got ShuffleSplit",
            ElkanNotoClassifier(LogisticRegression(), cv=ShuffleSplit(3)).fit, X, labelled)  # fmt: skip


def test_too_few_rows_and_bad_parameters_are_refused():
    X, _, labelled = pu_rows(n=40)
    clf = ElkanNotoClassifier(LogisticRegression())
    one = np.arange(40) < 1
    refused(ValueError, "y must have at least 2 labelled positive rows and 2 others", clf.fit, X, one)
    refused(ValueError, "got 39 and 1", clf.fit, X, ~one)
    refused(
        ValueError,
        "cv must be an integer >= 2, got 1",
        ElkanNotoClassifier(LogisticRegression(), cv=1).fit,
        X,
        labelled,
    )
    for cv in ("5", b"5", 5.0, np.array(5), ShuffleSplit, None):
        wrong = ElkanNotoClassifier(LogisticRegression(), cv=cv)
        refused(
            TypeError,
            "cv must be an integer >= 2, a splitter of scikit-learn's kind, or a list",
            wrong.fit,
            X,
            labelled,
        )
    wrong = ElkanNotoClassifier(LogisticRegression(), cv=[1, 2])
    refused(TypeError, "cv must hold pairs (training rows, held-out rows), got int at 0", wrong.fit, X, labelled)
    alone = np.eye(4)[np.arange(40) % 2 + 2 * (np.arange(40) < 2)]  # two labelled rows like no others
    with pytest.raises(ValueError, match="estimator must give labelled rows a positive probability"):
        ElkanNotoClassifier(DecisionTreeClassifier(max_depth=1, random_state=0)).fit(alone, np.arange(40) < 2)
