"""Classifiers that weigh unlabelled rows themselves refuse a PU classifier inside, which would do so once more."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastpu import estimators
from helpers import refused

INSIDE = {
    "as it is": lambda: estimators.ForestClassifier(n_trees=40),
    "with probabilities": lambda: estimators.UPUClassifier(prior=0.2, calibration="sigmoid", calibration_prior=0.2),
    "in a pipeline": lambda: make_pipeline(StandardScaler(), estimators.BoostedTreesClassifier()),
    "calibrated": lambda: CalibratedClassifierCV(estimators.ForestClassifier(n_trees=40)),
    "in a search": lambda: GridSearchCV(estimators.ISVMClassifier(), {"C": [1.0]}),
    "around another": lambda: estimators.ElkanNotoClassifier(LogisticRegression()),
}
OWNERS = {
    "SARClassifier": lambda inner: estimators.SARClassifier(inner, propensity_columns=[0], max_iter=2),
    "WeightedUnlabeledClassifier": lambda inner: estimators.WeightedUnlabeledClassifier(inner, prior=0.2),
}


def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.4
    return rng.normal(size=(200, 3)) + 2.0 * truth[:, None], (truth & (rng.random(200) < 0.5)).astype(int)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("inside", INSIDE)
def test_a_pu_classifier_inside_is_refused_by_its_type(owner, inside):
    text = refused(
        TypeError, f"estimator of {owner} must be a classifier of positive and negative rows",
        OWNERS[owner](INSIDE[inside]()).fit, *rows(),
    )  # fmt: skip
    assert "to which rows of label 0 are unlabelled" in text


def test_a_propensity_estimator_is_none_either():
    clf = estimators.SARClassifier(
        LogisticRegression(), propensity_estimator=estimators.ISVMClassifier(), propensity_columns=[0]
    )
    refused(TypeError, "propensity_estimator of SARClassifier must be a classifier of positive and", clf.fit, *rows())


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("owner", OWNERS)
def test_classifiers_of_two_classes_are_taken_wherever_they_are(owner):
    inner = make_pipeline(StandardScaler(), CalibratedClassifierCV(LogisticRegression(), cv=2))
    X, _ = rows()
    assert np.isfinite(OWNERS[owner](inner).fit(*rows()).decision_function(X)).all()


@pytest.mark.parametrize("name", ["PUBaggingClassifier", "TwoStepClassifier"])
def test_those_that_only_rank_may_be_around_a_pu_classifier(name):
    X, y = rows()
    clf = getattr(estimators, name)(estimators.ForestClassifier(n_trees=40, random_state=0), random_state=0).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
