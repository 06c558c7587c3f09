"""What holds for every figure: whose it is, what it needs, and that nothing of it is left behind."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import weakref

import numpy as np
import pytest

import fastpu
import fastpu.plot
from helpers import refused

mpl = pytest.importorskip("matplotlib", reason="an optional extra")
Figure = pytest.importorskip("matplotlib.figure").Figure


def drawn() -> dict[str, tuple]:
    """A call of each function: its arguments."""
    X, truth = fastpu.datasets.make_pu_toy2(160, random_state=0)
    y = np.where((truth > 0) & (np.arange(160) % 2 == 0), 1, 0)
    machine = fastpu.fit_isvm(X, y)
    scores = machine.decision_function(X)
    plan = fastpu.audit.plan(scores, 40, random_state=0)
    return {
        "audit": (fastpu.audit.estimate(plan, truth[plan.rows] > 0, k=50),),
        "boosting_curves": (fastpu.fit_pnu_auc_boost(X, y, n_rounds=3),),
        "calibration": (y, machine.with_probabilities(prior=0.3, X=X, y=y).predict_proba(X)),
        "decision_regions": (machine, X, y),
        "importances": (fastpu.fit_pnu_auc_boost(X, y, n_rounds=3),),
        "label_changes": (fastpu.baselines.fit_bpsi(X, y, C_pos=1.0, C_unl=1.0),),
        "path": (fastpu.fit_pu_svm_path(X, y, lam_min=1.0),),
        "ranking": (y, scores),
        "score_histogram": (machine, X, y),
        "selection": (fastpu.select(fastpu.fit_isvm, X, y, {"C": [0.1, 1.0]}, cv=2, random_state=0),),
    }


CALLS = drawn()


def test_every_figure_is_among_these():
    assert sorted(CALLS) == fastpu.plot.__all__


@pytest.mark.parametrize("name", CALLS)
def test_figure_is_ours_alone_and_goes_with_its_last_name(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    figure = getattr(fastpu.plot, name)(*CALLS[name])
    assert type(figure) is Figure
    figure.canvas.draw()
    assert plt.get_fignums() == before
    gone = weakref.ref(figure)
    del figure
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("name", [name for name in CALLS if name not in {"audit", "ranking"}])  # these take a pair
def test_axes_of_the_caller_are_drawn_into(name):
    draw = getattr(fastpu.plot, name)
    figure = Figure(figsize=(4, 3), layout="constrained")
    ax = figure.subplots()
    assert draw(*CALLS[name], ax=ax) is figure
    assert ax.has_data()
    assert figure.axes == [ax]
    figure.canvas.draw()
    part = Figure(layout="constrained").subfigures(1, 2)[0]
    assert type(draw(*CALLS[name], ax=part.subplots())) is Figure
    refused(TypeError, "ax must be one of matplotlib Axes, got <Figure", draw, *CALLS[name], ax=figure)
    refused(TypeError, "ax must be one of matplotlib Axes, got [", draw, *CALLS[name], ax=[ax, ax])


@pytest.mark.parametrize("name", ["audit", "ranking"])
def test_a_pair_of_axes_of_the_caller_is_drawn_into(name):
    draw = getattr(fastpu.plot, name)
    figure = Figure()
    pair = figure.subplots(2)
    assert draw(*CALLS[name], ax=pair) is figure
    assert figure.axes == list(pair)
    assert all(ax.has_data() for ax in pair)
    refused(TypeError, "ax must be two Axes, got", draw, *CALLS[name], ax=pair[0])


@pytest.mark.parametrize("name", CALLS)
def test_legend_has_an_entry_for_all_that_it_names(name):
    named = []
    for ax in getattr(fastpu.plot, name)(*CALLS[name]).axes:
        if ax.get_legend() is not None:
            texts = [text.get_text() for text in ax.get_legend().get_texts()]
            assert texts
            named += texts
    assert len(set(named)) == len(named)  # also between panels


def test_options_are_keyword_only():
    data = {"model", "chosen", "found", "X", "y", "scores", "proba"}
    for name in fastpu.plot.__all__:
        parameters = inspect.signature(getattr(fastpu.plot, name)).parameters.values()
        assert all((p.kind is p.KEYWORD_ONLY) == (p.name not in data) for p in parameters), name


def test_models_are_not_changed_and_saved_figures_are_the_same(tmp_path):
    files = []
    for k in range(2):
        fastpu.plot.decision_regions(*CALLS["decision_regions"]).savefig(tmp_path / f"{k}.png")
        files.append((tmp_path / f"{k}.png").read_bytes())
    assert files[0] == files[1]


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
    assert done.stdout == "figures need matplotlib: pip install matplotlib\n"


def test_figures_need_neither_pyplot_nor_a_display(tmp_path):
    program = f"""
import sys
import fastpu
X, y = fastpu.datasets.make_pu_toy1(random_state=0)
model = fastpu.fit_isvm(X, (y > 0).astype(int))
fastpu.plot.decision_regions(model, X, y).savefig({str(tmp_path / "a.png")!r})
print("matplotlib.pyplot" in sys.modules)
"""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert (tmp_path / "a.png").stat().st_size > 5000
