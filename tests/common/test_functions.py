"""Functions of the caller are checked before they are called."""

from __future__ import annotations

import functools
import operator

import pytest

from fastpu.common._functions import check_function


class Doubler:
    def __call__(self, value):
        return 2 * value


def _check(value, arguments=("value",), **more):
    return check_function("score", value, "a function of a value", arguments=arguments, **more)


@pytest.mark.parametrize(
    "function",
    [
        lambda value: value,
        lambda value, other=1: value,
        lambda *values: values,
        Doubler(),
        Doubler().__call__,
        functools.partial(operator.add, 1),
        abs,
        max,
    ],
)
def test_what_can_be_called_with_the_arguments_is_returned_as_it_is(function):
    assert _check(function) is function


def test_a_class_is_refused_and_an_instance_is_named():
    with pytest.raises(TypeError, match=r"score must be a function of a value, got the class Doubler, .*instances"):
        _check(Doubler)
    assert _check(float, may_be_class=True) is float
    with pytest.raises(TypeError, match=r"got <class .*Doubler.*which does not take the argument value"):
        _check(Doubler, may_be_class=True)


@pytest.mark.parametrize("function", [lambda: 0, lambda value, other: 0, lambda *, value: value])
def test_a_function_of_other_arguments_is_refused(function):
    with pytest.raises(TypeError, match=r"score must be a function of a value, got .*which does not take the argument"):
        _check(function)


def test_keywords_that_come_later_need_not_be_there_yet():
    assert _check(lambda value, *, needed: needed, has_keywords=True)
    with pytest.raises(TypeError, match="does not take the arguments value and other"):
        _check(lambda value: value, ("value", "other"), has_keywords=True)


@pytest.mark.parametrize("value", [3, "abs", None, []])
def test_what_is_no_function_is_shown(value):
    with pytest.raises(TypeError, match="score must be a function of a value, got "):
        _check(value)
