"""Every parameter of every public function: wrong types, values past and at every bound, and enormous ones.

The cases are made from the signatures; see `input_table.py` for what each parameter takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from input_recipes import FUNCTIONS, METHODS, attempt, names, shows, signature, sound
from input_table import PARAMETERS, parameter_of
from input_values import Parameter, bad_values, edge_values, huge_values

NAMES = [*FUNCTIONS, *METHODS]
CASES = [(name, parameter) for name in NAMES for parameter in signature(name)]


def _known(name: str, parameter: str) -> bool:
    return parameter in PARAMETERS or f"{name}.{parameter}" in PARAMETERS


# -- nothing escapes ---------------------------------------------------------------------------------------------------


def test_every_parameter_of_every_public_function_is_in_the_table():
    missing = [f"{name}({p})" for name, p in CASES if not _known(name, p)]
    assert missing == [], "say in tests/methods/input_table.py what they take"


def test_the_table_has_no_parameter_that_nothing_takes():
    used = {p for _, p in CASES} | {f"{name}.{p}" for name, p in CASES}
    assert [key for key in PARAMETERS if key not in used] == []


# -- what is refused ---------------------------------------------------------------------------------------------------

Cases = list[tuple[str, Any]]


def each_function(values: Callable[[Parameter], list[Any]]) -> Any:
    """A test for every function with the pairs of a parameter and one of its values."""
    cases: dict[str, Cases] = {}
    for name, p in CASES:
        if _known(name, p) and bad_values(parameter_of(name, p)):
            cases.setdefault(name, []).extend((p, value) for value in values(parameter_of(name, p)))
    given = {name: pairs for name, pairs in cases.items() if pairs}
    return pytest.mark.parametrize(("name", "pairs"), given.items(), ids=given)


def faults(pairs: Cases, fault_of: Callable[[str, Any], str]) -> dict[str, str]:
    """What is wrong, by the parameter and its value."""
    found = [(f"{parameter}={value!r}", fault_of(parameter, value)) for parameter, value in pairs]
    return {case: fault for case, fault in found if fault}


def refused(name: str, parameter: str, value: Any, error: Any) -> str:
    """What is wrong with how a value is refused; "" if nothing."""
    found = attempt(name, **{**parameter_of(name, parameter).under, parameter: value})
    if not isinstance(found, error):
        return f"gave {found!r}"
    if isinstance(found, OSError) or (names(str(found), parameter) and shows(str(found), value)):
        return ""
    return f"the message does not name it or what came: {found}"


@each_function(bad_values)
def test_bad_values_are_refused_by_name(name, pairs):
    assert faults(pairs, lambda parameter, bad: refused(name, parameter, bad.value, bad.error)) == {}


# -- what is taken -----------------------------------------------------------------------------------------------------


def taken(name: str, parameter: str, value: Any, **given: Any) -> str:
    """What is wrong with a result, or with the error in its place; "" if nothing."""
    found = attempt(name, **{**parameter_of(name, parameter).under, **given, parameter: value})
    if not isinstance(found, Exception):
        sound(found, f"with {parameter}={value!r} result")
        return ""
    return "" if isinstance(found, ValueError | MemoryError) and names(str(found), parameter) else f"gave {found!r}"


@each_function(edge_values)
def test_values_at_the_bounds_give_sound_results_or_a_named_error(name, pairs):
    assert faults(pairs, lambda parameter, value: taken(name, parameter, value)) == {}


@each_function(huge_values)
def test_enormous_integers_are_taken_or_refused_before_work_begins(name, pairs):
    stopping = {"callback": lambda _: True} if "callback" in signature(name) else {}
    assert faults(pairs, lambda parameter, value: taken(name, parameter, value, **stopping)) == {}
