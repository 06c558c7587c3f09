"""Keywords of other libraries are answered by ours, in every public function and every classifier."""

from __future__ import annotations

import doctest
import inspect
import pickle
import re
import sys
import types

import numpy as np
import pytest

import fastpu
from fastpu import baselines, datasets, estimators, metrics, objectives, priors
from fastpu.common._keywords import _OTHER_NAMES, answers_unknown_keywords
from fastpu.common._methods import DECLARED
from helpers import refused

FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (fastpu, baselines, datasets, metrics, objectives, priors)
    for name in module.__all__
    if isinstance(getattr(module, name), types.FunctionType)
    and name not in {"load", "select"}  # a path, and all keywords of the fit
}
CLASSIFIERS = {
    method.classifier: getattr(estimators, method.classifier) for method in DECLARED.values() if not method.baseline
}
#: What people write who come from scikit-learn, LightGBM, XGBoost and CatBoost.
HABITS = [
    *("n_jobs", "n_estimators", "class_weight", "verbose", "learning_rate", "C", "num_rounds", "num_boost_round"),
    *("iterations", "max_depth", "num_leaves", "random_seed", "seed", "early_stopping", "n_neighbours"),
    *("scale_pos_weight", "thread_count", "cache_size", "eps"),
]


def message(call, **keywords) -> str:
    with pytest.raises(TypeError) as info:
        call(**keywords)
    return str(info.value)


def has(function, name: str) -> bool:
    return name in inspect.signature(function).parameters


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_names_its_own_keywords(name):
    function = FUNCTIONS[name]
    for habit in (habit for habit in HABITS if not has(function, habit)):
        text = message(function, **{habit: 1})
        head, _, advice = text.partition("; ")
        assert head == f"{function.__name__}() got an unexpected keyword argument {habit!r}"
        if habit in {"class_weight", "scale_pos_weight"} and re.search("weighs? the same|says how labelled", advice):
            continue  # the groups are balanced without a keyword
        if advice.startswith("use "):
            ours = advice.removeprefix("use ").split(" or ")
        else:
            ours = advice.removeprefix("its keywords are ").split(", ")
            wanted = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
            assert ours == [p.name for p in wanted or inspect.signature(function).parameters.values()]
        assert all(has(function, parameter) for parameter in ours), text


SAME = "weighs the same already"
ALIKE = "labelled and unlabelled rows weigh the same already, however many there are of each"
OF_BAGS = "bag_ratio says how many unlabelled rows a bag has"


@pytest.mark.parametrize(
    ("function", "keyword", "advice"),
    [
        (fastpu.baselines.fit_svm, "n_jobs", "use n_threads"),
        (fastpu.fit_pnu_auc_boost, "n_estimators", "use n_rounds"),
        (fastpu.fit_bagging_svm, "n_rounds", "use n_bags"),
        (fastpu.fit_nnpu, "max_iter", "use n_epochs"),
        (fastpu.fit_isvm, "n_iter", "use max_iter"),
        (fastpu.baselines.fit_bpsi, "tol", "use solver_tol"),
        (fastpu.fit_nnpu, "lr", "use learning_rate"),
        (fastpu.fit_bsvm, "class_weight", "use C_pos or C_unl"),
        (fastpu.fit_isvm, "class_weight", "use sample_weight"),
        (fastpu.fit_forest, "class_weight", f"{ALIKE}; {OF_BAGS}"),
        (fastpu.fit_bagging_svm, "scale_pos_weight", f"{ALIKE}; {OF_BAGS}"),
        (fastpu.fit_pnu_auc_boost, "class_weight", f"each group of rows {SAME}, however many rows it has"),
        (fastpu.baselines.fit_ls_auc, "class_weight", f"each group of rows {SAME}, however many rows it has"),
        (
            fastpu.fit_nnpu,
            "pos_weight",
            "prior says how labelled and unlabelled rows weigh, however many there are of each",
        ),
        (estimators.ForestClassifier, "class_weight", f"{ALIKE}; {OF_BAGS}"),
        (estimators.ISVMClassifier, "class_weight", "pass sample_weight to fit"),
        (fastpu.fit_upu, "C", "use lam"),
        (fastpu.fit_isvm, "lam", "use C"),
        (fastpu.baselines.fit_svm, "cache_size", "use cache_mb"),
        (fastpu.fit_upu, "class_prior", "use prior"),
        (fastpu.fit_boosted_trees, "reg_lambda", "use lam"),
        (fastpu.fit_boosted_trees, "subsample", "use subsample_unl"),
        (fastpu.fit_forest, "max_samples", "use bag_ratio"),
        (fastpu.as_labels, "unlabelled", "use unlabeled"),
        (fastpu.baselines.fit_svm, "kernal", "use kernel"),
        (estimators.BSVMClassifier, "n_jobs", "use n_threads"),
    ],
)
def test_the_keyword_that_means_the_same_is_named(function, keyword, advice):
    name = function.__name__
    assert message(function, **{keyword: 1}) == f"{name}() got an unexpected keyword argument {keyword!r}; {advice}"


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_answer_and_keep_their_parameters(name):
    kind = CLASSIFIERS[name]
    assert message(kind, n_cores=2) == f"{name}() got an unexpected keyword argument 'n_cores'; use n_threads"
    assert set(kind().get_params()) == set(inspect.signature(kind).parameters)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_fit_of_a_classifier_answers_by_the_name_of_its_class(name):
    """It is a method of a base class for most of them, whose name says nothing to who calls it."""
    classifier = CLASSIFIERS[name]
    taken = [parameter for parameter in inspect.signature(classifier.fit).parameters if parameter != "self"]
    said = message(classifier().fit, zzz=1)
    assert said == f"{name}.fit() got an unexpected keyword argument 'zzz'; its keywords are {', '.join(taken)}"


def test_fit_of_a_classifier_says_of_class_weights_what_the_classifier_says():
    for name in ("ForestClassifier", "BoostedTreesClassifier", "PNUAUCBoostClassifier", "NNPUClassifier"):
        classifier = getattr(estimators, name)
        of_class = refused(TypeError, "'class_weight'", classifier, class_weight="balanced")
        of_fit = refused(TypeError, "'class_weight'", classifier().fit, [[0.0], [1.0]], [0, 1], class_weight="balanced")
        assert of_fit.partition("; ")[2] == of_class.partition("; ")[2]
    refused(TypeError, "use sample_weight", estimators.ISVMClassifier().fit, [[0.0]], [1], class_weight="balanced")


def test_every_name_is_in_the_table_for_some_function():
    """A line whose names no function has would be of no use."""
    taken = {p for f in (*FUNCTIONS.values(), *CLASSIFIERS.values()) for p in inspect.signature(f).parameters}
    for names, theirs in _OTHER_NAMES:
        assert set(names.split()) & taken, names
        assert len(set(theirs.split())) == len(theirs.split()), names


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_stay_what_they_were(name):
    function = FUNCTIONS[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__doc__ == function.__wrapped__.__doc__
    assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert (function.__name__, function.__qualname__) == (name.split(".")[-1],) * 2
    module = sys.modules[function.__module__]
    found = {test.name for test in doctest.DocTestFinder(exclude_empty=False).find(module)}
    assert f"{module.__name__}.{function.__name__}" in found


def test_sharing_is_kept():
    assert fastpu.fit_isvm.shares == ("C",)


def test_arguments_and_errors_pass_through():
    @answers_unknown_keywords
    def scale(x, *, by=2):
        return x * by

    assert scale(3) == 6
    assert scale(x=np.float64(3), by=3) == 9.0
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        scale(by=3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda X, y: fastpu.fit_nnpu(X, y), "fit_nnpu() missing 1 required keyword-only argument: 'prior'; it is the"),
        (lambda X, y: metrics.precision_at_k(y, y, 1), "missing 1 required positional argument: 'prior'; it is the sh"),
        (lambda X, y: metrics.lift_at_k(y, y), "missing 1 required positional argument: 'k'; it is how many rows are"),
        (lambda X, y: fastpu.fit_bsvm(X, y), "arguments: 'C_pos' and 'C_unl'; C_unl=1.0 and C_pos = n_unl / n_pos let"),
        (lambda X, y: fastpu.fit_bsvm(X, y, C_pos=2.0), "argument: 'C_unl'; C_unl=1.0 and C_pos = n_unl / n_pos let"),
        (lambda X, y: estimators.WeightedUnlabeledClassifier(None), "'prior'; it is the share of positives among the"),
        (
            lambda X, y: fastpu.fit_forest(X, y, 100),
            "takes 2 positional arguments but 3 were given; pass what follows y by name, such as n_trees=...",
        ),
        (
            lambda X, y: estimators.ForestClassifier(100),
            "takes 1 positional argument but 2 were given; pass all by name, such as n_trees=...",
        ),
    ],
)
def test_a_missing_argument_is_explained_and_so_is_one_too_many(call, text):
    refused(TypeError, text, call, [[0.0], [1.0]], [1, 0])
