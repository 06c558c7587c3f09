"""A figure of probabilities: what they say beside what labelled and unlabelled rows count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastpu.common._binomial import largest_shares, least_shares
from fastpu.common._params import check_int
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike
from fastpu.data._clusters import cluster_numbers, effective_number
from fastpu.data._row_labels import warn_of_other_order
from fastpu.metrics._labelled_scores import read_rows
from fastpu.model._prior import PriorEstimate, take_prior_in
from fastpu.plot._axes import CYCLE, GREY, open_axes, with_legends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TAIL = 0.05  # of the intervals, at each end


def calibration(
    y: LabelsLike,
    proba: MatrixLike,
    *,
    prior: float | PriorEstimate | None = None,
    groups: GroupsLike | None = None,
    n_bins: int = 10,
    ax: Axes | None = None,
) -> Figure:
    """Draw a calibration curve without negatives: counted shares of positives over probabilities, by bins.

    The rows are divided into bins by their probabilities. Of the unlabelled rows in a bin the share prior * P / U is
    expected to be positive, where P is the share of all labelled rows that lie in the bin, and U the share of all
    unlabelled rows. Probabilities that are right lie on the diagonal. The figure cannot tell whether the prior is
    right: with twice the prior both axes are twice as large.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows; there must be one of each. The rows must be
        held-out ones, or training rows with out-of-bag probabilities (`TreeEnsemble.oob_predict_proba`).
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of the positive class, or of both classes, as `Model.predict_proba` returns them. Rows with NaN,
        which were in every bag, are left out.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1) among the unlabelled rows, in (0, 1). By default the mean of their
        probabilities, which is the prior that they were calibrated for.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. The bars then
        count groups and not rows. By default each row counts by itself.
    n_bins : int, default 10
        Number of bins. Each holds about the same share of both groups together; rows with equal probabilities stay
        together. If positives are rare, the first bins hold many unlabelled rows.
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Warns
    -----
    EstimateWarning
        If `prior` is an estimate and the data allow very different priors: the counted shares go by its value alone.

    Notes
    -----
    The bars are exact 90 % intervals for the share of labelled rows in each bin. With `groups` they take the rows of a
    group to be alike, and are those of as many rows as there are groups, or of fewer if groups differ in size. The
    share of unlabelled rows is taken as certain, because there are usually many. In bins with few rows a counted share
    may be above 1.

    Examples
    --------
    >>> import numpy as np, fastpu.plot
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, True, False], [200, 300, 700])
    >>> X = (rng.normal(size=1200) + 2 * truth)[:, None]
    >>> y = np.arange(1200) < 200  # 200 labelled positives, and 300 among 1000 unlabelled rows
    >>> model = fastpu.fit_forest(X, y, random_state=0).with_probabilities(prior=0.3, y=y)
    >>> figure = fastpu.plot.calibration(y, model.oob_predict_proba)
    >>> figure.axes[0].get_xlabel()
    'mean probability of the unlabelled rows of a bin'
    """
    labels, values, clusters = _read(y, proba, groups)
    per_row = effective_number(clusters, labels == 1) / np.count_nonzero(labels == 1)
    pos, unl = values[labels == 1], values[labels == 0]
    share = float(unl.mean()) if prior is None else take_prior_in("case_control", prior)[0]
    edges = _edges(pos, unl, check_int("n_bins", n_bins, low=1))
    counts_pos, counts_unl = (np.bincount(np.searchsorted(edges, group), minlength=edges.size) for group in (pos, unl))
    sums = np.bincount(np.searchsorted(edges, unl), unl, edges.size)
    said = sums / counts_unl
    factor = share * unl.size / counts_unl
    counted = factor * counts_pos / pos.size
    some = counts_pos > 0
    low = np.zeros(edges.size)
    counts, n_counted = counts_pos * per_row, pos.size * per_row
    low[some] = least_shares(counts[some], n_counted, _TAIL)
    bars = np.stack([counted - factor * low, factor * largest_shares(counts, n_counted, _TAIL) - counted])
    axes, figure = open_axes(ax, 1, (6, 4.5))
    top = max(float(said.max()), float(counted.max()))
    end = min(top, 1.0)  # counted shares may be above 1, probabilities are not
    axes[0].plot([0, end], [0, end], label="right probabilities", **GREY)
    name = f"by {pos.size:,} positive, {unl.size:,} unlabelled rows, 90 % intervals"
    axes[0].errorbar(said, counted, np.maximum(bars, 0), color=CYCLE[0], marker="o", markersize=4, linewidth=1.2,
                     elinewidth=0.8, capsize=2, label=name)  # fmt: skip
    axes[0].set_xlabel("mean probability of the unlabelled rows of a bin")
    axes[0].set_ylabel(f"share of positives that is counted, prior {share:.3g}")
    axes[0].set_xlim(left=0)
    axes[0].set_ylim(0, 1.15 * top)
    return with_legends(axes, figure, is_ours=ax is None, entry=4.0)


def _read(
    y: LabelsLike, proba: MatrixLike, groups: GroupsLike | None
) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int32] | None]:
    """Return labels, probabilities of the positive class and groups of the rows that have a probability."""
    values = np.asarray(proba, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 2:
        values = values[:, 1]
    if values.ndim != 1:
        raise ValueError(f"proba must have the shape (n,) or (n, 2), got {values.shape}")
    outside = (values < 0) | (values > 1)
    if outside.any():
        raise ValueError(f"proba must be in [0, 1], got {values[outside][0]:g} for row {int(np.argmax(outside))}")
    known = ~np.isnan(values)
    labels = read_rows("plot.calibration", y, np.where(known, values, 0.0)).labels
    for label, what in ((1, "positive row (+1)"), (0, "unlabelled row (0)")):
        if not (known & (labels == label)).any():
            raise ValueError(f"proba must be a number for at least one {what}, got NaN for all")
    warn_of_other_order(y, other="y", groups=groups)
    clusters = cluster_numbers(groups, values.size)
    return labels[known], values[known], None if clusters is None else clusters[known]


def _edges(pos: NDArray[np.float64], unl: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the largest value of each bin, rising; every bin has unlabelled rows."""
    values = np.concatenate([pos, unl])
    mass = np.repeat([0.5 / pos.size, 0.5 / unl.size], [pos.size, unl.size])
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(np.cumsum(mass[order]), np.arange(1, n_bins) / n_bins)
    edges = np.unique(np.append(values[order][np.minimum(ends, values.size - 1)], np.inf))
    kept = edges[np.bincount(np.searchsorted(edges, unl), minlength=edges.size) > 0]
    kept[-1] = np.inf  # what is above the last unlabelled row belongs to its bin
    return kept
