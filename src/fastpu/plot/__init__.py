"""Figures of fitted models, with matplotlib (the extra ``fastpu[plot]``).

Every function returns a `matplotlib.figure.Figure` that pyplot does not know of: keep it with
``figure.savefig("name.png")``, or show it in a notebook by naming it in the last line of a cell, after one with
``%matplotlib inline``. Nothing has to be closed, and no display is needed. `ax` takes Axes of yours instead, pyplot's
as well. The legend stands above the Axes, but inside Axes of yours, so that these can have a title; for a title of a
new figure use ``figure.suptitle``. Without matplotlib they raise ImportError; for arguments that are not as described,
and models that give NaN or use no feature, TypeError or ValueError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import check_choice, check_int
from fastpu.common._text import describe, short
from fastpu.data._validate import check_labels
from fastpu.mapping.mapping_machine import MappingModel
from fastpu.metrics import auc
from fastpu.model._prior import check_scenario
from fastpu.path._selection import best_of, curve_on_path
from fastpu.path.svm_path_model import SVMPath
from fastpu.plot._audit import audit
from fastpu.plot._axes import open_axes, with_legends
from fastpu.plot._importances import importances
from fastpu.plot._paths import draw_criterion, draw_lines, draw_selection, is_numeric
from fastpu.plot._ranking import ranking
from fastpu.plot._rounds import draw_boosting, draw_changes
from fastpu.plot._rows import decision_regions, score_histogram
from fastpu.selection.select import Selection
from fastpu.svm.linear_machine import LinearMachine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.model._prior import PriorEstimate

__all__ = [
    "audit",
    "boosting_curves",
    "decision_regions",
    "importances",
    "label_changes",
    "path",
    "ranking",
    "score_histogram",
    "selection",
]

_MOST_POINTS = 2000  # of a line: more than a figure can show
_SHOWN = ("auto", "coef", "alpha")


# ---- Rounds and iterations ----


def boosting_curves(model: StumpEnsemble, X: object = None, y: object = None, *, ax: Any = None) -> Any:
    """Draw the objective of boosting after each round and, below it, the AUC of held-out rows.

    Parameters
    ----------
    model : StumpEnsemble
        From `fastpu.fit_pnu_auc_boost`, `fit_rankboost_auc` or `fit_pnu_adaboost`, with at least one round.
    X, y : array-like of shapes (n, d) and (n,), optional
        Further rows, whose AUC after each round that was kept is drawn beside that of the fit's `eval_set`: positives
        against negatives, or against unlabelled rows where there are no negatives.
    ax : matplotlib Axes or pair of them, optional
        Where to draw; by default a new figure. A pair where there are AUCs: an `eval_set` or folds at the fit, or `X`
        and `y`.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Where early stopping has dropped the last rounds, these are drawn as well, and a dotted line shows the last round
    that was kept. The best round of each AUC is marked. The objective is log J for the AUC methods.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_four_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_pnu(truth, hidden=0.5, random_state=0)
    >>> valid = (X[split.valid], truth[split.valid])
    >>> model = fastpu.fit_pnu_auc_boost(X[split.train], split.y_train, n_rounds=30, eval_set=valid)
    >>> [ax.get_ylabel() for ax in fastpu.plot.boosting_curves(model).axes]
    ['objective', 'AUC']
    """
    if not isinstance(model, StumpEnsemble):
        raise TypeError(f"model must be a StumpEnsemble, got {describe(model)}")
    objective = model.history["objective"]
    if not objective.size:
        raise ValueError(f"model must have at least one round, got an empty one (status {model.status!r})")
    _check_pair(X, y)
    judged = {"eval_set": "eval_auc", "folds": "fold_auc"}
    aucs = [(name, model.history[key]) for name, key in judged.items() if key in model.history]
    n_panels = 1 + (bool(aucs) or X is not None)
    axes, figure = open_axes(ax, n_panels, (7, 2 + 1.5 * n_panels))
    if X is not None:
        aucs.append(("X, y", _auc_per_round(model, X, y)))
    draw_boosting(axes, objective, aucs, model.n_iter)
    return with_legends(axes, figure, is_ours=ax is None)


def label_changes(model: LinearMachine | MappingModel, *, ax: Any = None) -> Any:
    """Draw how many rows changed sides in each iteration, and the sizes of the sets.

    Parameters
    ----------
    model : LinearMachine, MappingMachine or MappingScorer
        From `fastpu.fit_isvm`, `fit_ipsi` (above the pseudo-labels that each classifier changed, below the unlabelled
        rows called negative), `fit_bpsi` (the rows whose loss was made flat, or was so no longer), or `fit_svmc`,
        `fit_smc` (above the rows rejected for the first time, and the forgotten negatives that went back; below the
        rows in N and those never rejected).
    ax : matplotlib Axes or pair of them, optional
        Where to draw; by default a new figure. A pair, but for `fit_bpsi` one.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Iteration 0 is the first classifier, or the mapping. Where later iterations were undone, a dotted line shows the one
    that was kept.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=60, random_state=0)
    >>> model = fastpu.fit_isvm(X[split.train], split.y_train)
    >>> figure = fastpu.plot.label_changes(model)
    >>> figure.axes[0].lines[0].get_ydata().tolist() == model.history["n_changed"].tolist()
    True
    """
    history = getattr(model, "history", {})
    panels: list[tuple[str, dict[str, NDArray[Any]]]]
    if isinstance(model, LinearMachine) and "n_changed" in history:
        panels = [("rows changed", {"changed sides": history["n_changed"]})]
        if "n_negative" in history:
            panels.append(("unlabelled rows", {"called negative": history["n_negative"]}))
    elif isinstance(model, MappingModel):
        changes = {"rejected for the first time": history["n_new"], "back into N": history["n_back"]}
        panels = [
            ("rows changed", changes),
            ("unlabelled rows", {"never rejected": history["n_left"], "in N": history["n_neg"]}),
        ]
    else:
        raise TypeError(
            f"model must be a LinearMachine, MappingMachine or MappingScorer, whose history holds label changes, got "
            f"{describe(model)}"
        )
    axes, figure = open_axes(ax, len(panels), (7, 1.5 + 2 * len(panels)))
    draw_changes(axes, panels, "iteration", model.n_iter)
    return with_legends(axes, figure, is_ours=ax is None)


# ---- Parameters ----


def path(
    model: SVMPath,
    X: object = None,
    y: object = None,
    *,
    what: str = "auto",
    scoring: str = "puf",
    prior: float | PriorEstimate | None = None,
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
    scoring : {"puf", "err_star"}, default "puf"
    prior, scenario
        As in `SVMPath.select`; like `scoring`, for held-out rows alone.
    n_lines : int, default 50
        Most lines: those that vary most.
    ax : matplotlib Axes or pair of them, optional
        Where to draw; by default a new figure. A pair where there are held-out rows.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    lam falls from left to right: the machine becomes more flexible. Lines are drawn through the breakpoints, every k-th
    of them where there are more than 2,000. The criterion is drawn as `SVMPath.select` evaluates it, with a step at
    every lam where it changes, from 1,000 times the first breakpoint, if need be, down to the last one. Up to 8
    lines are named.

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
    _check_pair(X, y)
    if X is None:
        _refuse_idle(scoring=None if name == "puf" else name, prior=prior,
                     scenario=None if check_scenario(scenario) == "case_control" else scenario)  # fmt: skip
    if shown == "coef" and model.kernel != "linear":
        raise ValueError(f"what='coef' needs the linear kernel, got a path of kernel={model.kernel!r}")
    if shown == "auto":
        shown = "coef" if model.kernel == "linear" else "alpha"
    axes, figure = open_axes(ax, 1 if X is None else 2, (7, 3.5 if X is None else 5.5))
    kept = np.unique(np.linspace(0, model.lams.size - 1, min(model.lams.size, _MOST_POINTS)).astype(int))
    lams = model.lams[kept]
    values = _lines(model, shown, kept)
    order = np.sort(np.argsort(-np.ptp(values, axis=0), kind="stable")[:most])
    curve = None if X is None else curve_on_path(model, name, X, y, prior=prior, scenario=scenario)
    draw_lines(axes[0], lams, values[:, order], [_line_name(model, shown, int(column)) for column in order])
    some = "" if order.size == values.shape[1] else f" ({order.size} of {values.shape[1]})"
    axes[0].set_ylabel(("coefficient" if shown == "coef" else "a / c") + some)
    if curve is not None:
        draw_criterion(axes[1], lams, curve, best_of(model, curve))
    for each in axes:
        each.set_xscale("log")
        if not each.xaxis_inverted():  # axes that share their x are one
            each.invert_xaxis()
    axes[-1].tick_params(axis="x", which="both", labelsize=7)  # larger ones of a short path would touch each other
    axes[-1].set_xlabel("lam (weaker regularisation to the right)")
    return with_legends(axes, figure, is_ours=ax is None, entry=1.2)


def _lines(model: SVMPath, shown: str, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    if shown == "coef":
        coef: NDArray[np.float64] = np.asarray(model.coef)
        return coef[kept]
    scale = np.where(np.isfinite(model.costs), model.costs, 1.0)
    return np.array([model.alpha_at(int(knot)) / scale for knot in kept])


def _line_name(model: SVMPath, shown: str, column: int) -> str:
    if shown == "alpha":
        return f"row {model.rows[column]}"
    return f"feature {column}" if model.feature_names is None else model.feature_names[column]


def selection(chosen: Selection, *, param: str | None = None, ax: Any = None) -> Any:
    """Draw the criterion of `fastpu.select` over the values of one parameter.

    Parameters
    ----------
    chosen : Selection
        What `fastpu.select` has returned.
    param : str, optional
        Name of a parameter of its grid; by default the numeric one with the most values, or else the first.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    A grey dot is a point that was tried. The line goes through the best point of each value, whatever the other
    parameters are there; its bars reach from the worst to the best of the folds. Inadmissible points are not drawn but
    counted. The axis is logarithmic where the largest value is at least 30 times the smallest.

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
        n_values = [len(np.unique(column)) if is_numeric(list(column)) else 0 for column in columns.values()]
        param = list(columns)[int(np.argmax(n_values))]
    name = check_choice("param", param, list(columns))
    axes, figure = open_axes(ax, 1, (7, 4))
    sign = -1 if chosen.scoring in ("err_star", "error") else 1
    draw_selection(axes[0], chosen.table, name, chosen.scoring, sign, chosen.best_index)
    return with_legends(axes, figure, is_ours=ax is None)


# ---- Checks and values ----


def _check_pair(X: object, y: object) -> None:
    if (X is None) != (y is None):
        raise ValueError(f"X and y must be given together or not at all, got only {'y' if X is None else 'X'}")


def _refuse_idle(**given: object) -> None:
    """Raise ValueError for arguments of the criterion without rows to judge by; None stands for a default."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must not be given without X and y, the rows to judge by, got {short(value)}")


def _auc_per_round(model: StumpEnsemble, X: object, y: object) -> NDArray[np.float64]:
    staged = iter(model.staged_decision_function(X))
    first = next(staged)
    labels = check_labels(y, first.size)
    others = labels == (-1 if np.any(labels == -1) else 0)
    if not (np.any(labels == 1) and others.any()):
        raise ValueError("y must hold positive rows (+1) and negative (-1) or unlabelled ones (0)")
    judged = others | (labels == 1)
    truth = np.where(labels[judged] == 1, 1, -1)
    return np.array([auc(truth, scores[judged]) for scores in (first, *staged)])
