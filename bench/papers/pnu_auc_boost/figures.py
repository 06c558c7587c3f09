"""Figures 1 and 2 of the paper, drawn from what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from protocol import Curves
    from report import Ranks

__all__ = ["draw_critical_difference", "draw_rounds"]

_STYLE: dict[Any, Any] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10}


def draw_critical_difference(panels: Sequence[tuple[str, Ranks, Mapping[str, str]]], path: Path) -> None:
    """Draw mean ranks with bars over the methods that the critical difference does not tell apart (Figure 1).

    A panel is a title, the ranks and the names to show for their columns.
    """
    heights = [1.3 + 0.24 * ((len(ranks.columns) + 1) // 2) for _, ranks, _ in panels]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, sum(heights)), layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
        for ax, (title, ranks, names) in zip(axes[:, 0], panels, strict=True):
            _draw_ranks(ax, title, ranks, names)
        figure.savefig(path, dpi=150)


def _groups(ranks: Sequence[float], difference: float) -> list[tuple[float, float]]:
    """Return the longest runs of ascending ranks that lie within the difference of each other."""
    runs: list[tuple[float, float]] = []
    for first in ranks:
        last = max(rank for rank in ranks if rank - first < difference)
        if last > first and not any(a <= first and last <= b for a, b in runs):
            runs.append((first, last))
    return runs


def _draw_ranks(ax: Axes, title: str, ranks: Ranks, names: Mapping[str, str]) -> None:
    k = len(ranks.columns)
    order = np.argsort(ranks.means, kind="stable")
    means = ranks.means[order]
    n_left = (k + 1) // 2
    runs = _groups(means.tolist(), ranks.critical_difference)
    bottom = -0.55 - 0.28 * len(runs)  # of the bars: the names begin below
    ax.set_title(title, loc="left", pad=4)
    ax.axis("off")
    ax.set_xlim(1 - 0.42 * (k - 1), k + 0.42 * (k - 1))
    ax.set_ylim(bottom - 0.55 * n_left - 0.1, 1.6)
    ax.plot([1, k], [0, 0], color="black", lw=1)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", lw=1)
        ax.text(rank, 0.22, str(rank), ha="center", va="bottom")
    ax.plot([1, 1 + ranks.critical_difference], [1.0, 1.0], color="black", lw=1.5, marker="|", ms=6)
    ax.text(1 + ranks.critical_difference / 2, 1.12, f"CD = {ranks.critical_difference:.2f}", ha="center", va="bottom")
    for i, (a, b) in enumerate(runs):
        ax.plot([a, b], [-0.28 * (i + 1)] * 2, color="tab:red", lw=3, solid_capstyle="round")
    for place, at in enumerate(order):
        left = place < n_left
        y = bottom - 0.55 * (place if left else k - 1 - place)
        edge = 1 - 0.06 * (k - 1) if left else k + 0.06 * (k - 1)
        ax.plot([means[place], means[place], edge], [0, y, y], color="0.4", lw=0.8)
        label = names.get(ranks.columns[at], ranks.columns[at])
        text = f"{label}  {means[place]:.2f}" if left else f"{means[place]:.2f}  {label}"
        ax.text(edge + (-0.02 if left else 0.02) * (k - 1), y, text, ha="right" if left else "left", va="center")


def draw_rounds(panels: Mapping[str, tuple[str, Curves]], path: Path) -> None:
    """Draw the AUC of training and test rows against the number of rounds, with the range over the splits (Figure 2).

    `panels` maps data sets to what to call their parameters, and their curves.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(3.3 * len(panels), 3.0), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (name, (params, curves)) in zip(axes, panels.items(), strict=True):
            rounds = np.arange(1, curves.test.shape[1] + 1)
            for label, auc, color in (
                ("training, labelled rows", curves.train, "tab:blue"),
                ("test", curves.test, "tab:orange"),
            ):
                ax.plot(rounds, auc.mean(axis=0), color=color, label=label, lw=1.5)
                ax.fill_between(rounds, auc.min(axis=0), auc.max(axis=0), color=color, alpha=0.2, lw=0)
            ax.axvline(curves.n_rounds, color="0.4", lw=0.8, ls="--", label="rounds chosen on validation")
            ax.set_title(f"{name} ({params})", fontsize=9)
            ax.set_xlabel("rounds")
            ax.set_xlim(1, rounds[-1])
        axes[0].set_ylabel("AUC")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        n_splits = next(iter(panels.values()))[1].test.shape[0]
        figure.suptitle(f"Mean and range over {n_splits} splits", fontsize=9)
        figure.savefig(path, dpi=150)
