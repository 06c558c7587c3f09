"""An audit goes where a prior goes, and takes its interval along."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu import audit, metrics
from fastpu.priors import PriorEstimate
from helpers import rows_of


@pytest.fixture(scope="module")
def known():
    """Return scores of labelled and unlabelled rows, and an audit of the latter."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(3000) < 600)
    scores = rng.normal(size=3000) + 1.5 * truth
    plan = audit.plan(scores, 150, random_state=0)
    return rng.normal(size=200) + 1.5, scores, audit.estimate(plan, truth[plan.rows], k=300)


def test_an_audit_is_an_estimate_of_the_prior(known):
    found = known[2]
    assert isinstance(found, PriorEstimate)
    assert found.share.value == found.value == found.count.value / 3000
    assert found.allowed == found.interval == found.share.interval
    assert not found.only_upper_bound
    tails = np.mean(found.samples < found.interval[0]), np.mean(found.samples > found.interval[1])
    assert tails == pytest.approx((0.05, 0.05), abs=0.03)


@pytest.mark.parametrize("name", ["precision_at_k", "average_precision"])
def test_bootstrap_intervals_have_the_width_of_the_prior_too(known, name):
    pos, unl, found = known
    k = (300,) if name == "precision_at_k" else ()
    one, other = (
        getattr(metrics, name)(*rows_of(pos, unl), *k, prior=prior, n_boot=400, random_state=0)
        for prior in (found.value, found)
    )
    assert one.value == other.value
    assert np.diff(other.interval) > 1.1 * np.diff(one.interval)
    assert getattr(metrics, name)(*rows_of(pos, unl), *k, prior=found) == one.value


def test_the_curve_has_the_width_of_the_prior_in_its_precision_alone(known):
    pos, unl, found = known
    one, other = (
        metrics.ranking_curve(*rows_of(pos, unl), prior=p, n_boot=200, random_state=0) for p in (found.value, found)
    )
    assert np.array_equal(one.precision, other.precision)
    widths = [np.diff(curve.precision_interval, axis=1)[100:] for curve in (one, other)]
    assert np.mean(widths[1]) > 1.3 * np.mean(widths[0])
    assert metrics.ranking_curve(*rows_of(pos, unl), n_boot=5).precision_interval is None


def test_models_take_it_for_thresholds_and_say_how_sure_they_are():
    X, y = fastpu.datasets.make_two_normals(random_state=0)[:2]
    y = np.maximum(y, 0)
    model = fastpu.fit_upu(X, y, prior=0.4)
    unlabeled = X[y == 0]
    scores = model.decision_function(unlabeled)
    plan = audit.plan(scores, 30, random_state=0)
    found = audit.estimate(plan, scores[plan.rows] > 0)
    at, by_number = (model.with_threshold(prior=prior, X_unl=unlabeled) for prior in (found, found.value))
    low, high = (round(end * scores.size) for end in found.interval)
    assert at.threshold == by_number.threshold
    rule, of_others = by_number.threshold_rule.split(";")
    assert at.threshold_rule == f"{rule} ({low} to {high} by the interval of the prior);{of_others}"


def test_a_classifier_keeps_it():
    estimators = pytest.importorskip("fastpu.estimators", exc_type=ImportError)
    X, y = fastpu.datasets.make_two_normals(random_state=0)[:2]
    y = np.maximum(y, 0)
    plan = audit.plan(X[y == 0, 0], 30, random_state=0)
    found = audit.estimate(plan, plan.score > 0)
    classifier = estimators.UPUClassifier(prior=found).fit(X, y)
    assert classifier.prior_ == found.value
    assert classifier.prior_estimate_ is found


def test_an_audit_that_found_nothing_is_refused_as_a_prior(known):
    plan = known[2].plan
    with pytest.raises(ValueError, match=r"got an estimate of 0, by which no row is positive: check more"):
        metrics.error_rate(*rows_of(known[0], known[1]), prior=audit.estimate(plan, np.zeros(150)))
