"""An estimate whose number is used though the data allow very different ones is told, by whatever uses it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu.exceptions import EstimateWarning
from fastpu.model._prior import PriorEstimate
from fastpu.priors import sensitivity
from helpers import refused

WIDE = PriorEstimate(0.3, None, np.zeros(0), (0.05, 0.5))
ABOVE = PriorEstimate(0.1, None, np.zeros(0), (0.06, 0.6))
NARROW = PriorEstimate(0.3, None, np.zeros(0), (0.25, 0.35))
UNKNOWN = PriorEstimate(0.3, None, np.zeros(0))


def rows():
    rng = np.random.default_rng(0)
    y = np.arange(120) < 30
    X = rng.normal(size=(120, 2)) + 2.0 * (y | (rng.random(120) < 0.3))[:, None]
    return X, y


def uses():
    X, y = rows()
    model = fastpu.fit_isvm(X, y)
    classifiers = pytest.importorskip("fastpu.estimators", exc_type=ImportError)
    return {
        "fit_upu": lambda prior: fastpu.fit_upu(X, y, prior=prior).decision_function(X),
        "fit_forest": lambda prior: fastpu.fit_forest(
            X, y, loss="upu", prior=prior, n_trees=3, random_state=0
        ).decision_function(X),
        "fit_pnu_auc": lambda prior: fastpu.baselines.fit_pnu_auc(X, y, prior=prior, eta=1).decision_function(X),
        "objectives.upu": lambda prior: fastpu.objectives.upu(y, prior=prior).params["prior"],
        "with_threshold": lambda prior: model.with_threshold(prior=prior, X_unl=X[~y]).threshold,
        "with_probabilities": lambda prior: model.with_probabilities(prior=prior, X=X, y=y).predict_proba(X),
        "select": lambda prior: (
            fastpu.select(
                fastpu.fit_isvm, X, y, {"C": [1.0]}, scoring="err_star", prior=prior, cv=2, random_state=0
            ).best_score
        ),
        "a scorer": lambda prior: classifiers.average_precision_scorer(prior).prior,
        "a classifier": lambda prior: classifiers.UPUClassifier(prior=prior).fit(X, y).decision_function(X),
    }


@pytest.mark.parametrize("name", uses())
def test_a_bound_that_is_used_as_a_number_is_told_once(name):
    use = uses()[name]
    for estimate, ends in ((WIDE, r"0\.05 to 0\.5"), (ABOVE, r"0\.06 to 0\.6")):
        words = rf"prior is used as if it were known to be 0\.[31], .* {ends}"
        with pytest.warns(EstimateWarning, match=words) as told:
            found = use(estimate)
        assert len([each for each in told if each.category is EstimateWarning]) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(found, use(estimate.value))
    with warnings.catch_warnings():
        warnings.simplefilter("error", EstimateWarning)
        for estimate in (NARROW, UNKNOWN, 0.3):
            use(estimate)


def test_a_threshold_says_how_many_rows_a_bound_leaves_open():
    X, y = rows()
    model = fastpu.fit_isvm(X, y)
    with pytest.warns(
        EstimateWarning, match=r"with_threshold: .* 5 to 45 of 90 unlabelled rows are called positive, and"
    ):
        at = model.with_threshold(prior=WIDE, X_unl=X[~y])
    rule, of_others = at.threshold_rule.split(";")
    assert rule.endswith("(5 to 45 by what the estimate of the prior allows)")
    assert of_others.startswith(" the share among all rows like these is ")
    none = PriorEstimate(0.3, None, np.zeros(0), (0.0, 0.5))
    with pytest.warns(EstimateWarning, match="by which 0 to 45 of 90") as told:
        model.with_threshold(prior=none, X_unl=X[~y])
    assert len(told) == 1  # that the lower end would call no row positive is no fault of the threshold
    low, high = (model.with_threshold(prior=end, X_unl=X[~y]).threshold for end in WIDE.allowed)
    assert high < at.threshold < low


def test_an_estimate_is_of_the_unlabelled_rows_for_squared_losses_too():
    X, y = rows()
    one, other = (
        fastpu.baselines.fit_pnu_auc(X, y, prior=NARROW, eta=1, scenario=scenario)
        for scenario in ("case_control", "single_set")
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_sensitivity_goes_through_what_is_allowed_where_there_is_no_bootstrap():
    np.testing.assert_allclose(sensitivity(float, WIDE, n_points=4).priors, np.linspace(0.05, 0.5, 4))
    np.testing.assert_allclose(sensitivity(float, NARROW, n_points=3).priors, [0.25, 0.3, 0.35])
    spread = PriorEstimate(0.3, (0.28, 0.33), np.full(5, 0.3), (0.25, 0.35))
    np.testing.assert_allclose(sensitivity(float, spread, n_points=2).priors, [0.28, 0.33])
    bound = PriorEstimate(0.3, (0.28, 0.33), np.full(5, 0.3), (0.0, 0.31))
    np.testing.assert_allclose(sensitivity(float, bound, n_points=2).priors, [1e-6, 0.33])
    refused(ValueError, "priors must have an interval or allowed shares", sensitivity, float, UNKNOWN)
