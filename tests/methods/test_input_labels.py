"""Labels, weights and scores of every public function: the same in another form, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fastpu.common._methods import DECLARED, methods_with
from input_recipes import (
    FUNCTIONS,
    METHODS,
    arguments,
    attempt,
    bits,
    call,
    labels_for,
    names,
    problem,
    signature,
    some,
    sound,
)
from input_table import parameter_of

NAMES = [*FUNCTIONS, *METHODS]


def having(kind: str) -> Any:
    cases = [(name, p) for name in NAMES for p in signature(name) if parameter_of(name, p).kind == kind]
    return pytest.mark.parametrize(("name", "parameter"), cases, ids=[f"{name}({p})" for name, p in cases])


def given(name: str, parameter: str) -> np.ndarray:
    """The vector of the valid call, or weights for the rows that they belong to."""
    found = arguments(name).get(parameter)
    if found is not None:
        return np.asarray(found)
    n = len(next(arguments(name)[p] for p in ("X", "y") if p in arguments(name)))
    return 0.5 + np.arange(n) % 4


def _strided(v: np.ndarray) -> np.ndarray:
    return np.repeat(v, 2)[::2]


def _read_only(v: np.ndarray) -> np.ndarray:
    v = v.copy()
    v.flags.writeable = False
    return v


#: The same values as an array of signed numbers.
SAME: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda v: v.tolist(),
    "tuple": tuple,
    "float64": lambda v: v.astype(np.float64),
    "float32": lambda v: v.astype(np.float32),
    "extended precision": lambda v: v.astype(np.longdouble),
    "big-endian": lambda v: v.astype(">f8"),
    "strided": _strided,
    "reversed": lambda v: v[::-1].copy()[::-1],
    "read only": _read_only,
    "pandas": lambda v: pd.Series(v, index=range(7, 7 + len(v))),
    "pandas, with gaps in its type": lambda v: pd.Series(v).astype("Float64"),
    "polars": lambda v: pl.Series(v),
}
SAME_LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    **SAME,
    "int64": lambda v: v.astype(np.int64),
    "float16": lambda v: v.astype(np.float16),
    "objects": lambda v: v.astype(object),
}
#: Where only 1 and 0 are held, 0 unlabelled.
SAME_PU: dict[str, Callable[[np.ndarray], Any]] = {
    "bool": lambda v: v == 1,
    "unsigned": lambda v: v.astype(np.uint8),
    "NaN": lambda v: np.where(v == 1, 1.0, np.nan),
    "None": lambda v: [1 if label == 1 else None for label in v],
    "None in an array": lambda v: np.array([1 if label == 1 else None for label in v], dtype=object),
    "pandas, bool": lambda v: pd.Series(v == 1),
    "pandas, NA": lambda v: pd.Series([1 if label == 1 else None for label in v], dtype="Int64"),
    "polars, null": lambda v: pl.Series([1 if label == 1 else None for label in v]),
}


@having("labels")
def test_the_same_labels_in_another_form_give_the_same_bits(name, parameter, unchanged):
    labels = given(name, parameter)
    is_pu = set(labels.tolist()) == {0, 1}
    expected = bits(call(name))
    for kind, make in some({**SAME_LABELS, **(SAME_PU if is_pu else {})}, name).items():
        value = make(labels)
        with unchanged(value):
            assert bits(call(name, **{parameter: value})) == expected, kind


@having("vector")
def test_the_same_scores_in_another_form_give_the_same_bits(name, parameter, unchanged):
    expected = bits(call(name))
    for kind, make in some(SAME, name).items():
        value = make(given(name, parameter))
        with unchanged(value):
            assert bits(call(name, **{parameter: value})) == expected, kind


@having("weights")
def test_the_same_weights_in_another_form_give_the_same_bits(name, parameter, unchanged):
    if name == "fit_bagging_svm":  # takes none
        return
    weights = given(name, parameter)
    expected = bits(call(name, **{parameter: weights}))
    for kind, make in some(SAME, name).items():
        value = make(weights)
        with unchanged(value):
            assert bits(call(name, **{parameter: value})) == expected, kind


#: What no vector of numbers is, with the error.
_EITHER = (TypeError, ValueError)
NO_VECTOR: dict[str, tuple[Callable[[np.ndarray], Any], Any]] = {
    "too short": (lambda v: v[:-1].copy(), ValueError),
    "too long": (lambda v: np.append(v, v[-1]), ValueError),
    "empty": (lambda v: v[:0].copy(), ValueError),
    "a row": (lambda v: v[None, :].copy(), ValueError),
    "no dimension": (lambda _: np.array(1.0), ValueError),
    "complex": (lambda v: v.astype(complex), TypeError),
    "dates": (lambda v: v.astype("i8").astype("M8[s]"), TypeError),
    "records": (lambda v: np.zeros(len(v), dtype=[("a", "f8")]), TypeError),
    "masked": (lambda v: np.ma.masked_array(v.copy(), mask=v > 0), TypeError),
    "lists": (lambda v: np.array([[1]] * len(v) + [[1, 2]], dtype=object)[:-1], _EITHER),
    "a set": (lambda _: {1, 0}, _EITHER),
    "a generator": (lambda v: (x for x in v), _EITHER),
    "strings": (lambda v: v.astype(str), _EITHER),
}
NO_LABELS: dict[str, tuple[Callable[[np.ndarray], Any], Any]] = {
    **NO_VECTOR,
    "another code": (lambda v: np.where(v == 1, 2, v), ValueError),
    "fractions": (lambda v: v * 0.5, ValueError),
    "inf": (lambda v: np.where(v == 1, np.inf, v), ValueError),
    "enormous": (lambda v: [10**400, *v[1:].tolist()], ValueError),
    "0 and missing": (lambda v: np.array([0.0, np.nan, *([1.0] * (len(v) - 2))]), ValueError),
}
NO_SCORES = {**NO_VECTOR, "NaN": (lambda v: np.where(np.arange(len(v)) == 1, np.nan, v), ValueError)}
NO_WEIGHTS = {
    **NO_SCORES,
    "negative": (lambda v: np.where(np.arange(len(v)) == 1, -1e-9, v), ValueError),
    "-inf": (lambda v: np.where(np.arange(len(v)) == 1, -np.inf, v), ValueError),
    "zeros": (lambda v: 0 * v, ValueError),
    "a sum that overflows": (lambda v: np.full(len(v), 1e308), ValueError),
}


def refusals(name: str, parameter: str, cases: dict[str, Any], unchanged: Any) -> dict[str, Any]:
    """What is not refused, or not by an error that names the argument."""
    faults = {}
    for kind, (make, error) in some(cases, name).items():
        value = make(given(name, parameter))
        with unchanged(value):
            found = attempt(name, **{parameter: value})
        if not isinstance(found, error) or not any(names(str(found), p) for p in {parameter, *_partners(name)}):
            faults[kind] = found
    return faults


def _partners(name: str) -> list[str]:
    """Vectors that have one length with another one: the message may name either."""
    return [p for p in signature(name) if parameter_of(name, p).kind in {"labels", "vector"}]


@having("labels")
def test_bad_labels_are_refused(name, parameter, unchanged):
    cases = dict(NO_LABELS)
    if "X" not in arguments(name) and len(_partners(name)) == 1:  # nothing says how many there must be
        cases = {kind: case for kind, case in cases.items() if not kind.startswith("too ")}
    assert refusals(name, parameter, cases, unchanged) == {}


@having("vector")
def test_bad_scores_are_refused(name, parameter, unchanged):
    cases = dict(NO_SCORES)
    if parameter != "scores":  # as many as the caller likes
        cases = {kind: case for kind, case in cases.items() if not kind.startswith("too ")}
    if parameter == "lams":
        del cases["no dimension"]  # a single number
    if parameter in ("scores", "scores_of_labelled"):  # rows without a score are left out, with a warning
        cases["NaN"] = (lambda v: np.full(len(v), np.nan), ValueError)
    assert refusals(name, parameter, cases, unchanged) == {}


@having("weights")
def test_bad_weights_are_refused(name, parameter, unchanged):
    if name == "fit_bagging_svm":  # takes none, and says so in the test of wrong types
        return
    assert refusals(name, parameter, NO_WEIGHTS, unchanged) == {}


@pytest.mark.parametrize("name", [name for name in DECLARED if "y" in signature(name)])
def test_a_group_that_is_needed_and_not_there_is_named(name):
    for value in (1, 0, -1):
        found = attempt(name, y=np.full(24, value))
        assert isinstance(found, ValueError), value
        assert names(str(found), "y")


@pytest.mark.parametrize("name", [name for name, method in DECLARED.items() if method.groups == "PU"])
def test_labelled_negatives_are_refused_with_a_word_on_who_takes_them(name):
    y = labels_for("PU")
    for labels, what in (
        (np.where(y == 1, 1, -1), "as_labels(y, unlabeled=-1)"),
        (np.where(np.arange(len(y)) == 3, -1, y), "takes no labelled negatives"),
    ):
        found = attempt(name, y=labels)
        assert isinstance(found, ValueError)
        assert all(text in str(found) for text in (what, name, methods_with("N")))


@pytest.mark.parametrize("label", [1, 0, -1])
@pytest.mark.parametrize("name", [name for name, method in DECLARED.items() if method.weights])
def test_weights_may_not_empty_a_group_that_is_needed(name, label):
    """The boosting functions and those of squared losses for the AUC can do without one of three groups."""
    y = arguments(name).get("y")
    if y is None or label not in y or len(set(y)) > 2:
        return
    found = attempt(name, sample_weight=(y != label).astype(float))
    assert isinstance(found, ValueError)
    assert names(str(found), "y") or names(str(found), "sample_weight")


@pytest.mark.parametrize("name", [name for name in DECLARED if "y" in signature(name)])
def test_one_row_of_a_group_is_enough_or_is_refused_by_name(name):
    """One positive, one negative or one unlabelled row; one row in all; one of each group and no more."""
    groups = DECLARED[name].groups
    codes = {"P": 1, "U": 0, "N": -1}
    X = arguments(name)["X"]
    cases: list[tuple[np.ndarray, list[int]]] = [(X[:1], [codes[groups[0]]])]
    cases += [(X[: len(groups)], [codes[g] for g in groups])]
    for single in groups:
        others = [g for g in groups if g != single]
        cases.append((X, [codes[single], *(codes[others[i % len(others)]] for i in range(len(X) - 1))]))
    for rows, labels in cases:
        found = attempt(name, X=rows, y=labels)
        if isinstance(found, Exception):
            assert isinstance(found, ValueError), repr(found)
            assert names(str(found), "y") or names(str(found), "nu"), repr(found)
        else:
            sound(found)
            assert np.isfinite(found.decision_function(X)).all()


#: Whose result is a choice, which may be refused because the models are no good.
_CHOOSES = {"select"}


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # of the mixed ones, one for each label
@having("weights")
def test_extreme_weights_give_finite_scores_or_a_named_error(name, parameter):
    n = len(given(name, parameter))
    extremes = {
        "denormal": np.full(n, 5e-324),
        "tiny": np.full(n, 1e-300),
        "huge": np.full(n, 1e300),
        "mixed": np.where(np.arange(n) % 2, 1e-150, 1e150),
        "one row alone": (np.arange(n) == 0).astype(float),
        "half of them": (np.arange(n) % 2 == 0).astype(float),
        "-0.0": np.where(np.arange(n) % 5, 1.0, -0.0),
    }
    faults: dict[str, Any] = {}
    if name in _CHOOSES:
        return
    for kind, value in extremes.items():
        found = attempt(name, **{parameter: value})
        if isinstance(found, Exception):
            is_told = isinstance(found, TypeError if name == "fit_bagging_svm" else ValueError)
            if not is_told or not (names(str(found), parameter) or names(str(found), "y")):
                faults[kind] = found
            continue
        sound(found)
        if hasattr(found, "decision_function") and not np.isfinite(found.decision_function(problem()[0])).all():
            faults[kind] = "scores that are not finite"
        if isinstance(found, float) and not math.isfinite(found):
            faults[kind] = found
    assert faults == {}
