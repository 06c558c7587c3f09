"""Figures over a parameter: the path of an SVM, and the points that `select` has tried."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_choice, check_int
from fastpu.common._text import describe, short
from fastpu.common._types import LabelsLike, MatrixLike, Scenario
from fastpu.model._prior import SCENARIOS, PriorEstimate, check_scenario
from fastpu.path._selection import BestPoint, Curve, best_of, curve_on_path
from fastpu.path.path_model import SVMPath
from fastpu.plot._axes import CYCLE, check_pair, draw_lines, open_axes, with_legends
from fastpu.selection.select import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_POINTS = 2000  # of a line: more than a figure can show
_SHOWN = ("auto", "coef", "alpha")
_MARGIN = 1.1  # a criterion is drawn up to so many times the largest lam where it changes,
_FAR = 1000.0  # but to at most so many times the first breakpoint
_WIDE = 30  # an axis is logarithmic from this ratio of the largest to the smallest value on


def path(
    model: SVMPath,
    X: MatrixLike | None = None,
    y: LabelsLike | None = None,
    *,
    what: Literal["auto", "coef", "alpha"] = "auto",
    scoring: Literal["puf", "err_star"] = "puf",
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
    n_lines: int = 50,
    ax: Axes | Sequence[Axes] | None = None,
) -> Figure:
    """Draw an SVM path over lam: coefficients or dual variables, and below them a criterion on held-out rows.

    Parameters
    ----------
    model : SVMPath
        From `fastpu.fit_svm_path` or `fastpu.fit_pu_svm_path`, with at least one breakpoint.
    X, y : array-like of shapes (n, d) and (n,), optional
        Held-out rows with labels +1 (positive) and 0 (unlabelled). If they are passed, the criterion and the best lam
        are drawn too.
    what : {"auto", "coef", "alpha"}, default "auto"
        What the lines are. "coef" draws the coefficients, which only the linear kernel has. "alpha" draws the dual
        variables as shares of their costs, a / c (a itself where the cost is infinite). "auto" is "coef" for the linear
        kernel, and "alpha" otherwise.
    scoring : {"puf", "err_star"}, default "puf"
        The criterion for the held-out rows: `fastpu.metrics.puf_score`, or `fastpu.metrics.err_star`, which needs
        `prior`.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. "err_star" needs it.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart from
        the labelled ones. "single_set": all rows are one sample, and some of its positives were labelled.
    n_lines : int, default 50
        Most lines to draw. If there are more, those that vary most are drawn.
    ax : matplotlib Axes or pair of them, optional
        Where to draw, a pair if there are held-out rows. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    lam falls from left to right, so the machine becomes more flexible. Lines go through the breakpoints, or through
    2,000 of them if there are more. The criterion is that of `SVMPath.select`, with a step at each lam where it
    changes, down from at most 1,000 times the first breakpoint to the last one. Up to 8 lines are named.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, y = fastpu.datasets.make_pu_toy1(random_state=0)
    >>> model = fastpu.fit_svm_path(X, y, kernel="linear")
    >>> figure = fastpu.plot.path(model)
    >>> figure.axes[0].get_xlabel()
    'lam (weaker regularisation to the right)'
    """
    if not isinstance(model, SVMPath):
        raise TypeError(f"model must be an SVMPath, got {describe(model)}")
    shown = check_choice("what", what, _SHOWN)
    name = check_choice("scoring", scoring, ("puf", "err_star"))
    most = check_int("n_lines", n_lines, low=1)
    if not model.lams.size:
        raise ValueError("model must have breakpoints, got a trivial path")
    check_pair(X, y)
    if X is None:
        unused = {
            "scoring": (name, "puf"),
            "prior": (prior, None),
            "scenario": (check_scenario(scenario), SCENARIOS[0]),
        }
        for idle, (value, default) in unused.items():
            if value != default if isinstance(value, str) else value is not None:
                raise ValueError(f"{idle} must not be given without X and y, the rows to judge by, got {short(value)}")
    if shown == "coef" and model.kernel != "linear":
        raise ValueError(f"what='coef' needs the linear kernel, got a path of kernel={model.kernel!r}")
    if shown == "auto":
        shown = "coef" if model.kernel == "linear" else "alpha"
    axes, figure = open_axes(ax, 1 if X is None else 2, (7, 3.5 if X is None else 5.5))
    kept = np.unique(np.linspace(0, model.lams.size - 1, min(model.lams.size, _MOST_POINTS)).astype(int))
    lams = model.lams[kept]
    values, names = _lines(model, shown, kept)
    order = np.sort(np.argsort(-np.ptp(values, axis=0), kind="stable")[:most])
    curve = None if X is None else curve_on_path(model, name, X, y, prior=prior, scenario=scenario)
    draw_lines(axes[0], lams, [(names[line], values[:, line]) for line in order], most_markers=1)
    some = "" if order.size == values.shape[1] else f" ({order.size} of {values.shape[1]})"
    axes[0].set_ylabel(("coefficient" if shown == "coef" else "a / c") + some)
    if curve is not None:
        _draw_criterion(axes[1], lams, curve, best_of(model, curve))
    for each in axes:
        each.set_xscale("log")
        if not each.xaxis_inverted():  # axes that share their x are one
            each.invert_xaxis()
    axes[-1].tick_params(axis="x", which="both", labelsize=7)  # larger ones of a short path would touch each other
    axes[-1].set_xlabel("lam (weaker regularisation to the right)")
    return with_legends(axes, figure, is_ours=ax is None, entry=1.2)


def _lines(model: SVMPath, shown: str, kept: NDArray[np.int64]) -> tuple[NDArray[np.float64], Sequence[str]]:
    """Return what is drawn at these breakpoints, a column for each line, and the names of the lines."""
    if shown == "coef":
        coef: NDArray[np.float64] = np.asarray(model.coef)
        return coef[kept], list(map(str, model.feature_names or ())) or [
            f"feature {column}" for column in range(model.n_features)
        ]
    scale = np.where(np.isfinite(model.costs), model.costs, 1.0)
    return np.array([model.alpha_at(int(knot)) / scale for knot in kept]), [f"row {row}" for row in model.rows]


def _draw_criterion(ax: Any, lams: NDArray[np.float64], curve: Curve, best: BestPoint) -> None:
    """Draw a criterion over lam, which jumps where rows change sides, and its best value on the whole path."""
    right, first = min(float(lams[-1]), best.lam), max(float(lams[0]), best.lam)
    changes = curve.values[1:] != curve.values[:-1]
    # To a little beyond the largest lam where it changes, unless rows far from the others make that very large.
    left = min(max(first, _MARGIN * float(np.max(curve.cuts[changes], initial=0.0))), max(first, _FAR * float(lams[0])))
    jumps = np.flatnonzero(changes & (curve.cuts > right) & (curve.cuts < left))
    cuts, last = curve.cuts[jumps], curve.values[np.count_nonzero(curve.cuts > right)]
    label = f"best: {best.value:.4g} at lam = {best.lam:.4g}"
    values = [*curve.values[jumps], last, last]
    ax.plot([left, *cuts, right], values, color=CYCLE[0], linewidth=1.0, drawstyle="steps-post")
    ax.plot([best.lam], [best.value], "o", color=CYCLE[1], markersize=5, label=label)
    ax.axvline(best.lam, color=CYCLE[1], linewidth=0.8, linestyle=":")
    ax.set_ylabel(curve.name)


# ---- Selection ----


def selection(chosen: Selection, *, param: str | None = None, ax: Axes | None = None) -> Figure:
    """Draw the criterion of `fastpu.select` over the values of one parameter.

    Parameters
    ----------
    chosen : Selection
        The result of `fastpu.select`.
    param : str, optional
        Name of a parameter of the grid. By default the numeric parameter with the most values, or else the first one.
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Each grey dot is a point that was tried. The line goes through the best point of each value, over all values of the
    other parameters. Its bars reach from the worst fold to the best. Inadmissible points are not drawn; the legend
    counts them. The axis is logarithmic if the largest value is at least 30 times the smallest.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=60, random_state=0)
    >>> chosen = fastpu.select(
    ...     fastpu.fit_isvm, X[split.train], split.y_train, {"C": [0.01, 0.1, 1.0, 10.0]}, random_state=0
    ... )
    >>> figure = fastpu.plot.selection(chosen)
    >>> figure.axes[0].get_xscale(), figure.axes[0].get_ylabel()
    ('log', 'puf (larger is better)')
    """
    if not isinstance(chosen, Selection):
        raise TypeError(f"chosen must be a Selection, got {describe(chosen)}")
    columns = {key.removeprefix("param_"): column for key, column in chosen.table.items() if key.startswith("param_")}
    if param is None:
        n_values = [len(np.unique(column)) if _is_numeric(list(column)) else 0 for column in columns.values()]
        param = list(columns)[int(np.argmax(n_values))]
    name = check_choice("param", param, list(columns))
    axes, figure = open_axes(ax, 1, (7, 4))
    _draw_selection(axes[0], chosen, name)
    return with_legends(axes, figure, is_ours=ax is None)


def _is_numeric(values: Iterable[Any]) -> bool:
    """Tell whether all values are numbers that an axis can show."""
    return all(
        not isinstance(value, bool) and isinstance(value, numbers.Real) and np.isfinite(float(value))
        for value in values
    )


def best_by_value(
    column: Sequence[Any], scores: NDArray[np.float64], sign: int
) -> tuple[list[Any], list[NDArray[np.intp]]]:
    """Return the distinct values of a parameter, and for each the points that have it, the best one first."""
    members: dict[str, list[int]] = {}
    for point, value in enumerate(column):
        members.setdefault(repr(value), []).append(point)
    groups = list(members.values())
    if _is_numeric(column):
        groups.sort(key=lambda points: float(column[points[0]]))
    ranked = [np.array(points)[np.argsort(-sign * scores[points], kind="stable")] for points in groups]
    return [column[points[0]] for points in groups], ranked


def _draw_selection(ax: Any, chosen: Selection, name: str) -> None:
    """Draw the scores of all points over one parameter, the best of each value with its folds, and the chosen point."""
    sign = -1 if chosen.scoring in ("err_star", "error") else 1
    scores = np.asarray(chosen.table["score"], dtype=np.float64)
    values, ranked = best_by_value(list(chosen.table[f"param_{name}"]), scores, sign)
    numeric = _is_numeric(values)
    places = np.array(values if numeric else range(len(values)), dtype=np.float64)
    at = np.empty(scores.size)
    for place, points in zip(places, ranked, strict=True):
        at[points] = place
    shown = np.isfinite(scores)
    tops = np.array([points[0] for points in ranked if shown[points[0]]])
    hidden = int(scores.size - np.count_nonzero(shown))
    note = f"{scores.size} points tried" + (f" ({hidden} inadmissible ones not drawn)" if hidden else "")
    ax.plot(at[shown], scores[shown], ".", color="0.6", markersize=5, label=note)
    folds = np.array(
        [column[tops] for key, column in chosen.table.items() if key.startswith("fold_")], dtype=np.float64
    )
    label = "best of each value"
    if len(folds) > 1 and np.isfinite(folds).all():
        ax.vlines(at[tops], folds.min(axis=0), folds.max(axis=0), color=CYCLE[0], linewidth=0.9, alpha=0.7)
        label += ", with the range of its folds"
    line = "-" if numeric else "none"
    ax.plot(
        at[tops], scores[tops], linestyle=line, color=CYCLE[0], marker="s", markersize=4, linewidth=1.2, label=label
    )
    best = chosen.best_index
    value = f"{at[best]:.4g}" if numeric else str(values[int(at[best])])
    label = f"chosen: {scores[best]:.4g} at {name} = {value}"
    ax.plot([at[best]], [scores[best]], "o", color=CYCLE[1], markersize=7, label=label)
    ax.set_ylabel(f"{chosen.scoring} ({'larger' if sign > 0 else 'smaller'} is better)")
    ax.set_xlabel(name)
    if not numeric:
        ax.set_xticks(places, [str(value) for value in values])
        ax.set_xlim(-0.5, len(values) - 0.5)
    elif places.min() > 0 and places.max() >= _WIDE * places.min():
        ax.set_xscale("log")
