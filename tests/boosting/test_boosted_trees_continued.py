"""Boosted trees that go on from a model: the trees of a single fit, of the same rows alone, and their history."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from helpers import refused
from tree_cases import fit, mixed_frame, pu_rows

# A few trees on a few rows may call all rows the same, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.DegenerateModelWarning")

#: Scores are summed in another order.
ROUNDING = 1e-12


@pytest.mark.parametrize("options", [{}, {"n_bags": 4}, {"n_bags": 2, "subsample_unl": 0.5}], ids=str)
def test_rounds_added_later_are_those_of_a_single_fit(options):
    X, y = mixed_frame(400)
    whole = fit(X, y, n_rounds=7, **options)
    first = fit(X, y, n_rounds=3, **options)
    more = fit(X, y, n_rounds=4, init_model=first, **{**options, "random_state": None})
    for name in ("packed_nodes", "tree_starts"):
        split = whole.packed_nodes if name == "packed_nodes" else whole.tree_starts
        assert getattr(more, name).shape == split.shape
    np.testing.assert_array_equal(more.nodes["value"], whole.nodes["value"])
    np.testing.assert_array_equal(more.decision_function(X), whole.decision_function(X))
    np.testing.assert_allclose(more.history["risk"], whole.history["risk"], rtol=ROUNDING)
    np.testing.assert_allclose(more.objective, whole.objective, rtol=ROUNDING)
    if model_is_bagged := whole.divisor > 1:
        np.testing.assert_allclose(more.oob_decision_function, whole.oob_decision_function, rtol=1e-9)
    assert model_is_bagged == ("n_bags" in options)


@pytest.mark.parametrize("n_done", [1, 2, 3])
def test_bags_that_a_callback_stopped_cannot_go_on(n_done, tmp_path):
    X, y = pu_rows(200)
    stopped = fit(X, y, n_bags=4, callback=lambda info: info.bag == n_done)
    assert (stopped.divisor, stopped.n_trees) == (n_done, 4 * n_done)
    stopped.save(tmp_path / "stopped.npz")
    for before in (stopped, fastpu.load(tmp_path / "stopped.npz")):
        text = f"init_model must have all of its 4 bags, got a model that a callback stopped after {n_done} of them"
        refused(ValueError, text, fit, X, y, n_bags=4, init_model=before)


@pytest.mark.parametrize("n_done", [1, 3, 4])
def test_bags_get_more_rounds_all_together_or_not_at_all(n_done):
    X, y = pu_rows(200)
    before = fit(X, y, n_bags=4)
    after = fit(X, y, n_bags=4, n_rounds=3, init_model=before, callback=lambda info: info.bag == n_done)
    assert (after.status, after.converged, after.divisor) == ("callback", False, 4)
    expected = before if n_done < 4 else fit(X, y, n_bags=4, n_rounds=7)
    for name in ("packed_nodes", "tree_starts", "objective", "oob_sum", "oob_count", "threshold"):
        np.testing.assert_allclose(getattr(after, name), getattr(expected, name), rtol=ROUNDING)
    np.testing.assert_allclose(after.history["risk"], expected.history["risk"], rtol=ROUNDING)
    assert after.params["n_rounds"] == expected.params["n_rounds"]


@pytest.mark.parametrize("n_bags", [1, 3])
def test_history_describes_the_trees_that_are_kept(n_bags):
    """Of a fit that early stopping ended, and of fits that go on from it, once and twice."""
    X, y = pu_rows(600, seed=1)
    held = pu_rows(400, seed=2)
    model = fit(X, y, n_bags=n_bags, n_rounds=80, eval_set=held, early_stopping_rounds=5)
    assert model.history["eval_auc"].size == model.n_trees // n_bags + 5
    for n_more in (2, 60):
        judged = {"eval_set": held, "early_stopping_rounds": 5}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.ConvergenceWarning)
            model = fit(X, y, n_bags=n_bags, n_rounds=n_more, init_model=model, **judged)
        rounds = model.n_trees // n_bags
        whole = fit(X, y, n_bags=n_bags, n_rounds=rounds)
        np.testing.assert_array_equal(model.history["n_leaves"], whole.history["n_leaves"])
        for found, expected in ((model.history["risk"], whole.history["risk"]), (model.objective, whole.objective)):
            np.testing.assert_allclose(found, expected, rtol=ROUNDING)
        assert model.history["risk"].size == rounds
