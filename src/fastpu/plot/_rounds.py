"""Figures of what happened in a fit: a value for every round or iteration, from `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.plot._axes import CYCLE, DASHES, mark_scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


_MOST_MARKERS = 40  # a line of more values has no markers

Series = tuple[str, "NDArray[Any]"]
"""The name of a line, and its values."""


def draw_boosting(axes: Sequence[Any], objective: NDArray[np.float64], aucs: Sequence[Series], n_kept: int) -> None:
    """Draw the objective per round, below it AUCs per round, and the rounds that were kept if some were not."""
    n_run = objective.size
    _draw_lines(axes[0], [("_objective", objective)], first=1)
    axes[0].set_ylabel("objective")
    if n_kept < n_run:
        for ax in axes:
            ax.axvline(n_kept, color="0.4", linestyle=":", linewidth=1.2)
        axes[0].lines[-1].set_label(f"early stopping: {n_kept} of {n_run} rounds kept")
    if aucs:
        _draw_lines(axes[1], aucs, first=1)
        axes[1].set_ylabel("AUC")
        for line in axes[1].lines[-len(aucs) :]:
            values = np.asarray(line.get_ydata())
            best = int(np.argmax(values))
            line.set_label(f"{line.get_label()}: best {values[best]:.4f} after {best + 1} round{'s' * (best > 0)}")
            axes[1].plot([best + 1], [values[best]], "o", color=line.get_color(), markersize=4)
    axes[-1].set_xlabel("round")
    mark_scale(axes[-1], n_run)


def draw_changes(
    axes: Sequence[Any], panels: Sequence[tuple[str, Mapping[str, NDArray[Any]]]], xlabel: str, n_kept: int
) -> None:
    """Draw panels of counts per iteration, each with a label and its lines, and the iteration that was kept."""
    n_run = len(next(iter(panels[0][1].values())))
    for ax, (ylabel, series) in zip(axes, panels, strict=True):
        _draw_lines(ax, list(series.items()), first=0)
        ax.set_ylabel(ylabel)
        highest = max(1, *(int(values.max()) for values in series.values()))
        ax.set_ylim(-0.04 * highest, 1.06 * highest)
        ax.yaxis.get_major_locator().set_params(integer=True)
        if n_kept < n_run - 1:
            ax.axvline(n_kept, color="0.4", linestyle=":", linewidth=1.2, label=f"kept: {n_kept}")
    axes[-1].set_xlabel(xlabel)
    mark_scale(axes[-1], n_run)


def _draw_lines(ax: Any, series: Sequence[Series], first: int) -> None:
    has_markers = max(len(values) for _, values in series) <= _MOST_MARKERS
    for number, (name, values) in enumerate(series):
        ax.plot(
            np.arange(first, first + len(values)),
            values,
            color=CYCLE[number % len(CYCLE)],
            linestyle=DASHES[number % len(DASHES)],
            marker="os^v"[number % 4] if has_markers else None,
            markersize=3.5,
            linewidth=1.3,
            label=name,
        )
