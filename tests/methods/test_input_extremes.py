"""Extreme numbers: results are finite, or an error or a warning says what was wrong; never NaN, never a hang."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED
from input_recipes import (
    FUNCTIONS,
    METHODS,
    N_ROWS,
    arguments,
    attempt,
    bits,
    names,
    problem,
    signature,
    sound,
)
from input_table import parameter_of

HOLDERS = [
    name
    for name in [*FUNCTIONS, *METHODS]
    if any(parameter_of(name, p).kind == "matrix" and p not in {"centers", "N"} for p in signature(name))
]


def extremes() -> dict[str, np.ndarray]:
    """Rows of the shape of `problem` (but where its columns are what is extreme), all of finite numbers."""
    X = problem()[0]
    rng = np.random.default_rng(3)
    half = (np.arange(N_ROWS) % 2).astype(bool)
    outlier, mixed = X.copy(), X * np.array([1e-150, 1.0, 1e150])
    outlier[5, 1] = 1e300
    return {
        "huge": X * 1e300,
        "large": X * 1e150,
        "tiny": X * 1e-150,
        "squares that vanish": X * 1e-162,
        "tinier": X * 1e-300,
        "denormal": np.round(X * 8) * 5e-324,
        "the largest": np.where(X > 0, np.finfo(float).max, -np.finfo(float).max),
        "the smallest": np.where(X > 0, 5e-324, -5e-324),
        "mixed scales": mixed,
        "scales within a column": X * 10.0 ** rng.integers(-150, 150, size=X.shape),
        "one outlier": outlier,
        "far from 0": X + 1e15,
        "zeros": np.zeros_like(X),
        "-0.0": np.where(X > 0, 0.0, -0.0),
        "all rows the same": np.tile(X[:1], (N_ROWS, 1)),
        "two rows alone": np.where(half[:, None], X[0], X[1]),
        "a constant column": np.column_stack([X[:, 0], np.full(N_ROWS, 7.0), X[:, 1]]),
        "equal columns": np.column_stack([X[:, 0]] * 3),
        "multiples": np.outer(X[:, 0], [1.0, -2.0, 1e8]),
        "next to each other": 1.0 + np.outer(np.arange(N_ROWS), [1, 2, 3]) * np.finfo(float).eps,
        "one column that tells all": np.outer(problem()[1], [1.0, 0.0, 0.0]),
    }


SHAPES = {"one column": (N_ROWS, 1), "more columns than rows": (N_ROWS, 60)}


def fault_of(found: Any, X: Any, told: tuple[str, ...], *, is_own: bool = True) -> Any:
    """What is wrong with a result, or with the error in its place; None if nothing.

    A model has finite scores for the rows of its own, and no NaN for any."""
    if isinstance(found, Exception):
        is_named = isinstance(found, ValueError) and any(names(str(found), name) for name in told)
        return None if is_named else found
    sound(found)
    if isinstance(found, fastpu.Model):
        scores = attempt_scores(found, X)
        if isinstance(scores, Exception):
            return None if isinstance(scores, ValueError) and names(str(scores), "X") else scores
        if is_own and not np.isfinite(scores).all():
            return f"scores of {found!r} that are not finite"
    return None


def attempt_scores(model: fastpu.Model, X: Any) -> Any:
    try:
        return model.decision_function(X)
    except ValueError as error:
        return error


#: What errors may name where numbers are extreme: what holds them, and what would bring them back.
TOLD = ("X", "scores", "gamma", "kernel", "C", "lam", "bandwidth", "sigma", "learning_rate", "y")


@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_fits_to_extreme_numbers_are_finite_or_refused_by_name(name, form, unchanged):
    faults = {}
    for kind, X in extremes().items():
        given: Any = X
        if form == "float32":
            with np.errstate(over="ignore"):
                given = np.clip(X, -3e38, 3e38).astype(np.float32)
        elif form == "sparse":
            given = sp.csr_array(X)
        with unchanged(given):
            faults[kind] = fault_of(attempt(name, X=given), given, TOLD)
    assert {kind: fault for kind, fault in faults.items() if fault is not None} == {}


KERNELS = ("linear", "rbf", "poly", "sigmoid")


@pytest.mark.parametrize("name", [name for name in DECLARED if "kernel" in signature(name)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_of_extreme_numbers_are_finite_or_refused_by_name(name, kernel):
    faults = {}
    for kind, X in extremes().items():
        for gamma in ("scale", "auto"):
            found = attempt(name, X=X, kernel=kernel, gamma=gamma)
            faults[f"{kind}, {gamma}"] = fault_of(found, X, TOLD)
    assert {kind: fault for kind, fault in faults.items() if fault is not None} == {}


@pytest.mark.parametrize("name", [name for name in DECLARED if "model" in signature(name)])
def test_gaussian_centres_of_extreme_numbers_are_finite_or_refused_by_name(name):
    faults = {kind: fault_of(attempt(name, X=X, gauss=True), X, TOLD) for kind, X in extremes().items()}
    assert {kind: fault for kind, fault in faults.items() if fault is not None} == {}


@pytest.mark.parametrize("name", DECLARED)
def test_few_and_many_columns(name):
    for kind, shape in SHAPES.items():
        X = np.random.default_rng(5).normal(size=shape)
        assert fault_of(attempt(name, X=X), X, ()) is None, kind


@pytest.mark.parametrize("name", [name for name in DECLARED if "y" in signature(name)])
def test_rows_with_every_label_are_fitted(name):
    """Each row is there with each label: nothing can be told apart."""
    groups = DECLARED[name].groups
    X = np.repeat(problem()[0][:8], len(groups), axis=0)
    y = np.tile([{"P": 1, "U": 0, "N": -1}[g] for g in groups], 8)
    assert fault_of(attempt(name, X=X, y=y), X, ()) is None


@pytest.mark.parametrize("name", [name for name in HOLDERS if name not in DECLARED])
def test_other_functions_of_extreme_numbers_are_finite_or_refused_by_name(name):
    faults = {}
    for kind, X in extremes().items():
        for p in arguments(name):
            if parameter_of(name, p).kind == "matrix":
                found = attempt(name, **{p: X if name != "stack" else X[:8]})
                told = (*TOLD, p, "lams")
                is_no_model = name == "select" and "no point of grid" in str(found)
                faults[kind] = None if is_no_model else fault_of(found, X, told, is_own=False)
    assert {kind: fault for kind, fault in faults.items() if fault is not None} == {}


SCORES = [name for name in FUNCTIONS if any(parameter_of(name, p).kind == "vector" for p in signature(name))]


@pytest.mark.parametrize("name", [name for name in SCORES if name.startswith("metrics.")])
def test_metrics_of_extreme_scores_depend_on_their_order_alone(name):
    """Scores may be infinite; those far apart and next to each other count alike."""
    scores = [p for p in signature(name) if parameter_of(name, p).kind == "vector"]
    plain = {p: np.asarray(arguments(name)[p]) for p in scores}
    if "threshold" in signature(name):
        plain = {p: v + 0.0 for p, v in plain.items()}
    expected = attempt(name, **plain)
    for factor in (1e300, 1e-300, 5e-324 * 2**60):
        scaled = {p: v * factor for p, v in plain.items()}
        assert bits(attempt(name, **scaled)) == bits(expected), factor
    ends = {p: np.where(np.arange(len(v)) % 2, np.inf, -np.inf) for p, v in plain.items()}
    with np.errstate(all="raise"):
        found = attempt(name, **ends)
    if isinstance(found, Exception):
        assert isinstance(found, ValueError), repr(found)
    else:
        sound(found)
