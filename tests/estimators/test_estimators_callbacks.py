"""scikit-learn's callbacks: a task for every round, and fits that they or the user end."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from estimator_cases import every_class, labels_for, make, pu_rows
from fastpu import estimators


class Recorder:
    """Writes down what it is called with; ends the fit after `stop_after` rounds, or does what `act` does."""

    def __init__(self, stop_after=None, act=None):
        self.calls, self.stop_after, self.act = [], stop_after, act
        self.n_rounds = 0

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.calls.append(("begin", context.task_name))
        self.data = X, y, metadata

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("end", context.task_name))
        if context.task_name == "round":
            self.n_rounds += 1
            if self.act is not None:
                self.act()
            return self.stop_after is not None and self.n_rounds >= self.stop_after
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
    assert rounds == [("begin", "round"), ("end", "round")] * recorder.n_rounds
    assert (recorder.n_rounds > 0) == ("callback" in clf.get_params())
    np.testing.assert_array_equal(recorder.final.decision_function(X), clf.decision_function(X))
    assert recorder.data[0] is X
    assert recorder.data[1] is y
    # What is seen changes nothing.
    np.testing.assert_array_equal(make(classifier).fit(X, y).decision_function(X), clf.decision_function(X))


def test_a_callback_ends_the_fit():
    X, _, labelled = pu_rows(apart=0.3)
    stopped = estimators.PNUAUCBoostClassifier().set_callbacks(Recorder(stop_after=4))
    weights = np.ones(labelled.size)
    stopped.fit(X, labelled, sample_weight=weights)
    assert (stopped.n_iter_, stopped.model_.status) == (4, "callback")
    seen = []
    both = estimators.PNUAUCBoostClassifier(callback=lambda info: seen.append(info.round) or info.round == 3)
    recorder = Recorder()
    both.set_callbacks(recorder).fit(X, labelled, sample_weight=weights)
    assert (both.n_iter_, seen, recorder.n_rounds) == (3, [1, 2, 3], 3)
    assert recorder.data[2]["sample_weight"] is weights
    both.set_params(callback=3)
    with pytest.raises(TypeError, match="callback must be"):
        both.fit(X, labelled)


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
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clf.predict(X)


def test_a_search_tells_its_callbacks_and_clones_keep_working():
    X, _, labelled = pu_rows(n=60)
    monitor = ScoringMonitor(scoring="roc_auc")
    clf = estimators.PNUAUCBoostClassifier(n_rounds=3).set_callbacks(monitor)
    GridSearchCV(clf, {"rho": [0.01, 0.1]}, cv=2, scoring=estimators.puf_scorer()).fit(X, labelled)
    assert clf.fit(X, labelled).n_iter_ == 3
    assert [row["roc_auc"] > 0.9 for row in monitor.get_logs().data if row["task_name"] == "fit"] == [True]
    assert clone(clf).fit(X, labelled).n_iter_ == 3
    clf.set_callbacks()
    assert clf.fit(X, labelled).n_iter_ == 3
