"""Boosted trees: the slow ones node for node, and what the mathematics says of them."""

from __future__ import annotations

import warnings
from typing import get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fastpu
from fastpu.boosting._boosted_trees_options import LOSSES_WITH_PRIOR, LossName
from fastpu.data._folds import stratified_folds
from fastpu.tree.tree_ensemble import TreeEnsemble
from helpers import refused
from tree_cases import assert_same_trees, fit, mixed_frame, pnu_rows, pu_rows, slow_trees, wild_rows

# A few trees on a few rows may call all rows the same, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

LOSSES = {loss: {"prior": 0.25} if loss in LOSSES_WITH_PRIOR else {} for loss in get_args(LossName)}
GROWTH = {
    "defaults": {},
    "small leaves": {"min_leaf_rows": 1, "max_leaves": 12, "min_leaf_hessian": 0.0, "lam": 0.1},
    "large leaves": {"min_leaf_rows": 31},
    "heavy leaves": {"min_leaf_rows": 1, "min_leaf_hessian": 15.0},
    "shallow": {"max_depth": 2, "min_leaf_rows": 3, "max_leaves": 31},
    "two leaves": {"max_leaves": 2, "min_leaf_rows": 3},
    "sampled": {"subsample_unl": 0.6, "max_features": 0.5, "min_leaf_rows": 5},
    "bags": {"n_bags": 3, "bag_ratio": 1.5, "min_leaf_rows": 4},
}
ROWS = {"plain": pu_rows, "wild": wild_rows, "categories": mixed_frame}
#: Scores are summed in another order.
ROUNDING = 1e-12


def compare(X, y, **options):
    given = {"n_rounds": 3, "learning_rate": 0.3, **options}
    model = fit(X, y, n_threads=2, **given)
    slow = slow_trees(X, y, seed=model.seed, **given)
    assert_same_trees(model, slow)
    risks = [risk for boosted in slow for risk in boosted.risks]
    np.testing.assert_allclose(model.objective, risks, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.history["risk"], np.reshape(risks, (model.divisor, -1)).mean(axis=0), atol=1e-9)
    if model.divisor == 1:
        np.testing.assert_allclose(model.decision_function(X), slow[0].scores, atol=1e-9)
    return model


@pytest.mark.parametrize("growth", GROWTH.values(), ids=GROWTH)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("loss", LOSSES)
def test_same_trees(loss, rows, growth):
    compare(*rows(), loss=loss, **LOSSES[loss], **growth)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("labels", [(1, 0, -1), (1, 0), (1, -1), (0, -1)], ids=str)
def test_same_trees_of_all_groups(labels, gamma):
    X, y = pnu_rows()
    kept = np.isin(y, labels)
    compare(X[kept], y[kept], gamma=gamma, min_leaf_rows=4)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_same_trees_with_weights(rows, whole):
    X, y = rows()
    weights = np.random.default_rng(3).choice([0.0, 1.0, 2.0, 5.0] if whole else [0.0, 0.3, 1.7], len(y))
    weights[:2] = 1.0
    compare(X, y, sample_weight=weights, min_leaf_rows=5)
    compare(X, y, sample_weight=weights, min_leaf_rows=5, n_bags=2)


@pytest.mark.parametrize("max_bins", [1, 2, 7, 1000])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_same_trees_for_any_number_of_bins(rows, max_bins):
    compare(*rows(), max_bins=max_bins, min_leaf_rows=3)


@given(st.integers(0, 10**6), st.sampled_from(list(LOSSES)), st.integers(2, 9), st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_same_trees_of_any_rows(seed, loss, max_leaves, min_leaf_rows):
    X, y = wild_rows(80, seed=seed)
    options = {"loss": loss, "max_leaves": max_leaves, "min_leaf_rows": min_leaf_rows, **LOSSES[loss]}
    compare(X, y, n_rounds=3, **options)


@pytest.mark.parametrize("min_leaf_rows", [1, 12, 60])
@pytest.mark.parametrize(
    "options", [{}, {"n_bags": 3}, {"weighted": True}, {"subsample_unl": 0.5, "max_features": 0.5}], ids=str
)
def test_columns_with_few_entries_make_no_difference_to_sparse_rows(options, min_leaf_rows):
    """Sparse columns with fewer entries than a leaf has rows are left out: no split of theirs is allowed."""
    rng = np.random.default_rng(8)
    y = (np.arange(300) < 90).astype(int)
    shares = rng.choice([0.01, 0.05, 0.3], 40)
    X = np.where(
        rng.random((300, 40)) < shares + 0.1 * (y[:, None] * (np.arange(40) % 3 == 0)), rng.random((300, 40)), 0
    )
    known = {name: value for name, value in options.items() if name != "weighted"}
    if "weighted" in options:
        known["sample_weight"] = rng.integers(0, 4, 300) * 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
        dense, sparse = (fit(rows, y, min_leaf_rows=min_leaf_rows, **known) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.packed_nodes, sparse.packed_nodes)
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)))


def test_sparse_columns_without_any_split():
    X, y = sp.csr_array(np.eye(60)), np.arange(60) < 20
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="found no split"):
        model = fit(X, y, min_leaf_rows=2)
    assert (model.status, model.n_trees) == ("no_gain", 0)


def test_where_weights_leave_no_split_the_warning_says_that_rows_count_by_them():
    X, y = np.arange(80.0)[:, None], np.arange(80) >= 40
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="rows count by their weights"):
        assert fit(X, y, sample_weight=np.full(80, 1 / 80)).n_trees == 0


def test_gains_of_the_largest_weights_are_kept_as_floats():
    X, y = pu_rows()
    model = fit(X, y, sample_weight=np.full(len(y), 1e90))
    assert np.isfinite(model.nodes["gain"]).all()
    assert model.nodes["gain"].max() == np.finfo(np.float32).max
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("n_bags", [1, 3])
def test_staged_scores_are_those_of_fewer_rounds(n_bags):
    X, y = mixed_frame(300)
    staged = list(fit(X, y, n_rounds=6, n_bags=n_bags).staged_decision_function(X))
    assert len(staged) == 6
    for rounds in (1, 4, 6):
        scores = fit(X, y, n_rounds=rounds, n_bags=n_bags).decision_function(X)
        np.testing.assert_allclose(staged[rounds - 1], scores, rtol=ROUNDING, atol=ROUNDING)


def test_the_eval_set_is_judged_by_its_auc_and_ends_the_fit():
    X, y = pu_rows(600, seed=1)
    held, truth = pu_rows(400, seed=2)
    for n_bags in (1, 3):
        model = fit(X, y, n_rounds=80, eval_set=(held, truth), early_stopping_rounds=5, n_bags=n_bags)
        auc = model.history["eval_auc"]
        assert model.status == "early_stopping"
        rounds = model.n_trees // n_bags
        assert rounds == np.argmax(auc) + 1 == auc.size - 5
        whole = fit(X, y, n_rounds=rounds + 5, n_bags=n_bags)
        expected = [fastpu.metrics.auc(truth, scores) for scores in whole.staged_decision_function(held)]
        np.testing.assert_allclose(auc, expected, rtol=1e-9)
        assert len(list(model.staged_decision_function(held))) == rounds
    binned = fastpu.bin_features(np.concatenate([X, held]))
    inside = fit(binned[: len(X)], y, eval_set=(binned[len(X) :], truth))
    outside = fit(binned[: len(X)], y, eval_set=(held, truth))
    np.testing.assert_array_equal(inside.history["eval_auc"], outside.history["eval_auc"])


@pytest.mark.parametrize("options", [{}, {"subsample_unl": 0.5}, {"max_features": 0.5}], ids=str)
@pytest.mark.parametrize("patience", [1, 4, 30])
def test_bags_that_early_stopping_ends_are_those_of_so_many_rounds(patience, options):
    """However many steps they took: every bag goes on from its own scores, on the same rows."""
    X, y = pu_rows(600, seed=1)
    held = pu_rows(400, seed=2)
    judged = {"eval_set": held, "early_stopping_rounds": patience, "learning_rate": 0.02}
    model = fit(X, y, n_rounds=500, n_bags=3, **judged, **options)
    rounds = model.n_trees // 3
    assert model.history["eval_auc"].size == rounds + patience
    whole = fit(X, y, n_rounds=rounds, n_bags=3, learning_rate=0.02, **options)
    for name in ("packed_nodes", "tree_starts", "objective", "oob_sum", "oob_count"):
        np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))


def test_bags_do_not_make_all_rounds_before_early_stopping_ends_them():
    X, y = pu_rows(200, seed=1)
    seen = []
    judged = {"eval_set": pu_rows(200, seed=2), "early_stopping_rounds": 3}
    model = fit(X, y, n_rounds=10**7, n_bags=3, callback=lambda info: seen.append((info.bag, info.round)), **judged)
    assert model.status == "early_stopping"
    made = seen[-1][1]
    assert model.n_trees // 3 + 3 <= made <= 1.25 * (model.n_trees // 3 + 3) + 3
    assert seen[:4] == [(1, 3), (2, 3), (3, 3), (1, 6)]
    # Bags in which nothing is left to gain end too, and do not fill up to the last round.
    assert fit(np.zeros((200, 2)), y, n_rounds=10**7, n_bags=3, **{**judged, "eval_set": (np.ones((2, 2)), [1, -1])})


@pytest.mark.parametrize(("last", "n_bags", "rounds"), [((2, 3), 2, 3), ((3, 3), 3, 3), ((2, 6), 3, 3), ((3, 6), 3, 6)])
def test_a_callback_ends_bags_that_grow_in_steps_with_equally_many_rounds(last, n_bags, rounds):
    X, y = pu_rows(200, seed=1)
    judged = {"eval_set": (X, y), "early_stopping_rounds": 3, "learning_rate": 0.3}
    model = fit(X, y, n_rounds=50, n_bags=3, callback=lambda info: (info.bag, info.round) == last, **judged)
    assert (model.status, model.converged, model.divisor) == ("callback", False, n_bags)
    assert model.history["eval_auc"].size == rounds
    assert model.n_trees == n_bags * (np.argmax(model.history["eval_auc"]) + 1)


def test_folds_choose_the_rounds():
    X, y = pu_rows(300, seed=1)
    model = fit(X, y, n_rounds=60, early_stopping_rounds=4, n_folds=3, learning_rate=0.5)
    assert model.status == "early_stopping"
    assert model.params["n_folds"] == 3
    rng = np.random.default_rng(7)
    seed = int(rng.integers(2**64, dtype=np.uint64))
    assert seed == model.seed
    features = fastpu.bin_features(X)
    aucs = []
    for fitted, held in stratified_folds(y, 3, rng):
        part = TreeEnsemble.staged_decision_function(
            fit(features[fitted], y[fitted], n_rounds=model.history["fold_auc"].size, learning_rate=0.5), features[held]
        )
        aucs.append([fastpu.metrics.auc(y[held], scores) for scores in part])
    np.testing.assert_allclose(model.history["fold_auc"], np.mean(aucs, axis=0), rtol=1e-9)


def test_a_callback_sees_rounds_or_bags_and_can_end_them():
    X, y = pu_rows(200)
    seen = []
    model = fit(X, y, callback=lambda info: seen.append(info) or info.round == 3)
    assert (model.status, model.n_trees, model.converged) == ("callback", 3, False)
    assert [info.risk for info in seen] == model.objective.tolist()
    assert [info.n_leaves for info in seen] == model.history["n_leaves"].tolist()
    seen.clear()
    model = fit(X, y, n_bags=5, callback=lambda info: seen.append(info) or info.bag == 2)
    assert (model.status, model.n_trees, model.divisor) == ("callback", 8, 2)
    assert [(info.bag, info.round) for info in seen] == [(1, 4), (2, 4)]


def test_rounds_that_run_out_before_early_stopping_are_told():
    X, y = pu_rows(300)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="ran all 3 rounds before early stopping"):
        model = fit(X, y, n_rounds=3, eval_set=(X, y), early_stopping_rounds=50)
    assert not model.converged
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="the best AUC of 3 folds so far"):
        fit(X, y, n_rounds=3, n_folds=3, early_stopping_rounds=50)


WRONG = {
    "prior must be given": {"loss": "upu"},
    "prior must be None": {"prior": 0.3},
    "gamma must be left": {"loss": "logistic", "gamma": 0.2},
    "bag_ratio must be left at 'auto'": {"bag_ratio": 2.0},
    "scenario must be": {"scenario": "single_set"},
    "init_model must be a model of fit_boosted_trees": {"init_model": "forest"},
    "learning_rate must be that of init_model": {"init_model": "trees", "learning_rate": 0.1},
}


@pytest.mark.parametrize(("message", "options"), WRONG.items(), ids=WRONG)
def test_what_does_not_fit_is_refused(message, options):
    X, y = pu_rows(100)
    models = {"forest": lambda: fastpu.fit_forest(X, y, n_trees=2), "trees": lambda: fit(X, y)}
    given = {name: models[value]() if name == "init_model" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=message):
        fastpu.fit_boosted_trees(X, y, **given)


def test_groups_that_the_loss_or_the_prior_leaves_empty_are_refused():
    X, y = pu_rows(100)
    for labels in (np.ones(100), np.zeros(100)):
        refused(ValueError, "y must hold +1 and 0 for loss='logistic', got", fit, X, labels, loss="logistic")
    text = "prior must leave positive and negative rows among the unlabelled ones, got"
    options = {"prior": float(np.mean(y == 1)), "scenario": "single_set"}
    refused(ValueError, text, fit, X, y, loss="upu", **options)
    refused(ValueError, text, fastpu.fit_forest, X, y, loss="nnpu", **options)


def test_negatives_are_refused_where_the_loss_has_no_use_for_them():
    X, y = pnu_rows()
    with pytest.raises(ValueError, match="loss='pnu_auc' takes labelled negatives"):
        fit(X, y, loss="logistic")
    with pytest.raises(ValueError, match="n_bags > 1"):
        fit(X[y != 0], y[y != 0], n_bags=2)
