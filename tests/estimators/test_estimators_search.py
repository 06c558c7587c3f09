"""Pipelines, searches and scorers of scikit-learn, with labels of positive and unlabelled rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from estimator_cases import pu_rows
from fastpu import estimators
from fastpu.estimators import (
    average_precision_scorer,
    err_star_scorer,
    labeled_scorer,
    lift_scorer,
    precision_at_k_scorer,
    pu_auc_scorer,
    puf_scorer,
)
from fastpu.exceptions import ConvergenceWarning
from fastpu.metrics import average_precision, err_star, lift_at_k, precision_at_k, pu_auc, puf_score
from helpers import refused

# Of a grid some points are bad, and of some folds the model calls all rows the same.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
SCORERS = {
    "puf": puf_scorer(),
    "err_star": err_star_scorer(prior=0.3),
    "pu_auc": pu_auc_scorer(prior=0.2),
    "lift": lift_scorer(0.2),
    "precision_at_k": precision_at_k_scorer(0.2, prior=0.2),
    "average_precision": average_precision_scorer(prior=0.2),
}


@pytest.mark.parametrize("coding", ["bool", "words", "three"])
def test_scorers_are_the_metrics_of_positive_and_unlabelled_rows(coding):
    X, truth, labelled = pu_rows(n=200, apart=0.8)
    y = {
        "bool": labelled,
        "words": np.where(labelled, "p", "a"),
        "three": np.where(labelled, 1, np.where(~truth & (np.arange(200) % 3 == 0), -1, 0)),
    }[coding]
    fitted = estimators.PNUAUCBoostClassifier(n_rounds=10).fit(X, y)
    scores = fitted.decision_function(X)
    codes = y if coding == "three" else labelled
    expected = {
        "puf": puf_score(codes, scores),
        "err_star": -err_star(codes, scores, prior=0.3),
        "pu_auc": pu_auc(codes, scores, prior=0.2),
        "lift": lift_at_k(codes, scores, 0.2),
        "precision_at_k": precision_at_k(codes, scores, 0.2, prior=0.2),
        "average_precision": average_precision(codes, scores, prior=0.2),
    }
    assert {name: scorer(fitted, X, y) for name, scorer in SCORERS.items()} == expected
    assert puf_scorer(scenario="single_set")(fitted, X, y) == puf_score(labelled, scores, scenario="single_set")
    assert lift_scorer(10)(fitted, X, y) == lift_at_k(codes, scores, 10)
    for name in ("err_star", "precision_at_k"):
        assert pickle.loads(pickle.dumps(SCORERS[name])) == SCORERS[name]


def test_scorers_judge_other_classifiers_too():
    X, _, labelled = pu_rows(n=100)
    logistic = LogisticRegression(solver="liblinear").fit(X, labelled)
    assert puf_scorer()(logistic, X, labelled) > 1
    bayes = GaussianNB().fit(X, labelled)
    called = bayes.predict(X)
    assert puf_scorer()(bayes, X, labelled) == puf_score(labelled, called - 0.5)


def test_scorers_name_what_is_wrong():
    X, _, labelled = pu_rows(n=60)
    fitted = estimators.ISVMClassifier().fit(X, labelled)
    with pytest.raises(ValueError, match="y must hold positive and unlabelled rows to judge by, got 60 positive and 0"):
        puf_scorer()(fitted, X, np.ones(60, dtype=bool))
    with pytest.raises(ValueError, match=r"y must hold the classes \[False, True\] of the estimator, got 2"):
        puf_scorer()(fitted, X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"prior must be a number in \(0, 1\), got 1.5"):
        err_star_scorer(prior=1.5)
    with pytest.raises(ValueError, match="scenario must be one of"):
        puf_scorer(scenario="both")
    assert precision_at_k_scorer(0.2, 0.3) == precision_at_k_scorer(k=0.2, prior=0.3)
    assert average_precision_scorer(0.3) == average_precision_scorer(prior=0.3)
    for scorer in (precision_at_k_scorer, average_precision_scorer):
        with pytest.raises(ValueError, match=r"prior must be a number in \(0, 1\), got 1.5"):
            scorer(**({"k": 5} if scorer is precision_at_k_scorer else {}), prior=1.5)
    for scorer in (lift_scorer, lambda k: precision_at_k_scorer(k, prior=0.5)):
        with pytest.raises(ValueError, match=r"k must be a whole number of unlabelled rows >= 1, .* got 0"):
            scorer(0)
    with pytest.raises(ValueError, match=r"k must be a whole number of unlabelled rows from 1 to \d+, .* got 61"):
        lift_scorer(61)(fitted, X, labelled)
    three = GaussianNB().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"estimator must have two classes, got \[0, 1, 2\]"):
        puf_scorer()(three, X, labelled)


@pytest.mark.parametrize("scoring", ["puf", "pu_auc"])
def test_a_search_chooses_what_is_better_on_rows_that_were_held_out(scoring):
    X, truth, labelled = pu_rows(n=300, apart=1.0)
    pipeline = make_pipeline(StandardScaler(), estimators.BSVMClassifier())
    grid = {"bsvmclassifier__C_pos": [0.01, 1.0, 10.0], "bsvmclassifier__C_unl": [0.1, 10.0]}
    search = GridSearchCV(pipeline, grid, scoring=SCORERS[scoring], cv=3).fit(X, np.where(labelled, "p", "a"))
    assert set(search.predict(X)) == {"p", "a"}
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).all()
    assert search.best_score_ == means.max()
    assert means.max() > means.min()
    if scoring == "puf":  # the other one ranks, whatever is called positive
        assert np.mean((search.predict(X) == "p") == truth) > 0.7


def test_a_search_over_a_kernel_matrix_cuts_both_sides():
    X, _, labelled = pu_rows(n=60)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    search = GridSearchCV(estimators.BSVMClassifier(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=3).fit(K, labelled)
    assert search.best_score_ > 0.6


def test_weights_are_routed():
    X, _, labelled = pu_rows(n=80)
    weights = np.random.default_rng(0).integers(1, 4, 80).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = estimators.ISVMClassifier(C=1.0).set_fit_request(sample_weight=True)
        search = GridSearchCV(clf, {"C": [1.0]}, cv=2, scoring=puf_scorer()).fit(X, labelled, sample_weight=weights)
        with pytest.raises(TypeError, match="sample_weight"):
            estimators.BaggingSVMClassifier().set_fit_request(sample_weight=True)
    expected = estimators.ISVMClassifier(C=1.0).fit(X, labelled, sample_weight=weights)
    np.testing.assert_array_equal(search.decision_function(X), expected.decision_function(X))
    assert not np.array_equal(expected.coef_, estimators.ISVMClassifier(C=1.0).fit(X, labelled).coef_)


@pytest.mark.parametrize("form", ["alone", "pipeline", "search"])
def test_a_warning_names_the_line_of_the_user(form):
    """A line of this package, or of scikit-learn, would tell nobody which of their fits it is about."""
    X, _, labelled = pu_rows(n=60)
    classifier = estimators.BSVMClassifier(max_iter=1, tol=1e-9)
    fitted = {
        "alone": classifier,
        "pipeline": make_pipeline(StandardScaler(), classifier),
        "search": GridSearchCV(classifier, {"C": [1.0, 2.0]}, scoring="accuracy", cv=2),
    }[form]
    with pytest.warns(ConvergenceWarning) as caught:
        fitted.fit(X, labelled)
    assert {warning.filename for warning in caught} == {__file__}


def test_scorers_of_scikit_learn_judge_the_labelled_rows():
    """By themselves they take -1, 0 and 1 for three classes."""
    X, truth, _ = pu_rows(n=300, apart=0.5)
    y = np.where(np.random.default_rng(1).random(300) < 0.6, 0, np.where(truth, 1, -1))
    fitted = estimators.PNUAUCBoostClassifier(n_rounds=10).fit(X, y)
    kept = y != 0
    scores = fitted.decision_function(X)[kept]
    with pytest.raises(ValueError, match="multi_class"):
        get_scorer("roc_auc")(fitted, X, y)
    assert labeled_scorer("roc_auc")(fitted, X, y) == pytest.approx(fastpu.metrics.auc(y[kept], scores))
    for name in ("roc_auc", "average_precision", "f1", "balanced_accuracy"):
        scorer = pickle.loads(pickle.dumps(labeled_scorer(name)))
        expected = get_scorer(name)(fitted, X[kept], y[kept])
        assert scorer(fitted, X, y) == expected
        assert scorer(fitted, X.tolist(), y.astype(float).tolist()) == expected
    assert labeled_scorer(get_scorer("f1"))(fitted, X, y) == get_scorer("f1")(fitted, X[kept], y[kept])
    two = estimators.PNUAUCBoostClassifier(n_rounds=10).fit(X, truth)
    assert labeled_scorer("roc_auc")(two, X, truth) == get_scorer("roc_auc")(two, X, truth)
    with pytest.raises(ValueError, match="got 300 unlabelled ones"):
        labeled_scorer("roc_auc")(fitted, X, np.zeros(300, dtype=int))
    with pytest.raises(ValueError, match="nonsense"):
        labeled_scorer("nonsense")


@pytest.mark.parametrize("scoring", [None, "labelled", "puf"])
def test_three_labels_can_be_searched(scoring):
    X, truth, _ = pu_rows(n=300, apart=0.5)
    y = np.where(np.random.default_rng(1).random(300) < 0.6, 0, np.where(truth, 1, -1))
    given = {"labelled": labeled_scorer("roc_auc"), "puf": puf_scorer()}.get(scoring)
    pipeline = make_pipeline(StandardScaler(), estimators.PNUAUCBoostClassifier())
    search = GridSearchCV(
        pipeline, {"pnuaucboostclassifier__n_rounds": [1, 20]}, scoring=given, cv=3, error_score="raise"
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    if scoring is None:
        assert search.best_score_ > 0.6  # with unlabelled rows for errors at most .4


def test_scores_of_nan_are_no_scores_of_held_out_rows():
    class Lost:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return np.full(len(X), np.nan)

    refused(ValueError, "scores of the estimator must not hold NaN entries", puf_scorer(), Lost(), np.zeros((4, 1)),
            [0, 0, 1, 1])  # fmt: skip
