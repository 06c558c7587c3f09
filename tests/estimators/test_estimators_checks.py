"""scikit-learn's own checks of an estimator, for every class with its defaults."""

from __future__ import annotations

import re
import warnings

import pytest

pytest.importorskip("sklearn", minversion="1.6")
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks
from sklearn.utils.fixes import parse_version

from estimator_cases import CLASSIFIERS as OF_FUNCTIONS
from fastpu import estimators
from fastpu.estimators import EXPECTED_FAILED_CHECKS
from meta_cases import NAMES

CLASSIFIERS = [kind.__name__ for kind in OF_FUNCTIONS]
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
# scikit-learn 1.6 makes two classes of three by the first label of each of the two targets, which are ordered unlike.
BROKEN = WEIGHTS if parse_version(sklearn.__version__) < parse_version("1.7") else ()

# What a class needs beside its estimator; fewer bags, folds and iterations than by default, for their time.
NEEDED = {
    "ElkanNotoClassifier": {"cv": 2},
    "PUBaggingClassifier": {"n_bags": 2},
    "SARClassifier": {"tol": 1e-2},
    "WeightedUnlabeledClassifier": {"prior": 0.4, "cv": 2},
}


def failures(estimator, only=None):
    """The names of the checks that fail, with what they say."""
    found = {}
    for instance, check in estimator_checks.estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        if name in BROKEN or (only is not None and name not in only):
            continue
        with warnings.catch_warnings():
            # Tiny data of pure noise, to which the methods have something to say.
            warnings.simplefilter("ignore")
            try:
                check(instance)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
                if type(error).__name__ != "SkipTest":
                    found[name] = f"{type(error).__name__}: {error}"
    return found


def estimator(name):
    """A class with its defaults, around logistic regression where it needs another classifier."""
    kind = getattr(estimators, name)
    return kind() if name in CLASSIFIERS else kind(LogisticRegression(), **NEEDED.get(name, {}))


@pytest.mark.parametrize("name", [*CLASSIFIERS, *NAMES])
def test_the_checks_that_fail_are_the_published_ones(name):
    expected, found = EXPECTED_FAILED_CHECKS.get(name, {}), failures(estimator(name))
    assert {check: text for check, text in found.items() if check not in expected} == {}
    assert found.keys() == expected.keys() - {*BROKEN}


@pytest.mark.parametrize("name", sorted({*EXPECTED_FAILED_CHECKS} - {"ForestClassifier"}))
def test_checks_that_fail_pass_with_the_parameters_that_are_named(name):
    """With those that the reason of each check names, and no others."""
    for check, reason in EXPECTED_FAILED_CHECKS[name].items():
        named = dict(re.findall(r"(\w+)=([\d.e-]+)", reason.partition("passes with")[2]))
        parameters = {parameter: float(value) for parameter, value in named.items()}
        assert parameters, reason
        assert failures(estimator(name).set_params(**parameters), only=[check]) == {}


def test_the_list_is_in_the_form_that_scikit_learn_takes():
    expected = dict.fromkeys(BROKEN, "broken") | dict(EXPECTED_FAILED_CHECKS["ForestClassifier"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = estimator_checks.check_estimator(estimators.ForestClassifier(), expected_failed_checks=expected)
    assert results[0]["status"] == "passed"
