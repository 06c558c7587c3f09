"""Figures over a parameter show what the path, or the table of `select`, says."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
import fastpu.plot
from fastpu.plot._paths import best_by_value
from helpers import refused
from test_plot_rounds import legend

Figure = pytest.importorskip("matplotlib.figure", reason="an optional extra").Figure


@pytest.fixture(scope="module")
def toy():
    X, truth = fastpu.datasets.make_pu_toy2(160, random_state=0)
    return X, np.where((truth > 0) & (np.arange(160) % 2 == 0), 1, 0)


def test_coefficients_are_drawn_at_the_breakpoints(toy):
    model = fastpu.fit_pu_svm_path(*toy)
    figure = fastpu.plot.path(model)
    (ax,) = figure.axes
    assert len(ax.lines) == 2
    for line, coef in zip(ax.lines, model.coef.T, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), model.lams)
        np.testing.assert_array_equal(line.get_ydata(), coef)
    assert ax.get_xscale() == "log"
    figure.canvas.draw()


def test_criterion_is_drawn_below_with_the_best_lam(toy):
    X, y = toy
    model = fastpu.fit_pu_svm_path(X, y, C_pos=3.0, kernel="rbf", gamma=0.1, lam_min=0.1)
    for name, prior in (("puf", None), ("err_star", 0.4)):
        figure = fastpu.plot.path(model, X, y, scoring=name, prior=prior, n_lines=7)
        upper, lower = figure.axes
        assert len(upper.lines) == 7
        best = model.select(name, X, y, prior=prior).params
        assert (lower.lines[1].get_xdata()[0], lower.lines[1].get_ydata()[0]) == (best["lam"], best["value"])
        drawn = lower.lines[0].get_ydata()
        assert (max(drawn) if name == "puf" else min(drawn)) == best["value"]
        assert all(line.get_ydata().max() <= 1 and line.get_ydata().min() >= 0 for line in upper.lines)


def test_criterion_is_drawn_as_select_evaluates_it_above_the_first_breakpoint_too():
    rng = np.random.default_rng(0)
    positive = rng.random(150) < 0.45
    X = rng.normal(size=(150, 2)) + 1.5 * positive[:, None]
    y = np.where(positive & (rng.random(150) < 0.5), 1, 0)
    model = fastpu.fit_pu_svm_path(X, y, C_pos=5.0)
    best = model.select("puf", X, y).params
    assert best["lam"] > model.lams[0]  # which used to be joined to it by a straight line
    lower = fastpu.plot.path(model, X, y).axes[1]
    line = lower.lines[0]
    assert line.get_drawstyle() == "steps-post"
    lam, value = line.get_data()
    assert value[-1] == value[-2]
    assert np.all(np.diff(lam) < 0)
    assert np.all(value[1:-1] != value[:-2])  # a step wherever it is drawn
    assert lam[0] >= best["lam"]
    assert lam[-1] == model.lams[-1]
    for at, drawn in zip(np.sqrt(lam[:-1] * lam[1:]), value[:-1], strict=True):  # in the middle of each step
        scores = model.at(at).decision_function(X)
        assert fastpu.metrics.puf_score(y, scores) == pytest.approx(drawn, abs=1e-12)
    assert np.sum(lam > model.lams[0]) > 2


def test_rows_that_are_far_off_do_not_squeeze_the_rest(toy):
    X, y = toy
    model = fastpu.fit_pu_svm_path(X, y, C_pos=5.0)  # above the first breakpoint one class is heavier
    away, labels = np.vstack([X, 1e9 * model.coef[0], -1e9 * model.coef[0]]), np.append(y, [0, 0])
    line, mark = fastpu.plot.path(model, away, labels).axes[1].lines[:2]
    assert line.get_xdata()[0] == 1000 * model.lams[0]
    best = model.select("puf", away, labels).params
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (best["lam"], best["value"])


def test_bad_arguments_are_named(toy):
    X, y = toy
    model = fastpu.fit_pu_svm_path(X, y, kernel="rbf", lam_min=0.5)
    refused(TypeError, "model must be an SVMPath", fastpu.plot.path, model.at(1.0))
    refused(ValueError, "what='coef' needs the linear kernel", fastpu.plot.path, model, what="coef")
    refused(ValueError, "given together", fastpu.plot.path, model, X)
    for name, value in (("scoring", "err_star"), ("prior", 0.3), ("prior", np.arange(2)), ("scenario", "single_set")):
        text = f"{name} must not be given without X and y, the rows to judge by, got {value!r}"
        refused(ValueError, text, fastpu.plot.path, model, **{name: value})
    refused(ValueError, "scoring must not", fastpu.plot.path, model, scoring="err_star", prior=0.3)
    refused(ValueError, "scenario must be one of", fastpu.plot.path, model, scenario="both")
    refused(ValueError, "prior must not be given for scoring='puf'", fastpu.plot.path, model, X, y, prior=0.3)
    refused(TypeError, "ax must be two Axes", fastpu.plot.path, model, X, y, ax=fastpu.plot.path(model).axes[0])


def test_few_lines_are_named_and_many_are_counted(toy):
    X, y = toy
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["height", "width"])
    (ax,) = fastpu.plot.path(fastpu.fit_pu_svm_path(frame, y)).axes
    assert legend(ax) == ["height", "width"]
    (ax,) = fastpu.plot.path(fastpu.fit_pu_svm_path(X, y, kernel="rbf", lam_min=0.5), n_lines=20).axes
    assert ax.get_legend() is None
    assert ax.get_ylabel() == "a / c (20 of 160)"


def test_lam_falls_from_left_to_right_also_on_axes_that_share_it(toy):
    X, y = toy
    model = fastpu.fit_pu_svm_path(X, y)
    shared = fastpu.plot.path(model, X, y).axes
    apart = Figure().subplots(2, 1)
    fastpu.plot.path(model, X, y, ax=apart)
    assert all(ax.xaxis_inverted() and ax.get_xscale() == "log" for ax in (*shared, *apart))


# ---- Selection ----


@pytest.fixture(scope="module")
def chosen(toy):
    grid = {"C_pos": [1e-4, 0.1, 1.0, 10.0], "kernel": ["linear", "rbf"]}
    return fastpu.select(fastpu.fit_bsvm, *toy, grid, C_unl=0.5, random_state=0)


def test_line_goes_through_the_best_point_of_each_value(chosen):
    (ax,) = fastpu.plot.selection(chosen).axes
    dots, line, mark = ax.lines
    table = chosen.table
    shown = np.isfinite(table["score"])
    np.testing.assert_array_equal(np.sort(dots.get_ydata()), np.sort(table["score"][shown]))
    for value, score in zip(*line.get_data(), strict=True):
        assert score == table["score"][table["param_C_pos"] == value].max()
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (chosen.best_params["C_pos"], chosen.best_score)
    assert (ax.get_xlabel(), ax.get_xscale(), ax.get_ylabel()) == ("C_pos", "log", "puf (larger is better)")
    assert not shown.all()
    assert f"{shown.size} points tried ({np.sum(~shown)} inadmissible ones not drawn)" in legend(ax)
    assert f"chosen: {chosen.best_score:.4g} at C_pos = {chosen.best_params['C_pos']:.4g}" in legend(ax)


def test_bars_reach_over_the_folds(chosen):
    (ax,) = fastpu.plot.selection(chosen).axes
    (bars,) = (each for each in ax.collections if hasattr(each, "get_segments"))
    best = chosen.best_index
    folds = [chosen.table[f"fold_{k}"][best] for k in range(4)]
    ends = {float(part[0, 0]): part[:, 1].tolist() for part in bars.get_segments()}
    assert ends[chosen.best_params["C_pos"]] == [min(folds), max(folds)]


def test_words_are_places_on_the_axis(chosen):
    (ax,) = fastpu.plot.selection(chosen, param="kernel").axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["linear", "rbf"]
    assert ax.lines[1].get_linestyle() == "None"
    assert ax.lines[2].get_xdata()[0] == ["linear", "rbf"].index(chosen.best_params["kernel"])
    assert f"chosen: {chosen.best_score:.4g} at kernel = {chosen.best_params['kernel']}" in legend(ax)


def test_smaller_is_better_where_it_is(toy):
    grid = {"C": [0.1, 1.0, 2.0]}
    chosen = fastpu.select(fastpu.fit_isvm, *toy, grid, scoring="err_star", prior=0.3, random_state=0)
    (ax,) = fastpu.plot.selection(chosen).axes
    assert ax.get_ylabel() == "err_star (smaller is better)"
    assert ax.get_xscale() == "linear"
    assert ax.lines[2].get_ydata()[0] == min(ax.lines[1].get_ydata())


def test_points_of_other_grids_are_drawn_with_theirs(toy):
    grid = [{"C_pos": [1.0, 10.0]}, {"C_pos": [1.0], "kernel": ["rbf"]}]
    chosen = fastpu.select(fastpu.fit_bsvm, *toy, grid, C_unl=0.5, admit=["degenerate"], random_state=0)
    for param in ("C_pos", "kernel"):
        (ax,) = fastpu.plot.selection(chosen, param=param).axes
        assert ax.lines[0].get_xdata().size == 3


def test_bad_selections_are_named(toy, chosen):
    refused(TypeError, "chosen must be a Selection, got", fastpu.plot.selection, chosen.model)
    refused(ValueError, "param must be one of 'C_pos', 'kernel', got 'C'", fastpu.plot.selection, chosen, param="C")
    refused(TypeError, "ax must be one of matplotlib Axes, got 3 (int)", fastpu.plot.selection, chosen, ax=3)


def test_values_that_cannot_be_compared_are_told_apart_as_objects():
    centers = np.zeros(2)
    values, ranked = best_by_value([centers, np.ones(2), centers], np.array([1.0, 2.0, 3.0]), 1)
    assert [value is centers for value in values] == [True, False]
    assert [points.tolist() for points in ranked] == [[2, 0], [1]]
