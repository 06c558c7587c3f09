"""Figures of fitted models, with matplotlib (the extra ``fastpu[plot]``)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu._text import describe
from fastpu._validate import check_choice, check_int
from fastpu.labels import as_labels
from fastpu.metrics import err_star, puf_score
from fastpu.svm_path_model import SVMPath

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["path"]

_AT_MOST = 2000  # points of a line: more than a figure can show
_SHOWN = ("auto", "coef", "alpha")


def path(
    model: SVMPath,
    X: object = None,
    y: object = None,
    *,
    what: str = "auto",
    criterion: str = "puf",
    prior: float | None = None,
    scenario: str = "case_control",
    n_lines: int = 50,
    ax: Any = None,
) -> Any:
    """Draw an SVM path over lam: coefficients or dual variables, and below them a criterion on held-out rows.

    Parameters
    ----------
    model : SVMPath
        From `fastpu.fit_svm_path` or `fastpu.fit_pu_svm_path`, not trivial.
    X, y : array-like of shapes (n, d) and (n,), optional
        Held-out rows and their labels, as in `SVMPath.select`; with them the criterion is drawn, and the best lam.
    what : {"auto", "coef", "alpha"}, default "auto"
        Coefficients (linear kernel), or a / c, the dual variables as a share of their costs (of a where the cost is
        infinite). "auto" takes coefficients where there are some.
    criterion : {"puf", "err_star"}, default "puf"
    prior, scenario
        As in `SVMPath.select`.
    n_lines : int, default 50
        Most lines: those that vary most.
    ax : matplotlib Axes or pair of them, optional
        Where to draw; by default a new figure. A pair where there are held-out rows.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError, ValueError
        If an argument is not as described.

    Notes
    -----
    Lines are drawn through the breakpoints, every k-th of them where there are more than 2,000, and the criterion is
    that of these points.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, y = fastpu.datasets.make_pu_toy1(random_state=0)
    >>> model = fastpu.fit_svm_path(X, y, kernel="linear")
    >>> figure = fastpu.plot.path(model)
    >>> figure.axes[0].get_xlabel()
    'lam'
    """
    if not isinstance(model, SVMPath):
        raise TypeError(f"model must be an SVMPath, got {describe(model)}")
    shown = check_choice("what", what, _SHOWN)
    name = check_choice("criterion", criterion, ("puf", "err_star"))
    most = check_int("n_lines", n_lines, low=1)
    if not model.lams.size:
        raise ValueError("model must have breakpoints, got a trivial path")
    if (X is None) != (y is None):
        raise ValueError(f"X and y must be given together or not at all, got only {'y' if X is None else 'X'}")
    if shown == "coef" and model.kernel != "linear":
        raise ValueError(f"what='coef' needs the linear kernel, got a path of kernel={model.kernel!r}")
    if shown == "auto":
        shown = "coef" if model.kernel == "linear" else "alpha"
    axes = _axes(ax, 1 if X is None else 2)
    kept = np.unique(np.linspace(0, model.lams.size - 1, min(model.lams.size, _AT_MOST)).astype(int))
    lams = model.lams[kept]
    values = _lines(model, shown, kept)
    order = np.argsort(-np.ptp(values, axis=0), kind="stable")[:most]
    axes[0].plot(lams, values[:, np.sort(order)], linewidth=0.8)
    axes[0].set_ylabel("coefficient" if shown == "coef" else "a / c")
    if X is not None:
        best = model.select(name, X, y, prior=prior, scenario=scenario)
        _draw_criterion(axes[1], model, lams, X, y, best, name, prior, scenario)
    for each in axes:
        each.set_xscale("log")
        each.invert_xaxis()
    axes[-1].set_xlabel("lam")
    return axes[0].figure


def _axes(ax: Any, n: int) -> list[Any]:
    if ax is not None:
        axes = list(np.atleast_1d(ax).ravel())
        if len(axes) != n or not all(hasattr(each, "plot") for each in axes):
            raise TypeError(f"ax must be {'one of matplotlib' if n == 1 else 'two'} Axes, got {describe(ax)}")
        return axes
    try:
        figure_module = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'fastpu[plot]'") from error
    figure = figure_module.Figure(figsize=(7, 3 + 2 * (n - 1)), layout="constrained")
    return list(np.atleast_1d(figure.subplots(n, 1, sharex=True)).ravel())


def _lines(model: SVMPath, shown: str, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    if shown == "coef":
        coef: NDArray[np.float64] = np.asarray(model.coef)
        return coef[kept]
    scale = np.where(np.isfinite(model.costs), model.costs, 1.0)
    return np.array([model.alpha_at(int(knot)) / scale for knot in kept])


def _draw_criterion(
    ax: Any,
    model: SVMPath,
    lams: NDArray[np.float64],
    X: object,
    y: object,
    best: Any,
    name: str,
    prior: float | None,
    scenario: str,
) -> None:
    labels, scores = as_labels(y), model.scores(X, lams)
    positive, unlabeled = scores[labels == 1], scores[labels == 0]
    if name == "puf":
        values = [puf_score(p, u, scenario=scenario) for p, u in zip(positive.T, unlabeled.T, strict=True)]
    else:
        share = 0.5 if prior is None else prior  # select has refused None
        values = [err_star(p, u, prior=share, scenario=scenario) for p, u in zip(positive.T, unlabeled.T, strict=True)]
    ax.plot(lams, values, linewidth=0.8)
    ax.plot([best.params["lam"]], [best.params["value"]], "o", markersize=4)
    ax.axvline(best.params["lam"], linewidth=0.6, linestyle=":")
    ax.set_ylabel(name)
