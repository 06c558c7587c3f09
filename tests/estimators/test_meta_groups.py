"""Rows in groups, such as those of a customer, in classifiers around another one: no fit scores rows of its groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastpu import estimators
from meta_cases import NAMES, around, every_meta


class Watched(LogisticRegression):
    """Logistic regression on all columns but the first, which names the customer; it notes whom it saw."""

    fits: ClassVar[list[set[float]]] = []
    scored: ClassVar[list[tuple[set[float], set[float]]]] = []  # customers of the fit, customers of the scored rows
    groups: ClassVar[list[object]] = []

    def fit(self, X, y, sample_weight=None):
        self.customers_ = set(X[:, 0])
        self.positive_customers_ = set(X[np.asarray(y) == 1, 0])
        type(self).fits.append(self.customers_)
        return super().fit(X[:, 1:], y, sample_weight)

    def predict_proba(self, X):
        type(self).scored.append((self.customers_, set(X[:, 0])))
        return super().predict_proba(X)

    def decision_function(self, X):
        return super().decision_function(X[:, 1:])


class TakesGroups(Watched):
    """The same, with groups as an argument of its fit."""

    def fit(self, X, y, sample_weight=None, groups=None):
        type(self).groups.append(None if groups is None else np.array(groups))
        if groups is not None:
            assert len(groups) == len(X)
            np.testing.assert_array_equal(groups, X[:, 0])
        return super().fit(X, y, sample_weight)


def grouped(name, estimator, **options):
    """A classifier around `estimator`; one column says how likely labels are, where that is asked."""
    options |= {"propensity_columns": [1]} if name == "SARClassifier" else {}
    return around(name, estimator, **options)


@pytest.fixture(autouse=True)
def forgotten():
    for kept in (Watched.fits, Watched.scored, Watched.groups):
        kept.clear()


def customers(n=40, rows=4, seed=0):
    """Rows of customers; of a quarter of them two rows each are labelled, and another quarter is hidden."""
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.arange(n) % 4)
    X = np.repeat(rng.standard_normal((n, 3)) + 2.0 * (kind < 2)[:, None], rows, axis=0)
    X += 0.2 * rng.standard_normal(X.shape)
    customer = np.repeat(np.arange(n), rows)
    y = np.repeat(kind == 0, rows) & (np.arange(n * rows) % rows < 2)
    return np.column_stack([customer, X]), y, customer


@pytest.mark.parametrize("name", ["ElkanNotoClassifier", "WeightedUnlabeledClassifier", "PUBaggingClassifier"])
def test_rows_are_scored_by_fits_without_their_group(name):
    X, y, customer = customers()
    around(name, Watched()).fit(X, y)
    assert any(fitted & scored for fitted, scored in Watched.scored)
    Watched.scored.clear()
    around(name, Watched()).fit(X, y, groups=customer)
    assert len(Watched.scored) >= 5
    assert not any(fitted & scored for fitted, scored in Watched.scored)


def test_out_of_bag_scores_of_bags_are_those_of_new_groups():
    X, y, customer = customers()
    model = around("PUBaggingClassifier", Watched(), n_bags=20).fit(X, y, groups=customer)
    scores = model.oob_decision_function_
    is_labelled_customer = np.isin(customer, customer[y])
    assert np.isnan(scores[is_labelled_customer]).all()
    assert np.isfinite(scores[~is_labelled_customer]).all()
    for bag in model.bags_:
        assert 10 < np.unique(customer[bag]).size < 40


def test_spies_are_whole_groups():
    X, y, customer = customers()
    model = around("TwoStepClassifier", Watched(), spy_share=0.3).fit(X, y, groups=customer)
    assert set(np.flatnonzero(np.isin(customer, customer[model.spies_]) & y)) == set(model.spies_)
    assert 6 <= model.spies_.size <= 7
    half = around("TwoStepClassifier", spy_share=0.3).fit(X, y).spies_
    assert np.unique(customer[half]).size > 4


@every_meta
def test_an_estimator_that_takes_groups_gets_its_part_of_them(name):
    X, y, customer = customers()
    grouped(name, TakesGroups()).fit(X, y, groups=customer)
    assert len(TakesGroups.groups) >= 2
    assert all(groups is not None for groups in TakesGroups.groups)
    TakesGroups.groups.clear()
    grouped(name, TakesGroups()).fit(X, y)
    assert all(groups is None for groups in TakesGroups.groups)


@every_meta
def test_metadata_routing_hands_groups_on_to_who_asks(name):
    X, y, customer = customers()
    with sklearn.config_context(enable_metadata_routing=True):
        deaf = TakesGroups().set_fit_request(groups=False, sample_weight=True)
        plain = grouped(name, deaf).set_fit_request(groups=True)
        make_pipeline(StandardScaler(with_mean=False, with_std=False), plain).fit(X, y, groups=customer)
        assert all(groups is None for groups in TakesGroups.groups)
        TakesGroups.groups.clear()
        asking = TakesGroups().set_fit_request(groups=True, sample_weight=True)
        outer = grouped(name, asking).set_fit_request(groups=True)
        make_pipeline(StandardScaler(with_mean=False, with_std=False), outer).fit(X, y, groups=customer)
        assert all(groups is not None for groups in TakesGroups.groups)
        search = GridSearchCV(outer, {"estimator__C": [1.0]}, cv=GroupKFold(2), scoring=estimators.puf_scorer())
        search.fit(X, y, groups=customer)
        assert TakesGroups.groups


def test_a_search_inside_gets_groups_for_its_folds():
    X, y, customer = customers()
    search = GridSearchCV(Watched(), {"C": [0.1, 1.0]}, cv=GroupKFold(2))
    around("PUBaggingClassifier", search, n_bags=2).fit(X, y, groups=customer)
    with pytest.raises(ValueError, match="groups"):
        around("PUBaggingClassifier", search, n_bags=2).fit(X, y)


def test_a_splitter_gets_the_groups():
    X, y, customer = customers()
    around("ElkanNotoClassifier", Watched(), cv=GroupKFold(3)).fit(X, y, groups=customer)
    assert len(Watched.scored) == 3
    assert not any(fitted & scored for fitted, scored in Watched.scored)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("SARClassifier", "PUBaggingClassifier")])
def test_one_group_cannot_be_fitted_and_held_out(name):
    X, y, customer = customers()
    one = y & (customer == customer[y][0])
    with pytest.raises(ValueError, match="groups must have at least 2 groups with labelled positive"):
        around(name, Watched()).fit(X, one, groups=customer)
    with pytest.raises(ValueError, match=r"groups must have one entry per row \(160\), got 2"):
        around(name, Watched()).fit(X, y, groups=[1, 2])
