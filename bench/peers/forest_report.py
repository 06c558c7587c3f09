"""What was measured, as Markdown."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
from report_parts import Measured, at_most, machine, median, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Measured", "report"]

_LIBRARIES = ("fastpu", "scikit-learn", "lightgbm", "numpy")


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine(*_LIBRARIES)]
    for name, section in _SECTIONS:
        if chosen := [m for m in measured if m.name == name]:
            parts += [section(chosen)]
    return "\n\n".join(parts)


def _quality(measured: Sequence[Measured]) -> str:
    names = list(measured[0].found["found"])
    cells = {measure: np.array([[_mean(m, name, measure) for name in names] for m in measured])
             for measure in ("auc", "ap", "seconds")}  # fmt: skip
    ranks = {measure: _ranks(cells[measure]) for measure in ("auc", "ap")}
    order = np.argsort(ranks["auc"].mean(axis=0), kind="stable")
    rows = [
        [names[i], *(f"{value[:, i].mean():.4f}" for value in (cells["auc"], cells["ap"])),
         *(f"{value[:, i].mean():.2f}" for value in (ranks["auc"], ranks["ap"])),
         f"{statistics.median(cells['seconds'][:, i]):.2f}"]
        for i in order
    ]  # fmt: skip
    splits = len(measured[0].found["found"][names[0]]["auc"])
    text = table(
        f"Test AUC and average precision: means over {len(measured)} sets and shares of labelled positives, "
        f"{splits} splits each",
        ["learner", "AUC", "AP", "rank by AUC", "rank by AP", "median seconds of a fit"],
        rows,
    )
    each = [
        [str(m.options["set"]), f"{100 * m.options['share']:g} %", f"{m.found['rows']:,} x {m.found['features']}",
         *(f"{_mean(m, name, 'auc'):.3f}" for name in names)]
        for m in measured
    ]  # fmt: skip
    return text + "\n\n" + table("Test AUC by set", ["set", "labelled", "training rows", *names], each)


def _mean(measured: Measured, name: str, measure: str) -> float:
    return statistics.mean(measured.found["found"][name][measure])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank in each row, 1 for the largest value, means of those that tie."""
    below = (values[:, :, None] < values[:, None, :]).sum(axis=2)
    ties = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    return below + (ties + 1) / 2


def _fits(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times, judged = m.found["seconds"], m.found["auc"]
        ratio = median(times["fit_forest"]) / median(times["loop"])
        rows.append([f"{m.options['n']:,}", f"{m.options['n_pos']:,}", str(m.options["n_threads"]),
                     spread(times["fit_forest"], 1), spread(times["loop"], 1), at_most(ratio, 0.1),
                     f"{judged['fit_forest']:.4f} / {judged['loop']:.4f}"])  # fmt: skip
    return table(
        f"{measured[0].options['n_trees']} trees on 50 features, s",
        ["n", "positives", "threads", "fit_forest", "loop over ExtraTreeClassifier", "fit_forest / loop", "AUC"],
        rows,
    )


def _scores(measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times, nodes = m.found["seconds"], m.found["nodes"]
        ratio = median(times["fit_forest"]) / median(times["ExtraTreesClassifier"])
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]),
                     *(f"{spread(times[name], 1)}, {nodes[name]:,}" for name in times),
                     at_most(ratio, 0.25)])  # fmt: skip
    return table(
        f"Scores by {measured[0].options['n_trees']} trees: s, nodes",
        ["rows", "threads", "fit_forest", "ExtraTreesClassifier", "ratio"],
        rows,
    )


def _scaling(measured: Sequence[Measured]) -> str:
    small, large = (str(f(measured[0].options["sizes"])) for f in (min, max))
    growth = 20 * int(large) / (16 * int(small))  # the goal, 20 for 16 times the positives
    rows = []
    for m in measured:
        times = m.found["seconds"]
        ratio = median(times[large]) / median(times[small])
        rows.append([str(m.options["n_threads"]), spread(times[small]), spread(times[large]), at_most(ratio, growth)])
    head = ["threads", f"{int(small):,} positives", f"{int(large):,} positives", "ratio"]
    return table("Growth of a fit with the positives, ms", head, rows)


def _memory(measured: Sequence[Measured]) -> str:
    rows = [
        [f"{m.options['n']:,}", f"{m.found['matrix'] / 1e6:.0f}",
         f"{(m.found['peak'] - m.found['rows']) / 1e6:.0f}", f"{m.found['nodes']:,}",
         at_most(m.found["model"] / m.found["nodes"], 24)]
        for m in measured
    ]  # fmt: skip
    head = ["n", "matrix, MB", "peak of the fit beside it, MB", "nodes", "bytes a node"]
    return table("Memory", head, rows)


_SECTIONS: tuple[tuple[str, Callable[[Sequence[Measured]], str]], ...] = (
    ("quality", _quality),
    ("fits", _fits),
    ("scores", _scores),
    ("scaling", _scaling),
    ("memory", _memory),
)
