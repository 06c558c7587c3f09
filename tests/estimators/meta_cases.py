"""Classifiers around another one, with parameters for small data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from fastpu import estimators
from fastpu.common._methods import DECLARED

#: What each class needs beside its estimator.
OPTIONS = {
    "ElkanNotoClassifier": {},
    "SARClassifier": {"propensity_estimator": DummyClassifier(), "tol": 1e-3},
    "PUBaggingClassifier": {"n_bags": 5, "random_state": 0},
    "TwoStepClassifier": {"random_state": 0},
    "WeightedUnlabeledClassifier": {"prior": 0.4},
}
OF_FUNCTIONS = {method.classifier for method in DECLARED.values()}
NAMES = [name for name in estimators.__all__ if name.endswith("Classifier") and name not in OF_FUNCTIONS]
every_meta = pytest.mark.parametrize("name", NAMES)


def around(name, estimator=None, **options):
    """A classifier around another one, logistic regression if none is given."""
    kind = getattr(estimators, name)
    return kind(LogisticRegression() if estimator is None else estimator, **{**OPTIONS[name], **options})


def pnu_codes(truth, labelled, seed=0):
    """Labels with some rows labelled negative."""
    rng = np.random.default_rng(100 + seed)
    return np.where(labelled, 1, np.where(~truth & (rng.random(truth.size) < 0.3), -1, 0))


def exact_regression(**options):
    """Logistic regression that ends at its minimum."""
    return LogisticRegression(tol=1e-10, max_iter=1000, **options)


def plain(response, estimator=None):
    """The `fit` of the oracles for an estimator, exact logistic regression if none is given."""

    def fit(rows, labels, weights):
        machine = clone(exact_regression() if estimator is None else estimator)
        machine.fit(np.array(rows), labels, sample_weight=weights)

        def score(x):
            values = getattr(machine, response)(x[np.newaxis])
            return float(values[0, 1]) if response == "predict_proba" else float(values[0])

        return score

    return fit
