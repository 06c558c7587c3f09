"""Figures show what the models say, and need matplotlib only when they are drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import fastpu
import fastpu.plot
from helpers import refused

pytest.importorskip("matplotlib", reason="an optional extra").use("Agg")


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
    model = fastpu.fit_pu_svm_path(X, y, cost_pos=3.0, kernel="rbf", gamma=0.1, lam_min=0.1)
    for name, prior in (("puf", None), ("err_star", 0.4)):
        figure = fastpu.plot.path(model, X, y, criterion=name, prior=prior, n_lines=7)
        upper, lower = figure.axes
        assert len(upper.lines) == 7
        best = model.select(name, X, y, prior=prior).params
        assert (lower.lines[1].get_xdata()[0], lower.lines[1].get_ydata()[0]) == (best["lam"], best["value"])
        drawn = lower.lines[0].get_ydata()
        assert max(drawn) <= best["value"] if name == "puf" else min(drawn) >= best["value"]
        assert all(line.get_ydata().max() <= 1 and line.get_ydata().min() >= 0 for line in upper.lines)


def test_axes_of_the_caller_are_used(toy):
    figure = fastpu.plot.path(fastpu.fit_pu_svm_path(*toy))
    ax = figure.add_subplot()
    assert fastpu.plot.path(fastpu.fit_pu_svm_path(*toy), ax=ax, what="alpha") is figure
    assert ax.lines


def test_bad_arguments_are_named(toy):
    X, y = toy
    model = fastpu.fit_pu_svm_path(X, y, kernel="rbf", lam_min=0.5)
    refused(TypeError, "model must be an SVMPath", fastpu.plot.path, model.at(1.0))
    refused(ValueError, "what must be", fastpu.plot.path, model, what="beta")
    refused(ValueError, "what='coef' needs the linear kernel", fastpu.plot.path, model, what="coef")
    refused(ValueError, "given together", fastpu.plot.path, model, X)
    refused(ValueError, "n_lines must be", fastpu.plot.path, model, n_lines=0)
    refused(TypeError, "ax must be two Axes", fastpu.plot.path, model, X, y, ax=fastpu.plot.path(model).axes[0])


def test_matplotlib_is_asked_for_when_a_figure_is_drawn():
    program = """
import sys
sys.modules["matplotlib"] = None
import fastpu, fastpu.plot
X, y = fastpu.datasets.make_pu_toy1(random_state=0)
try:
    fastpu.plot.path(fastpu.fit_svm_path(X, y, kernel="linear"))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "figures need matplotlib: pip install 'fastpu[plot]'\n"
