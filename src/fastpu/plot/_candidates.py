"""A figure of the candidates of an ensemble, how well each ranks, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastpu.common._text import describe
from fastpu.ensemble._model import Ensemble
from fastpu.plot._axes import CYCLE, open_axes

_INCHES = 0.4  # of a candidate


def candidates(model: Ensemble, *, ax: Any = None) -> Any:
    """Draw the AUC of each candidate of an ensemble on held-out rows, with its interval and its weight.

    Parameters
    ----------
    model : Ensemble
        From `fastpu.fit_ensemble`, with a candidate that has been judged on held-out rows.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError, ValueError
        If an argument is not as described, or no row was held out.

    Notes
    -----
    The best candidate is above. The line of another one is two standard errors of its difference from the best to
    either side: where it reaches the dashed line, the two cannot be told apart by so many labels. Candidates judge by
    the same rows, so these lines are shorter than those of single AUCs would be. Hollow marks have the weight 0.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=60, random_state=0)
    >>> model = fastpu.fit_ensemble(X[split.train], split.y_train, random_state=0)
    >>> fastpu.plot.candidates(model).axes[0].get_xlabel()
    'AUC on held-out rows'
    """
    if not isinstance(model, Ensemble):
        raise TypeError(f"model must be an Ensemble (a classifier keeps it as model_), got {describe(model)}")
    auc, error = model.history["auc"], model.history["error_of_difference"]
    known = np.flatnonzero(np.isfinite(auc))
    if not known.size:
        raise ValueError("model must have a candidate that was judged on held-out rows, got one without")
    order = known[np.argsort(-auc[known], kind="stable")]
    axes, figure = open_axes(ax, 1, (7, 1.2 + _INCHES * order.size))
    places = np.arange(order.size)
    spread = 2.0 * np.nan_to_num(error[order])
    axes[0].errorbar(auc[order], places, xerr=spread, fmt="none", ecolor=CYCLE[0], capsize=3)
    taken = model.weights[order] > 0
    axes[0].plot(auc[order][taken], places[taken], "o", color=CYCLE[0])
    axes[0].plot(auc[order][~taken], places[~taken], "o", color=CYCLE[0], markerfacecolor="white")
    axes[0].axvline(auc[order[0]], color="0.5", linestyle="--", linewidth=1)
    axes[0].set_yticks(places, [f"{model.candidates[k]} ({model.weights[k]:.2f})" for k in order])
    axes[0].invert_yaxis()
    axes[0].set_xlabel("AUC on held-out rows")
    return figure
