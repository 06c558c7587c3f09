"""The figure of a ranking: its curves are those of the metrics, its marker the value at k."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu.plot
from fastpu.exceptions import EstimateWarning
from fastpu.metrics import lift_at_k, ranking_curve, recall_at_k
from helpers import refused, rows_of
from test_plot_rounds import legend

Figure = pytest.importorskip("matplotlib.figure", reason="an optional extra").Figure


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    return rows_of(rng.normal(1.5, 1, 60), np.concatenate([rng.normal(1.5, 1, 40), rng.normal(size=360)]))


def test_curves_bands_and_markers_are_those_of_the_metrics(scores):
    figure = fastpu.plot.ranking(*scores, k=0.1, n_boot=30)
    curve = ranking_curve(*scores, n_boot=30, random_state=0)
    marks = recall_at_k(*scores, 40, n_boot=30, random_state=0), lift_at_k(*scores, 40, n_boot=30, random_state=0)
    wanted = (curve.recall, curve.recall_interval), (curve.lift, curve.lift_interval)
    for ax, (values, interval), mark, base in zip(figure.axes, wanted, marks, (curve.share, 1), strict=True):
        line, random, ends, point = ax.lines
        np.testing.assert_array_equal(line.get_xdata(), curve.share)
        np.testing.assert_array_equal(line.get_ydata(), values)
        assert (np.asarray(random.get_ydata()) == base).all()
        np.testing.assert_allclose(ends.get_xydata(), [[0.1, mark.interval[0]], [0.1, mark.interval[1]]])
        np.testing.assert_allclose(point.get_xydata(), [[0.1, mark.value]])
        corners = ax.collections[0].get_paths()[0].vertices
        np.testing.assert_allclose(corners[1 : curve.share.size + 1], np.column_stack([curve.share, interval[:, 0]]))
        assert corners[:, 1].max() == interval.max()
        assert ax.get_xscale() == "log"
        assert ax.get_ylim()[0] == 0
        low, high = mark.interval
        flagged = f"40 rows flagged: {ax.get_ylabel()} {mark.value:.3g} ({low:.3g} to {high:.3g})"
        # The lower panel does not name again what the upper one has named.
        assert legend(ax)[1:] == (["90 % intervals", "random scores"] if ax is figure.axes[0] else []) + [flagged]
    assert legend(figure.axes[0])[0] == "recall (60 positive, 400 unlabelled rows)"
    assert figure.axes[1].get_xlabel() == "share of the unlabelled rows that is flagged"


def test_axes_begin_where_two_labelled_rows_are_found_or_at_the_mark(scores):
    curve = ranking_curve(*scores)
    two = curve.share[60 * curve.recall >= 2][0]
    for k, first in ((None, two), (0.5, two), (1, 1 / 400)):
        recall, lift = fastpu.plot.ranking(*scores, k=k).axes
        for ax in (recall, lift):
            assert 0.5 * first < ax.get_xlim()[0] < first
        seen = [line.get_ydata()[line.get_xdata() >= first] for line in lift.lines[:1]]
        assert lift.get_ylim()[1] > max(seen[0])
    nothing = fastpu.plot.ranking(*rows_of([-1.0, -2.0], [1.0, 2.0, 3.0])).axes  # no labelled row above any other
    assert all(ax.get_xlim()[0] < 1 < ax.get_xlim()[1] for ax in nothing)


def test_without_samples_there_are_no_bands_and_without_k_no_marker(scores):
    for ax in fastpu.plot.ranking(*scores, n_boot=0).axes:
        assert (len(ax.lines), len(ax.collections)) == (2, 0)
    marked = fastpu.plot.ranking(*scores, k=1, n_boot=0).axes[0]
    assert legend(marked)[-1] == f"1 rows flagged: recall {recall_at_k(*scores, 1):.3g}"
    assert len(fastpu.plot.ranking(*scores).axes[0].collections) == 1


def test_bad_arguments(scores):
    refused(ValueError, "in (0, 1], got 401", fastpu.plot.ranking, *scores, k=401)
    refused(ValueError, "n_boot must be an integer", fastpu.plot.ranking, *scores, n_boot=-1)
    text = "scores must hold a number for at least one labelled positive row for plot.ranking, got NaN for all 1"
    refused(ValueError, text, fastpu.plot.ranking, [1, 0], [np.nan, 1.0])
    refused(ValueError, "unlabelled row (0) for plot.ranking, got none", fastpu.plot.ranking, [1, 1], [2.0, 1.0])
    refused(TypeError, "random_state must be None", fastpu.plot.ranking, *scores, random_state="x")


def test_bands_and_marks_are_those_of_groups(scores):
    y, values = scores
    owner = [f"c{i // 8}" for i in range(len(y))]
    how = {"groups": owner, "n_boot": 30, "random_state": 0}
    recall = fastpu.plot.ranking(y, values, k=40, groups=owner, n_boot=30).axes[0]
    curve, at = ranking_curve(y, values, **how), recall_at_k(y, values, 40, **how)
    corners = recall.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(corners[1 : curve.share.size + 1, 1], curve.recall_interval[:, 0])
    np.testing.assert_allclose(recall.lines[2].get_ydata(), at.interval)
    assert np.ptp(at.interval) > 1.3 * np.ptp(recall_at_k(y, values, 40, n_boot=30, random_state=0).interval)
    refused(ValueError, "groups must have one entry per row", fastpu.plot.ranking, y, values, groups=[1, 2])


def test_rows_without_a_score_are_left_out_with_one_warning(scores):
    y, values = scores
    lacks = np.isin(np.arange(len(y)), [5, 100])
    with pytest.warns(EstimateWarning, match="plot.ranking: 1 of 60 labelled .* and 1 of 400 unlabelled") as told:
        found = fastpu.plot.ranking(y, np.where(lacks, np.nan, values), k=40, groups=np.arange(len(y)), n_boot=9)
    assert len(told) == 1
    expected = fastpu.plot.ranking(np.asarray(y)[~lacks], np.asarray(values)[~lacks], k=40, n_boot=9)
    for one, other in zip(found.axes, expected.axes, strict=True):
        np.testing.assert_array_equal(one.lines[0].get_ydata(), other.lines[0].get_ydata())
