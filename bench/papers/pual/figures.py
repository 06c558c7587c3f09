"""Figures 3 to 6: decision boundaries, box plots of differences, t-SNE maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from methods import linear_methods
from protocol import Task, draw, fit_split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from report import Result
    from sets import DataSet

__all__ = ["draw_boundaries", "draw_differences", "draw_map"]

_STYLE: dict[Any, Any] = {"font.size": 8, "axes.titlesize": 9}
_MEANS = (50, 100, 500)
_GRID = 200


def draw_boundaries(path: Path, every: int, seed: int) -> None:
    """Draw the negative regions of PUAL and GLLC among the test rows of the first simulated sets (Figure 3)."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.9 * len(_MEANS)), layout="constrained")
        axes = figure.subplots(len(_MEANS), 2, squeeze=False)
        for line, mean in zip(axes, _MEANS, strict=True):
            split = draw(Task(seed, every, mean=mean))
            low, high = split.X_test.min(axis=0) - 5, split.X_test.max(axis=0) + 5
            across, up = (np.linspace(low[e], high[e], _GRID) for e in (0, 1))
            grid = np.column_stack([part.ravel() for part in np.meshgrid(across, up)])
            for ax, method, color in zip(line, linear_methods(every), ("pink", "orange"), strict=True):
                model, _ = fit_split(split, method, seed)
                negative = (model.decision_function(grid) <= 0).reshape(_GRID, _GRID).astype(float)
                ax.contourf(across, up, negative, levels=[0.5, 1.5], colors=[color], alpha=0.6)
                for sign, shade in ((1, "tab:red"), (-1, "tab:blue")):
                    ax.scatter(*split.X_test[split.truth == sign].T, s=4, color=shade, linewidths=0)
                ax.set_title(f"{method.name}, mean_p2 = {mean}")
        figure.savefig(path, dpi=130)


def draw_differences(results: Sequence[Result], path: Path) -> None:
    """Draw the differences between the F1 scores of PUAL and GLLC, sets in the order of their medians (Figure 4)."""
    by_gamma: dict[float, dict[str, Any]] = {}
    for result in results:
        if isinstance(result.key, tuple) and {"PUAL", "GLLC"} <= set(result.methods):
            name, gamma = result.key
            by_gamma.setdefault(gamma, {})[name] = result.scores("PUAL") - result.scores("GLLC")
    if not by_gamma:
        return
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, 2.8 * len(by_gamma)), layout="constrained")
        axes = figure.subplots(len(by_gamma), 1, squeeze=False)[:, 0]
        for ax, (gamma, found) in zip(axes, by_gamma.items(), strict=True):
            _boxes(ax, found)
            ax.set_title(f"gamma = {gamma:g}")
            ax.set_ylabel("F1 of PUAL - GLLC")
        figure.savefig(path, dpi=130)


def _boxes(ax: Any, found: Mapping[str, Any]) -> None:
    order = sorted(found, key=lambda name: float(np.median(found[name])))
    ax.boxplot([found[name] for name in order], widths=0.5)
    ax.set_xticks(range(1, len(order) + 1), order)
    ax.axhline(0, color="0.6", lw=0.8, zorder=0)


def draw_map(data_set: DataSet, folder: Path, path: Path, seed: int) -> None:
    """Draw the t-SNE map of a set's training rows (Figures 5 and 6)."""
    from sklearn.manifold import TSNE  # noqa: PLC0415 - only the maps need it

    split = draw(Task(seed, 1, data_set=data_set, folder=folder, gamma=data_set.map_gamma))
    X = np.vstack([split.X, split.X_test])
    perplexity = min(float(data_set.perplexity), (len(X) - 1) / 3)
    flat = TSNE(perplexity=perplexity, random_state=seed, init="pca").fit_transform(X)[: len(split.X)]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(4, 3.6), layout="constrained")
        ax = figure.subplots()
        for sign, color, kind in ((1, "tab:red", "positive"), (-1, "tab:blue", "negative")):
            for label, marker, name in ((0, "o", "unlabelled"), (1, "^", "labelled")):
                chosen = (split.y == label) & (split.hidden == sign)
                if chosen.any():
                    ax.scatter(*flat[chosen].T, s=9, marker=marker, color=color, linewidths=0, label=f"{kind}, {name}")
        ax.set_title(f"{data_set.name}, t-SNE, perplexity {perplexity:g}, gamma = {data_set.map_gamma:g}")
        ax.legend(frameon=False)
        ax.set_xticks([])
        ax.set_yticks([])
        figure.savefig(path, dpi=130)
