"""Figures of rows: regions that are those of `predict`, rows and shares that can be counted again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fastpu
import fastpu.plot
from helpers import refused
from test_plot_rounds import legend

Figure = pytest.importorskip("matplotlib.figure", reason="an optional extra").Figure


class Scorer:
    """Scores by a function of the rows, as a model of somebody else's may."""

    def __init__(self, function, threshold=0.0):
        self.decision_function = function
        self.threshold = threshold


@pytest.fixture(scope="module")
def rows():
    X, truth = fastpu.datasets.make_pu_toy2(160, random_state=0)
    return X, np.where((truth > 0) & (np.arange(160) % 2 == 0), 1, np.where(np.arange(160) % 20 == 1, -1, 0))


@pytest.fixture(scope="module")
def model(rows):
    return fastpu.fit_pnu_auc_boost(*rows, n_rounds=20)


def regions(*args, **kwargs):
    (ax,) = fastpu.plot.decision_regions(*args, **kwargs).axes
    ax.figure.canvas.draw()
    return ax


def is_blue(ax):
    pixels = ax.images[0].get_array()
    return pixels[:, :, 2] > pixels[:, :, 0]


# ---- Decision regions ----


def test_pixels_are_what_predict_says(rows, model):
    ax = regions(model, *rows, resolution=40)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    grid = np.array([[x, y] for y in np.linspace(bottom, top, 40) for x in np.linspace(left, right, 40)])
    np.testing.assert_array_equal(is_blue(ax).ravel(), model.predict(grid) == 1)
    assert ax.images[0].get_extent()[0] == pytest.approx(left - (right - left) / 39 / 2)


def test_rows_of_each_label_are_drawn_and_counted(rows, model):
    X, y = rows
    ax = regions(model, X, y)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines if line.get_xdata().size}
    for label, name in ((1, "positive"), (0, "unlabelled"), (-1, "negative")):
        np.testing.assert_array_equal(lines[f"{name} ({np.sum(y == label)})"], X[y == label])
    assert legend(ax)[:3] == ["predicted +1", "predicted -1", f"score = threshold ({model.threshold:.4g})"]
    markers = [line.get_marker() for line in ax.lines[-3:]]
    assert len(set(markers)) == 3  # told apart without colour


def test_border_is_where_the_score_is_the_threshold():
    X = np.array([[-1.0, -1.0], [1.0, 1.0]])
    ax = regions(Scorer(lambda rows: rows[:, 0], 0.25), X, [0, 1])
    (path,) = ax.collections[0].get_paths()
    np.testing.assert_allclose(path.vertices[:, 0], 0.25, atol=1e-9)


def test_many_rows_are_sampled_and_drawn_as_pixels(rows, model):
    X, y = np.repeat(rows[0], 100, axis=0), np.repeat(rows[1], 100)
    ax = regions(model, X, y, resolution=10, max_rows=700)
    n_pos = np.sum(y == 1)
    assert f"positive (700 of {n_pos:,})" in legend(ax)
    assert all(line.get_xdata().size == 700 and line.get_rasterized() for line in ax.lines[-3:])
    again = regions(model, X, y, resolution=10, max_rows=700)
    np.testing.assert_array_equal(ax.lines[-1].get_xydata(), again.lines[-1].get_xydata())


@pytest.mark.parametrize("score", [1.0, -1.0, 0.0])
def test_constant_scores_have_one_region_and_no_border(rows, score):
    ax = regions(Scorer(lambda X: np.full(len(X), score)), *rows, resolution=10)
    assert len(ax.collections) == 0
    assert is_blue(ax).all() == is_blue(ax).any() == (score > 0)
    assert legend(ax)[0] == f"predicted {'+1' if score > 0 else '-1'}"


def test_threshold_may_be_infinite(rows):
    assert not is_blue(regions(Scorer(lambda X: X[:, 0], np.inf), *rows, resolution=10)).any()
    assert is_blue(regions(Scorer(lambda X: X[:, 0], -np.inf), *rows, resolution=10)).all()


def test_rows_may_be_sparse_float32_missing_or_a_single_one(rows, model):
    X, y = rows
    ax = regions(model, sp.csr_array(X.astype(np.float32)), y, resolution=10)
    np.testing.assert_array_equal(ax.lines[-1].get_xydata(), X.astype(np.float32)[y == 1])
    holes = X.copy()
    holes[np.flatnonzero(y == 1)[0], 0] = np.nan
    holes[np.flatnonzero(y == 1)[1], 1] = np.inf
    n_pos = np.sum(y == 1)
    assert f"positive ({n_pos - 2} of {n_pos})" in legend(regions(model, holes, y, resolution=10))
    ax = regions(model, [[3.0, 4.0]], [1], resolution=10)
    assert ax.get_xlim() == (2, 4)
    assert legend(ax)[-1] == "positive (1)"


def test_axes_have_the_names_of_the_columns(rows):
    X, y = rows
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["height", "width"])
    model = fastpu.fit_pnu_auc_boost(frame, y, n_rounds=3)
    for ax in (regions(model, frame, y, resolution=5), regions(model, X, y, resolution=5)):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "width")


def test_other_peoples_models_get_frames_where_the_rows_are_one(rows):
    X, y = rows
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame({"height": X[:, 0], "width": X[:, 1]})
        linear = pytest.importorskip("sklearn.linear_model").LogisticRegression().fit(frame, y == 1)
        ax = regions(linear, frame, y, resolution=10)
        assert ax.get_xlabel() == "height"
        assert is_blue(ax).any()
        assert regions(fastpu.fit_isvm(frame, y == 1), frame, y, resolution=10).get_ylabel() == "width"


def test_bad_rows_are_named(rows, model):
    X, y = rows
    draw = fastpu.plot.decision_regions
    refused(TypeError, "model must be a fitted model or have a decision_function, got 3 (int)", draw, 3, X, y)
    refused(
        ValueError, "X must have 2 features (columns) to be drawn in the plane, got 3", draw, model, np.ones((2, 3)), y
    )
    words = pd.DataFrame({"height": X[:, 0], "kind": np.where(y == 1, "a", "b")})
    forest = fastpu.fit_forest(words, y == 1, n_trees=2, random_state=0)
    categories = "X must have two columns of numbers to be drawn in the plane, got categories in column 1 ('kind')"
    refused(TypeError, categories, draw, forest, words, y)
    wide = fastpu.fit_pnu_auc_boost(np.column_stack([X, X]), y, n_rounds=2)
    refused(ValueError, "model must be one of 2 features, got one of 4", draw, wide, X, y)
    refused(ValueError, "y must have one entry per row of the data (160), got 3", draw, model, X, y[:3])
    refused(ValueError, "resolution must be an integer in [2, 2000], got 1", draw, model, X, y, resolution=1)
    refused(ValueError, "max_rows must be an integer >= 1, got 0", draw, model, X, y, max_rows=0)
    refused(ValueError, "X must have finite entries in column 1", draw, model, [[1.0, np.nan]], [1])
    for value in (np.nan, np.inf):
        text = f"model must give finite scores to be drawn, got {value} for row 0"
        refused(ValueError, text, draw, Scorer(lambda X, value=value: np.full(len(X), value)), X, y)
    refused(ValueError, "model must give one score for each row", draw, Scorer(lambda X: X), X, y)


# ---- Histogram of scores ----


def histogram(*args, **kwargs):
    (ax,) = fastpu.plot.score_histogram(*args, **kwargs).axes
    ax.figure.canvas.draw()
    return ax


def test_shares_of_each_group_sum_to_one_and_are_those_of_the_scores(rows, model):
    X, y = rows
    ax = histogram(model, X, y, bins=20)
    scores = model.decision_function(X)
    assert len(ax.patches) == 3
    for patch, label in zip(ax.patches, (0, -1, 1), strict=True):
        values, edges, _ = patch.get_data()
        assert values.sum() == pytest.approx(1)
        expected = np.histogram(scores[y == label], edges)[0] / np.sum(y == label)
        np.testing.assert_allclose(values, expected)
        assert (edges[0], edges[-1]) == (scores.min(), scores.max())


def test_threshold_is_drawn_and_the_shares_above_are_those_of_predict(rows, model):
    X, y = rows
    ax = histogram(model, X, y)
    assert ax.lines[0].get_xdata() == [model.threshold, model.threshold]
    called = model.predict(X) == 1
    names = {0: "unlabelled", -1: "negative", 1: "positive"}
    expected = [f"{names[k]} ({np.sum(y == k)}): {called[y == k].mean():.1%} above" for k in (0, -1, 1)]
    assert sorted(legend(ax)) == sorted([*expected, f"threshold {model.threshold:.4g}"])


def test_constant_scores_and_infinite_thresholds_are_drawn(rows):
    X, y = rows
    for score in (1.0, 0.0, -1e300):
        ax = histogram(Scorer(lambda X, s=score: np.full(len(X), s)), X, y)
        assert all(patch.get_data()[0].max() == 1 for patch in ax.patches)
    ax = histogram(Scorer(lambda X: X[:, 0], np.inf), X, y)
    assert not ax.lines  # it is nowhere
    assert all(text.endswith(": 0.0% above") for text in legend(ax))


def test_binned_rows_are_scored_as_such(rows):
    X, y = rows
    binned = fastpu.bin_features(X)
    model = fastpu.fit_pnu_auc_boost(binned, y, n_rounds=5)
    one, other = (histogram(model, rows, y).patches[0].get_data()[0] for rows in (X, binned))
    np.testing.assert_array_equal(one, other)


def test_bad_histograms_are_named(rows, model):
    X, y = rows
    draw = fastpu.plot.score_histogram
    refused(TypeError, "model must be a fitted model or have a decision_function, got None", draw, None, X, y)
    refused(ValueError, "bins must be an integer in [1, 10000], got 0", draw, model, X, y, bins=0)
    refused(ValueError, "X must have 2 features (columns) like the training data, got 1", draw, model, X[:, :1], y)
    refused(ValueError, "y must have one entry per row of the data (160), got 159", draw, model, X, y[1:])
