"""Figures of rows: where a model puts them in the plane, and the scores that it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_int, check_scores_rows
from fastpu.common._text import columns_named, describe, where_column
from fastpu.common._types import LabelsLike, MatrixLike, ScoresRows
from fastpu.data._categories import categorical_columns
from fastpu.data._tables import known_table, table_library
from fastpu.data._validate import check_labels, check_matrix
from fastpu.plot._axes import groups_of, open_axes, with_legends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ABOVE, _BELOW = (0, 114, 178), (230, 159, 0)  # blue and orange, in 0 ... 255
_TINTS = (0.10, 0.18, 0.27, 0.38)  # of the bands of scores, from the threshold outwards
_SCORER = "model must be a fitted model or have a decision_function"
_MANY = 500  # points above which a group is drawn smaller, and as pixels in vector formats


def decision_regions(
    model: ScoresRows,
    X: MatrixLike,
    y: LabelsLike,
    *,
    resolution: int = 200,
    max_rows: int = 2000,
    ax: Axes | None = None,
) -> Figure:
    """Draw where in the plane a model of two features predicts +1 (blue) and -1 (orange), and rows on top.

    Parameters
    ----------
    model : Model
        A model that was fitted to two features, or any object with `decision_function` (and `threshold`, if that is not
        0).
    X : array-like, sparse matrix or DataFrame of shape (n, 2)
        Rows to draw. They also set the limits of the axes.
    y : array-like of shape (n,)
        Labels: +1 for positive rows (blue circles), 0 for unlabelled rows (grey dots), -1 for negative rows (orange
        triangles). True labels {1, -1} are taken too.
    resolution : int, default 200
        Points along each axis at which the model is evaluated.
    max_rows : int, default 2000
        Most rows of each label that are drawn. If there are more, a random sample is drawn, and the legend says so.
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Each side has four tints, and each tint covers a quarter of the side; darker is further from the threshold. On the
    line the score equals the threshold. Rows with NaN or infinite entries are not drawn, and the legend counts them.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_pu_toy2(160, random_state=0)
    >>> y = [1 if t > 0 and i % 2 else 0 for i, t in enumerate(truth)]
    >>> figure = fastpu.plot.decision_regions(fastpu.fit_svmc(X, y), X, y)
    >>> figure.axes[0].get_ylabel()
    'feature 1'
    """
    check_scores_rows(model, _SCORER)
    matrix = check_matrix(X, finite=False, takes_categories=True)
    if matrix.n_features != 2:
        raise ValueError(f"X must have 2 features (columns) to be drawn in the plane, got {matrix.n_features}")
    for column in (c for c in categorical_columns(matrix.categories) if matrix.categories[str(c)]):
        where = where_column(column, matrix.feature_names)
        raise TypeError(f"X must have two columns of numbers to be drawn in the plane, got categories in {where}")
    labels = check_labels(y, matrix.n_rows)
    resolution = check_int("resolution", resolution, low=2, high=2000)
    max_rows = check_int("max_rows", max_rows, low=1)
    known = getattr(model, "n_features", 2)
    if known != 2:
        raise ValueError(f"model must be one of 2 features, got one of {known}")
    known_names = matrix.feature_names or getattr(model, "feature_names", None)
    names = known_names or ("feature 0", "feature 1")
    points: NDArray[Any] = matrix.convert(matrix.dtype, sparse=False).table()
    axes, figure = open_axes(ax, 1, (6, 5))
    plane = axes[0]
    with columns_named(known_names):
        (left, right), (bottom, top) = _spans(points)
        across, up = np.linspace(left, right, resolution), np.linspace(bottom, top, resolution)
        grid = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
        scores, threshold = _score_rows(model, _like(X, grid))
    above = scores > threshold
    distance = np.nan_to_num(np.abs(scores - threshold))  # of an infinite threshold
    shape = (resolution, resolution)
    step_x, step_y = (right - left) / (resolution - 1) / 2, (top - bottom) / (resolution - 1) / 2
    extent = (left - step_x, right + step_x, bottom - step_y, top + step_y)  # a pixel for each point of the grid
    image = _tinted(distance, above).reshape(*shape, 3)
    plane.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
    for side, hue, called in ((above, _ABOVE, "+1"), (~above, _BELOW, "-1")):
        if side.any():
            color = tuple((255 + _TINTS[2] * (part - 255)) / 255 for part in hue)
            plane.plot([], [], "s", color=color, markersize=8, label=f"predicted {called}")
    if above.any() and not above.all():
        # A point at the threshold is below it, as in `predict`, so that the line has a side everywhere.
        height = np.where(above, distance, -np.maximum(distance, np.finfo(float).tiny)).reshape(shape)
        plane.contour(across, up, height, levels=[0.0], colors="black", linewidths=1.2, zorder=1)
        plane.plot([], [], color="black", linewidth=1.2, label=f"score = threshold ({threshold:.4g})")
    _draw_points(plane, points, labels, max_rows)
    plane.set(xlim=(left, right), ylim=(bottom, top), xlabel=names[0], ylabel=names[1])
    return with_legends(axes, figure, is_ours=ax is None, entry=1.6)


def score_histogram(
    model: ScoresRows, X: MatrixLike, y: LabelsLike, *, bins: int = 50, ax: Axes | None = None
) -> Figure:
    """Draw histograms of the scores of positive, unlabelled and negative rows, and the threshold.

    The height of a bin is its share of the rows of its group.

    Parameters
    ----------
    model : Model
        A fitted model, or any object with `decision_function` (and `threshold`, if that is not 0).
    X : array-like, sparse matrix, DataFrame or BinnedFeatures of shape (n, d)
        Rows to score. Take rows that the model was not fitted to.
    y : array-like of shape (n,)
        Labels: +1 for positive rows, 0 for unlabelled rows, -1 for negative rows. True labels {1, -1} are taken too.
    bins : int, default 50
        Number of bins, which are the same for all groups.
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    If the model is good, some unlabelled rows have scores like those of the positives, and the others have lower ones.
    The legend gives the share of each group that ``predict`` calls positive.

    Examples
    --------
    >>> import fastpu, fastpu.plot
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=60, random_state=0)
    >>> model = fastpu.fit_isvm(X[split.train], split.y_train)
    >>> figure = fastpu.plot.score_histogram(model, X[split.train], split.y_train)
    >>> len(figure.axes[0].get_legend().get_texts())
    3
    """
    check_scores_rows(model, _SCORER)
    n_bins = check_int("bins", bins, low=1, high=10_000)
    scores, threshold = _score_rows(model, X)
    labels = check_labels(y, scores.size)
    axes, figure = open_axes(ax, 1, (7, 4))
    edges = _edges(scores, n_bins)
    for group, rows in groups_of(labels):
        shares = np.histogram(scores[rows], edges)[0] / rows.size
        above = np.count_nonzero(scores[rows] > threshold) / rows.size
        is_below = group.label == 0
        axes[0].stairs(
            shares,
            edges,
            fill=is_below,
            facecolor="0.8" if is_below else "none",
            edgecolor=group.color,
            linestyle=group.dash,
            linewidth=0.8 if is_below else 1.6,
            label=f"{group.name} ({rows.size:,}): {above:.1%} above",
        )
    if np.isfinite(threshold):  # everything or nothing may be called positive
        axes[0].axvline(threshold, color="black", linestyle=":", linewidth=1.4, label=f"threshold {threshold:.4g}")
    axes[0].set_xlabel("score")
    axes[0].set_ylabel("share of the group")
    return with_legends(axes, figure, is_ours=ax is None)


def _score_rows(model: Any, X: Any) -> tuple[NDArray[np.float64], float]:
    """Return the scores of rows and the threshold, of a model or of whatever has a `decision_function`."""
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim != 1 or not scores.size:
        raise ValueError(f"model must give one score for each row, got {describe(scores)}")
    if (bad := ~np.isfinite(scores)).any():
        row = int(np.argmax(bad))
        raise ValueError(f"model must give finite scores to be drawn, got {scores[row]} for row {row}")
    return scores, float(getattr(model, "threshold", 0.0))


# ---- Decision regions ----


def _like(X: Any, points: NDArray[np.float64]) -> Any:
    """Return points as a frame where `X` is one: estimators of scikit-learn that were fitted to frames want names."""
    X = known_table(X)
    kind = table_library(X)
    if kind is None:
        return points
    if kind == "pyarrow":
        return type(X).from_arrays(list(points.T), names=X.column_names)
    return type(X)(points, **{"columns" if kind == "pandas" else "schema": list(X.columns)})


def _spans(points: NDArray[Any]) -> list[tuple[float, float]]:
    """Return the limits of each of the two axes: the finite entries and a margin."""
    limits = []
    for column, values in enumerate(points.T):
        finite = values[np.isfinite(values)].astype(np.float64)
        if not finite.size:
            raise ValueError(f"X must have finite entries in column {column} to be drawn, got none")
        low, high = float(finite.min()), float(finite.max())
        margin = 0.06 * (high - low) or max(1.0, 0.1 * abs(low))
        limits.append((low - margin, high + margin))
    return limits


def _tinted(distance: NDArray[np.float64], above: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return a colour for each point: its side of the threshold, darker further away, in bands of equal areas."""
    colors = np.empty((distance.size, 3))
    for side, hue in ((above, _ABOVE), (~above, _BELOW)):
        if not side.any():
            continue
        cuts = np.quantile(distance[side], np.arange(1, len(_TINTS)) / len(_TINTS))
        tint = np.array(_TINTS)[np.searchsorted(np.unique(cuts), distance[side], side="right")]
        colors[side] = 255 + tint[:, None] * (np.array(hue) - 255)
    pixels: NDArray[np.uint8] = colors.round().astype(np.uint8)
    return pixels


def _draw_points(ax: Any, points: NDArray[Any], labels: NDArray[np.int8], max_rows: int) -> None:
    can_be_drawn = np.isfinite(points).all(axis=1)
    for group, rows in groups_of(labels):
        drawn = rows[can_be_drawn[rows]]
        if drawn.size > max_rows:  # the same ones every time
            drawn = drawn[np.sort(np.random.default_rng(0).permutation(drawn.size)[:max_rows])]
        count = f"{rows.size:,}" if drawn.size == rows.size else f"{drawn.size:,} of {rows.size:,}"
        is_many, is_below = drawn.size > _MANY, group.label == 0
        ax.plot(
            points[drawn, 0],
            points[drawn, 1],
            linestyle="none",
            marker=group.marker,
            markersize=(3.5 if is_many else 5) if is_below else (3 if is_many else 6),
            color=group.color,
            alpha=0.6 if is_below or is_many else 1,
            markeredgecolor="none" if is_below or is_many else "white",
            markeredgewidth=0.6,
            rasterized=is_many,
            label=f"{group.name} ({count})",
        )


# ---- Scores ----


def _edges(scores: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    low, high = float(scores.min()), float(scores.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):  # one value, up to rounding
        middle, half = (low + high) / 2, max(0.5, 0.1 * abs(low))
        low, high = middle - half, middle + half
    return np.linspace(low, high, n_bins + 1)
