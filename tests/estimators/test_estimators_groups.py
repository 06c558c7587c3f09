"""Rows in groups: early stopping, calibrations, searches and pipelines keep the rows of a customer together."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from fastpu import estimators
from fastpu.estimators._pu_scorers import LiftScorer
from method_recipes import model_bits


def customers(seed=0, n=150, rows=8):
    """Rows of customers, which are alike; a quarter of the customers is labelled, and another one hidden."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 4
    centre = 3.0 * rng.standard_normal((n, 6)) + 2.0 * (kind < 2)[:, None] * (np.arange(6) == 0)
    X = np.repeat(centre, rows, axis=0) + 0.2 * rng.standard_normal((n * rows, 6))
    return X, np.repeat(kind == 0, rows), np.repeat(np.arange(n), rows), np.repeat(kind < 2, rows)


def log_loss(classifier, X, truth):
    p = np.clip(classifier.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(truth, np.log(p), np.log(1 - p))))


@pytest.mark.parametrize("fit", [fastpu.fit_pnu_auc_boost, fastpu.fit_boosted_trees])
def test_early_stopping_by_folds_of_customers_stops(fit):
    X, y, customer, _ = customers()
    given = {"early_stopping_rounds": 15, "n_rounds": 150, "random_state": 0}
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="ran all 150 rounds"):
        assert fit(X, y, **given).n_iter == 150
    model = fit(X, y, groups=customer, **given)
    assert model.status == "early_stopping"
    assert model.n_iter < 100
    assert model.history["fold_auc"].max() < 0.75


@pytest.mark.parametrize("fit", [fastpu.fit_pnu_auc_boost, fastpu.fit_boosted_trees])
def test_one_group_cannot_be_fitted_and_held_out(fit):
    X, y, customer, _ = customers()
    one = y & (customer == customer[y][0])
    with pytest.raises(ValueError, match="all labelled positive rows .* are of one group: pass an eval_set"):
        fit(X, one, groups=customer, early_stopping_rounds=5)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # of fits without groups
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")  # of the fits without groups
@pytest.mark.parametrize("kind", [estimators.ForestClassifier, estimators.PNUAUCBoostClassifier])
def test_probabilities_by_groups_hold_for_new_customers(kind):
    X, y, customer, truth = customers()
    X_new, _, _, truth_new = customers(seed=1, n=2000, rows=1)
    prior = truth[~y].mean()
    classifier = kind(calibration="sigmoid", calibration_prior=prior)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=0)
    share_alone = -0.5 * np.log(prior) - 0.5 * np.log(1 - prior)
    assert log_loss(clone(classifier).fit(X, y), X_new, truth_new) > share_alone + 0.4
    assert log_loss(clone(classifier).fit(X, y, groups=customer), X_new, truth_new) < share_alone + 0.1


def test_a_calibration_needs_two_groups_of_each_class():
    X, y, customer, _ = customers()
    one = y & (customer == customer[y][0])
    with pytest.raises(ValueError, match="calibration needs two groups of each class at least"):
        estimators.PNUAUCBoostClassifier(calibration="sigmoid", calibration_prior=0.1).fit(X, one, groups=customer)


def test_groups_change_nothing_without_bags_and_folds():
    X, y, customer, _ = customers(n=40)
    plain, grouped = (estimators.UPUClassifier(prior=0.3).fit(X, y, **kw) for kw in ({}, {"groups": customer}))
    assert model_bits(plain.model_) == model_bits(grouped.model_)
    given = {"n_rounds": 5, "random_state": 0}
    grouped = fastpu.fit_boosted_trees(X, y, groups=customer, **given)
    assert model_bits(grouped) == model_bits(fastpu.fit_boosted_trees(X, y, **given))
    with pytest.raises(ValueError, match=r"groups must have one entry per row \(320\), got 3"):
        estimators.UPUClassifier(prior=0.3).fit(X, y, groups=[1, 2, 3])


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # of few trees
def test_groups_are_routed_through_pipelines_and_searches():
    X, y, customer, _ = customers(n=60)
    expected = fastpu.fit_forest(StandardScaler().fit_transform(X), y, n_trees=20, groups=customer, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = estimators.ForestClassifier(n_trees=20, random_state=0).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), forest)
        fitted = pipeline.fit(X, y, groups=customer)
        np.testing.assert_array_equal(fitted[-1].model_.oob_count, expected.oob_count)
        scorer = estimators.puf_scorer()
        search = GridSearchCV(pipeline, {"forestclassifier__n_trees": [20]}, cv=GroupKFold(3), scoring=scorer)
        search.fit(X, y, groups=customer)
        np.testing.assert_array_equal(search.best_estimator_[-1].model_.oob_count, expected.oob_count)


def test_select_holds_out_whole_groups_and_hands_them_to_the_fit():
    X, y, customer, _ = customers()
    seen = []

    def fit(X, y, *, n_trees, groups=None, random_state=None):
        seen.append(groups)
        return fastpu.fit_forest(X, y, n_trees=n_trees, groups=groups, random_state=random_state)

    grid = {"n_trees": [10]}
    chosen = fastpu.select(fit, X, y, grid, scoring="auc", groups=customer, cv=3, random_state=0)
    assert len(seen) == 4
    held = [np.setdiff1d(customer, groups) for groups in seen[:3]]
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.unique(customer))
    alone = fastpu.select(fastpu.fit_forest, X, y, grid, scoring="auc", cv=3, random_state=0)
    assert chosen.best_score < 0.75 < alone.best_score
    with pytest.raises(ValueError, match="at least 4 groups with rows of each kind, got 1 positive"):
        fastpu.select(fastpu.fit_forest, X, y, grid, groups=np.where(y, -1, customer), random_state=0)


def test_bagging_svms_leave_whole_groups_out():
    X, y, customer, _ = customers(n=60)
    y = y & (np.arange(y.size) % 2 > 0)  # half of the rows of a labelled customer
    model = fastpu.fit_bagging_svm(X, y, groups=customer, n_bags=30, bag_ratio=2.0, random_state=0)
    scores = model.oob_decision_function
    in_bags = np.unique(customer[y])
    assert np.isnan(scores[np.isin(customer, in_bags)]).all()  # a positive row is in every bag
    others = ~np.isin(customer, in_bags)
    assert np.isfinite(scores[others]).all()
    for own in np.unique(customer[others])[:5]:
        row = np.flatnonzero(customer == own)[0]
        left_out = [not np.isin(own, customer[bag]) for bag in model.bags]
        bags = model.bags[left_out]
        assert 3 < len(bags) < 25
        assert not np.isin(row, bags)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")  # of upper bounds
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # of small priors
def test_priors_of_classifiers_are_estimated_by_groups():
    X, y, customer, _ = customers(n=60)
    by_rows, by_groups = (
        estimators.UPUClassifier(random_state=0).fit(X, y, groups=groups).prior_estimate_ for groups in (None, customer)
    )
    expected = fastpu.priors.bbe(X, y, groups=customer, random_state=0)
    assert by_groups.allowed == expected.allowed != by_rows.allowed
    calibrated = estimators.ForestClassifier(calibration="beta", random_state=0).fit(X, y, groups=customer)
    scores = calibrated.model_.oob_decision_function
    found = calibrated.calibration_prior_estimate_.allowed
    known = ~np.isnan(scores)
    expected = fastpu.priors.bbe(None, y[known], scores=scores[known], groups=customer[known]).allowed
    assert found == pytest.approx(expected)


class _Ranks(ClassifierMixin, BaseEstimator):
    """Ranks rows by their only column."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]


GROUPED_SCORERS = {
    "pu_auc": estimators.pu_auc_scorer(prior=0.5),
    "average_precision": estimators.average_precision_scorer(prior=0.1),
    "precision_at_k": estimators.precision_at_k_scorer(30, prior=0.3),
    "lift": estimators.lift_scorer(0.1),
}


@pytest.mark.parametrize("name", GROUPED_SCORERS)
def test_scorers_hand_groups_to_their_metric(name):
    """Three labelled customers may be on top of all others by chance; thirty rows by themselves may not."""
    y = np.repeat([1, 0], [30, 300])
    X = np.concatenate([np.full(30, 2.0), np.linspace(0, 1, 300)])[:, None]
    customer = np.arange(330) // 10
    scorer = GROUPED_SCORERS[name]
    if name == "pu_auc":
        with pytest.raises(ValueError, match="prior does not fit the scores"):
            scorer(_Ranks(), X, y)
        with pytest.warns(fastpu.exceptions.EstimateWarning, match="1 is returned"):
            assert scorer(_Ranks(), X, y, groups=[f"c{one}" for one in customer]) == 1.0
        return
    if name in ("precision_at_k", "average_precision"):
        with pytest.warns(fastpu.exceptions.EstimateWarning, match="chance does not explain the excess"):
            assert scorer(_Ranks(), X, y) == 1.0
    assert scorer(_Ranks(), X, y, groups=customer) == (10.0 if name == "lift" else 1.0)


def test_routing_hands_groups_to_scorers_that_ask_for_them():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(60) < 0.4, 5)
    X, customer = rng.normal(size=(300, 1)) + y[:, None], np.repeat(np.arange(60), 5)
    given = {"cv": GroupKFold(3), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True):
        seen = []

        class Recording(LiftScorer):
            def __call__(self, estimator, X, y, groups=None):
                seen.append(groups)
                return super().__call__(estimator, X, y, groups)

        scorer = Recording(0.2)
        cross_val_score(_Ranks(), X, y, scoring=scorer, params={"groups": customer}, **given)
        assert seen == [None] * 3
        assert scorer.set_score_request(groups=True) is scorer
        cross_val_score(_Ranks(), X, y, scoring=scorer, params={"groups": customer}, **given)
        np.testing.assert_array_equal(np.sort(np.unique(np.concatenate(seen[3:]))), np.unique(customer))
        scorer.set_score_request(groups="client")
        cross_val_score(_Ranks(), X, y, scoring=scorer, params={"groups": customer, "client": customer + 100}, **given)
        assert np.concatenate(seen[6:]).min() == 100
        again = pickle.loads(pickle.dumps(estimators.lift_scorer(0.2).set_score_request(groups=True)))
        assert again == estimators.lift_scorer(0.2).set_score_request(groups=True) != estimators.lift_scorer(0.2)
        one_each = cross_val_score(
            _Ranks(), X, np.arange(300) % 5 == 0, scoring=again, params={"groups": customer}, cv=LeaveOneGroupOut(),
            error_score="raise",
        )  # fmt: skip
        assert one_each.size == 60  # no interval is asked for, so that one group will do
        for scorer in (estimators.puf_scorer(), estimators.err_star_scorer(prior=0.2)):
            with pytest.raises(TypeError, match="groups must not be requested by a scorer of "):
                scorer.set_score_request(groups=True)
            assert scorer.set_score_request(groups=False) is scorer
    with pytest.raises(RuntimeError, match="set_score_request needs metadata routing"):
        estimators.lift_scorer(0.2).set_score_request(groups=True)
