"""What was measured of PUAL, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from report_parts import Measured, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Measured", "report"]

_KERNEL_GOAL, _LINEAR_GOAL = 1 / 10, 10.0


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine("fastpu", "numpy", "scipy")]
    for name, section in (("kernel", _kernel), ("linear", _linear)):
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts.append(section(chosen))
    return "\n\n".join(parts)


def _kernel(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        found = m.found
        timed = "" if found["n_timed"] == found["n_points"] else f" ({found['n_timed']} timed)"
        rows.append([
            f"{m.options['n']:,} x {m.options['d']}, {found['n_pos']} labelled",
            f"{m.options['n_threads']}",
            f"{found['n_points']}",
            spread(found["ours"], 1),
            spread(found["peer"], 1) + timed,
            f"{found['our_gap']:.1e}",
            f"{found['peer_gap']:.1e}",
            f"{found['apart']:.1e}",
            at_most(median(found["ours"]) / median(found["peer"]), _KERNEL_GOAL),
        ])  # fmt: skip
    head = ["rows", "threads", "points", "fastpu, s", "NumPy, s", "largest gap", "NumPy's", "objectives apart", "ratio"]
    return table("A grid of kernel PUAL", head, rows)


def _linear(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        found = m.found
        products = median(found["gram"]) + median(found["sparse"])
        for cost, times in found["ours"].items():
            rows.append([
                f"{m.options['n']:,} x {m.options['d']}, {found['n_pos']:,} labelled",
                f"{m.options['n_threads']}",
                cost,
                spread(times),
                spread(found["gram"]),
                spread(found["sparse"]),
                f"{found['gaps'][cost]:.1e}",
                at_most(median(times) / products, _LINEAR_GOAL),
            ])  # fmt: skip
    head = ["rows", "threads", "C_pos", "fastpu, ms", "X'X, ms", "R X, ms", "gap", "fit / products"]
    return table("Linear PUAL, graph given", head, rows)
