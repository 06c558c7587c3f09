"""Classifiers of `fastpu.estimators`, and small data for them."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import estimators
from fastpu.common._methods import DECLARED
from fastpu.common._methods import function_of as public_function

CLASSIFIERS = [getattr(estimators, method.classifier) for method in DECLARED.values() if not method.baseline]
every_class = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=[c.__name__ for c in CLASSIFIERS])
# What a class needs for small data and a short fit, beside its defaults.
OPTIONS: dict[str, dict[str, object]] = {
    "ForestClassifier": {"n_trees": 20, "random_state": 0},
    "NNPUClassifier": {"prior": 0.3, "random_state": 0},
    "PNUAUCBoostClassifier": {"n_rounds": 20},
    "BaggingSVMClassifier": {"random_state": 0},
    "SVMPathClassifier": {"random_state": 0},
    "PUSVMPathClassifier": {"random_state": 0},
    "UPUClassifier": {"prior": 0.3},
}


def function_of(classifier):
    """The fit function of a class."""
    return public_function(function_name(classifier))


def function_name(classifier):
    return classifier._function.__name__


def takes(classifier, group):
    """Whether the method of a class learns from P, U or N."""
    return group in DECLARED[function_name(classifier)].groups


def make(classifier, **options):
    """A classifier for small data."""
    return classifier(**{**OPTIONS.get(classifier.__name__, {}), **options})


def pu_rows(seed=0, n=120, d=3, apart=2.0):
    """Rows whose first column tells the classes apart, the true labels (bool), and which positives are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    X = rng.standard_normal((n, d))
    X[:, 0] += np.where(truth, apart, -apart)
    return X, truth, truth & (rng.random(n) < 0.6)


def labels_for(classifier, truth, labelled):
    """Two-valued labels as the method of a class takes them: positive or negative, or labelled or not."""
    return labelled if takes(classifier, "U") or not takes(classifier, "N") else truth
