"""What was measured of nearest neighbours, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from report_parts import Measured, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Measured", "report"]

_LIBRARIES = ("fastpu", "scikit-learn", "faiss-cpu", "numpy", "scipy")
#: What fastpu's time may be at most, in that of each peer with rows of that type.
_GOALS = {"scikit-learn float64": 0.25, "scikit-learn float32": 0.25, "faiss float32": 1.0, "cKDTree float64": 1.0}
_WEIGHTS_GOAL = 0.1


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine(*_LIBRARIES)]
    for name, section in _SECTIONS:
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts.append(section(chosen))
    return "\n\n".join(parts)


def _size(m: Measured) -> str:
    return f"{m.options['n']:,} x {m.options['d']}"


def _search(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        for key, found in m.found.items():
            name, dtype = key.split(" ")
            ratio = ""
            if name != "fastpu":
                ours = median(m.found[f"fastpu {dtype}"]["times"])
                ratio = at_most(ours / median(found["times"]), _GOALS[key])
            rows.append([_size(m), dtype, str(m.options["n_threads"]), name, spread(found["times"]),
                         f"{found['agreement']:.6f}", ratio])  # fmt: skip
    title = "The 5 nearest neighbours of every row, ms: median [least-most]"
    return table(title, ["rows", "type", "threads", "", "time", "agreement", "fastpu / this"], rows)


def _weights(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        base = median(m.found["search"])
        cells = [_size(m), str(m.options["n_threads"]), spread(m.found["search"])]
        for name in ("mutual", "union", "another sigma"):
            cells += [spread(m.found[name])]
        rows.append([*cells, at_most(median(m.found["mutual"]) / base, _WEIGHTS_GOAL)])
    head = ["rows", "threads", "search", "mutual edges, W, R", "union edges, W, R", "W, R of another sigma",
            "mutual / search"]  # fmt: skip
    return table("W and R from the neighbours, float64, ms: median [least-most]", head, rows)


def _memory(measured: Sequence[Measured]) -> str:
    rows = [
        [m.options["name"], _size(m), f"{m.found['rows'] / 2**20:.1f}", f"{m.found['search'] / 2**20:.1f}"]
        for m in measured
    ]
    title = "Peak memory of a search above the interpreter with the rows, MB of 2^20 bytes"
    return table(title, ["", "rows", "rows, MB", "search, MB"], rows)


_SECTIONS: tuple[tuple[str, Callable[[Sequence[Measured]], str]], ...] = (
    ("search", _search),
    ("weights", _weights),
    ("memory", _memory),
)
