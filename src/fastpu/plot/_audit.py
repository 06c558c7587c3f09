"""The figure of an audit: precision and recall over numbers of first rows, and the rows that were checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastpu.audit import Audit
from fastpu.common._text import describe
from fastpu.metrics import RankingCurve
from fastpu.plot._axes import CYCLE, draw_banded, open_axes, with_legends


def audit(found: Audit, *, before: RankingCurve | None = None, ax: Any = None) -> Any:
    """Draw precision and recall of numbers of first rows by checked rows, with their bands and these rows.

    Parameters
    ----------
    found : Audit
        From `fastpu.audit.estimate`.
    before : RankingCurve, optional
        What the labelled rows alone say of the same ranking, from `fastpu.metrics.ranking_curve`, with a prior for the
        precision: to be seen beside what the checks say.
    ax : pair of matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If an argument is not as described.

    Notes
    -----
    The checked rows stand at their places in the ranking, the positive ones at the top of the first Axes and the
    negative ones at its bottom; so it can be seen where how many were drawn.

    Examples
    --------
    >>> import numpy as np, fastpu.plot
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.1
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = fastpu.audit.plan(scores, 200, random_state=0)
    >>> figure = fastpu.plot.audit(fastpu.audit.estimate(plan, truth[plan.rows]))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['precision', 'recall']
    """
    if not isinstance(found, Audit):
        raise TypeError(f"found must be an Audit, from fastpu.audit.estimate, got {describe(found)}")
    if before is not None and not isinstance(before, RankingCurve):
        raise TypeError(f"before must be a RankingCurve, from fastpu.metrics.ranking_curve, got {describe(before)}")
    axes, figure = open_axes(ax, 2, (7, 5.5))
    curve, band = found.curve, f"{100 * found.level:g} % intervals"
    draw_banded(axes[0], curve.n_flagged, curve.precision, curve.precision_interval, "precision by checked rows", band)
    draw_banded(axes[1], curve.n_flagged, curve.recall, curve.recall_interval, "recall by checked rows", band)
    if before is not None:
        for each, values in zip(axes, (before.precision, before.recall), strict=True):
            if values is not None:
                each.plot(
                    before.n_flagged, values, color="0.4", linestyle="--", linewidth=1, label="by labelled rows alone"
                )
    for answer, height, name, color in ((1, 1.03, "positive", CYCLE[0]), (0, -0.03, "negative", CYCLE[1])):
        place = 1 + found.plan.place[found.answers == answer]
        label = f"{place.size:,} checked rows are {name}"
        axes[0].plot(place, np.full(place.size, height), "|", color=color, markersize=6, label=label)
    for each, name in zip(axes, ("precision", "recall"), strict=True):
        if found.k is not None:
            each.axvline(found.k, color="0.4", linewidth=0.8, label=f"k = {found.k:,}")
        each.set_xscale("log")
        each.set_ylim(-0.06, 1.06)
        each.set_ylabel(name)
    axes[-1].set_xlabel("number of first rows of the ranking")
    return with_legends(axes, figure, is_ours=ax is None, entry=2.6)
