"""The public classifiers, each made from the signature and the documentation of its fit function.

There is no text of a class that is made, so `inspect.getsource` raises OSError for it; `help` shows what it takes.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._methods import DECLARED, Method, function_of
from fastpu.common._sharing import parameters_of_many
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._defaults import Boosting, Forest, OnPath, OnPUPath, WithCosts, WithLandmarks, WithPrior

#: The base classes of the classifiers that do more than call their function.
_BASES: dict[str, type[FastpuClassifier]] = {
    "fit_pnu_auc_boost": Boosting,
    "fit_forest": Forest,
    "fit_boosted_trees": Forest,
    "fit_bsvm": WithCosts,
    "fit_pual": WithLandmarks,
    "fit_gllc": WithLandmarks,
    "fit_upu": WithPrior,
    "fit_nnpu": WithPrior,
    "fit_pu_svm_path": OnPUPath,
    "fit_svm_path": OnPath,
}

#: The keywords of the functions that hold rows or an entry for each row, which are arguments of `fit`; described.
_OF_ROWS = {
    "sample_weight": "array-like of shape (n,), optional\n"
    "    Weights >= 0; equal to repeating rows, but for forests the chances of rows to be drawn.",
    "sample_cost": "array-like of shape (n,), optional\n    Costs >= 0 of the rows; they multiply `C` if there is one.",
    "eval_set": "(X, y), optional\n    Rows to judge the rounds by, with labels like those of `y`.",
    "graph": "(W, R), optional\n"
    "    The neighbours of the rows of `X`, from `fastpu.knn_similarity`, in place of a search.",
    "groups": "array-like of shape (n,), optional\n"
    "    Which rows belong together, such as those of one customer: a label of any kind for each row. Bags and folds, "
    "those of a\n    calibration included, keep the rows of a group together. Without bags and folds groups change "
    "nothing.",
    "init_model": "TreeEnsemble, optional\n"
    "    A model of the same rows and arguments, the `model_` of another fit, to which trees are added.",
}
_LABELS = "array-like of shape (n,)\n    Two labels, or -1, 0 and 1, as `fastpu.estimators` says."
_MANY_VALUES = re.compile(r" \| (Sequence|NDArray)\[[^]]+\]")  # a classifier takes one value

_EXAMPLE = """
>>> import numpy as np
>>> from fastpu.estimators import {name}
>>> rng = np.random.default_rng(0)
>>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
>>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
>>> {name}().fit(X, y).predict([[-3], [3]])
array(['other', 'yes'], dtype='<U5')
"""


def _made(function: Callable[..., Any], method: Method, name: str) -> type[FastpuClassifier]:
    base = _BASES.get(function.__name__, FastpuClassifier)
    parameters = _parameters(function, base)
    members = {
        "__module__": "fastpu.estimators",
        "__doc__": _documentation(function, method, base, [parameter.name for parameter in parameters]),
        "__init__": answers_unknown_keywords(_constructor(name, parameters)),
        "fit": _fit(name, function, method),
        "_function": staticmethod(function),
    }
    return type(name, (base,), members)


def _parameters(function: Callable[..., Any], base: type[FastpuClassifier]) -> list[inspect.Parameter]:
    """Return the keywords of the function that are not in `_OF_ROWS`, and those that `base` adds."""
    annotations: dict[str, Any] = {}
    for kind in _kinds(base):
        annotations |= {name: text for name, text in inspect.get_annotations(kind).items() if name not in annotations}
    many = parameters_of_many(function)
    parameters = {}
    for keyword in inspect.signature(function).parameters.values():
        if keyword.kind is keyword.KEYWORD_ONLY and keyword.name not in _OF_ROWS:
            annotation = keyword.annotation
            if keyword.name in many:
                annotation = _MANY_VALUES.sub("", annotation)
            parameters[keyword.name] = keyword.replace(annotation=annotation)
    for name, annotation in annotations.items():
        if name in parameters or (hasattr(base, name) and not name.startswith("_")):
            keyword = parameters.get(name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY))
            parameters[name] = keyword.replace(annotation=annotation, default=getattr(base, name, keyword.default))
    return list(parameters.values())


def _kinds(base: type[FastpuClassifier]) -> list[type[FastpuClassifier]]:
    """Return the class and those it is made from, up to the one that all share."""
    return [kind for kind in base.__mro__ if issubclass(kind, FastpuClassifier)]


def _constructor(name: str, parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    defaults = {parameter.name: parameter.default for parameter in parameters}

    def __init__(self: FastpuClassifier, **given: Any) -> None:  # noqa: N807 - what it becomes
        self.__dict__.update({**defaults, **given})

    return _with_signature(__init__, name, parameters, returns="None")


def _fit(name: str, function: Callable[..., Any], method: Method) -> Callable[..., Any]:
    keywords = inspect.signature(function).parameters
    data = [key for key in _OF_ROWS if key in keywords and (method.weights or key != "sample_weight")]
    if "groups" not in data:
        data.append("groups")  # for the folds of a calibration
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("X", kind, annotation="Any"),
        inspect.Parameter("y", kind, annotation="Any"),
        *(inspect.Parameter(key, kind, annotation="Any", default=None) for key in data),
    ]

    def fit(self: FastpuClassifier, *values: Any, **keywords: Any) -> Any:
        try:
            bound = inspect.signature(fit).bind(self, *values, **keywords)
        except TypeError as error:
            raise TypeError(f"{name}.fit() {error}") from None
        bound.apply_defaults()
        return self._fit(**{key: value for key, value in bound.arguments.items() if key != "self"})

    entries = {
        "X": "array-like, sparse matrix or DataFrame of shape (n, d)",
        "y": _LABELS,
        **{key: _OF_ROWS[key] for key in data},
    }
    listed = "\n".join(f"{key} : {text}" for key, text in entries.items())
    fit.__doc__ = f"Fit to rows and labels.\n\n{_section('Parameters', listed)}\n\n{_section('Returns', name)}\n"
    return _with_signature(fit, name, parameters, returns="Self")


def _with_signature(
    function: Callable[..., Any], owner: str, parameters: Iterable[inspect.Parameter], *, returns: str
) -> Callable[..., Any]:
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([self, *parameters], return_annotation=returns)
    vars(function)["__signature__"] = signature
    function.__qualname__ = f"{owner}.{function.__name__}"
    return function


def _documentation(
    function: Callable[..., Any], method: Method, base: type[FastpuClassifier], parameters: Iterable[str]
) -> str:
    """Return the documentation of a class, from that of its function and of its base classes."""
    about = [f"This is `fastpu.{function.__name__}` for scikit-learn."]
    if method.groups == "PN":
        about.append("The smaller of two labels is negative.")
    sections = {"Parameters": "", "Attributes": ""}
    for kind in _kinds(base):
        head, *parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(kind.__doc__ or ""), flags=re.MULTILINE)
        if kind is not FastpuClassifier:
            about += head.split("\n\n")[1:]
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            sections[title] = f"{sections[title]}{text.strip()}\n"
    documented = re.findall(r"^(\w[\w, ]*)", sections["Parameters"], flags=re.MULTILINE)
    elsewhere = {name.strip() for names in documented for name in names.split(",")}
    names = textwrap.wrap(", ".join(name for name in parameters if name not in elsewhere), 100)
    as_in = "".join(f"{line.removesuffix(',')}\n    As in `fastpu.{function.__name__}`.\n" for line in names)
    return "\n\n".join(
        [
            *(inspect.getdoc(function) or "").split("\n\n")[:2],  # its summary and what it is for
            textwrap.fill(" ".join(" ".join(about).split()), 116),
            _section("Parameters", as_in + sections["Parameters"]),
            _section("Attributes", sections["Attributes"]),
            _section("Examples", _EXAMPLE.format(name=method.classifier)),
        ]
    )


def _section(title: str, text: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{text.strip()}"


#: The classifiers by their names; baselines have none.
CLASSIFIERS = {
    method.classifier: _made(function_of(name), method, method.classifier)
    for name, method in DECLARED.items()
    if method.classifier is not None
}

# The checks of scikit-learn that a classifier does not pass with its defaults, each with its reason.
_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
_ONE_ROW = (
    "the default prior is estimated, and a group has one row, repeated or of a larger weight; passes with prior=0.1"
)
_CHANCES = "a weight is the chance of a row to be drawn, but a repeated row makes the bags larger as well"
_SOME_ROWS = (
    "a bag holds a part of the unlabelled rows, and repeated ones are drawn more often; passes with bag_ratio=1.0"
)
_WITHIN_TOL = "a linear machine on CSR rows ends where tol is met, and solutions agree within it; passes with tol=1e-10"

EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = {
    "BSVMClassifier": {"check_sample_weight_equivalence_on_sparse_data": _WITHIN_TOL},
    "ForestClassifier": dict.fromkeys(_WEIGHTS, _CHANCES),
    "NNPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
    "PUBaggingClassifier": dict.fromkeys(_WEIGHTS, _SOME_ROWS),
    "UPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
}
