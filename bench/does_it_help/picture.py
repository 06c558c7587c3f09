"""The picture: who wins over the tables, by how much, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from figures import Figures, those
from learners import ASIDE, LEARNERS, TUNED
from report import REFERENCE, TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from problems import Task
    from results import Outcomes

_OURS, _OTHERS = "#c0392b", "#5d6d7e"
_INCHES = 7.0  # the width of all pictures of the pages


def draw_picture(tasks: Sequence[Task], outcomes: Outcomes, path: Path) -> None:
    """Draw who wins over the tables, by how much, and how fast."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (only where it is wanted)

    by_name = {task.name: task for task in tasks if task.kind in TABLES}
    # Later splits are those of some learners only.
    found = those(outcomes, lambda place: place.task in by_name and place.split == 0 and not 1 <= place.labels < 5)
    if not found or REFERENCE not in next(iter(found.values())):
        return
    auc, seconds = (Figures(found, measure).by_table(by_name) for measure in ("auc", "seconds"))
    every = Figures(found, "auc").names
    names = [name for name in every if name not in (*ASIDE, REFERENCE, *TUNED)]
    gains = {name: auc[:, every.index(name)] - auc[:, every.index(REFERENCE)] for name in names}
    order = sorted([*names, REFERENCE], key=lambda name: float(np.nanmean(gains.get(name, 0.0))))
    figure = Figure(figsize=(_INCHES, 0.9 + 0.23 * len(order)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1.2])
    for height, name in enumerate(order):
        colour = _OURS if LEARNERS[name].ours else _OTHERS
        gain = gains.get(name, np.zeros(auc.shape[0]))
        gain = gain[~np.isnan(gain)]
        left.plot(gain, np.full(gain.size, height), "|", color=colour, alpha=0.3, markersize=6)
        half = 1.96 * gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
        left.errorbar(gain.mean(), height, xerr=half, fmt="o", color=colour, markersize=5, linewidth=2)
        right.plot(np.nanmean(seconds[:, every.index(name)]), height, "o", color=colour, markersize=5)
    left.axvline(0, color="0.3", linewidth=0.8)
    left.set_xlim(-0.32, 0.16)
    left.set_yticks(range(len(order)), order, fontsize=8)
    left.set_xlabel(
        f"AUC less that of {REFERENCE}\n(bars: {auc.shape[0]} tables; dots: means, with 95 % intervals)", fontsize=8
    )
    right.set_xscale("log")
    right.set_xlabel("CPU seconds\n(log scale)", fontsize=8)
    right.grid(axis="x", color="0.9")
    for axis in (left, right):
        axis.tick_params(axis="x", labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
