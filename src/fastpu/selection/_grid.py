"""Grids of parameters, and moves by ten per cent from one of their points."""

from __future__ import annotations

import inspect
import itertools
import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from fastpu.common._text import describe, short

_UP, _DOWN = 1.1, 0.9


def _signature(fit: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function, whose annotations are types where their names can be looked up."""
    try:
        return inspect.signature(fit, eval_str=True)
    except (NameError, AttributeError, TypeError, SyntaxError):  # names that only a type checker imports
        return inspect.signature(fit)


def _types_of(annotation: object) -> frozenset[str]:
    """Return the names of the types that an annotation allows, such as "int" and "float"; of a text, all its words."""
    if isinstance(annotation, str):
        return frozenset(re.findall(r"\w+", annotation))
    if get_origin(annotation) in (Union, UnionType):
        return frozenset().union(*(_types_of(part) for part in get_args(annotation)))
    return frozenset({getattr(annotation, "__name__", str(annotation))})


@dataclass(frozen=True)
class FitSignature:
    """The arguments of a fit function other than X and y: their names, and the types that their annotations name."""

    function: str
    types: Mapping[str, frozenset[str]]
    takes_any: bool

    @classmethod
    def of(cls, fit: Callable[..., Any]) -> FitSignature:
        name = getattr(fit, "__name__", type(fit).__name__)
        try:
            parameters = list(_signature(fit).parameters.values())
        except (TypeError, ValueError):  # some built-in functions have no signature
            return cls(name, {}, True)
        named = {
            p.name: _types_of(p.annotation)
            for i, p in enumerate(parameters)
            if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and i >= 2)
        }
        return cls(name, named, any(p.kind is p.VAR_KEYWORD for p in parameters))

    def check(self, name: object, source: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{source} must name parameters of {self.function} by strings, got {describe(name)}")
        if not self.takes_any and name not in self.types:
            raise ValueError(
                f"{source} names {name!r}, which {self.function} does not take; it takes {', '.join(self.types)}"
            )

    def takes(self, name: str) -> bool:
        """Return whether an argument has this name; `**kwargs` does not count."""
        return name in self.types


@dataclass(frozen=True)
class Grid:
    """The dicts of a grid, each of parameters and their values, in their order."""

    dicts: Sequence[Mapping[str, Sequence[Any]]]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for values in self.dicts for name in values))

    def points(self) -> Iterator[tuple[dict[str, Any], Mapping[str, Sequence[Any]]]]:
        """Yield all combinations, the last parameter fastest, each with the dict that it is from."""
        for values in self.dicts:
            for choice in itertools.product(*values.values()):
                yield dict(zip(values, choice, strict=True)), values


@dataclass(frozen=True)
class MovedPoint:
    """A point reached by moves of ten per cent: for each number that moves, `steps` has how often it went up and down.

    Its value is that of `point` times 1.1^up 0.9^down, with the same bits whatever the order of the moves. Whole
    numbers, whose steps are None, are moved in `point` itself.
    """

    point: Mapping[str, Any]
    steps: Mapping[str, tuple[int, int] | None]

    @classmethod
    def at(cls, point: Mapping[str, Any], values: Mapping[str, Sequence[Any]], arguments: FitSignature) -> MovedPoint:
        """Return a point of a dict of the grid, whose numeric parameters of at least two values are to move."""
        steps: dict[str, tuple[int, int] | None] = {}
        for name, tried in values.items():
            are_numbers = all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in tried)
            if not are_numbers or len(set(tried)) < 2:
                continue
            integers = all(isinstance(value, numbers.Integral) for value in tried)
            # A parameter that takes either reads whole numbers as counts, and others as shares.
            types = arguments.types.get(name, frozenset())
            steps[name] = None if integers and ("int" in types or "float" not in types) else (0, 0)
        return cls(point, steps)

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that distinguish this point from others."""
        return tuple((self.point[name], steps) for name, steps in self.steps.items())

    def params(self) -> dict[str, Any]:
        moved = {name: self.point[name] * _UP ** by[0] * _DOWN ** by[1] for name, by in self.steps.items() if by}
        return {**self.point, **moved}

    def neighbors(self) -> Iterator[MovedPoint]:
        """Yield the points one move away, parameter by parameter, the larger value first; 0 cannot move."""
        for name, steps in self.steps.items():
            value = self.point[name]
            if not value or not math.isfinite(value):
                continue
            if steps is None:
                by = max(1, round(abs(value) / 10))
                for moved in (value + by, value - by):
                    yield MovedPoint({**self.point, name: moved}, self.steps)
            else:
                up, down = steps
                for further in ((up + 1, down), (up, down + 1)):
                    yield MovedPoint(self.point, {**self.steps, name: further})


def check_grid(grid: object, arguments: FitSignature) -> Grid:
    dicts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(dicts, list | tuple) or not all(isinstance(part, Mapping) for part in dicts):
        raise TypeError(f"grid must be a dict of lists of values, or a list of such dicts, got {describe(grid)}")
    if not dicts:
        raise ValueError("grid must have at least one dict, got none")
    return Grid([{name: _values(name, part[name], arguments) for name in part} for part in dicts])


def _values(name: Any, values: Any, arguments: FitSignature) -> tuple[Any, ...]:
    arguments.check(name, "grid")
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, list | tuple | range):
        raise TypeError(f"grid[{name!r}] must be a list of values, got {describe(values)}")
    if not values:
        raise ValueError(f"grid[{name!r}] must have at least one value, got {short(values)}")
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)
