"""A figure of the features that a model of stumps or trees relies on."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import check_int
from fastpu.common._text import describe
from fastpu.plot._axes import CYCLE, check_axes, open_axes
from fastpu.tree.tree_ensemble import TreeEnsemble

_INCHES = 0.22  # of a bar


def importances(model: StumpEnsemble | TreeEnsemble, *, n_lines: int = 20, ax: Any = None) -> Any:
    """Draw the importance of the features that matter most, the largest above.

    Parameters
    ----------
    model : StumpEnsemble or TreeEnsemble
        From a boosting function or `fastpu.fit_forest`.
    n_lines : int, default 20
        Most features; those that no stump or split uses are left out.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    A bar is a feature's share in what all splits have gained on the training rows. Features that stand for each other
    share what one of them alone would have.

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
    given = check_axes(ax, 1)
    order = np.argsort(-shares, kind="stable")[: min(most, used)]
    axes, figure = open_axes(given, 1, (7, 1.2 + _INCHES * order.size))
    names = model.feature_names or tuple(f"feature {column}" for column in range(model.n_features))
    axes[0].barh(np.arange(order.size), shares[order], color=CYCLE[0], height=0.7)
    axes[0].set_yticks(np.arange(order.size), [names[column] for column in order])
    axes[0].invert_yaxis()
    axes[0].set_xlabel("share of the gain" + (f" ({order.size} of {used} features)" if order.size < used else ""))
    return figure
