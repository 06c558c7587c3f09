"""No argument is ignored: another value changes the result, or the table says why it does not and the bits agree."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED
from input_recipes import arguments, attempt, bits, call, problem, signature, weights
from input_table import parameter_of


def _sum_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def value_of(name: str, parameter: str, value: Any) -> Any:
    """What a word of the table stands for where a value cannot be written down."""
    if parameter in {"sample_weight", "sample_cost"}:
        return weights()
    if parameter == "groups":
        return np.arange(problem()[1].size) // 2
    if parameter == "centers":
        return problem()[0][3:7] + 0.25
    if parameter == "init_model":
        return call(name)
    if parameter == "graph":
        return fastpu.knn_graph(problem()[0], n_neighbors=9)
    return _sum_kernel if value == "other" else value


@pytest.mark.parametrize("name", DECLARED)
def test_another_value_changes_the_result(name):
    plain: dict[str, Any] = {}
    for parameter in (p for p in signature(name) if p not in {"X", "y"}):
        known = parameter_of(name, parameter)
        where = {**known.under, **known.where}
        for value in known.changes:
            if repr(where) not in plain:
                plain[repr(where)] = bits(call(name, **where))
            found = attempt(name, **{**where, parameter: value_of(name, parameter, value)})
            assert not isinstance(found, Exception), f"{parameter}={value!r}: {found!r}"
            assert bits(found) != plain[repr(where)], f"{parameter}={value!r} changes nothing"


def test_what_changes_nothing_says_why():
    arguments = [(name, p) for name in DECLARED for p in signature(name) if p not in {"X", "y"}]
    known = {f"{name}({p})": parameter_of(name, p) for name, p in arguments}
    missing = [case for case, parameter in known.items() if not (parameter.changes or parameter.silent)]
    assert missing == [], "say in tests/methods/input_table.py what they change, or why nothing"


def with_parameter(parameter: str) -> Any:
    return pytest.mark.parametrize("name", [name for name in DECLARED if parameter in signature(name)])


@with_parameter("cache_mb")
def test_the_size_of_the_cache_changes_no_bit(name):
    given = {"kernel": "rbf"}
    assert bits(call(name, cache_mb=1e-6, **given)) == bits(call(name, **given))


@with_parameter("progress")
def test_progress_is_shown_and_changes_no_bit(name):
    with redirect_stderr(io.StringIO()) as shown:
        model = call(name, progress=True)
    assert shown.getvalue() != ""
    assert bits(model) == bits(call(name))


@with_parameter("callback")
def test_a_callback_sees_every_round_changes_no_bit_and_can_stop(name):
    seen = []
    model = call(name, callback=seen.append)
    assert seen
    assert bits(model) == bits(call(name))
    heard = []

    def stop(info: Any) -> bool:
        heard.append(info)
        return True

    assert not isinstance(attempt(name, callback=stop), Exception)
    assert len(heard) == 1 or len(heard) < len(seen)


@with_parameter("eval_set")
def test_a_set_to_judge_by_is_read(name):
    X = arguments(name)["X"]
    for held in ((X[:0], np.zeros(0)), (X[:, :1], np.ones(len(X))), (X, np.ones(len(X) - 1)), (X * np.nan, None)):
        found = attempt(name, eval_set=held)
        assert isinstance(found, TypeError | ValueError)
        assert "eval_set" in str(found)
