"""The fast forest is the slow one, node for node: every loss, splitter, weights, missing entries, categories."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from forest_cases import assert_same_forest, mixed_frame, pu_rows, slow_forest, wild_rows

# The out-of-bag scores of a few trees may call all rows the same, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

LOSSES = {"gini": {}, "nnpu": {"prior": 0.25}, "upu": {"prior": 0.25}}
SPLITTERS = ("random", "best")
GROWTH = {
    "defaults": {},
    "single rows": {"min_leaf_rows": 1},
    "large leaves": {"min_leaf_rows": 11},
    "shallow": {"max_depth": 3, "min_leaf_rows": 1},
    "few leaves": {"max_leaves": 6, "min_leaf_rows": 1},
    "both limits": {"max_leaves": 5, "max_depth": 3, "min_leaf_rows": 2},
}
ROWS = {
    "plain": pu_rows,
    "wild": wild_rows,
    "categories": mixed_frame,
}


def compare(X, y, *, seed=7, n_trees=4, max_features=2, **options):
    model = fastpu.fit_forest(
        X, y, random_state=seed, n_trees=n_trees, max_features=max_features, n_threads=2, **options
    )
    labels = np.asarray(y)
    slow = slow_forest(X, labels, seed=model.seed, n_trees=n_trees, max_features=max_features, **options)
    assert_same_forest(model, slow)
    np.testing.assert_array_equal(model.oob_count, slow.oob_count)
    np.testing.assert_array_equal(model.oob_sum, slow.oob_sum)
    total = sum(tree.scores() for tree in slow.trees)
    np.testing.assert_array_equal(model.decision_function(X), total / n_trees)
    return model


@pytest.mark.parametrize("growth", GROWTH.values(), ids=GROWTH)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_same_trees(loss, splitter, rows, growth):
    X, y = rows()
    model = compare(X, y, loss=loss, splitter=splitter, **LOSSES[loss], **growth)
    assert model.history["n_leaves"].max() > 2


@pytest.mark.parametrize("max_features", [1, 3, 5])
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_same_trees_for_any_number_of_features(splitter, max_features):
    compare(*wild_rows(), splitter=splitter, max_features=max_features)


@pytest.mark.parametrize("bag_ratio", [0.01, 0.5, 1.0, 30.0, None])
def test_same_bags(bag_ratio):
    compare(*pu_rows(), bag_ratio=bag_ratio)


@pytest.mark.parametrize("n_labelled", [1, 2, 30])
def test_same_bags_of_few_labels(n_labelled):
    X, y = pu_rows(2200)
    y[np.flatnonzero(y)[n_labelled:]] = 0
    model = compare(X, y)
    assert model.history["n_leaves"].max() > 2


@pytest.mark.parametrize("bag_ratio", [1.0, 30.0, None])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_same_trees_with_weights(rows, bag_ratio):
    X, y = rows()
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 4.0], len(y))
    weights[:2] = 1.0
    compare(X, y, sample_weight=weights, bag_ratio=bag_ratio)


@pytest.mark.parametrize("max_bins", [1, 2, 7, 1000])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_same_trees_for_any_number_of_bins(rows, max_bins):
    compare(*rows(400 if max_bins > 255 else 120), max_bins=max_bins, n_trees=2)


@pytest.mark.parametrize(
    "make", [sp.csr_array, sp.csc_array, lambda X: X.astype(np.float32)], ids=["csr", "csc", "f32"]
)
def test_same_trees_in_other_forms(make):
    X, y = wild_rows()
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    model, other = compare(X, y), compare(make(X), y)
    np.testing.assert_array_equal(model.packed_nodes, other.packed_nodes)


def test_same_trees_of_thousands_of_columns():
    rng = np.random.default_rng(5)
    X = np.zeros((150, 9000), dtype=np.float32)
    X[np.repeat(np.arange(150), 60), rng.integers(0, 9000, 9000)] = rng.integers(1, 4, 9000)
    y = np.arange(150) < 40
    options = {"n_trees": 3, "max_features": 95, "random_state": 0}
    dense, sparse = (fastpu.fit_forest(rows, y, **options) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.packed_nodes, sparse.packed_nodes)


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 60),
    loss=st.sampled_from(sorted(LOSSES)),
    splitter=st.sampled_from(SPLITTERS),
    min_leaf_rows=st.integers(1, 4),
    max_leaves=st.none() | st.integers(2, 8),
    kind=st.sampled_from(sorted(ROWS)),
    zeros=st.none() | st.floats(0, 0.9),
)
def test_same_trees_of_random_rows(seed, n, loss, splitter, min_leaf_rows, max_leaves, kind, zeros):
    X, y = ROWS[kind](n, seed=seed)
    if zeros is not None and kind != "categories":
        X = sp.csr_array(np.where(np.random.default_rng(seed).random(X.shape) < zeros, 0.0, X))
    compare(
        X, y, seed=seed, n_trees=2, loss=loss, splitter=splitter, min_leaf_rows=min_leaf_rows,
        max_leaves=max_leaves, **LOSSES[loss],
    )  # fmt: skip
