"""Figures of what happened in a fit: a value for every round or iteration, from `history`, and for every feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import check_int
from fastpu.common._text import describe
from fastpu.common._types import LabelsLike, MatrixLike
from fastpu.data._validate import check_labels
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.metrics import auc
from fastpu.plot._axes import CYCLE, check_pair, draw_lines, mark_scale, open_axes, with_legends
from fastpu.svm.linear_machine import LinearMachine
from fastpu.tree.tree_ensemble import TreeEnsemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_INCHES = 0.22  # of the bar of a feature


def boosting_curves(
    model: StumpEnsemble,
    X: MatrixLike | None = None,
    y: LabelsLike | None = None,
    *,
    ax: Axes | Sequence[Axes] | None = None,
) -> Figure:
    """Draw the objective of boosting after each round and, below it, the AUC of held-out rows.

    Parameters
    ----------
    model : StumpEnsemble
        From `fastpu.fit_pnu_auc_boost`, `fit_rankboost_auc` or `fit_pnu_adaboost`, with at least one round.
    X, y : array-like of shapes (n, d) and (n,), optional
        Further rows with their labels. Their AUC after each round is drawn beside that of the fit's `eval_set`. It
        compares positives with negatives, or with unlabelled rows if there are no negatives.
    ax : matplotlib Axes or pair of them, optional
        Where to draw. By default a new figure. Pass a pair if there are AUCs: from an `eval_set` or folds of the fit,
        or from `X` and `y`.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Rounds that early stopping has dropped are drawn too, and a dotted line shows the last round that was kept. The best
    round of each AUC is marked. The objective of the AUC methods is log J.

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
    check_pair(X, y)
    judged = {"eval_set": "eval_auc", "folds": "fold_auc"}
    aucs = [(name, model.history[key]) for name, key in judged.items() if key in model.history]
    n_panels = 1 + (bool(aucs) or X is not None)
    axes, figure = open_axes(ax, n_panels, (7, 2 + 1.5 * n_panels))
    if X is not None and y is not None:
        aucs.append(("X, y", _auc_per_round(model, X, y)))
    n_run, n_kept = objective.size, model.n_iter
    rounds = np.arange(1, n_run + 1)
    draw_lines(axes[0], rounds, [("_objective", objective)])
    axes[0].set_ylabel("objective")
    if n_kept < n_run:
        for each in axes:
            each.axvline(n_kept, color="0.4", linestyle=":", linewidth=1.2)
        axes[0].lines[-1].set_label(f"early stopping: {n_kept} of {n_run} rounds kept")
    if aucs:
        draw_lines(axes[1], rounds, aucs)
        axes[1].set_ylabel("AUC")
        for line in axes[1].lines[-len(aucs) :]:
            values = np.asarray(line.get_ydata())
            best = int(np.argmax(values))
            line.set_label(f"{line.get_label()}: best {values[best]:.4f} after {best + 1} round{'s' * (best > 0)}")
            axes[1].plot([best + 1], [values[best]], "o", color=line.get_color(), markersize=4)
    axes[-1].set_xlabel("round")
    mark_scale(axes[-1], n_run)
    return with_legends(axes, figure, is_ours=ax is None)


def label_changes(model: LinearMachine | MappingMachine, *, ax: Axes | Sequence[Axes] | None = None) -> Figure:
    """Draw how many rows changed sides in each iteration, and the sizes of the sets.

    Parameters
    ----------
    model : LinearMachine or MappingMachine
        From one of these functions:

        - `fastpu.fit_isvm` or `fit_ipsi`: the upper Axes show how many pseudo-labels each classifier changed, and the
          lower ones how many unlabelled rows it calls negative.
        - `fit_bpsi`: how many rows entered or left the flat part of the loss.
        - `fit_svmc` or `fit_smc`: the upper Axes show how many rows were rejected for the first time, and how many
          negatives that had been dropped came back; the lower ones how many rows are in N, and how many were never
          rejected.
    ax : matplotlib Axes or pair of them, optional
        Where to draw: a pair, or one for `fit_bpsi`. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Iteration 0 is the first classifier, or the mapping. If later iterations were undone, a dotted line shows the one
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
    elif isinstance(model, MappingMachine):
        changes = {"rejected for the first time": history["n_new"], "back into N": history["n_back"]}
        panels = [
            ("rows changed", changes),
            ("unlabelled rows", {"never rejected": history["n_left"], "in N": history["n_neg"]}),
        ]
    else:
        raise TypeError(
            f"model must be a LinearMachine or MappingMachine, whose history holds label changes, got {describe(model)}"
        )
    axes, figure = open_axes(ax, len(panels), (7, 1.5 + 2 * len(panels)))
    n_run = len(next(iter(panels[0][1].values())))
    for each, (ylabel, series) in zip(axes, panels, strict=True):
        draw_lines(each, np.arange(n_run), list(series.items()))
        each.set_ylabel(ylabel)
        highest = max(1, *(int(values.max()) for values in series.values()))
        each.set_ylim(-0.04 * highest, 1.06 * highest)
        each.yaxis.get_major_locator().set_params(integer=True)
        if model.n_iter < n_run - 1:
            each.axvline(model.n_iter, color="0.4", linestyle=":", linewidth=1.2, label=f"kept: {model.n_iter}")
    axes[-1].set_xlabel("iteration")
    mark_scale(axes[-1], n_run)
    return with_legends(axes, figure, is_ours=ax is None)


def importances(model: StumpEnsemble | TreeEnsemble, *, n_lines: int = 20, ax: Axes | None = None) -> Figure:
    """Draw the importance of the features that matter most, the largest above.

    Parameters
    ----------
    model : StumpEnsemble or TreeEnsemble
        From a boosting function or `fastpu.fit_forest`.
    n_lines : int, default 20
        Most features to draw. Features that no stump or split uses are left out.
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    The length of a bar is the feature's share of the gain of all splits on the training rows. Features that carry the
    same information share the gain that one of them alone would have.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> model = fastpu.baselines.fit_rankboost_auc(X, truth, n_rounds=30)
    >>> fastpu.plot.importances(model).axes[0].get_xlabel()
    'share of the gain'
    """
    if not isinstance(model, StumpEnsemble | TreeEnsemble):
        raise TypeError(
            f"model must be a StumpEnsemble or a TreeEnsemble (a classifier keeps it as model_), got {describe(model)}"
        )
    most = check_int("n_lines", n_lines, low=1)
    shares = model.feature_importances
    used = int(np.count_nonzero(shares))
    if not used:
        raise ValueError(f"model must use features, got one without (status {model.status!r})")
    order = np.argsort(-shares, kind="stable")[: min(most, used)]
    axes, figure = open_axes(ax, 1, (7, 1.2 + _INCHES * order.size))
    names = tuple(map(str, model.feature_names or ())) or tuple(
        f"feature {column}" for column in range(model.n_features)
    )
    axes[0].barh(np.arange(order.size), shares[order], color=CYCLE[0], height=0.7)
    axes[0].set_yticks(np.arange(order.size), [names[column] for column in order])
    axes[0].invert_yaxis()
    axes[0].set_xlabel("share of the gain" + (f" ({order.size} of {used} features)" if order.size < used else ""))
    return figure


def _auc_per_round(model: StumpEnsemble, X: MatrixLike, y: LabelsLike) -> NDArray[np.float64]:
    staged = iter(model.staged_decision_function(X))
    first = next(staged)
    labels = check_labels(y, first.size)
    others = labels == (-1 if np.any(labels == -1) else 0)
    if not (np.any(labels == 1) and others.any()):
        raise ValueError("y must hold positive rows (+1) and negative (-1) or unlabelled ones (0)")
    judged = others | (labels == 1)
    truth = np.where(labels[judged] == 1, 1, -1)
    return np.array([auc(truth, scores[judged]) for scores in (first, *staged)])
