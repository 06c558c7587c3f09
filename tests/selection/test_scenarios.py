"""Every function with a prior has a scenario, and `single_set` is the prior among the unlabelled rows, converted."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import fastpu
from fastpu import metrics, objectives
from helpers import refused, rows_of

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")

MODULES = ("", ".metrics", ".priors", ".objectives", ".datasets", ".plot", ".estimators", ".dask")
#: The exceptions that docs/conventions.md names: a function whose rows are passed with the prior, and results.
EXCEPTIONS = {"with_threshold", "RankingCurve", "PUSplit", "calibration"}

POS, UNL = np.array([0.9, 0.4, 0.8, 0.2]), np.array([0.7, 0.4, 0.3, 0.1, 0.0, -1.0])
RATE, SHARE = 0.6, 1 / 3  # 6 of 10 rows are positive, 4 of them labelled


def public():
    """Yield name and signature of every public function, class and method."""
    for module in MODULES:
        if module == ".estimators":
            pytest.importorskip("sklearn")
        if module == ".dask":
            pytest.importorskip("distributed")
        source = importlib.import_module(f"fastpu{module}")
        for name in source.__all__:
            thing = getattr(source, name)
            methods = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
            for each, function in [(name, thing), *methods]:
                if callable(function) and (not each.startswith("_")):
                    try:
                        yield each, inspect.signature(function).parameters
                    except (TypeError, ValueError):
                        continue  # some built-in methods have no signature


def test_every_function_that_has_a_prior_has_a_scenario():
    with_prior = [(name, parameters) for name, parameters in public() if "prior" in parameters]
    assert len(with_prior) > 40
    assert {name for name, parameters in with_prior if "scenario" not in parameters} == EXCEPTIONS


def test_the_prior_of_a_single_set_is_converted_by_the_numbers_of_rows():
    single = {"prior": RATE, "scenario": "single_set"}
    for call in (
        lambda **options: metrics.precision_at_k(*rows_of(POS, UNL), 3, **options),
        lambda **options: metrics.average_precision(*rows_of(POS, UNL), **options),
        lambda **options: metrics.ranking_curve(*rows_of(POS, UNL), **options).precision.tolist(),
        lambda **options: metrics.ranking_curve(*rows_of(POS, UNL), **options).prior,
    ):
        assert call(**single) == pytest.approx(call(prior=SHARE), abs=1e-14)
        assert call(**single) != pytest.approx(call(prior=RATE), abs=1e-3)
        refused(ValueError, "prior must be at least 0.4 with scenario='single_set'", call, **{**single, "prior": 0.3})
        refused(ValueError, "prior must leave positive and negative rows", call, **{**single, "prior": 0.4})
        refused(ValueError, "scenario must be one of 'case_control', 'single_set'", call, prior=0.5, scenario="both")
    refused(ValueError, "scenario must be 'case_control' where no prior is given, got 'single_set'",
            metrics.ranking_curve, *rows_of(POS, UNL), scenario="single_set")  # fmt: skip


def test_the_prior_of_a_test_of_labels_is_converted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + 4 * (np.arange(150) < 80)[:, None]
    y = np.arange(150) < 50
    options = {"n_permutations": 9, "random_state": 0}
    found = fastpu.priors.scar_test(X, y, prior=80 / 150, scenario="single_set", **options)
    expected = fastpu.priors.scar_test(X, y, prior=0.3, **options)
    np.testing.assert_allclose(found.purity, expected.purity, rtol=1e-12)
    assert np.isfinite(found.purity).all()
    refused(ValueError, "scenario must be 'case_control' where no prior is given", fastpu.priors.scar_test, X, y,
            n_top=20, scenario="single_set")  # fmt: skip


@pytest.mark.parametrize("loss", [objectives.upu])
@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 0.5, 3.0, 0.5])])
def test_the_prior_of_an_objective_is_converted_by_the_weights_of_rows(loss, is_given, weights):
    y, scores = np.array([1, 1, 0, 0, 0, 0]), np.linspace(-1, 1, 6)
    mass = np.ones(6) if weights is None else weights
    share = (RATE * mass.sum() - mass[:2].sum()) / mass[2:].sum()
    labels = y if is_given else None
    found = loss(labels, prior=RATE, scenario="single_set")(y, scores, weights)
    np.testing.assert_allclose(found, loss(labels, prior=share)(y, scores, weights), rtol=1e-12)
    assert repr(loss(prior=0.6, scenario="single_set")).endswith("(prior=0.6, scenario='single_set')")


def test_a_single_set_is_refused_where_no_worker_knows_the_number_of_rows(monkeypatch):
    distributed = SimpleNamespace(is_distributed=lambda: True)
    monkeypatch.setitem(sys.modules, "xgboost.collective", distributed)
    objective = objectives.upu(prior=RATE, scenario="single_set")
    refused(ValueError, "scenario must be 'case_control' for upu in distributed training", objective, [1, 1, 0, 0],
            np.zeros(4))  # fmt: skip


def test_catboost_sees_the_converted_prior_however_many_rows_it_is_shown():
    y = np.array([1, 1, 0, 0, 0, 0])
    single, other = (objectives.upu(y, **options) for options in (
        {"prior": RATE, "scenario": "single_set"}, {"prior": (RATE * 6 - 2) / 4}))  # fmt: skip
    scores = np.linspace(-1, 1, 3)
    for rows in (slice(0, 3), slice(1, 4)):
        found, expected = (each.calc_ders_range(scores, y[rows], None) for each in (single, other))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_scorers_and_select_convert_with_all_rows_that_are_judged():
    estimators = pytest.importorskip("fastpu.estimators")

    class Ranking:
        classes_ = np.array([-1, 1])
        threshold, converged = 0.0, True

        def decision_function(self, X):
            return np.asarray(X)[:, 0]

    X = np.concatenate([POS, UNL, [0.5, -2.0]])[:, None]
    y = np.repeat([1, 0, -1], [4, 6, 2])
    rate = (4 + 2) / 12  # as many hidden positives as before, and two labelled negatives
    single = {"prior": rate, "scenario": "single_set"}
    for scorer, metric in (
        (estimators.average_precision_scorer(**single), lambda: metrics.average_precision(*rows_of(POS, UNL), SHARE)),
        (
            estimators.precision_at_k_scorer(0.5, **single),
            lambda: metrics.precision_at_k(*rows_of(POS, UNL), 0.5, SHARE),
        ),
    ):
        assert scorer(Ranking(), X, y) == pytest.approx(metric(), abs=1e-14)
    chosen = fastpu.select(lambda X, y: Ranking(), X, y, [{}], scoring="average_precision",
                           cv=[(np.arange(12), np.arange(12))], **single)  # fmt: skip
    assert chosen.best_score == pytest.approx(metrics.average_precision(*rows_of(POS, UNL), SHARE), abs=1e-14)
    by_lift = fastpu.select(lambda X, y: Ranking(), X, y, [{}], scoring="lift", k=0.5, cv=[(np.arange(12),) * 2])
    assert by_lift.best_score == metrics.lift_at_k(*rows_of(POS, UNL), 0.5)  # labelled negatives have no part in it


def test_the_prior_around_a_classifier_is_converted_by_weights():
    linear_model = pytest.importorskip("sklearn.linear_model")
    from fastpu.estimators import WeightedUnlabeledClassifier

    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.5
    X = rng.normal(size=(300, 2)) + truth[:, None]
    y = np.where(truth & (np.arange(300) % 3 == 0), 1, np.where(~truth & (np.arange(300) % 5 == 0), -1, 0))
    weights = rng.uniform(0.5, 2, 300)
    for w in (None, weights):
        mass = np.ones(300) if w is None else w
        share = (0.5 * mass.sum() - mass[y == 1].sum()) / mass[y == 0].sum()
        single, other = (
            WeightedUnlabeledClassifier(linear_model.LogisticRegression(), cv=3, **options).fit(X, y, sample_weight=w)
            for options in ({"prior": 0.5, "scenario": "single_set"}, {"prior": share})
        )
        np.testing.assert_allclose(single.unlabeled_shares_, other.unlabeled_shares_, rtol=1e-9)
        assert np.average(single.unlabeled_shares_[y == 0], weights=mass[y == 0]) == pytest.approx(share)
    refused(ValueError, "prior must be at least", WeightedUnlabeledClassifier(
        linear_model.LogisticRegression(), prior=0.05, scenario="single_set").fit, X, y)  # fmt: skip
