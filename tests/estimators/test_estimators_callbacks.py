"""scikit-learn's callbacks: a task for every round, the model of a round, and fits that they or the user end."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from estimator_cases import every_class, labels_for, make, pu_rows
from fastpu import estimators
from interrupts import sigint_handler


class Recorder:
    """Writes down what it is called with; ends the fit after `stop_after` rounds, or does what `act` does."""

    def __init__(self, stop_after=None, act=None):
        self.calls, self.stop_after, self.act = [], stop_after, act
        self.models, self.data = [], []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.calls.append(("begin", context.task_name))
        self.data.append((X, y, metadata))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("end", context.task_name))
        if context.task_name == "round":
            self.models.append(fitted_estimator)
            if self.act is not None:
                self.act()
            return self.stop_after is not None and len(self.models) >= self.stop_after
        self.final = fitted_estimator
        return False


@every_class
def test_every_fit_is_a_task_with_rounds_in_between(classifier):
    X, truth, labelled = pu_rows(n=60)
    y = labels_for(classifier, truth, labelled)
    recorder = Recorder()
    clf = make(classifier).set_callbacks(recorder)
    clf.fit(X, y)
    calls = recorder.calls
    assert calls[:2] == [("setup", "fit"), ("begin", "fit")]
    assert calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    rounds = calls[2:-2]
    assert rounds == [("begin", "round"), ("end", "round")] * (len(rounds) // 2)
    assert (len(rounds) > 0) == ("callback" in clf.get_params())
    np.testing.assert_array_equal(recorder.final.decision_function(X), clf.decision_function(X))
    assert recorder.data[0][0] is X
    assert recorder.data[0][1] is y
    # What is seen changes nothing.
    np.testing.assert_array_equal(make(classifier).fit(X, y).decision_function(X), clf.decision_function(X))


def test_the_model_of_a_round_is_that_of_a_fit_that_ends_there():
    X, _, labelled = pu_rows(apart=0.3)
    weights = np.random.default_rng(0).random(labelled.size) + 0.5
    recorder = Recorder()
    clf = estimators.PNUAUCBoostClassifier(n_rounds=6).set_callbacks(recorder)
    clf.fit(X, labelled, sample_weight=weights)
    assert len(recorder.models) == 6
    for n_rounds, model in enumerate(recorder.models, start=1):
        expected = estimators.PNUAUCBoostClassifier(n_rounds=n_rounds).fit(X, labelled, sample_weight=weights)
        assert model.n_iter_ == n_rounds
        assert model.threshold_ == expected.threshold_
        np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert recorder.data[0][2]["sample_weight"] is weights


def test_a_callback_ends_the_fit():
    X, _, labelled = pu_rows(apart=0.3)
    stopped = estimators.PNUAUCBoostClassifier().set_callbacks(Recorder(stop_after=4)).fit(X, labelled)
    assert (stopped.n_iter_, stopped.model_.status) == (4, "callback")
    seen = []
    both = estimators.PNUAUCBoostClassifier(callback=lambda info: seen.append(info.round) or info.round == 3)
    recorder = Recorder()
    both.set_callbacks(recorder).fit(X, labelled)
    assert (both.n_iter_, seen, len(recorder.models)) == (3, [1, 2, 3], 3)


def test_a_callback_that_is_none_is_refused_beside_those_of_scikit_learn():
    X, _, labelled = pu_rows(apart=0.3)
    clf = estimators.PNUAUCBoostClassifier(callback=3).set_callbacks(Recorder())
    with pytest.raises(TypeError, match="callback must be"):
        clf.fit(X, labelled)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_errors_of_a_callback_come_through_and_leave_no_half_fit(error):
    X, _, labelled = pu_rows(apart=0.3)

    def fail():
        raise error("enough")

    recorder = Recorder(act=fail)
    clf = estimators.PNUAUCBoostClassifier().set_callbacks(recorder)
    with pytest.raises(error, match="enough"):
        clf.fit(X, labelled)
    assert recorder.calls[-1] == ("teardown", "fit")
    assert not hasattr(clf, "model_")
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clf.predict(X)


def test_ctrl_c_ends_a_fit_with_callbacks():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals go to the main thread")
    X, _, labelled = pu_rows(apart=0.3)
    clf = estimators.PNUAUCBoostClassifier(n_rounds=1000)
    clf.set_callbacks(Recorder(act=lambda: signal.raise_signal(signal.SIGINT)))
    # Whoever runs the tests in the background has SIGINT ignored.
    with sigint_handler(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        clf.fit(X, labelled)


def test_scikit_learns_monitor_sees_every_round():
    X, _, labelled = pu_rows(apart=0.3)
    monitor = ScoringMonitor(scoring="roc_auc")
    estimators.PNUAUCBoostClassifier(n_rounds=5).set_callbacks(monitor).fit(X, labelled)
    log = monitor.get_logs().data
    by_scorer = ScoringMonitor(scoring={"puf": estimators.puf_scorer()})
    fitted = estimators.PNUAUCBoostClassifier(n_rounds=5).set_callbacks(by_scorer).fit(X, labelled)
    assert by_scorer.get_logs().data[-1]["puf"] == estimators.puf_scorer()(fitted, X, labelled)
    rounds = [row["roc_auc"] for row in log if row["task_name"] == "round"]
    assert len(rounds) == 5
    assert rounds[-1] == next(row["roc_auc"] for row in log if row["task_name"] == "fit")


def test_a_search_tells_its_callbacks_and_clones_keep_working():
    X, _, labelled = pu_rows(n=60)
    recorder = Recorder()
    clf = estimators.PNUAUCBoostClassifier(n_rounds=3).set_callbacks(recorder)
    GridSearchCV(clf, {"rho": [0.01, 0.1]}, cv=2, scoring=estimators.puf_scorer()).fit(X, labelled)
    assert clone(clf).fit(X, labelled).n_iter_ == 3
    clf.set_callbacks()
    assert clf.fit(X, labelled).n_iter_ == 3
