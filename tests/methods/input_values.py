"""What a parameter of a public function can be, and its values: refused ones, those at its bounds, huge ones."""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    `kind` is "real", "integer", "choice", "switch", "seed", "callback", "fit" or, for what has no bounds, a word for
    what it holds: "matrix", "labels", "weights", "vector", "path", "object". `bad` are further refused values with
    their errors. `under` are arguments without which it is not looked at. `changes` are values each of which must
    change the result under `where`; a parameter of a fit function without any says in `silent` why it changes nothing.
    `patient` says why enormous integers are not tried.
    """

    kind: str
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    inf: bool = False
    none: bool = False
    many: bool = False
    words: tuple[str, ...] = ()
    function: bool = False
    bad: tuple[tuple[Any, Any], ...] = ()
    under: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[Any, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    silent: str = ""
    patient: str = ""


@dataclass(frozen=True)
class Bad:
    """A value that is refused, and by which error."""

    value: Any
    error: type[Exception] | tuple[type[Exception], ...]


def real(low=None, high=None, *, open_low=False, open_high=False, **rest) -> Parameter:
    return Parameter("real", low, high, open_low, open_high, **rest)


def positive(**rest) -> Parameter:
    return Parameter("real", 0, open_low=True, **rest)


def share(**rest) -> Parameter:
    return Parameter("real", 0, 1, open_low=True, open_high=True, **rest)


def integer(low=None, high=None, **rest) -> Parameter:
    return Parameter("integer", low, high, **rest)


def choice(*words, **rest) -> Parameter:
    return Parameter("choice", words=words, **rest)


EITHER = (TypeError, ValueError)


# -- values ------------------------------------------------------------------------------------------------------------

_NO_NUMBERS = ("1", b"1", True, np.True_, 1j, decimal.Decimal(1), {}, object(), np.datetime64("2020-01-01"))


def bad_values(parameter: Parameter) -> list[Bad]:
    """Values that are refused: of wrong types, past both bounds and, where these are open, at them."""
    made = _MAKERS.get(parameter.kind, lambda _: [])(parameter)
    return [*made, *(Bad(value, error) for value, error in parameter.bad)]


def _bad_reals(p: Parameter) -> list[Bad]:
    # A string is a value of the wrong word where words are taken.
    found = [Bad(v, EITHER if p.words and isinstance(v, str) else TypeError) for v in _NO_NUMBERS]
    found += [] if p.none else [Bad(None, TypeError)]
    found += [Bad(np.array(1.0), TypeError)] if not p.many else []
    found += [Bad([1.0], TypeError), Bad((0.5, 0.5), TypeError)] if not p.many else [Bad([[1.0]], TypeError)]
    past = [math.nan, np.float32("nan"), *([] if p.inf else [math.inf, 10**400])]
    past += [] if p.inf and p.low is None else [-math.inf]
    if p.low is not None:
        past += [p.low if p.open_low else math.nextafter(p.low, -math.inf), p.low - 1, -1e300]
    if p.high is not None:
        past += [p.high if p.open_high else math.nextafter(p.high, math.inf), p.high + 1, 1e300]
    return found + [Bad(value, ValueError) for value in past]


def _bad_integers(p: Parameter) -> list[Bad]:
    wrong = (*_NO_NUMBERS, 1.5, 2.0, np.float64(2), math.nan, np.array([2]), [2])
    found = [Bad(v, EITHER if p.words and isinstance(v, str) else TypeError) for v in wrong]
    if p.bad and any(isinstance(value, list) for value, _ in p.bad):  # a list is a value of another meaning
        found = [bad for bad in found if not isinstance(bad.value, list | np.ndarray | dict | bytes)]
    found += [] if p.none else [Bad(None, TypeError)]
    past = [] if p.low is None else [p.low - 1, -(10**30), np.int64(p.low - 1)]
    past += [] if p.high is None else [p.high + 1, 10**30, 10**400]
    return found + [Bad(value, ValueError) for value in past]


def _bad_choices(p: Parameter) -> list[Bad]:
    found = [Bad(v, TypeError) for v in (1, True, 0.5, b"linear", ["linear"], {}, object())]
    found += [] if p.none else [Bad(None, TypeError)]
    found += _bad_functions(p)[-5:] if p.function else []
    return [*found, Bad("", ValueError), Bad(p.words[0].upper(), ValueError), Bad("nonsense" * 50, ValueError)]


def _bad_switches(_: Parameter) -> list[Bad]:
    return [Bad(value, TypeError) for value in (1, 0, "yes", None, np.array([True]), [], 0.0)]


def _bad_seeds(_: Parameter) -> list[Bad]:
    wrong = [1.0, "0", True, [1], np.random.RandomState(0), object(), np.array([1])]
    return [*(Bad(value, TypeError) for value in wrong), Bad(-1, ValueError), Bad(np.int64(-5), ValueError)]


class _Instances:
    """A class, of which an instance was meant; it can be made of any arguments."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments


def _takes_nothing() -> None:
    """A function that no loop can call."""


class _Empty:
    """A class that is made without arguments."""


def _bad_fits(_: Parameter) -> list[Bad]:
    # A class that is made of X and y, and whose instances are models, is a function that returns one.
    return [Bad(value, TypeError) for value in (3, "abc", [], _Empty, _takes_nothing)]


def _bad_functions(p: Parameter) -> list[Bad]:
    return [*_bad_fits(p), *(Bad(value, TypeError) for value in (_Instances, dict, int))]


_MAKERS = {
    "callback": _bad_functions,
    "fit": _bad_fits,
    "real": _bad_reals,
    "integer": _bad_integers,
    "choice": _bad_choices,
    "switch": _bad_switches,
    "seed": _bad_seeds,
}


def edge_values(p: Parameter) -> list[Any]:
    """Values that are taken: at closed bounds, just inside open ones, of other number types, and far out."""
    if p.kind == "integer":
        edges = [] if p.low is None else [p.low, np.int8(p.low), np.uint64(max(0, p.low))]
        return [*edges, *([] if p.high is None or p.patient else [p.high]), *([None] if p.none else [])]
    if p.kind == "real":
        edges: list[Any] = [*p.words, *([None] if p.none else [])]
        low, high = (-1e300 if p.low is None else p.low), (1e300 if p.high is None else p.high)
        edges += [
            math.nextafter(low, math.inf) if p.open_low else low,
            math.nextafter(high, 0) if p.open_high else high,
        ]
        edges += [1e-300 + low, np.float32(max(low, -1) + 0.25), 10**30 if p.high is None else np.float16(low + 0.5)]
        return [*edges, *([math.inf] if p.inf else [])]
    if p.kind == "seed":
        return [None, 0, np.int8(3), 2**200, np.random.default_rng(5)]
    if p.kind == "switch":
        return [True, False, np.False_]
    return list(p.words) if p.kind == "choice" else []


def huge_values(p: Parameter) -> list[Any]:
    """Integers without an upper bound, of sizes that no memory and no patience has room for."""
    if p.kind != "integer" or p.high is not None or p.patient:
        return []
    return [2**31, 2**63 - 1, 2**63, 2**64, 10**30, 10**400]
