"""Every parameter of every public function: wrong types, values past and at every bound, and enormous ones.

The cases are made from the signatures; see `input_table.py` for what each parameter takes.
"""

from __future__ import annotations

from typing import Any

import pytest

from input_recipes import FUNCTIONS, METHODS, attempt, bits, call, names, shows, signature, sound
from input_table import PARAMETERS, bad_values, edge_values, huge_values, parameter_of

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


@pytest.mark.parametrize("name", NAMES)
def test_every_public_function_has_a_valid_call(name):
    first, again = bits(call(name)), bits(call(name))
    assert first == again


# -- what is refused ---------------------------------------------------------------------------------------------------

CHECKED = [(name, p) for name, p in CASES if _known(name, p) and bad_values(parameter_of(name, p))]
EDGED = [(name, p) for name, p in CHECKED if edge_values(parameter_of(name, p))]
HUGE = [(name, p) for name, p in CHECKED if huge_values(parameter_of(name, p))]


def each(cases: list[tuple[str, str]]) -> Any:
    return pytest.mark.parametrize(("name", "parameter"), cases, ids=[f"{name}({p})" for name, p in cases])


def refused(name: str, parameter: str, value: Any, error: Any) -> str:
    """What is wrong with how a value is refused; "" if nothing."""
    found = attempt(name, **{**parameter_of(name, parameter).under, parameter: value})
    if not isinstance(found, error):
        return f"gave {found!r}"
    if isinstance(found, OSError) or (names(str(found), parameter) and shows(str(found), value)):
        return ""
    return f"the message does not name it or what came: {found}"


@each(CHECKED)
def test_bad_values_are_refused_by_name(name, parameter):
    found = {
        repr(bad.value): refused(name, parameter, bad.value, bad.error)
        for bad in bad_values(parameter_of(name, parameter))
    }
    assert {value: fault for value, fault in found.items() if fault} == {}


# -- what is taken -----------------------------------------------------------------------------------------------------


def taken(name: str, parameter: str, value: Any, **given: Any) -> str:
    """What is wrong with a result, or with the error in its place; "" if nothing."""
    found = attempt(name, **{**parameter_of(name, parameter).under, **given, parameter: value})
    if not isinstance(found, Exception):
        sound(found, f"with {parameter}={value!r} result")
        return ""
    return "" if isinstance(found, ValueError | MemoryError) and names(str(found), parameter) else f"gave {found!r}"


@each(EDGED)
def test_values_at_the_bounds_give_sound_results_or_a_named_error(name, parameter):
    found = {repr(value): taken(name, parameter, value) for value in edge_values(parameter_of(name, parameter))}
    assert {value: fault for value, fault in found.items() if fault} == {}


@each(HUGE)
def test_enormous_integers_are_taken_or_refused_before_work_begins(name, parameter):
    stopping = {"callback": lambda _: True} if "callback" in signature(name) else {}
    found = {value: taken(name, parameter, value, **stopping) for value in huge_values(parameter_of(name, parameter))}
    assert {value: fault for value, fault in found.items() if fault} == {}
