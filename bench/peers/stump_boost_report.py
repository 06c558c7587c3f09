"""What was measured, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from report_parts import Measured, at_least, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Measured", "report"]

_FASTPU, _EXACT, _POSITIVES = "fastpu", "fastpu, exact thresholds", "fastpu, labelled positives only"
_LIBRARIES = ("fastpu", "lightgbm", "xgboost", "xgboost-cpu", "numpy")


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine(*_LIBRARIES)]
    for name, section in _SECTIONS:
        chosen = [m for m in measured if m.name == name]
        if chosen:
            parts += [section(chosen)]
    floor = _floor(measured)
    return "\n\n".join([*parts, floor] if floor else parts)


def _rounds(measured: Sequence[Measured]) -> str:
    rows, exact = [], []
    for m in measured:
        times, auc = m.found["seconds"], m.found["auc"]
        ours = median(times[_FASTPU])
        peer = min(median(times[name]) for name in ("LightGBM", "XGBoost"))
        head = [f"{m.options['n']:,}", str(m.options["n_threads"])]
        names = (_FASTPU, "LightGBM", "XGBoost")
        quality = [f"{auc[name]:.4f}" for name in (*names, _POSITIVES)]
        rows.append([*head, *(spread(times[name]) for name in names), at_least(peer / ours, 4), " / ".join(quality)])
        if _EXACT in times:
            ratio = median(times[_EXACT]) / median(times["XGBoost"])
            exact.append([*head, spread(times[_EXACT]), spread(times["XGBoost"]), at_most(ratio, 1.5),
                          f"{auc[_EXACT]:.4f} / {auc['XGBoost']:.4f}"])  # fmt: skip
    repeats = measured[0].options["repeats"]
    text = table(
        f"A round, ms: median [least-most] of {repeats} alternating runs",
        ["n", "threads", "fastpu", "LightGBM", "XGBoost", "faster peer / fastpu",
         "AUC of 300 rounds: fastpu / LightGBM / XGBoost / fastpu on the labels of the peers"],
        rows,
    )  # fmt: skip
    if exact:
        head = ["n", "threads", "fastpu, every threshold", "XGBoost, binned", "fastpu / XGBoost", "AUC"]
        text += "\n\n" + table("A round over every threshold, ms", head, exact)
    return text


def _whole_fit(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times, before, auc = m.found["seconds"], m.found["preparing"], m.found["auc"]
        cells = [f"{spread(times[name], 1)}, {median(before[name]):.2f}" for name in (_FASTPU, "LightGBM")]
        ratio = median(times["LightGBM"]) / median(times[_FASTPU])
        quality = f"{auc[_FASTPU]:.4f} / {auc['LightGBM']:.4f}"
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]), *cells, at_least(ratio, 3), quality])
    return table(
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
        ratio = median(times[large]) / median(times[small])
        rows.append([str(m.options["n_threads"]), spread(times[small]), spread(times[large]), at_most(ratio, growth)])
    head = ["threads", f"n = {int(small):,}", f"n = {int(large):,}", "ratio"]
    return table("Growth of a round with n, ms", head, rows)


def _prediction(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times = m.found["seconds"]
        cells = [spread(times[name]) for name in (_FASTPU, "LightGBM", "XGBoost")]
        ratio = median(times["LightGBM"]) / median(times[_FASTPU])
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]), *cells, at_least(ratio, 5)])
    return table(
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
        verdict = at_most(ratio, 3) if name == _FASTPU else f"{ratio:.2f}"
        rows.append([name, threads, f"{rows_mb:.0f}", f"{peak_mb:.0f}", f"{peak_mb - rows_mb:.0f}", verdict])
    return table(
        f"Peak memory of a fit from raw rows, n = {measured[0].options['n']:,}, MB above the interpreter's",
        ["", "threads", "inputs", "peak", "peak - inputs", "peak / float32 matrix"],
        rows,
    )


def _thread_curve(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times = m.found["seconds"]
        first = median(next(iter(times.values())))
        rows += [[threads, spread(runs), f"{first / median(runs):.2f}"] for threads, runs in times.items()]
    return table(f"Threads, n = {measured[0].options['n']:,}", ["threads", "round, ms", "speed-up"], rows)


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
        speed = median(speeds[n_threads])
        useful = n * (1 + s * (50 + 32 + 32))
        lines = n * (1 + s * 64 + (1 - (1 - s) ** 2) * 64)  # a line of two rows is touched if either is; both ways
        seconds = median(m.found["seconds"][_FASTPU])
        added = seconds * n_threads / (s * n * 50)
        rows.append([
            f"{n:,}", str(n_threads), f"{100 * s:.1f} %", f"{useful / 1e6:.1f} / {lines / 1e6:.1f}",
            spread(speeds[n_threads], 1e-9), f"{1000 * useful / speed:.3f} / {1000 * lines / speed:.3f}",
            f"{1000 * seconds:.3f}", f"{seconds * speed / useful:.1f} / {seconds * speed / lines:.1f}",
            f"{1e9 * added:.2f}",
        ])  # fmt: skip
    if not rows:
        return ""
    return table(
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
