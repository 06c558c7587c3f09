"""Figures of a ranking: what is found over what is flagged, by labelled rows and by rows that were checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.audit import Audit
from fastpu.common._params import check_k
from fastpu.common._text import describe
from fastpu.common._types import GroupsLike, LabelsLike, RandomState, VectorLike
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.metrics import RankingCurve, RankingEstimate, ranking_curve, recall_at_k
from fastpu.metrics._labelled_scores import read_rows
from fastpu.plot._axes import CYCLE, GREY, draw_banded, open_axes, with_legends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_BAND = "90 % intervals"


def ranking(
    y: LabelsLike,
    scores: VectorLike,
    *,
    k: float | None = None,
    groups: GroupsLike | None = None,
    n_boot: int = 200,
    random_state: RandomState = 0,
    ax: Axes | Sequence[Axes] | None = None,
) -> Figure:
    """Draw recall and lift over the share of the unlabelled rows that is flagged, with intervals of 90 %.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows; there must be one of each.
    scores : array-like of shape (n,)
        Scores of the rows by a model that was not fitted to them, such as out-of-bag scores. Rows whose score is NaN
        are left out, with a warning.
    k : int or float, optional
        A number of flagged rows (an integer), or a share of the unlabelled rows (a float). Its recall and lift are
        marked.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. The bands then
        count groups and not rows. By default each row counts by itself.
    n_boot : int, default 200
        The number of bootstrap samples for the bands, which are 90 % intervals for each single point, from 0 to 10^9.
        With 0 there are no bands.
    random_state : int >= 0, numpy.random.Generator or None, default 0
        Seed or generator that draws the samples. None takes a fresh seed.
    ax : pair of matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    The dashed lines are those of random scores. The axis of the share is logarithmic, because the first few rows matter
    most. It begins where two labelled rows are found, or at the mark: with fewer labelled rows the lift is unknown.

    Examples
    --------
    >>> import numpy as np, fastpu.plot
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [100, 1000])
    >>> scores = np.concatenate([rng.normal(2, 1, 150), rng.normal(0, 1, 950)])  # 50 unlabelled rows are positive
    >>> figure = fastpu.plot.ranking(y, scores, k=50)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['recall', 'lift']
    """
    rows = read_rows("plot.ranking", y, scores)
    warn_of_other_order(y, other="y", groups=groups)
    clusters = cluster_numbers(groups, rows.every.size)
    own = None if clusters is None else rows.of_rows(clusters)
    curve = ranking_curve(rows.labels, rows.scores, groups=own, n_boot=n_boot, random_state=random_state)
    n_unl = int(curve.n_flagged[-1])
    marked = None if k is None else check_k(k, n_unl)
    axes, figure = open_axes(ax, 2, (7, 5.5))
    n_pos = int(np.count_nonzero(rows.labels == 1))
    sizes = f"{n_pos:,} positive, {n_unl:,} unlabelled rows"
    draw_banded(axes[0], curve.share, curve.recall, curve.recall_interval, f"recall ({sizes})", _BAND)
    draw_banded(axes[1], curve.share, curve.lift, curve.lift_interval, "lift", _BAND)
    axes[0].plot(curve.share, curve.share, label="random scores", **GREY)
    axes[1].axhline(1.0, label="random scores", **GREY)
    share = 1.0 if marked is None else marked / n_unl
    if marked is not None:
        at = recall_at_k(rows.labels, rows.scores, marked, groups=own, n_boot=n_boot, random_state=random_state)
        _mark(axes[0], share, 1.0, at, f"{marked:,} rows flagged: recall")
        _mark(axes[1], share, share, at, f"{marked:,} rows flagged: lift")
    shown = (n_pos * curve.recall >= 2) | (curve.n_flagged == n_unl)
    first = min(curve.share[shown][0], share)
    highest = (curve.lift if curve.lift_interval is None else curve.lift_interval[:, 1])[curve.share >= first].max()
    for each, name in zip(axes, ("recall", "lift"), strict=True):
        each.set_xscale("log")
        each.set_xlim(0.9 * first, 1.1)
        each.set_ylabel(name)
        each.set_ylim(bottom=0)
    axes[1].set_ylim(top=1.05 * max(highest, 1.0))
    axes[-1].set_xlabel("share of the unlabelled rows that is flagged")
    return with_legends(axes, figure, is_ours=ax is None, entry=3.2)


def _mark(ax: Any, share: float, unit: float, at: float | RankingEstimate, name: str) -> None:
    """Draw a marker at a share, with the value in these units and the interval if there is one."""
    value, interval = float(at) / unit, ""
    if isinstance(at, RankingEstimate):
        low, high = (end / unit for end in at.interval)
        interval = f" ({low:.3g} to {high:.3g})"
        ax.plot([share, share], [low, high], color=CYCLE[1], linewidth=1.6)
    ax.plot([share], [value], "o", color=CYCLE[1], label=f"{name} {value:.3g}{interval}")


def audit(found: Audit, *, before: RankingCurve | None = None, ax: Axes | Sequence[Axes] | None = None) -> Figure:
    """Draw precision and recall of the first rows of a ranking, as the checked rows show them, with intervals.

    Parameters
    ----------
    found : Audit
        From `fastpu.audit.estimate`.
    before : RankingCurve, optional
        The curve of the same ranking by labelled rows alone, from `fastpu.metrics.ranking_curve`, to compare with. It
        has a precision only if it was made with a prior.
    ax : pair of matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Marks show the places of the checked rows in the ranking: positive ones at the top of the first Axes, negative ones
    at its bottom.

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
                each.plot(before.n_flagged, values, label="by labelled rows alone", **GREY)
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
