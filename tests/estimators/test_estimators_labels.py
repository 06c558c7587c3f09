"""What labels mean to the classifiers for scikit-learn: -1 alone and beside 0, in a fit and in a score."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import fastpu
from estimator_cases import CLASSIFIERS, every_class, make, pu_rows, takes
from fastpu import estimators


@every_class
def test_minus_one_means_what_the_function_reads(classifier):
    """To a method of P, U and N the numbers -1 and 1 are negative and positive, in other kinds of numbers too."""
    _, truth, _ = pu_rows()
    y = np.where(truth, 1, -1)
    other = -1 if takes(classifier, "N") else 0
    smaller_is_negative = not takes(classifier, "U")
    for kind in (np.int64, np.int8, np.float32):
        labels, codes = make(classifier)._read_labels(y.astype(kind), y.size)
        assert labels.other == other
        assert set(codes.tolist()) == {1, other}
    for values in (truth, truth.astype(int), np.where(truth, "1", "-1")):
        assert make(classifier)._read_labels(values, y.size)[0].other == (-1 if smaller_is_negative else 0)


TAKE_ALL = [c for c in CLASSIFIERS if takes(c, "N")]


@pytest.mark.parametrize("classifier", TAKE_ALL, ids=[c.__name__ for c in TAKE_ALL])
def test_unlabelled_rows_are_no_errors(classifier):
    X, truth, _ = pu_rows()
    rng = np.random.default_rng(1)
    y = np.where(rng.random(truth.size) < 0.5, 0, np.where(truth, 1, -1))
    kept = y != 0
    fitted = make(classifier).fit(*((X, y) if takes(classifier, "U") else (X[kept], y[kept])))
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
    assert len(said) == takes(classifier, "U")
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


def test_booleans_and_labels_of_which_few_rows_are_positive_are_silent():
    X, _, labelled = pu_rows(n=200)
    labelled &= np.arange(200) % 2 == 0
    for y in (~labelled, np.where(labelled, 1, 0), np.where(labelled, "yes", "no"), np.arange(200) % 10 > 3):
        assert not told_of_labels(estimators.ISVMClassifier(), X, y)
    words = np.where(np.arange(200) % 100 < 69, "b", "a")
    assert not told_of_labels(estimators.ISVMClassifier(), X, words)
    assert told_of_labels(estimators.ISVMClassifier(), X, np.where(np.arange(200) % 100 < 70, "b", "a").astype(object))
