"""What a forest promises beside being the slow one: bags, scores, thresholds, importances, weights, continuation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fastpu
from fastpu.exceptions import EstimateWarning
from fastpu.model._calibration import probabilities
from forest_cases import mixed_frame, pu_rows, wild_rows
from helpers import refused
from method_recipes import bits

ROUNDING = 1e-6  # gains are kept in single precision
LOSSES = {"gini": {}, "nnpu": {"prior": 0.25}, "upu": {"prior": 0.25}}


@pytest.fixture(scope="module")
def rows():
    return pu_rows(400)


def small(X, y, **options):
    return fastpu.fit_forest(X, y, **{"n_trees": 20, "random_state": 0, **options})


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_is_what_the_leaves_cost(loss):
    """Without missing entries every row of the bag can be dropped through its tree again."""
    X, y = pu_rows(300)
    model = small(X, y, loss=loss, bag_ratio=None, **LOSSES[loss])
    gains = np.bincount(model.nodes["tree"], model.nodes["gain"])
    root = {"gini": 1.0}.get(loss, 4 * 0.25 * 0.75)
    np.testing.assert_allclose(model.objective, root - gains, atol=ROUNDING)
    assert (model.objective < root).all()
    if loss == "gini":
        assert (model.objective > -ROUNDING).all()


def test_importances_are_shares_of_the_gains(rows):
    X, y = rows
    rng = np.random.default_rng(0)
    X = np.column_stack([X, rng.normal(size=len(X)), np.ones(len(X))])
    model = small(X, y, n_trees=100)
    shares = model.feature_importances
    assert shares.sum() == pytest.approx(1.0)
    assert shares[5] == 0.0
    assert shares[4] < shares[:4].min()
    inner = model.nodes[model.nodes["feature"] >= 0]
    np.testing.assert_allclose(shares[4], inner["gain"][inner["feature"] == 4].sum() / inner["gain"].sum(), rtol=1e-5)


@pytest.mark.parametrize("rows", [wild_rows, mixed_frame])
def test_trees_that_are_added_make_the_forest_of_one_fit(rows):
    X, y = rows()
    whole = fastpu.fit_forest(X, y, n_trees=30, random_state=3, min_leaf_rows=2)
    first = fastpu.fit_forest(X, y, n_trees=10, random_state=3, min_leaf_rows=2)
    model = fastpu.fit_forest(X, y, n_trees=20, init_model=first, min_leaf_rows=2)
    assert bits(model) == bits(whole)
    again = fastpu.fit_forest(X, y, n_trees=20, init_model=first, min_leaf_rows=2, random_state=3)
    assert bits(again) == bits(whole)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"loss": "nnpu", "prior": 0.3}, "loss must be that of init_model, 'gini', got 'nnpu'"),
        ({"min_leaf_rows": 4}, "min_leaf_rows must be that of init_model, 3, got 4"),
        ({"bag_ratio": None}, "bag_ratio must be that of init_model, 'auto', got None"),
        ({"max_bins": 20}, "max_bins must be that of init_model, 255, got 20"),
        ({"random_state": 1}, "random_state must be None with init_model"),
    ],
)
def test_forests_only_go_on_as_they_began(rows, changed, text):
    first = small(*rows)
    refused(ValueError, text, fastpu.fit_forest, *rows, init_model=first, **changed)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1.0, 1)])
def test_a_number_of_features_is_not_taken_for_a_share(rows, one, other, tmp_path):
    first = small(*rows, max_features=one)
    first.save(tmp_path / "first.npz")
    for before in (first, fastpu.load(tmp_path / "first.npz")):
        text = f"max_features must be that of init_model, {one} ({type(one).__name__}), got {other}"
        refused(ValueError, text, fastpu.fit_forest, *rows, init_model=before, max_features=other)
        assert fastpu.fit_forest(*rows, init_model=before, max_features=one, n_trees=1).n_trees > first.n_trees


@pytest.mark.parametrize("scalar", [np.float16, np.float32, np.float64])
def test_numbers_of_numpy_are_shares_and_numbers_of_features(rows, scalar):
    assert small(*rows, max_features=scalar(0.5)).params["max_features"] == 0.5
    assert bits(small(*rows, max_features=scalar(0.5))) == bits(small(*rows, max_features=0.5))
    one = small(*rows, max_features=np.int8(1))
    assert type(one.params["max_features"]) is int
    assert bits(one) == bits(small(*rows, max_features=1))


def test_forests_only_go_on_with_their_rows(rows):
    X, y = rows
    first = small(X, y)
    refused(
        ValueError, "X must have the 400 rows of init_model, got 399", fastpu.fit_forest, X[1:], y[1:], init_model=first
    )
    refused(ValueError, "X must have 4 features", fastpu.fit_forest, X[:, 1:], y, init_model=first)


# ---- Weights ----


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # which says so
@pytest.mark.parametrize("max_bins", [9, 255, 1000])
def test_weights_that_are_equal_within_both_groups_are_none(rows, max_bins):
    """With more distinct values than cuts, weights used to move the cuts."""
    X, y = rows
    weights = np.where(y == 1, 7.0, 0.25)
    np.testing.assert_array_equal(
        small(X, y, max_bins=max_bins, sample_weight=weights).packed_nodes, small(X, y, max_bins=max_bins).packed_nodes
    )


# ---- Thresholds and probabilities ----


def test_the_threshold_is_the_best_cut_of_out_of_bag_scores(rows):
    X, y = rows
    model = small(X, y, n_trees=100)
    scores = model.oob_decision_function

    def balanced(threshold):
        return np.mean(scores[y == 1] > threshold) + np.mean(scores[y == 0] <= threshold)

    assert balanced(model.threshold) == pytest.approx(max(balanced(t) for t in scores), abs=1e-12)
    assert "out-of-bag" in model.threshold_rule


def test_a_group_that_is_in_every_bag_is_judged_by_all_scores():
    X, y = pu_rows(40)
    y = np.where(np.arange(40) < 20, y, 0)
    model = fastpu.fit_forest(X, y, n_trees=3, random_state=0, bag_ratio=100.0)
    assert np.isnan(model.oob_decision_function[y == 0]).all()
    assert "in the bags" in model.threshold_rule
    assert set(model.predict(X)) == {-1, 1}


def test_probabilities_come_from_out_of_bag_scores(rows):
    X, y = rows
    model = small(X, y, n_trees=300).with_probabilities(prior=0.25, y=y)
    scores = model.oob_decision_function
    np.testing.assert_array_equal(model.oob_predict_proba[:, 1], probabilities(
        "beta", model.calibration_knots, model.calibration_values, scores
    ))  # fmt: skip
    assert model.oob_predict_proba[y == 0, 1].mean() == pytest.approx(0.25, abs=1e-9)
    assert model.predict_proba(X).shape == (400, 2)
    given = model.with_probabilities(prior=0.25, X=X, y=y)
    assert bits(given) != bits(model)


def test_rows_without_out_of_bag_scores_are_left_out_of_probabilities(rows):
    X, y = rows
    model = small(X, y, n_trees=3)
    known = ~np.isnan(model.oob_decision_function)
    assert 0 < known.sum() < len(y)
    with pytest.warns(EstimateWarning, match=r"with_probabilities: .* have no score \(NaN\) and are left out"):
        found = model.with_probabilities(prior=0.25, y=y)
    other = model.with_probabilities(prior=0.25, y=y, sample_weight=known.astype(float))
    np.testing.assert_allclose(found.calibration_values, other.calibration_values, rtol=1e-9)
    # What the prior speaks of are all rows, all the same.
    with pytest.warns(EstimateWarning, match="are left out"):
        single = model.with_probabilities(prior=0.4, y=y, scenario="single_set")
    assert single.calibration_prior == pytest.approx((0.4 * len(y) - y.sum()) / (y == 0).sum())
    refused(
        ValueError,
        "y must have one entry per row of the data (400), got 399",
        model.with_probabilities,
        prior=0.3,
        y=y[1:],
    )


# ---- What is refused, and what is told ----


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"loss": "nnpu"}, "prior must be given for loss='nnpu'"),
        ({"loss": "upu"}, "prior must be given for loss='upu'"),
        ({"prior": 0.3}, "prior must be None for loss='gini'"),
        ({"scenario": "single_set"}, "scenario must be 'case_control' for loss='gini'"),
        ({"loss": "nnpu", "prior": 0.01, "scenario": "single_set"}, "prior must be at least"),
    ],
)
def test_arguments_that_do_not_fit(rows, options, text):
    refused(ValueError, text, fastpu.fit_forest, *rows, **options)


def test_constant_columns_give_single_leaves_and_a_warning(rows):
    X, y = rows
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="all 20 trees are single leaves"):
        model = small(np.full_like(X, 3.0), y)
    assert model.nodes.size == model.n_trees
    np.testing.assert_array_equal(model.decision_function(X), 0.5)
    assert (model.predict(X) == -1).all()
    assert not model.feature_importances.any()


@pytest.mark.parametrize("loss", LOSSES)
def test_one_positive_row_is_enough_for_single_rows_in_leaves(loss):
    X, y = pu_rows(60)
    y = (np.arange(60) == np.argmax(X[:, 0])).astype(int)
    model = small(X, y, min_leaf_rows=1, loss=loss, **LOSSES[loss])
    assert model.history["n_leaves"].max() > 1
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="min_leaf_rows = 3 allows no split of a bag"):
        small(X, y, loss=loss, bag_ratio=2.0, **LOSSES[loss])


def test_a_callback_sees_every_tree_and_ends_the_fit(rows):
    seen = []
    model = small(*rows, callback=seen.append)
    assert [(info.tree, info.n_trees) for info in seen] == [(t, 20) for t in range(1, 21)]
    np.testing.assert_array_equal([info.n_leaves for info in seen], model.history["n_leaves"])
    assert min(info.depth for info in seen) >= 2
    stopped = small(*rows, callback=lambda info: info.tree == 5)
    assert (stopped.n_trees, stopped.status, stopped.converged) == (5, "callback", False)
    np.testing.assert_array_equal(stopped.packed_nodes, small(*rows, n_trees=5).packed_nodes)
    rest = fastpu.fit_forest(*rows, n_trees=15, init_model=stopped, callback=seen.append)
    assert seen[20].tree == 6
    assert bits(rest) == bits(model)


def test_prior_of_all_rows_is_converted(rows):
    X, y = rows
    share = (0.4 * len(y) - y.sum()) / (y == 0).sum()
    one = small(X, y, loss="nnpu", prior=0.4, scenario="single_set")
    other = small(X, y, loss="nnpu", prior=share)
    np.testing.assert_array_equal(one.packed_nodes, other.packed_nodes)


@pytest.mark.parametrize(("d", "is_sparse", "as_auto"), [(100, False, "sqrt"), (101, False, 0.2), (101, True, "sqrt")])
def test_nodes_look_at_more_of_many_dense_columns(d, is_sparse, as_auto):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, d)), np.arange(60) < 20
    rows = csr_array(X) if is_sparse else X
    one, other, plain = (
        fastpu.fit_forest(rows, y, n_trees=5, random_state=0, max_features=features, bag_ratio=2.0).decision_function(
            rows
        )
        for features in ("auto", as_auto, "all")
    )
    np.testing.assert_array_equal(one, other)
    assert (one != plain).any()
