"""The classes that are made from the fit functions: their parameters, documentation, tags and types."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

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


@every_class
def test_parameters_are_the_keywords_with_the_same_defaults(classifier):
    keywords = {
        name: parameter.default
        for name, parameter in inspect.signature(function_of(classifier)).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in OF_ROWS
    }
    parameters = {name: p.default for name, p in inspect.signature(classifier).parameters.items()}
    assert set(keywords) <= set(parameters)
    extra = SELECTION if "Path" in classifier.__name__ else set()
    assert set(parameters) - set(keywords) == CALIBRATION | extra
    for name, default in keywords.items():
        missing = default in (inspect.Parameter.empty, np.inf)
        assert parameters[name] == (OWN_DEFAULTS[name] if missing else default), name
    documented = inspect.getdoc(classifier)
    section = documented[documented.index("Parameters") : documented.index("Attributes")]
    lines = [line.partition(" : ")[0] for line in section.splitlines()[2:] if line and not line.startswith(" ")]
    assert sorted(", ".join(lines).split(", ")) == sorted(parameters)  # each once


def test_documentation_is_that_of_the_function():
    for classifier in (estimators.SMCClassifier, estimators.BSVMClassifier):
        summary, purpose, about, parameters, *_ = inspect.getdoc(classifier).split("\n\n")
        function = function_of(classifier)
        assert [summary, purpose] == inspect.getdoc(function).split("\n\n")[:2]
        assert " ".join(about.split()) == f"This is `fastpu.{function.__name__}` for scikit-learn."
        assert f"\n    As in `fastpu.{function.__name__}`.\n" in parameters


def test_type_checkers_read_what_is_made_at_import():
    tree = ast.parse(inspect.getsource(estimators))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {node.targets[0].id: node.value.id for node in block.body if isinstance(node, ast.Assign)}
    assert declared == {kind.__name__: kind.__base__.__name__ for kind in CLASSIFIERS}


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
