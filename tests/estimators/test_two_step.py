"""The two-step method: the quantile of the spies, reliable negatives, and repetition."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import fastpu
from estimator_cases import pu_rows
from fastpu.estimators import TwoStepClassifier
from fastpu.estimators._two_step import spy_limit
from helpers import refused
from meta_cases import exact_regression, plain, pnu_codes
from oracles import meta

SCORES = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]), st.integers(1, 4)), min_size=1, max_size=30)


@given(SCORES, st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.99]))
def test_at_most_the_share_of_the_spies_is_below_the_limit_and_no_larger_score_has_that(pairs, quantile):
    scores, weights = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    limit = spy_limit(scores, weights, quantile)
    assert limit == meta.spy_limit(scores, weights, quantile)
    if quantile == 0:
        assert limit == scores.min()
    repeated = np.repeat(scores, weights.astype(int))
    assert limit == spy_limit(repeated, np.ones(repeated.size), quantile)


@pytest.mark.parametrize(("response", "border"), [("predict_proba", 0.5), ("decision_function", 0.0)])
@pytest.mark.parametrize("max_iter", [1, 2, 30])
def test_a_fit_is_that_of_plain_loops(response, border, max_iter):
    X, truth, labelled = pu_rows(n=120, apart=0.7)
    codes = pnu_codes(truth, labelled)
    fitted = TwoStepClassifier(
        exact_regression(), spy_share=0.3, spy_quantile=0.2, max_iter=max_iter, response_method=response, random_state=1
    )
    if max_iter == 2:
        with pytest.warns(
            fastpu.exceptions.ConvergenceWarning,
            match=r"max_iter=2 fits and has not converged: the last fit",
        ):
            fitted.fit(X, codes)
    else:
        fitted.fit(X, codes)
    negative, scores = meta.two_step(plain(response), X, codes, set(fitted.spies_), 0.2, max_iter, border)
    np.testing.assert_array_equal(fitted.reliable_negatives_, negative)
    np.testing.assert_allclose(fitted.decision_function(X), scores - border, atol=1e-6)
    assert fitted.n_iter_ == {1: 1, 2: 2}.get(max_iter, fitted.n_iter_) < 30


def test_spies_are_a_share_of_the_positives():
    X, _, labelled = pu_rows(n=200)
    for share, size in ((0.15, round(0.15 * labelled.sum())), (1e-6, 1), (0.9999, labelled.sum() - 1)):
        spies = TwoStepClassifier(LogisticRegression(), spy_share=share, random_state=0).fit(X, labelled).spies_
        assert np.unique(spies).size == size
        assert labelled[spies].all()
    first, again, other = (
        TwoStepClassifier(LogisticRegression(), random_state=seed).fit(X, labelled).spies_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("estimator", "right", "lost"),
    [
        (DecisionTreeClassifier(max_depth=4, random_state=0), 0.94, (0, 20)),
        (RandomForestClassifier(50, random_state=0), 0.95, (0, 20)),
        (
            DecisionTreeClassifier(random_state=0),
            0.7,
            (100, 100),
        ),  # learns every row by heart, and says nothing of spies
        (DummyClassifier(), 0.4, (100, 100)),
    ],
    ids=["tree", "forest", "deep tree", "constant"],
)
def test_where_no_row_scores_less_than_the_spies_those_with_the_lowest_score_are_negative(estimator, right, lost):
    X, _, labelled = pu_rows(seed=1, n=800, apart=2.0)
    X_new, truth_new, _ = pu_rows(seed=2, n=2000, apart=2.0)
    fitted = TwoStepClassifier(estimator, random_state=0)
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match="finds no unlabelled row with a score below that"
    ) as told:
        fitted.fit(X, labelled)
    words = r"takes the (\d+) of (\d+) with the lowest score for negative, although (\d+) % of"
    said = re.search(words, str(told[0].message))
    n_negative, n_unlabelled, share = map(int, said.groups())
    assert n_negative == fitted.reliable_negatives_.sum() > 0
    assert n_unlabelled == np.count_nonzero(~labelled)
    assert lost[0] <= share <= lost[1]
    assert np.mean(fitted.predict(X_new) == truth_new) > right


def test_too_few_rows_and_bad_parameters_are_refused():
    X, _, labelled = pu_rows(n=60)
    one = labelled & (np.cumsum(labelled) <= 1)
    refused(ValueError, "y must have at least 2 labelled positives, as one of them is the spy, got 1",
            TwoStepClassifier(LogisticRegression()).fit, X, one)  # fmt: skip
    refused(ValueError, "y must hold unlabelled rows of positive weight for TwoStepClassifier, got none",
            TwoStepClassifier(LogisticRegression()).fit, X, np.where(labelled, 1, np.where(X[:, 0] > 0, 0, -1)),
            sample_weight=np.where(labelled | (X[:, 0] <= 0), 1.0, 0.0))  # fmt: skip
    for options, message in (
        ({"spy_share": 0.0}, "spy_share must be a number in (0, 1), got 0.0"),
        ({"spy_quantile": 1.0}, "spy_quantile must be a number in [0, 1), got 1.0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    ):
        refused(ValueError, message, TwoStepClassifier(LogisticRegression(), **options).fit, X, labelled)
