"""What all reports are made of: the machine, tables, times with their spread, goals met or missed."""

from __future__ import annotations

import os
import platform
import statistics
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Measured", "at_least", "at_most", "machine", "median", "spread", "table"]


@dataclass(frozen=True)
class Measured:
    """A measurement: its name, options and result."""

    name: str
    options: Mapping[str, Any]
    found: Mapping[str, Any]


def machine(*libraries: str) -> str:
    """Return the processor, Python and the versions of those libraries that are installed."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    found = []
    for name in libraries:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return f"{model}, {os.cpu_count()} CPUs; Python {platform.python_version()}, {', '.join(found)}"


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table below its title."""
    lines = [head, ["---"] * len(head), *rows]
    return f"### {title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def median(times: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(times)


def spread(times: Sequence[float], unit: float = 1000) -> str:
    """Return median [least-most], by default in milliseconds."""
    low, middle, high = (unit * value for value in (min(times), median(times), max(times)))
    digits = max(0, 3 - len(f"{middle:.0f}")) if middle >= 1 else 3
    return f"{middle:.{digits}f} [{low:.{digits}f}-{high:.{digits}f}]"


def _goal(value: float, text: str, *, met: bool) -> str:
    return f"{value:.2f} ({text}: {'met' if met else 'missed'})"


def at_least(value: float, goal: float) -> str:
    """Return a number and whether it reaches its goal."""
    return _goal(value, f">= {goal:g}", met=value >= goal)


def at_most(value: float, goal: float) -> str:
    """Return a number and whether it stays below its goal."""
    return _goal(value, f"<= {goal:g}", met=value <= goal)
