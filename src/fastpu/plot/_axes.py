"""Axes to draw into, and how the groups of rows look in every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that the colour-blind tell apart (Okabe and Ito), and dashes: no two of 28 lines have both in common.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":", "-.")
_MOST_NAMED = 8  # more lines are not named in a legend
GREY = {"color": "0.4", "linestyle": "--", "linewidth": 1}  # of what is drawn to compare with


@dataclass(frozen=True)
class Group:
    """The rows of one kind of label: how they are called and drawn."""

    label: int
    name: str
    color: str
    marker: str
    dash: str


# In the order in which they are drawn: the many below the few.
GROUPS = (
    Group(0, "unlabelled", "#5A5A5A", ".", "-"),
    Group(-1, "negative", "#D55E00", "^", "--"),
    Group(1, "positive", "#0072B2", "o", "-"),
)


def groups_of(labels: NDArray[np.int8]) -> Iterator[tuple[Group, NDArray[np.intp]]]:
    for group in GROUPS:
        rows = np.flatnonzero(labels == group.label)
        if rows.size:
            yield group, rows


def check_pair(X: object, y: object) -> None:
    if (X is None) != (y is None):
        raise ValueError(f"X and y must be given together or not at all, got only {'y' if X is None else 'X'}")


def open_axes(ax: object, n: int, size: tuple[float, float]) -> tuple[list[Any], Figure]:
    """Return `n` Axes, one below the other, and their Figure: the user's `ax`, or new ones without pyplot."""
    if ax is not None:
        axes: list[Any] = list(np.asarray(ax, dtype=object).ravel())
        if len(axes) != n or not all(hasattr(each, "plot") and hasattr(each, "axvline") for each in axes):
            raise TypeError(f"ax must be {'one of matplotlib' if n == 1 else 'two'} Axes, got {describe(ax)}")
        figure = axes[0].figure
        return axes, getattr(figure, "figure", figure)  # of Axes in a SubFigure the whole
    try:
        figure_module = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    figure = figure_module.Figure(figsize=size, layout="constrained")
    return list(np.atleast_1d(figure.subplots(n, 1, sharex=True)).ravel()), figure


def with_legends(axes: list[Any], figure: Figure, *, is_ours: bool, entry: float = 2.3) -> Figure:
    """Add a legend to all Axes with labelled artists, and return their figure; what one has named, the next does not.

    Above Axes of ours it has columns of `entry` inches as far as they fit; those of the user's have a title there.
    """
    named: set[str] = set()
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        new = [(handle, label) for handle, label in zip(handles, labels, strict=True) if label not in named]
        named.update(labels)
        if not new:
            continue
        entries = {"handles": [handle for handle, _ in new], "labels": [label for _, label in new]}
        if is_ours:
            columns = int(np.clip(ax.get_window_extent().width / figure.dpi / entry, 1, 4))
            place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": columns, "borderaxespad": 0.2}
            ax.legend(**entries, **place, fontsize=8, frameon=False)
        else:
            ax.legend(**entries, loc="best", fontsize=7, framealpha=0.8)
    return figure


def draw_banded(
    ax: Any, x: NDArray[Any], values: NDArray[np.float64], interval: NDArray[np.float64] | None, name: str, band: str
) -> None:
    """Draw a line and, if there is an interval at each of its points, a band."""
    ax.plot(x, values, color=CYCLE[0], linewidth=1.6, label=name)
    if interval is not None:
        ax.fill_between(x, *interval.T, color=CYCLE[0], alpha=0.2, linewidth=0, label=band)


def draw_lines(ax: Any, x: NDArray[Any], series: Sequence[tuple[str, NDArray[Any]]], most_markers: int = 40) -> None:
    """Draw named lines, each over as many of the first `x` as it has values; short ones with markers."""
    has_markers = max(len(values) for _, values in series) <= most_markers
    is_named = len(series) <= _MOST_NAMED
    for number, (name, values) in enumerate(series):
        ax.plot(
            x[: len(values)],
            values,
            color=CYCLE[number % len(CYCLE)],
            linestyle=_DASHES[number % len(_DASHES)],
            marker="os^v"[number % 4] if has_markers else None,
            markersize=3.5,
            linewidth=1.3 if is_named else 0.8,
            label=name if is_named else None,
        )


def mark_scale(ax: Any, n_rounds: int) -> None:
    """Put ticks at whole numbers only, and make room for a single round."""
    ax.xaxis.get_major_locator().set_params(integer=True)
    if n_rounds == 1:
        ax.set_xlim(ax.dataLim.x0 - 1, ax.dataLim.x0 + 1)
