"""Probabilities: from rows that a fit has not seen, with a prior that is given, known or estimated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from scipy import sparse

import fastpu
from estimator_cases import every_class, labels_for, make, pu_rows
from fastpu import estimators
from helpers import refused

# Fits of small data have something to say of themselves and of their calibration.
pytestmark = pytest.mark.filterwarnings(
    "ignore::fastpu.exceptions.EstimateWarning", "ignore::fastpu.exceptions.DegenerateModelWarning"
)
# The best-bin estimate is too large where classes overlap.
OVERLAP = 0.2


@every_class
def test_probabilities_rise_with_the_scores_and_change_no_prediction(classifier):
    X, truth, labelled = pu_rows(n=90, apart=1.0)
    y = labels_for(classifier, truth, labelled)
    plain = make(classifier).fit(X, y)
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as caught:
        plain.predict_proba  # noqa: B018 - read for its error
    assert "needs calibration='beta', 'sigmoid' or 'isotonic'" in str(caught.value.__cause__)
    for method in ("sigmoid", "isotonic"):
        fitted = make(classifier, calibration=method, calibration_cv=3).fit(X, y)
        shares = fitted.predict_proba(X)
        assert shares.shape == (90, 2)
        assert ((shares >= 0) & (shares <= 1)).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        scores = fitted.decision_function(X)
        np.testing.assert_array_equal(scores, plain.decision_function(X))
        assert (np.diff(shares[np.argsort(scores), 1]) >= 0).all()
        assert fitted.model_.calibration == method


def test_probabilities_are_right_for_rows_like_the_unlabelled_ones():
    X, truth, labelled = pu_rows(seed=3, n=4000, d=1, apart=0.8)
    rows = ~labelled
    share = float(truth[rows].mean())
    # Of these two normal distributions the log odds are linear in the column.
    odds = 1.6 * X[rows, 0] + np.log(share / (1 - share))
    expected = 1 / (1 + np.exp(-odds))
    for prior, tolerance in ((share, 0.03), (None, OVERLAP)):
        clf = estimators.ISVMClassifier(calibration="sigmoid", calibration_prior=prior).fit(X, labelled)
        assert np.abs(clf.predict_proba(X[rows])[:, 1] - expected).mean() < tolerance


def test_where_all_rows_are_labelled_the_probabilities_are_of_these():
    X, truth, _ = pu_rows(seed=4, n=2000, d=1, apart=0.8)
    keep = truth | (np.arange(2000) % 3 == 0)
    X, truth = X[keep], truth[keep]
    clf = estimators.SVMPathClassifier(kernel="linear", lam=1.0, calibration="sigmoid").fit(X, truth)
    assert clf.model_.calibration_prior == truth.mean()
    share = clf.predict_proba(X)[:, 1]
    assert abs(share.mean() - truth.mean()) < 0.01
    for low in (0.0, 0.25, 0.5, 0.75):
        chosen = (share >= low) & (share < low + 0.25)
        assert abs(share[chosen].mean() - truth[chosen].mean()) < 0.07


def test_the_prior_is_the_own_one_of_the_method():
    X, _, labelled = pu_rows(n=200)
    own = estimators.UPUClassifier(prior=0.3, loss="squared", calibration="sigmoid").fit(X, labelled)
    assert own.model_.calibration_prior == 0.3
    other = estimators.UPUClassifier(prior=0.3, loss="squared", calibration="sigmoid", calibration_prior=0.2)
    assert other.fit(X, labelled).model_.calibration_prior == 0.2
    single = estimators.UPUClassifier(
        prior=0.5, scenario="single_set", loss="squared", calibration="sigmoid", calibration_prior=None
    ).fit(X, labelled)
    expected = (0.5 * 200 - labelled.sum()) / (~labelled).sum()
    assert single.model_.calibration_prior == pytest.approx(expected)


def test_weights_count_as_repetitions():
    X, _, labelled = pu_rows(n=400, apart=0.8)
    weights = np.where(np.arange(400) % 4 == 0, 0.0, 1.0)
    kept = weights > 0
    clf = estimators.ISVMClassifier(C=0.1, calibration="sigmoid")
    weighted = clf.fit(X, labelled, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(weighted, clf.fit(X[kept], labelled[kept]).predict_proba(X), atol=1e-9)


def test_rows_of_every_kind_are_cut_into_folds():
    X, truth, labelled = pu_rows(n=90, apart=1.0)
    clf = estimators.BSVMClassifier(calibration="sigmoid", calibration_prior=0.3, tol=1e-9)
    dense = clf.fit(X, labelled).predict_proba(X)
    for rows in (sparse.csc_array(X), np.asfortranarray(X), X.tolist()):
        np.testing.assert_allclose(clf.fit(rows, labelled).predict_proba(rows), dense, atol=1e-6)
    square = estimators.BSVMClassifier(
        kernel="precomputed", calibration="sigmoid", calibration_prior=0.3, tol=1e-9
    ).fit(X @ X.T, labelled)
    np.testing.assert_allclose(square.predict_proba(X @ X.T), dense, atol=1e-6)
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    boosted = estimators.PNUAUCBoostClassifier(n_rounds=5, calibration="isotonic").fit(gaps, labelled)
    assert np.isfinite(boosted.predict_proba(gaps)).all()
    costs = estimators.SVMPathClassifier(lam=1.0, calibration="sigmoid")
    costs.fit(X, truth, sample_cost=np.linspace(0.5, 1, 90).tolist())
    assert costs.predict_proba(X).shape == (90, 2)


def test_folds_show_no_bar_and_call_no_callback():
    X, _, labelled = pu_rows(n=60, apart=0.3)
    seen = []
    clf = estimators.PNUAUCBoostClassifier(
        n_rounds=4, calibration="sigmoid", callback=lambda info: seen.append(info.round) or False
    )
    clf.fit(X, labelled)
    assert seen == [1, 2, 3, 4]


def test_bad_arguments_are_named():
    X, truth, labelled = pu_rows(n=60)
    cases = [
        (
            estimators.ISVMClassifier(calibration="platt"),
            labelled,
            "calibration must be one of 'beta', 'sigmoid', 'isotonic'",
        ),
        (
            estimators.ISVMClassifier(calibration="sigmoid", calibration_cv=1),
            labelled,
            "calibration_cv must be an integer >= 2",
        ),
        (estimators.ISVMClassifier(calibration="sigmoid", calibration_prior=2.0), labelled, "calibration_prior must"),
        (
            estimators.SVMPathClassifier(lam=1.0, calibration="sigmoid", calibration_prior=0.3),
            truth,
            "calibration_prior must be None",
        ),
        (estimators.ISVMClassifier(calibration="sigmoid"), np.arange(60) == 3, "calibration needs two rows of each"),
    ]
    for clf, y, message in cases:
        refused(ValueError, message, clf.fit, X, y)
        assert not hasattr(clf, "model_")


def test_a_prior_that_is_only_an_upper_bound_is_not_taken_silently():
    X, _, labelled = pu_rows(seed=1, n=300, apart=0.5)
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match=r"bbe: the data give only an upper bound of .*; pass a prior"
    ):
        fitted = estimators.UPUClassifier(random_state=0).fit(X, labelled)
    assert fitted.prior_estimate_.only_upper_bound
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"calibration_prior is not given: .* pass calibration_"):
        calibrated = estimators.ISVMClassifier(calibration="isotonic").fit(X, labelled)
    estimate = calibrated.calibration_prior_estimate_
    assert estimate.only_upper_bound
    assert estimate.value == calibrated.model_.calibration_prior
    with warnings.catch_warnings():
        warnings.simplefilter("error", fastpu.exceptions.EstimateWarning)
        given = estimators.ISVMClassifier(calibration="isotonic", calibration_prior=0.2).fit(X, labelled)
        estimators.UPUClassifier(prior=0.2).fit(X, labelled)
    assert given.calibration_prior_estimate_ is None


def test_a_prior_for_probabilities_that_are_not_asked_for_is_refused():
    X, _, labelled = pu_rows(n=200)
    text = "calibration_prior must be None without a calibration, got 0.3 (float)"
    refused(ValueError, text, estimators.ForestClassifier(calibration_prior=0.3).fit, X, labelled)
