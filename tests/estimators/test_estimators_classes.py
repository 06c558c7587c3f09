"""The classes of the fit functions: they have the parameters of these, hand them on, and explain them."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import fastpu
from estimator_cases import CLASSIFIERS, every_class, function_name, function_of
from fastpu import estimators
from fastpu.common._methods import DECLARED

# Keywords that speak of the rows are arguments of `fit`; these have a default where the function has none.
OF_ROWS = {"sample_weight", "sample_cost", "eval_set", "graph", "groups", "init_model"}
OWN_DEFAULTS = {"prior": "bbe", "C_pos": None, "C_unl": None}
CALIBRATION = {"calibration", "calibration_prior", "calibration_cv"}
SELECTION = {"lam", "scoring", "n_folds", "prior", "scenario", "random_state"}


def test_every_fit_function_has_a_class_with_its_name():
    assert {function_name(kind): kind.__name__ for kind in CLASSIFIERS} == {
        n: m.classifier for n, m in DECLARED.items() if not m.baseline
    }
    for kind in CLASSIFIERS:
        assert f"{function_name(kind).removeprefix('fit_').replace('_', '')}classifier" == kind.__name__.lower()


def test_public_names_are_complete_and_documented():
    assert sorted(estimators.__all__) == sorted(set(estimators.__all__))
    for name in estimators.__all__:
        item = getattr(estimators, name)
        assert name == "EXPECTED_FAILED_CHECKS" or "----" in inspect.getdoc(item)


def keywords_of(function):
    """The keywords of a function that do not speak of the rows."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name not in OF_ROWS}


@every_class
def test_parameters_are_the_keywords_with_the_same_defaults(classifier):
    keywords = keywords_of(function_of(classifier))
    parameters = {name: p.default for name, p in inspect.signature(classifier).parameters.items()}
    assert [name for name in parameters if name in keywords] == list(keywords)  # in their order
    extra = SELECTION if "Path" in classifier.__name__ else set()
    assert set(parameters) - set(keywords) == CALIBRATION | extra
    for name, keyword in keywords.items():
        missing = keyword.default in (inspect.Parameter.empty, np.inf)
        assert parameters[name] == (OWN_DEFAULTS[name] if missing else keyword.default), name


@every_class
def test_parameters_are_kept_as_they_were_passed(classifier):
    values = {name: object() for name in inspect.signature(classifier).parameters}
    assert vars(classifier(**values)) == values


@every_class
def test_every_parameter_reaches_the_function(classifier, monkeypatch):
    """What the function gets is what the class was given, by the same name; of costs and priors what they settle to."""
    function = function_of(classifier)
    module = importlib.import_module(classifier.__module__)
    got = {}

    def recorded(X, y, **arguments):
        got.update(arguments)
        raise RuntimeError("recorded")

    monkeypatch.setattr(module, function.__name__, recorded)
    values = {name: f"value of {name}" for name in keywords_of(function)}
    settled = {"random_state": 3, "prior": 0.3, "scenario": "single_set", "C_unl": 2.0}
    values |= {name: value for name, value in settled.items() if name in values}
    of_rows = {"groups": np.arange(6) % 3, "sample_weight": np.arange(1.0, 7.0)}
    taken = set(inspect.signature(classifier.fit).parameters)
    of_rows = {name: value for name, value in of_rows.items() if name in taken}
    y = [0, 1, 0, 1, 0, 1]
    with pytest.raises(RuntimeError, match="recorded"):
        classifier(**values).fit(np.eye(6), y, **of_rows)
    own = set(inspect.signature(function).parameters) & OF_ROWS & (taken | {"groups"})
    assert set(got) == set(values) | own
    assert {name: got[name] for name in values} == values
    for name in own & set(of_rows):
        np.testing.assert_array_equal(got[name], of_rows[name])


@every_class
def test_documentation_explains_every_parameter_once(classifier):
    documented = inspect.getdoc(classifier)
    section = documented[documented.index("Parameters") : documented.index("Attributes")]
    lines = [line.partition(" : ")[0] for line in section.splitlines()[2:] if line and not line.startswith(" ")]
    assert sorted(", ".join(lines).split(", ")) == sorted(inspect.signature(classifier).parameters)
    assert f"`fit` calls `fastpu.{function_name(classifier)}` with these parameters" in documented
    assert "sequence of floats" not in section  # a class takes one value


@every_class
def test_source_and_documentation_can_be_read(classifier):
    source = inspect.getsource(classifier)
    assert f"class {classifier.__name__}(" in source
    assert "def __init__(\n" in source
    for name in inspect.signature(classifier).parameters:
        assert re.search(rf"^        {name}: .+ = .+,$", source, re.MULTILINE), name


def test_a_text_that_class_and_function_share_is_that_of_the_function():
    documented = inspect.getdoc(estimators.ForestClassifier)
    entry = re.search(r"^bag_ratio : .*\n(?:    .*\n|\n(?= ))+", inspect.getdoc(fastpu.fit_forest), re.MULTILINE)
    assert entry[0].count("\n") > 4
    assert entry[0] in documented


@every_class
def test_fit_takes_what_speaks_of_the_rows(classifier):
    keywords = set(inspect.signature(function_of(classifier)).parameters)
    honours_weights = DECLARED[function_name(classifier)].weights
    expected = {"groups"} | OF_ROWS & keywords - (set() if honours_weights else {"sample_weight"})
    assert set(inspect.signature(classifier.fit).parameters) - {"self", "X", "y"} == expected
    assert has_fit_parameter(classifier(), "sample_weight") == honours_weights


@every_class
def test_tags_say_what_the_method_takes(classifier):
    tags, capability = get_tags(classifier()), DECLARED[function_name(classifier)]
    assert is_classifier(classifier())
    assert not tags.classifier_tags.multi_class
    assert tags.input_tags.sparse == capability.csr
    assert tags.input_tags.allow_nan == capability.nan
    if "kernel" in classifier().get_params():
        precomputed = get_tags(classifier(kernel="precomputed")).input_tags
        assert precomputed.pairwise
        assert not precomputed.sparse
