"""The boundaries after each iteration on a set in the plane, as the paper's figures show them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import fastpu

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["draw_boundaries", "plane_set"]

_STYLE: dict[Any, Any] = {"font.size": 8, "axes.titlesize": 9}
_KERNEL = {"kernel": "rbf", "gamma": 0.2}
_C = 100.0
_EDGE = 4.0  # the plane is [-4, 4] x [-4, 4]
_ARC = np.array([0.8, 0.3])  # of the one arc's centre; the other's is opposite
_GRID = 160
_SEED = 1  # of a set on which the printed SVMC forgets too much and the repair helps: on most it does not matter
_GAP = 0.6  # there are no other rows this close to where the positives are
_MOST = 7  # panels of a row


@dataclass(frozen=True)
class _Panel:
    title: str
    scores: NDArray[np.float64]
    rejected: NDArray[np.bool_]
    new: NDArray[np.bool_]


def plane_set(seed: int = _SEED) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int8]]:
    """Return points, true labels and labels: positives on two arcs, half of them labelled, among points anywhere."""
    rng = np.random.default_rng(seed)
    angle = np.pi * rng.random(240)
    upper = np.arange(240) < 120
    arcs = 1.6 * np.column_stack([np.cos(angle), np.sin(angle)])
    arcs = np.where(upper[:, None], arcs - _ARC, _ARC - arcs)
    positive = arcs + 0.12 * rng.standard_normal((240, 2))
    other = rng.uniform(-_EDGE, _EDGE, (1500, 2))
    nearest = np.sqrt(((other[:, None, :] - positive) ** 2).sum(axis=2)).min(axis=1)
    other = other[nearest > _GAP]
    X = np.vstack([positive, other])
    truth = np.where(np.arange(len(X)) < 240, np.int8(1), np.int8(-1))
    y = np.where(np.arange(len(X)) < 240, np.arange(len(X)) % 2 == 0, False).astype(np.int8)
    return X, truth, y


def draw_boundaries(path: Path) -> None:
    """Draw SMC and SVMC after the mapping and after each iteration, and the SVM that is told the negatives."""
    X, truth, y = plane_set()
    axis = np.linspace(-_EDGE, _EDGE, _GRID)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    told = (y > 0) | (truth < 0)
    supervised = fastpu.baselines.fit_svm(X[told], truth[told], C=_C, **_KERNEL)
    target = supervised.decision_function(grid)
    rows = [
        ("SMC", _panels(fastpu.fit_smc(X, y, C=_C, **_KERNEL), X, y, grid)),
        ("SVMC, as printed", _panels(fastpu.fit_svmc(X, y, C=_C, repair=False, **_KERNEL), X, y, grid)),
        ("SVMC, with the repair", _panels(fastpu.fit_svmc(X, y, C=_C, **_KERNEL), X, y, grid)),
    ]
    n_columns = max(len(panels) for _, panels in rows)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(2.1 * n_columns, 2.3 * len(rows) + 0.5), layout="constrained")
        axes = figure.subplots(len(rows), n_columns, squeeze=False)
        for (name, panels), line in zip(rows, axes, strict=True):
            for ax, panel in itertools.zip_longest(line, panels):
                if panel is None:
                    ax.axis("off")
                    continue
                _draw_panel(ax, panel, X, y, axis, target)
            line[0].set_ylabel(name)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, markerscale=2)
        figure.savefig(path, dpi=130)


def _panels(model: Any, X: NDArray[np.float64], y: NDArray[np.int8], grid: NDArray[np.float64]) -> list[_Panel]:
    """Return the panels of a model: the mapping, then each iteration, or some of many, the last included."""
    on_grid = list(model.staged_decision_function(grid))
    on_rows = list(model.staged_decision_function(X))
    panels = []
    rejected = np.zeros(y.size, dtype=bool)
    for i, (scores, own) in enumerate(zip(on_grid, on_rows, strict=True)):
        new = (own < 0) & (y == 0) & ~rejected
        title = "mapping" if i == 0 else f"iteration {i}"
        panels.append(_Panel(f"{title}: {np.count_nonzero(new)} rejected", scores, rejected, new))
        rejected = rejected | new
    shown = np.linspace(0, len(panels) - 1, min(len(panels), _MOST)).round().astype(int)
    return [panels[i] for i in shown]


def _draw_panel(
    ax: Axes,
    panel: _Panel,
    X: NDArray[np.float64],
    y: NDArray[np.int8],
    axis: NDArray[np.float64],
    target: NDArray[np.float64],
) -> None:
    groups: Sequence[tuple[str, NDArray[np.bool_], dict[str, Any]]] = (
        ("rejected before", panel.rejected, {"color": "0.8", "s": 2}),
        ("rejected now", panel.new, {"color": "tab:orange", "s": 4}),
        ("unlabelled, left", (y == 0) & ~panel.rejected & ~panel.new, {"color": "0.35", "s": 2}),
        ("labelled", y > 0, {"color": "tab:blue", "s": 6}),
    )
    for label, members, style in groups:
        ax.scatter(*X[members].T, label=label, linewidths=0, **style)
    shape = (axis.size, axis.size)
    for label, scores, color, dash in (
        ("SVM with the true negatives", target, "tab:green", "dashed"),
        ("boundary", panel.scores, "tab:red", "solid"),
    ):
        ax.contour(axis, axis, scores.reshape(shape), levels=[0], colors=color, linewidths=1, linestyles=dash)
        ax.plot([], [], color=color, lw=1, ls=dash, label=label)
    ax.set_title(panel.title)
    ax.set_xlim(axis[0], axis[-1])
    ax.set_ylim(axis[0], axis[-1])
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
