"""Grids of parameters, and moves by ten per cent from one of their points."""

from __future__ import annotations

import inspect
import itertools
import math
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastpu.common._text import describe, short

_UP, _DOWN = 1.1, 0.9


@dataclass(frozen=True)
class Arguments:
    """The arguments of a fit function other than X and y: their names and annotations."""

    function: str
    annotations: Mapping[str, str]
    takes_any: bool

    @classmethod
    def of(cls, fit: Callable[..., Any]) -> Arguments:
        name = getattr(fit, "__name__", type(fit).__name__)
        try:
            parameters = list(inspect.signature(fit).parameters.values())
        except (TypeError, ValueError):  # some built-in functions have no signature
            return cls(name, {}, True)
        named = {
            p.name: getattr(p.annotation, "__name__", str(p.annotation))
            for i, p in enumerate(parameters)
            if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and i >= 2)
        }
        return cls(name, named, any(p.kind is p.VAR_KEYWORD for p in parameters))

    def check(self, name: object, source: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{source} must name parameters of {self.function} by strings, got {describe(name)}")
        if not self.takes_any and name not in self.annotations:
            raise ValueError(
                f"{source} names {name!r}, which {self.function} does not take; it takes {', '.join(self.annotations)}"
            )

    def takes(self, name: str) -> bool:
        """Return whether an argument has this name; `**kwargs` does not count."""
        return name in self.annotations


@dataclass(frozen=True)
class Grid:
    """One dict of the grid: parameters and their values, in their order."""

    values: Mapping[str, Sequence[Any]]

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield all combinations, the last parameter fastest."""
        for choice in itertools.product(*self.values.values()):
            yield dict(zip(self.values, choice, strict=True))

    def moving(self, arguments: Arguments) -> dict[str, bool]:
        """Return the numeric parameters of at least two values, each with whether it is a whole number."""
        numeric = {}
        for name, values in self.values.items():
            are_numbers = all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in values)
            if not are_numbers or len(set(values)) < 2:
                continue
            integers = all(isinstance(value, numbers.Integral) for value in values)
            numeric[name] = integers and "float" not in arguments.annotations.get(name, "")
        return numeric


@dataclass(frozen=True)
class Move:
    """A point reached by moves of ten per cent: whole numbers, and for each other number its start and moves.

    The value of the latter is start * 1.1^up * 0.9^down, so that it has the same bits whatever the order of the moves.
    """

    fixed: Mapping[str, Any]
    whole: Mapping[str, int]
    real: Mapping[str, tuple[float, int, int]]

    @classmethod
    def at(cls, point: Mapping[str, Any], moving: Mapping[str, bool]) -> Move:
        return cls(
            {name: value for name, value in point.items() if name not in moving},
            {name: int(point[name]) for name, whole in moving.items() if whole},
            {name: (float(point[name]), 0, 0) for name, whole in moving.items() if not whole},
        )

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that distinguish this point from others."""
        return (*self.whole.values(), *((up, down) for _, up, down in self.real.values()))

    def params(self, order: Sequence[str]) -> dict[str, Any]:
        values = {name: start * _UP**up * _DOWN**down for name, (start, up, down) in self.real.items()}
        every = {**self.fixed, **self.whole, **values}
        return {name: every[name] for name in order}

    def neighbors(self, order: Sequence[str]) -> Iterator[Move]:
        """Yield the points one move away, parameter by parameter, the larger value first; 0 cannot move."""
        for name in order:
            if name in self.whole:
                value = self.whole[name]
                step = max(1, round(abs(value) / 10)) if value else 0
                for moved in (value + step, value - step):
                    if moved != value:
                        yield Move(self.fixed, {**self.whole, name: moved}, self.real)
            elif name in self.real:
                start, up, down = self.real[name]
                if start != 0 and math.isfinite(start):
                    yield Move(self.fixed, self.whole, {**self.real, name: (start, up + 1, down)})
                    yield Move(self.fixed, self.whole, {**self.real, name: (start, up, down + 1)})


def check_grid(grid: object, arguments: Arguments) -> list[Grid]:
    dicts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(dicts, list | tuple) or not all(isinstance(part, Mapping) for part in dicts):
        raise TypeError(f"grid must be a dict of lists of values, or a list of such dicts, got {describe(grid)}")
    if not dicts:
        raise ValueError("grid must have at least one dict, got none")
    return [Grid({name: _values(name, part[name], arguments) for name in part}) for part in dicts]


def _values(name: Any, values: Any, arguments: Arguments) -> tuple[Any, ...]:
    arguments.check(name, "grid")
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, list | tuple | range):
        raise TypeError(f"grid[{name!r}] must be a list of values, got {describe(values)}")
    if not values:
        raise ValueError(f"grid[{name!r}] must have at least one value, got {short(values)}")
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)
