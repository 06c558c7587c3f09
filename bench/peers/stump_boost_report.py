"""What was measured, as Markdown."""

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
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Measured", "report"]

_FASTPU, _EXACT, _POSITIVES = "fastpu", "fastpu, exact thresholds", "fastpu, labelled positives only"


@dataclass(frozen=True)
class Measured:
    """A measurement: its name, options and result."""

    name: str
    options: Mapping[str, Any]
    found: Mapping[str, Any]


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [_machine()]
    for name, section in _SECTIONS:
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts += [section(chosen)]
    floor = _floor(measured)
    return "\n\n".join([*parts, floor] if floor else parts)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    libraries = []
    for name in ("fastpu", "lightgbm", "xgboost", "xgboost-cpu", "numpy"):
        with suppress(PackageNotFoundError):
            libraries.append(f"{name} {version(name)}")
    return f"{model}, {os.cpu_count()} CPUs; Python {platform.python_version()}, {', '.join(libraries)}"


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return f"### {title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _median(times: Sequence[float]) -> float:
    return statistics.median(times)


def _spread(times: Sequence[float], unit: float = 1000) -> str:
    """Return median [least-most], by default in milliseconds."""
    low, middle, high = (unit * value for value in (min(times), _median(times), max(times)))
    digits = max(0, 3 - len(f"{middle:.0f}")) if middle >= 1 else 3
    return f"{middle:.{digits}f} [{low:.{digits}f}-{high:.{digits}f}]"


def _goal(value: float, text: str, *, met: bool) -> str:
    return f"{value:.2f} ({text}: {'met' if met else 'missed'})"


def _at_least(value: float, goal: float) -> str:
    return _goal(value, f">= {goal:g}", met=value >= goal)


def _at_most(value: float, goal: float) -> str:
    return _goal(value, f"<= {goal:g}", met=value <= goal)


def _rounds(measured: Sequence[Measured]) -> str:
    rows, exact = [], []
    for m in measured:
        times, auc = m.found["seconds"], m.found["auc"]
        ours = _median(times[_FASTPU])
        peer = min(_median(times[name]) for name in ("LightGBM", "XGBoost"))
        head = [f"{m.options['n']:,}", str(m.options["n_threads"])]
        names = (_FASTPU, "LightGBM", "XGBoost")
        quality = [f"{auc[name]:.4f}" for name in (*names, _POSITIVES)]
        rows.append([*head, *(_spread(times[name]) for name in names), _at_least(peer / ours, 4), " / ".join(quality)])
        if _EXACT in times:
            ratio = _median(times[_EXACT]) / _median(times["XGBoost"])
            exact.append([*head, _spread(times[_EXACT]), _spread(times["XGBoost"]), _at_most(ratio, 1.5),
                          f"{auc[_EXACT]:.4f} / {auc['XGBoost']:.4f}"])  # fmt: skip
    repeats = measured[0].options["repeats"]
    text = _table(
        f"A round, ms: median [least-most] of {repeats} alternating runs",
        ["n", "threads", "fastpu", "LightGBM", "XGBoost", "faster peer / fastpu",
         "AUC of 300 rounds: fastpu / LightGBM / XGBoost / fastpu on the labels of the peers"],
        rows,
    )  # fmt: skip
    if exact:
        head = ["n", "threads", "fastpu, every threshold", "XGBoost, binned", "fastpu / XGBoost", "AUC"]
        text += "\n\n" + _table("A round over every threshold, ms", head, exact)
    return text


def _whole_fit(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times, before, auc = m.found["seconds"], m.found["preparing"], m.found["auc"]
        cells = [f"{_spread(times[name], 1)}, {_median(before[name]):.2f}" for name in (_FASTPU, "LightGBM")]
        ratio = _median(times["LightGBM"]) / _median(times[_FASTPU])
        quality = f"{auc[_FASTPU]:.4f} / {auc['LightGBM']:.4f}"
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]), *cells, _at_least(ratio, 3), quality])
    return _table(
        f"A fit of {measured[0].options['n_rounds']} rounds from raw float32, s, and how much of it is binning",
        ["n", "threads", "fastpu", "LightGBM", "LightGBM / fastpu", "AUC"],
        rows,
    )


def _scaling(measured: Sequence[Measured]) -> str:
    small, large = (str(f(measured[0].options["sizes"])) for f in (min, max))
    growth = 18 * int(large) / (16 * int(small))  # the goal, 18 for 16 times the rows
    rows = []
    for m in measured:
        times = m.found["seconds"]
        ratio = _median(times[large]) / _median(times[small])
        rows.append(
            [str(m.options["n_threads"]), _spread(times[small]), _spread(times[large]), _at_most(ratio, growth)]
        )
    head = ["threads", f"n = {int(small):,}", f"n = {int(large):,}", "ratio"]
    return _table("Growth of a round with n, ms", head, rows)


def _prediction(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times = m.found["seconds"]
        cells = [_spread(times[name]) for name in (_FASTPU, "LightGBM", "XGBoost")]
        ratio = _median(times["LightGBM"]) / _median(times[_FASTPU])
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]), *cells, _at_least(ratio, 5)])
    return _table(
        f"Scores by {measured[0].options['n_stumps']} stumps, ms",
        ["n", "threads", "fastpu", "LightGBM", "XGBoost", "LightGBM / fastpu"],
        rows,
    )


def _memory(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        rows_mb, peak_mb, matrix_mb = (m.found[key] / 1e6 for key in ("rows", "peak", "matrix"))
        ratio = peak_mb / matrix_mb
        name, threads = m.options["name"], str(m.options["n_threads"])
        verdict = _at_most(ratio, 3) if name == _FASTPU else f"{ratio:.2f}"
        rows.append([name, threads, f"{rows_mb:.0f}", f"{peak_mb:.0f}", f"{peak_mb - rows_mb:.0f}", verdict])
    return _table(
        f"Peak memory of a fit from raw rows, n = {measured[0].options['n']:,}, MB above the interpreter's",
        ["", "threads", "inputs", "peak", "peak - inputs", "peak / float32 matrix"],
        rows,
    )


def _thread_curve(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times = m.found["seconds"]
        first = _median(next(iter(times.values())))
        rows += [[threads, _spread(runs), f"{first / _median(runs):.2f}"] for threads, runs in times.items()]
    return _table(f"Threads, n = {measured[0].options['n']:,}", ["threads", "round, ms", "speed-up"], rows)


def _floor(measured: Sequence[Measured]) -> str:
    """Compare rounds with the time to move what they must move.

    A round reads one column of codes, a byte a row. On the smaller side of the last stump, a share s of the rows, it
    reads each row's codes (50 bytes in one line of 64) and reads and writes its weights and score (32 bytes each way,
    two rows a line of 64). Histograms and bit sets stay in the cache.
    """
    speeds = {m.options["n_threads"]: m.found["bytes_per_second"] for m in measured if m.name == "copy_bandwidth"}
    rows = []
    for m in measured:
        if m.name != "rounds" or m.options["n_threads"] not in speeds:
            continue
        n, s, n_threads = m.options["n"], m.found["small_side"], m.options["n_threads"]
        speed = _median(speeds[n_threads])
        useful = n * (1 + s * (50 + 32 + 32))
        lines = n * (1 + s * 64 + (1 - (1 - s) ** 2) * 64)  # a line of two rows is touched if either is; both ways
        seconds = _median(m.found["seconds"][_FASTPU])
        added = seconds * n_threads / (s * n * 50)
        rows.append([
            f"{n:,}", str(n_threads), f"{100 * s:.1f} %", f"{useful / 1e6:.1f} / {lines / 1e6:.1f}",
            _spread(speeds[n_threads], 1e-9), f"{1000 * useful / speed:.3f} / {1000 * lines / speed:.3f}",
            f"{1000 * seconds:.3f}", f"{seconds * speed / useful:.1f} / {seconds * speed / lines:.1f}",
            f"{1e9 * added:.2f}",
        ])  # fmt: skip
    if not rows:
        return ""
    return _table(
        "The floor: what a round must move, as bytes used / as whole cache lines, at the speed of a copy",
        [
            "n",
            "threads",
            "smaller side",
            "MB",
            "copy, GB/s",
            "floor, ms",
            "round, ms",
            "round / floor",
            "ns and thread per code added to a histogram",
        ],
        rows,
    ) + (
        "\n\nA round reads a column of codes (a byte a row) and, on the smaller side of the last stump, each row's"
        " codes (50 bytes) and its weights and score (32 bytes, which it also writes). Time beyond that goes to adding"
        " a pair of weights to a histogram for each of these codes, and to passing over the histograms of all features."
    )


_SECTIONS: tuple[tuple[str, Callable[[Sequence[Measured]], str]], ...] = (
    ("rounds", _rounds),
    ("whole_fit", _whole_fit),
    ("scaling", _scaling),
    ("prediction", _prediction),
    ("memory", _memory),
    ("thread_curve", _thread_curve),
)
