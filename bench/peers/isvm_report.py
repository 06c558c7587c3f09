"""What was measured of large-margin iterations, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from report_parts import Measured, at_least, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Measured", "report"]

_LIBRARIES = ("fastpu", "scikit-learn", "numpy", "scipy")
_HINGE_GOAL, _SPAM_GOAL, _TEXT_GOAL, _IADMM_GOAL = 1 / 3, 1 / 10, 1.0, 0.5
_GIGA = 1e9


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine(*_LIBRARIES)]
    for name, section in _SECTIONS:
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts.append(section(chosen))
    return "\n\n".join(parts)


def _time(found: Mapping[str, Any]) -> str:
    return spread(found["times"]) if found["reached"] else f"> {1000 * min(found['times']):.0f}"


def _against(ours: Mapping[str, Any], peer: Mapping[str, Any], goal: float) -> str:
    """Return the ratio of times; a peer that is not there yet can only make it smaller, fastpu has no such excuse."""
    if not ours["reached"]:
        return "not reached: missed"
    ratio = median(ours["times"]) / median(peer["times"])
    if peer["reached"]:
        return at_most(ratio, round(goal, 3))
    return f"< {ratio:.2g} (<= {goal:.3g}: {'met' if ratio <= goal else 'open'})"


def _contests(measured: Sequence[Measured], title: str, goal: float, where: Callable[[Measured], list[str]]) -> str:
    rows = []
    for m in measured:
        found = m.found["contenders"]
        n, d = m.found["shape"]
        ours = [name for name in found if name.startswith("fastpu")]
        for peer in (name for name in found if not name.startswith("fastpu")):
            cells = [f"{n:,} x {d:,}", *where(m), peer, _time(found[peer]), f"{found[peer]['tol']:.0e}",
                     f"{found[peer]['excess']:.1e}"]  # fmt: skip
            for name in ours:
                cells += [_time(found[name]), f"{found[name]['excess']:.1e}", _against(found[name], found[peer], goal)]
            rows.append(cells)
    head = ["rows", "C", "accuracy", "peer", "peer's time", "its tol", "its excess"]
    for name in (name for name in measured[0].found["contenders"] if name.startswith("fastpu")):
        head += [f"{name.replace(' ', ', ')} thread(s)", "its gap", "fastpu / peer"]
    return table(title, head, rows)


def _hinge(measured: Sequence[Measured]) -> str:
    title = (
        "The hinge problem to a relative accuracy of 1e-6, ms: median [least-most]; > t: not reached when capped "
        "(LinearSVC: primal, intercept penalised; SVC: dual; each above the optimum of its own objective)"
    )
    return _contests(measured, title, _HINGE_GOAL, lambda m: [f"{m.options['C']:g}", "1e-06"])


def _text(measured: Sequence[Measured]) -> str:
    title = "CSR rows, ms: median [least-most]; > t: not reached when capped"
    return _contests(measured, title, _TEXT_GOAL, lambda m: [f"{m.options['C']:g}", f"{m.options['accuracy']:.0e}"])


def _text_memory(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        size = f"{m.options['n']:,} x {m.options['n_words']:,}"
        nonzeros = m.found["nonzeros"]
        rows.append([m.options["name"], size, f"{nonzeros:,}", f"{m.found['rows'] / 2**20:.1f}",
                     f"{m.found['fit'] / 2**20:.1f}", f"{m.found['fit'] / nonzeros:.1f}"])  # fmt: skip
    return table(
        "Peak memory of a fit of CSR rows, MB of 2^20 bytes above the interpreter with the rows",
        ["", "rows", "nonzeros", "rows, MB", "fit, MB", "fit, bytes a nonzero"],
        rows,
    )


def _spam(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        n, d = m.found["shape"]
        times, n_costs, n_part = m.found["seconds"], m.found["n_costs"], m.found["n_part"]
        timed = "" if n_part == n_costs else f" (timed on {n_part} of them, scaled up)"
        cells = [f"{n:,} x {d}", f"{n_costs}", spread(times["SVC"]) + timed]
        for n_threads in m.options["threads"]:
            own = times[f"fastpu {n_threads}"]
            cells += [spread(own), at_most(median(own) / median(times["SVC"]), _SPAM_GOAL)]
        rows.append([*cells, f"{m.found['equal']} of {n_part}"])
    head = ["rows", "values of C", "loop over SVC"]
    for n_threads in measured[0].options["threads"]:
        head += [f"fastpu, {n_threads} thread(s)", "fastpu / SVC"]
    title = "Algorithm 1 (ISVM) on SPAM over the paper's grid of C, ms: median [least-most]"
    return table(title, [*head, "equal statuses"], rows)


def _iadmm(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        best = max(median(rates) for rates in m.found["copy"].values())
        for n_threads in m.options["threads"]:
            key = f"{n_threads}"
            rate, copied = m.found["iteration"][key], m.found["copy"][key]
            ratio = median(rate) / best
            size = f"{m.options['n']:,} x {m.options['d']}"
            rows.append([size, key, spread(m.found["seconds"][key]), spread(rate, 1 / _GIGA),
                         spread(copied, 1 / _GIGA),
                         at_least(ratio, _IADMM_GOAL) if n_threads > 1 else f"{ratio:.2f}"])  # fmt: skip
    return table(
        "An iteration of IADMM, which streams X once, and a NumPy copy of X, read and written, by as many threads",
        ["rows", "threads", "iteration, ms", "iteration, GB of X a second", "copy, GB a second",
         "iteration / fastest copy"],
        rows,
    )  # fmt: skip


_SECTIONS: tuple[tuple[str, Callable[[Sequence[Measured]], str]], ...] = (
    ("hinge", _hinge),
    ("spam", _spam),
    ("text", _text),
    ("text_memory", _text_memory),
    ("iadmm", _iadmm),
)
