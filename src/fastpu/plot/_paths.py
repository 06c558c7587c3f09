"""Figures over a parameter: the path of an SVM, and the points that `select` has tried."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.plot._axes import CYCLE, DASHES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from fastpu.path._selection import Curve


_MOST_NAMED = 8  # more lines are not named in a legend
_MARGIN = 1.1  # a criterion is drawn up to so many times the largest lam where it changes,
_FAR = 1000.0  # but to at most so many times the first breakpoint
_WIDE = 30  # an axis is logarithmic from this ratio of the largest to the smallest value on


def draw_lines(ax: Any, lams: NDArray[np.float64], values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Draw a line for each column of `values`, with a legend if they are few."""
    for number, (column, name) in enumerate(zip(values.T, names, strict=True)):
        ax.plot(
            lams,
            column,
            color=CYCLE[number % len(CYCLE)],
            linestyle=DASHES[number // len(CYCLE) % len(DASHES)],
            marker="o" if lams.size == 1 else None,
            markersize=3,
            linewidth=1.2 if len(names) <= _MOST_NAMED else 0.8,
            label=name if len(names) <= _MOST_NAMED else None,
        )


def draw_criterion(ax: Any, lams: NDArray[np.float64], curve: Curve, best: Mapping[str, Any]) -> None:
    """Draw a criterion over lam, which jumps where rows change sides, and its best value on the whole path."""
    right, first = min(float(lams[-1]), float(best["lam"])), max(float(lams[0]), float(best["lam"]))
    changes = curve.values[1:] != curve.values[:-1]
    # To a little beyond the largest lam where it changes, unless rows far from the others make that very large.
    left = min(max(first, _MARGIN * float(np.max(curve.cuts[changes], initial=0.0))), max(first, _FAR * float(lams[0])))
    jumps = np.flatnonzero(changes & (curve.cuts > right) & (curve.cuts < left))
    cuts, last = curve.cuts[jumps], curve.values[np.count_nonzero(curve.cuts > right)]
    label = f"best: {best['value']:.4g} at lam = {best['lam']:.4g}"
    values = [*curve.values[jumps], last, last]
    ax.plot([left, *cuts, right], values, color=CYCLE[0], linewidth=1.0, drawstyle="steps-post")
    ax.plot([best["lam"]], [best["value"]], "o", color=CYCLE[1], markersize=5, label=label)
    ax.axvline(best["lam"], color=CYCLE[1], linewidth=0.8, linestyle=":")
    ax.set_ylabel(curve.name)


# ---- Selection ----


def is_numeric(values: Iterable[Any]) -> bool:
    """Tell whether all values are numbers that an axis can show."""
    return all(isinstance(value, numbers.Real) and _is_finite(value) for value in values)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, bool) and bool(np.isfinite(float(value)))


def best_by_value(
    column: Sequence[Any], scores: NDArray[np.float64], sign: int
) -> tuple[list[Any], list[NDArray[np.intp]]]:
    """Return the distinct values of a parameter, and for each the points that have it, the best one first."""
    members: dict[str, list[int]] = {}
    for point, value in enumerate(column):
        members.setdefault(repr(value), []).append(point)
    groups = list(members.values())
    if is_numeric(column):
        groups.sort(key=lambda points: float(column[points[0]]))
    ranked = [np.array(points)[np.argsort(-sign * scores[points], kind="stable")] for points in groups]
    return [column[points[0]] for points in groups], ranked


def draw_selection(ax: Any, table: Mapping[str, NDArray[Any]], name: str, scoring: str, sign: int, chosen: int) -> None:
    """Draw the scores of all points over one parameter, the best of each value with its folds, and the chosen point."""
    scores = np.asarray(table["score"], dtype=np.float64)
    values, ranked = best_by_value(list(table[f"param_{name}"]), scores, sign)
    numeric = is_numeric(values)
    places = np.array(values, dtype=np.float64) if numeric else np.arange(len(values), dtype=np.float64)
    at = np.empty(scores.size)
    for place, points in zip(places, ranked, strict=True):
        at[points] = place
    shown = np.isfinite(scores)
    best = [(place, points[0]) for place, points in zip(places, ranked, strict=True) if shown[points[0]]]
    hidden = int(scores.size - np.count_nonzero(shown))
    note = f"{scores.size} points tried" + (f" ({hidden} inadmissible ones not drawn)" if hidden else "")
    ax.plot(at[shown], scores[shown], ".", color="0.6", markersize=5, label=note)
    line, tops = np.array([place for place, _ in best]), np.array([point for _, point in best])
    folds = np.array([column[tops] for key, column in table.items() if key.startswith("fold_")], dtype=np.float64)
    label = "best of each value"
    if len(folds) > 1 and np.isfinite(folds).all():
        ax.vlines(line, folds.min(axis=0), folds.max(axis=0), color=CYCLE[0], linewidth=0.9, alpha=0.7)
        label += ", with the range of its folds"
    ax.plot(line, scores[tops], linestyle="-" if numeric else "none", color=CYCLE[0], marker="s", markersize=4,
            linewidth=1.2, label=label)  # fmt: skip
    ax.plot([at[chosen]], [scores[chosen]], "o", color=CYCLE[1], markersize=7, label=f"chosen: {scores[chosen]:.4g}")
    ax.set_ylabel(f"{scoring} ({'larger' if sign > 0 else 'smaller'} is better)")
    ax.set_xlabel(name)
    if not numeric:
        ax.set_xticks(places, [str(value) for value in values])
        ax.set_xlim(-0.5, len(values) - 0.5)
    elif places.min() > 0 and places.max() >= _WIDE * places.min():
        ax.set_xscale("log")
