"""How every area is reported: a table for each measure, in which a line is a contender."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from shared import machine, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from running import Case, Row


_HIDDEN = ("data", "names")  # options that a table does not show


def _milliseconds(seconds: Sequence[float]) -> str:
    """Return median [least-most], the median to three digits."""
    low, middle, high = (1000 * value for value in (min(seconds), statistics.median(seconds), max(seconds)))
    digits = max(0, 2 - math.floor(math.log10(middle))) if middle > 0 else 3
    return f"{middle:.{digits}f} [{low:.{digits}f}-{high:.{digits}f}]"


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(map(str, value.values()))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def section(found: Sequence[tuple[Case, list[Row]]]) -> str:
    """Return the table of all cases of one measure: options that differ are columns, the others follow the title."""
    cases = [case for case, _ in found]
    options = [key for key in dict.fromkeys(key for case in cases for key in case.options) if key not in _HIDDEN]
    varying = [key for key in options if any(case.options.get(key) != cases[0].options.get(key) for case in cases)]
    shared = {key: cases[0].options[key] for key in options if key not in varying}
    columns = list(dict.fromkeys(key for _, rows in found for row in rows for key in row))
    head = []
    for key in columns:
        head += ["ms: median [least-most]", "time / that of the first"] if key == "seconds" else [key]
    lines = []
    for case, rows in found:
        first = next((row["seconds"] for row in rows if row.get("seconds")), [])
        for row in rows:
            cells = [_cell(case.options.get(key)) for key in varying]
            for key in columns:
                if key != "seconds":
                    cells.append(_cell(row.get(key)))
                elif row.get(key):
                    ratio = statistics.median(row[key]) / statistics.median(first)
                    cells += [_milliseconds(row[key]), f"{ratio:.2f}"]
                else:
                    cells += ["", ""]
            lines.append(cells)
    title = cases[0].title
    if shared:
        title += " (" + ", ".join(f"{key} = {_cell(value)}" for key, value in shared.items()) + ")"
    return table([*varying, *head], lines, title=title)


def report(found: Sequence[tuple[Case, list[Row]]]) -> str:
    """Return the machine and the tables of an area, one for each of its measures."""
    parts = [machine()]
    for name in dict.fromkeys(case.name for case, _ in found):
        chosen = [each for each in found if each[0].name == name]
        parts.append((chosen[0][0].summary or section)(chosen))
    return "\n\n".join(parts)
