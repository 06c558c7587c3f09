"""PU bagging: the mean over bags, its out-of-bag scores, and the same bags for any number of jobs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from estimator_cases import pu_rows
from fastpu.estimators import ForestClassifier, ISVMClassifier, PUBaggingClassifier
from helpers import refused
from meta_cases import exact_regression, plain, pnu_codes
from oracles import meta


@pytest.mark.parametrize(
    ("estimator", "response"),
    [
        (exact_regression(), "predict_proba"),
        (exact_regression(), "decision_function"),
        (ISVMClassifier(C=1.0), "decision_function"),
    ],
)
@pytest.mark.parametrize("ratio", [0.4, 1.0, 3.0])
def test_scores_are_means_over_the_bags(estimator, response, ratio):
    X, truth, labelled = pu_rows(n=60, apart=1.0)
    codes, weights = pnu_codes(truth, labelled), np.random.default_rng(0).uniform(0.2, 2.0, 60)
    bagging = PUBaggingClassifier(estimator, n_bags=6, bag_ratio=ratio, response_method=response, random_state=0).fit(
        X, codes, sample_weight=weights
    )
    means, outside = meta.pu_bagging(plain(response, estimator), X, codes, weights, bagging.bags_)
    np.testing.assert_allclose(bagging.decision_function(X), means - bagging.threshold_, atol=1e-6)
    np.testing.assert_allclose(bagging.oob_decision_function_, outside - bagging.threshold_, atol=1e-6)


def test_bags_hold_unlabelled_rows_with_repeats():
    X, truth, labelled = pu_rows(n=80)
    codes = pnu_codes(truth, labelled)
    n_pos = np.count_nonzero(codes == 1)
    for ratio, size in ((1.0, n_pos), (0.5, round(0.5 * n_pos)), (1e-9, 1), (4.0, 4 * n_pos)):
        bagging = PUBaggingClassifier(GaussianNB(), n_bags=7, bag_ratio=ratio, random_state=1).fit(X, codes)
        assert bagging.bags_.shape == (7, size)
        assert len(bagging.estimators_) == 7
        assert set(bagging.bags_.ravel()) <= set(np.flatnonzero(codes == 0))
    assert np.unique(bagging.bags_[0]).size < size
    weights = np.where(np.arange(80) % 2 == 0, 1.0, 0.0)
    bagging = PUBaggingClassifier(GaussianNB(), random_state=1).fit(X, codes, sample_weight=weights)
    assert (weights[bagging.bags_] > 0).all()
    assert np.isnan(bagging.oob_decision_function_[weights == 0]).all()


@pytest.mark.parametrize(("n_labelled", "size", "repeats"), [(1, 100, 100), (30, 100, 3), (300, 300, 1)])
def test_both_groups_of_a_bag_are_alike_and_large_enough_by_default(n_labelled, size, repeats):
    rng = np.random.default_rng(0)
    X, labelled = rng.normal(size=(4000, 2)), np.arange(4000) < n_labelled
    X[labelled] += 2.0
    bagging = PUBaggingClassifier(GaussianNB(), n_bags=5, random_state=0).fit(X, labelled)
    assert bagging.bags_.shape == (5, size)
    np.testing.assert_array_equal(bagging.estimators_[0].class_count_, [size, repeats * n_labelled])
    assert np.isfinite(bagging.oob_decision_function_[~labelled]).all()


def test_with_two_unlabelled_rows_a_bag_leaves_one_out():
    X, labelled = np.arange(40.0)[:, None], np.arange(40) >= 2
    bagging = PUBaggingClassifier(GaussianNB(), random_state=0).fit(X, labelled)
    assert np.isfinite(bagging.oob_decision_function_[:2]).all()


def test_labelled_rows_and_such_as_are_in_every_bag_have_no_score_out_of_bag():
    X, _, labelled = pu_rows(n=60)
    bagging = PUBaggingClassifier(GaussianNB(), n_bags=2, bag_ratio=2.0, random_state=0).fit(X, labelled)
    scored = ~np.isnan(bagging.oob_decision_function_)
    in_all = np.isin(np.arange(60), bagging.bags_[0]) & np.isin(np.arange(60), bagging.bags_[1])
    np.testing.assert_array_equal(scored, ~labelled & ~in_all)
    assert in_all.any()


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_features=1), ISVMClassifier(C=0.5)])
def test_any_number_of_jobs_gives_the_same(estimator):
    X, _, labelled = pu_rows(n=60)
    one = PUBaggingClassifier(estimator, n_bags=6, random_state=3).fit(X, labelled)
    for n_jobs in (1, 2):
        other = PUBaggingClassifier(estimator, n_bags=6, n_jobs=n_jobs, random_state=3).fit(X, labelled)
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))
        np.testing.assert_array_equal(other.oob_decision_function_, one.oob_decision_function_)
    for random_state in (np.random.default_rng(3), np.random.RandomState(3)):
        first = PUBaggingClassifier(estimator, n_bags=6, random_state=random_state).fit(X, labelled)
        assert not np.array_equal(first.bags_, first.fit(X, labelled).bags_[::-1])


def test_random_states_inside_differ_from_bag_to_bag():
    X, _, labelled = pu_rows(n=60)
    bagging = PUBaggingClassifier(DecisionTreeClassifier(random_state=0), n_bags=4, random_state=0)
    seeds = {tree.random_state for tree in bagging.fit(X, labelled).estimators_}
    assert len(seeds) == 4
    assert bagging.estimator.random_state == 0


def test_the_border_is_where_the_densities_of_the_classes_are_equal():
    """In cells of which the positive rows are in with .5, .3 and .2, and the negative ones with .1, .25 and .65."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(2000, bool), rng.random(6000) < 1 / 3])
    chances = np.where(truth[:, None], [0.5, 0.3, 0.2], [0.1, 0.25, 0.65])
    X = (rng.random((8000, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)[:, None] == np.arange(3)
    bagging = PUBaggingClassifier(exact_regression(C=1e6), n_bags=20, random_state=0)
    scores = bagging.fit(X.astype(float), np.arange(8000) < 2000).decision_function(np.eye(3))
    assert (scores > 0).tolist() == [True, True, False]
    positive, unlabelled = (
        np.array([0.5, 0.3, 0.2]),
        np.array([0.5, 0.3, 0.2]) / 3 + np.array([0.1, 0.25, 0.65]) * 2 / 3,
    )
    np.testing.assert_allclose(scores + 0.5, positive / (positive + unlabelled), atol=0.02)


def test_bad_parameters_are_refused():
    X, _, labelled = pu_rows(n=40)
    for options, error, message in (
        ({"n_bags": 0}, ValueError, "n_bags must be an integer >= 1, got 0"),
        ({"bag_ratio": None}, TypeError, "bag_ratio must be 'auto' or a number, got None"),
        ({"bag_ratio": 0.0}, ValueError, "bag_ratio must be a finite number > 0, got 0.0"),
        ({"bag_ratio": 1e300}, ValueError, "n_bags * bag_ratio * n_pos must be at most 268435456 row numbers"),
        ({"bag_ratio": 1e308}, ValueError, "n_bags * bag_ratio * n_pos must be at most 268435456 row numbers"),
        ({"n_bags": 10**400}, ValueError, "268435456 row numbers, got 1000000000"),
        ({"random_state": -1}, ValueError, "random_state must be an integer >= 0"),
    ):
        refused(error, message, PUBaggingClassifier(GaussianNB(), **options).fit, X, labelled)
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_samples'"):
        PUBaggingClassifier(GaussianNB(), max_samples=3)


@pytest.mark.parametrize(("code", "kind"), [(1, "positive"), (0, "unlabelled")])
def test_groups_without_a_row_of_positive_weight_are_named(code, kind):
    X, truth, labelled = pu_rows(n=40)
    codes = pnu_codes(truth, labelled)
    message = f"y must hold {kind} rows of positive weight for PUBaggingClassifier, got none"
    refused(ValueError, message, PUBaggingClassifier(GaussianNB()).fit, X, codes, sample_weight=1.0 * (codes != code))


@pytest.mark.parametrize("words", [False, True])
def test_thresholds_leave_out_checked_rows_by_the_labels_that_are_passed(words):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(330, 3)), np.arange(330) < 30
    X[:60] += 1.5
    checked = np.isin(np.arange(330), np.arange(60, 90))
    labels = np.where(y, "yes", "no") if words else y.astype(int)
    bags = PUBaggingClassifier(LogisticRegression(), random_state=0).fit(X, labels)
    forest = ForestClassifier(random_state=0).fit(X, labels)
    for fitted in (bags, forest):
        assert fitted.with_threshold(prior=0.1, y=labels).threshold_ == fitted.with_threshold(prior=0.1).threshold_
        with pytest.raises(ValueError, match="row 0 is unlabelled there, and was labelled"):
            fitted.with_threshold(prior=0.1, y=labels[::-1])
        with pytest.raises(ValueError, match="y must be None with X_unl"):
            fitted.with_threshold(prior=0.1, y=labels, X_unl=X)
        if words:
            with pytest.raises(ValueError, match=r"y must hold labels out of \['no', 'yes'\], got 'checked'"):
                fitted.with_threshold(prior=0.1, y=np.where(checked, "checked", labels))
            continue
        moved = fitted.with_threshold(k=27, y=np.where(checked, -1, labels))
        assert np.sum(moved.oob_decision_function_[~y & ~checked] > 0) == 27
    coded = ForestClassifier(random_state=0).fit(X, np.where(y, 1, -1))  # -1 are the unlabelled rows
    assert coded.with_threshold(k=27, y=np.where(y, 1, -1)).threshold_ == coded.with_threshold(k=27).threshold_
    moved = coded.with_threshold(k=27, y=np.where(checked, -1, y.astype(int)))  # and here the negative ones
    assert np.sum(moved.oob_decision_function_[~y & ~checked] > 0) == 27
