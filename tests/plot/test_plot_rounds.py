"""Figures of a fit's history show its numbers, round by round."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
import fastpu.plot
from helpers import refused

Figure = pytest.importorskip("matplotlib.figure", reason="an optional extra").Figure


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(400) < 0.4, 1, -1)
    X = rng.standard_normal((400, 3))
    X[:, 0] += truth
    return X, np.where((truth > 0) & (rng.random(400) < 0.4), 1, 0), truth


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# ---- Boosting ----


def test_objective_is_drawn_per_round(rows):
    X, y, _ = rows
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=12)
    (ax,) = fastpu.plot.boosting_curves(model).axes
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, 13))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.objective)
    assert ax.get_legend() is None


def test_eval_auc_and_the_rounds_that_were_kept_are_marked(rows):
    X, y, truth = rows
    model = fastpu.fit_pnu_auc_boost(
        X[:200], y[:200], n_rounds=400, eval_set=(X[200:], truth[200:]), early_stopping_rounds=5
    )
    assert model.n_iter < len(model.history["objective"])
    upper, lower = fastpu.plot.boosting_curves(model).axes
    n_run = len(model.history["objective"])
    assert legend(upper) == [f"early stopping: {model.n_iter} of {n_run} rounds kept"]
    assert upper.lines[1].get_xdata() == [model.n_iter, model.n_iter]
    aucs = model.history["eval_auc"]
    lines = [line for line in lower.lines if len(line.get_xdata()) == n_run]
    np.testing.assert_array_equal(lines[0].get_ydata(), aucs)
    best = int(np.argmax(aucs))
    assert legend(lower) == [f"eval_set: best {aucs[best]:.4f} after {best + 1} round{'s' * (best > 0)}"]
    assert (lower.lines[-1].get_xdata()[0], lower.lines[-1].get_ydata()[0]) == (best + 1, aucs[best])


@pytest.mark.parametrize("fit", [fastpu.fit_pnu_auc_boost, fastpu.baselines.fit_pnu_adaboost])
def test_further_rows_are_judged_after_each_round(rows, fit):
    X, y, truth = rows
    model = fit(X, y, n_rounds=6)
    for labels in (truth, y):
        _, lower = fastpu.plot.boosting_curves(model, X, labels).axes
        expected = [fastpu.metrics.auc(labels > 0, score) for score in model.staged_decision_function(X)]
        np.testing.assert_array_equal(lower.lines[0].get_ydata(), expected)
    mixed = np.where(y > 0, 1, np.where(truth < 0, truth * (np.arange(400) % 2), 0))
    _, lower = fastpu.plot.boosting_curves(model, X, mixed).axes
    known = mixed != 0
    assert lower.lines[0].get_ydata()[-1] == fastpu.metrics.auc(mixed[known], model.decision_function(X[known]))


def test_one_round_can_be_seen(rows):
    X, y, _ = rows
    (ax,) = fastpu.plot.boosting_curves(fastpu.fit_pnu_auc_boost(X, y, n_rounds=1)).axes
    assert ax.get_xlim() == (0, 2)
    assert ax.lines[0].get_marker() == "o"


def test_bad_boosting_arguments_are_named(rows):
    X, y, _ = rows
    draw = fastpu.plot.boosting_curves
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=2)
    refused(TypeError, "model must be a StumpEnsemble, got LinearMachine", draw, fastpu.fit_isvm(X, y))
    refused(ValueError, "X and y must be given together or not at all, got only X", draw, model, X)
    refused(ValueError, "X and y must be given together or not at all, got only y", draw, model, y=y)
    refused(ValueError, "y must hold positive rows (+1) and", draw, model, X, np.zeros(400))
    refused(ValueError, "y must have one entry per row of the data (400), got 5", draw, model, X, y[:5])
    refused(TypeError, "ax must be two Axes, got", draw, model, X, y, ax=Figure().subplots())
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        empty = fastpu.fit_pnu_auc_boost(np.ones((4, 1)), [1, 1, 0, 0])
    refused(ValueError, "model must have at least one round, got an empty one (status 'no_gain')", draw, empty)


# ---- Label changes ----


def drawn(ax):
    return {line.get_label(): line.get_ydata().tolist() for line in ax.lines}


@pytest.mark.parametrize("fit", [fastpu.fit_isvm, fastpu.fit_ipsi])
def test_pseudo_labels_that_changed_are_counted(rows, fit):
    X, y, _ = rows
    model = fit(X, y)
    upper, lower = fastpu.plot.label_changes(model).axes
    assert drawn(upper) == {"changed sides": model.history["n_changed"].tolist()}
    assert drawn(lower) == {"called negative": model.history["n_negative"].tolist()}
    assert upper.lines[0].get_xdata().tolist() == list(range(model.n_iter + 1))


def test_biased_psi_learning_has_one_panel(rows):
    X, y, _ = rows
    model = fastpu.baselines.fit_bpsi(X, y, C_pos=1.0, C_unl=0.3)
    (ax,) = fastpu.plot.label_changes(model).axes
    assert drawn(ax) == {"changed sides": model.history["n_changed"].tolist()}
    assert ax.get_ylim()[1] > model.history["n_changed"].max()


def test_sets_of_mapping_convergence_are_counted(rows):
    X, y, _ = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
        models = [fastpu.fit_svmc(X, y), fastpu.fit_smc(X, y, nu_map=0.2)]
    for model in models:
        upper, lower = fastpu.plot.label_changes(model).axes
        history = model.history
        new, back, left, sizes = (history[name].tolist() for name in ("n_new", "n_back", "n_left", "n_neg"))
        assert {"rejected for the first time": new, "back into N": back}.items() <= drawn(upper).items()
        assert {"never rejected": left, "in N": sizes}.items() <= drawn(lower).items()


def test_iteration_that_was_kept_is_marked_where_later_ones_were_undone(rows):
    X, y, _ = rows
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="kept only the boundary of the mapping"):
        model = fastpu.fit_svmc(X, y, max_pos_reject=0.05, hold_out=0.5, random_state=0)
    assert model.status == "max_pos_reject"
    above, below = fastpu.plot.label_changes(model).axes
    assert legend(above)[-1] == f"kept: {model.n_iter}"  # named once, and drawn in both
    for ax in (above, below):
        assert list(ax.lines[-1].get_xdata()) == [model.n_iter, model.n_iter]


def test_models_without_label_changes_are_refused(rows):
    X, y, _ = rows
    for model in (fastpu.fit_bsvm(X, y, C_pos=2.0, C_unl=1.0), 3, {"history": 3}):
        refused(
            TypeError,
            "model must be a LinearMachine or MappingMachine",
            fastpu.plot.label_changes,
            model,
        )
