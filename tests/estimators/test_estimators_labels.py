"""What labels mean to the classifiers for scikit-learn: -1 alone and beside 0, in a fit and in a score."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.exceptions import DataConversionWarning

import fastpu
from estimator_cases import CLASSIFIERS, every_class, make, pu_rows, takes
from fastpu import estimators
from helpers import refused


@every_class
def test_minus_one_means_what_the_function_reads(classifier):
    """To a method of P, U and N the numbers -1 and 1 are negative and positive, in other kinds of numbers too."""
    X, truth, _ = pu_rows()
    y = np.where(truth, 1, -1)
    other = -1 if takes(classifier, "N") else 0
    want_negatives = (estimators.SAMULTClassifier, estimators.PNUAUCClassifier)
    smaller_is_negative = classifier in want_negatives or (takes(classifier, "N") and not takes(classifier, "U"))
    if classifier is estimators.PNUAdaBoostClassifier:
        other = 0  # with gamma = 0, as here
        half = classifier(n_rounds=9).fit(X, y)
        model = fastpu.baselines.fit_pnu_adaboost(X, y, n_rounds=9)
        np.testing.assert_array_equal(half.decision_function(X), model.decision_function(X))
        words = classifier(n_rounds=9).fit(X, np.where(truth, "p", "n"))
        assert not np.array_equal(words.decision_function(X), half.decision_function(X))
    for kind in (np.int64, np.int8, np.float32):
        labels, codes = make(classifier)._read_labels(y.astype(kind), y.size)
        assert labels.other == other
        assert set(codes.tolist()) == {1, other}
    for values in (truth, truth.astype(int), np.where(truth, "1", "-1")):
        assert make(classifier)._read_labels(values, y.size)[0].other == (-1 if smaller_is_negative else 0)


def test_minus_one_is_unlabelled_where_no_negative_is_learned_from():
    X, _, labelled = pu_rows()
    y = np.where(labelled, 1, -1)
    for options in ({"eta": 1.0, "prior": 0.4}, {"eta": 1.0, "prior": 0.4, "lam": 0.1}):
        fitted = estimators.PNUAUCClassifier(**options).fit(X, y)
        model = fastpu.baselines.fit_pnu_auc(X, labelled, **options)
        np.testing.assert_array_equal(fitted.decision_function(X), model.decision_function(X) - model.threshold)
    fitted = estimators.PNUAdaBoostClassifier(gamma=0.0, n_rounds=9).fit(X, y)
    model = fastpu.baselines.fit_pnu_adaboost(X, labelled, gamma=0.0, n_rounds=9)
    np.testing.assert_array_equal(fitted.decision_function(X), model.decision_function(X))


TAKE_ALL = [c for c in CLASSIFIERS if takes(c, "N")]


@pytest.mark.parametrize("classifier", TAKE_ALL, ids=[c.__name__ for c in TAKE_ALL])
def test_unlabelled_rows_are_no_errors(classifier):
    X, truth, _ = pu_rows()
    rng = np.random.default_rng(1)
    y = np.where(rng.random(truth.size) < 0.5, 0, np.where(truth, 1, -1))
    kept = y != 0
    takes_three = takes(classifier, "U") or classifier in (
        estimators.LSAUCClassifier,
        estimators.RankBoostAUCClassifier,
    )
    options = {"gamma": 0.5} if classifier is estimators.PNUAdaBoostClassifier else {}
    fitted = make(classifier, **options).fit(X, y) if takes_three else make(classifier).fit(X[kept], y[kept])
    right = fitted.predict(X) == y
    assert fitted.score(X, y) == right[kept].mean() > 0.8
    weights = rng.uniform(0.1, 3.0, y.size)
    np.testing.assert_allclose(fitted.score(X, y, weights), np.average(right[kept], weights=weights[kept]))
    assert fitted.score(X, y.astype(float)) == right[kept].mean()
    assert fitted.score(X[kept], y[kept]) == right[kept].mean()
    with pytest.raises(ValueError, match=r"y must hold labelled rows \(-1 or 1\) to judge by, got 120 unlabelled ones"):
        fitted.score(X, np.zeros(120))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.score(X, y[:-1])


def test_the_score_of_two_labels_is_accuracy():
    X, _, labelled = pu_rows()
    fitted = estimators.PNUAUCBoostClassifier(n_rounds=9).fit(X, labelled)
    assert fitted.score(X, labelled) == np.mean(fitted.predict(X) == labelled)
    words = estimators.PNUAUCBoostClassifier(n_rounds=9).fit(X, np.where(labelled, "yes", "no"))
    assert words.score(X, np.where(labelled, "yes", "no")) == fitted.score(X, labelled)


def told_of_labels(classifier, X, y) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(X, y)
    return [str(warning.message) for warning in caught if warning.category is fastpu.exceptions.LabelWarning]


@every_class
def test_words_that_make_most_rows_positive_are_told_of_by_methods_of_unlabelled_rows(classifier):
    X, _, labelled = pu_rows(n=200)
    labelled &= np.arange(200) % 2 == 0
    said = told_of_labels(make(classifier), X, np.where(labelled, "churned", "unknown"))
    learns_from_unlabelled = takes(classifier, "U") and classifier not in {
        estimators.SAMULTClassifier,
        estimators.PNUAUCClassifier,  # at its default eta from negative rows
    }
    assert len(said) == learns_from_unlabelled
    for message in said:
        assert "'unknown', which 86 % of the rows have, and 'churned' as unlabelled" in message
        assert "pass fastpu.as_labels(y, positive='churned', unlabeled='unknown') as y" in message


def test_the_labels_that_the_warning_advises_turn_the_ranking_round():
    X, truth, labelled = pu_rows(n=200)
    labelled &= np.arange(200) % 2 == 0
    y = np.where(labelled, "churned", "unknown")
    with pytest.warns(fastpu.exceptions.LabelWarning):
        reversed_ = estimators.ISVMClassifier().fit(X, y).decision_function(X)
    right = estimators.ISVMClassifier().fit(X, fastpu.as_labels(y, positive="churned", unlabeled="unknown"))
    auc = fastpu.metrics.auc
    assert auc(truth, right.decision_function(X)) > 0.9
    assert auc(truth, reversed_) < 0.1


def test_labels_that_are_no_words_or_of_which_few_rows_are_positive_are_silent():
    X, _, labelled = pu_rows(n=200)
    labelled &= np.arange(200) % 2 == 0
    for y in (~labelled, np.where(labelled, 0, 1), np.where(labelled, "yes", "no"), np.arange(200) % 10 > 3):
        assert not told_of_labels(estimators.ISVMClassifier(), X, y)
    words = np.where(np.arange(200) % 100 < 69, "b", "a")
    assert not told_of_labels(estimators.ISVMClassifier(), X, words)
    assert told_of_labels(estimators.ISVMClassifier(), X, np.where(np.arange(200) % 100 < 70, "b", "a").astype(object))


@pytest.mark.parametrize(
    ("y", "classes"),
    [(np.ones(60), [-1, 1]), (np.ones((60, 1), dtype=np.uint8), [-1, 1]), ([True] * 60, [False, True])],
    ids=["ones", "column", "bool"],
)
def test_ones_are_the_class_of_a_one_class_machine(y, classes):
    X, _, _ = pu_rows(n=60)
    expected = estimators.OneClassSVMClassifier().fit(X).decision_function(X)
    with pytest.warns(DataConversionWarning) if np.ndim(y) == 2 else contextlib.nullcontext():
        fitted = estimators.OneClassSVMClassifier().fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), expected)
    assert fitted.classes_.tolist() == sorted(set(fitted.predict(X).tolist())) == classes
    assert fitted.score(X, np.ravel(y)) == np.mean(expected > 0)
    refused(ValueError, "y must have one entry per row of X (60), got 59", fitted.fit, X, np.ravel(y)[1:])


@pytest.mark.parametrize("y", [np.zeros(60), np.full(60, -1), np.full(60, "in")], ids=["0", "-1", "word"])
def test_one_label_that_is_not_1_says_nothing_of_a_class(y):
    X, _, _ = pu_rows(n=60)
    refused(ValueError, "y must hold two classes", estimators.OneClassSVMClassifier().fit, X, y)
