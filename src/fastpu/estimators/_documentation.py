"""Docstrings of the classifiers: a parameter that a classifier shares with its function has one text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type[Any])

_SECTIONS = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w[\w, ]*?)( : .*)?\n((?:[ ]+\S.*\n|\n(?=[ ]))*)", re.MULTILINE)


@dataclass(frozen=True)
class _Entry:
    """An entry of a section of a docstring: names, what may be passed, and what it means."""

    names: tuple[str, ...]
    kind: str
    text: str

    def of(self, names: Iterable[str]) -> str:
        return f"{', '.join(names)}{self.kind}\n{self.text}"


def explains_parameters_of(function: Callable[..., Any]) -> Callable[[_Class], _Class]:
    """Decorate a classifier: `help` of it explains every parameter, also those that `function` has.

    Only the docstring of the class changes. So the text of a parameter is written once, in the function.

    A parameter of `__init__` that the docstring of the class does not explain gets the text of the class that it is
    made from, or else that of `function`. The section of attributes gets those of the classes that it is made from.
    """

    def explain(kind: _Class) -> _Class:
        if kind.__doc__ is None:  # without docstrings, as by python -OO
            return kind
        head, sections = _split(kind.__doc__)
        bases = [base for base in kind.__mro__[1:] if base.__module__.startswith("fastpu.")]
        texts = [_split(base.__doc__ or "")[1] for base in bases]
        explained = [_entries(text.get("Parameters", "")) for text in (sections, *texts)]
        explained.append(_entries(_split(function.__doc__ or "")[1].get("Parameters", "")))
        parameters = list(inspect.signature(kind).parameters)
        sections["Parameters"] = _in_order(parameters, explained)
        sections["Attributes"] = "".join(text.get("Attributes", "") for text in (sections, *texts))
        parts = [head.strip(), *(f"{title}\n{'-' * len(title)}\n{text.strip()}" for title, text in sections.items())]
        kind.__doc__ = "\n\n".join(parts) + "\n"
        return kind

    return explain


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the sections of a docstring, and the sections; the first two are always there."""
    head, *parts = _SECTIONS.split(inspect.cleandoc(text) + "\n")
    sections = dict(zip(parts[::2], (f"{part.strip()}\n" for part in parts[1::2]), strict=True))
    return head, {"Parameters": "", "Attributes": "", **sections}


def _entries(section: str) -> dict[str, _Entry]:
    """Return the entry of each name that a section explains."""
    entries = [_Entry(tuple(names.split(", ")), kind or "", text) for names, kind, text in _ENTRY.findall(section)]
    return {name: entry for entry in entries for name in entry.names}


def _in_order(parameters: list[str], explained: list[dict[str, _Entry]]) -> str:
    """Return the entries of these parameters in their order, each from the first text that has it."""
    source = {name: next((entries[name] for entries in explained if name in entries), None) for name in parameters}
    lines, done = [], set()
    for entry in source.values():
        if entry is None or entry in done:
            continue
        done.add(entry)
        lines.append(entry.of(other for other in parameters if source[other] is entry))
    return "".join(lines)
