"""Bags drawn by numbers, and trees grown on rows that were gathered for them: those of a fit on all rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from fastpu.data.binned_features import stacked_bins
from fastpu.tree.tree_ensemble import packed

N_TREES, SEED = 7, 123456789012345


def grow_apart(bins, y, weights, clusters, *, n_trees=N_TREES, first_tree=0, **options):
    """Trees of rows that are gathered from three shards; returns nodes, starts and sets."""
    groups = [np.flatnonzero((y == label) & (weights > 0 if weights is not None else True)) for label in (1, 0)]
    drawn_from = np.concatenate(groups)
    repeats_pos, bag_unl = options.pop("repeats_pos"), options.pop("bag_unl")
    bags, start = _core.draw_forest_bags(
        n_pos=groups[0].size, n_unl=groups[1].size,
        sample_weight=None if weights is None else weights[drawn_from],
        clusters=None if clusters is None else clusters[drawn_from],
        n_clusters=0 if clusters is None else clusters.max() + 1,
        options=_core.ForestOptions(
            seed=SEED, first_tree=first_tree, n_trees=n_trees, repeats_pos=repeats_pos, bag_unl=bag_unl,
            replace_unl=options.pop("replace_unl", False),
        ),
        n_threads=2,
    )  # fmt: skip
    drawn, places = np.unique(bags, return_inverse=True)
    parts = [bins[chosen] for chosen in np.array_split(drawn_from[drawn], 3)]
    return _core.grow_on_bags(
        stacked_bins(parts)._native, places.astype(np.uint32), start, n_pos=repeats_pos * groups[0].size,
        categorical=None,
        options=_core.ForestOptions(first_tree=first_tree, seed=SEED, **options), n_threads=2,
    )  # fmt: skip


def grow_together(bins, y, weights, clusters, *, first_tree=0, n_trees=N_TREES, **options):
    given = _core.ForestOptions(n_trees=n_trees, first_tree=first_tree, seed=SEED, **options)
    return _core.grow_forest(
        bins._native, y, weights, None, given, clusters=clusters, oob_sum=None, oob_count=None, callback=None,
        n_threads=1,
    )  # fmt: skip


OPTIONS = {
    "loss": "gini",
    "prior": 0.4,
    "repeats_pos": 1,
    "bag_unl": [60],
    "max_features": 2,
    "min_leaf_rows": 2,
    "max_depth": -1,
    "max_leaves": 0,
}


def problem(form, n=900):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = np.where(rng.random(n) < 0.6, 0.0, X[:, 3])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.5).astype(np.int8)
    y[rng.random(n) < 0.4] = 0
    weights = rng.integers(0, 4, size=n) / 2.0
    matrix = sp.csr_matrix(np.nan_to_num(X)) if form == "sparse" else X
    return fastpu.bin_features(matrix, max_bins=400 if form == "pairs of bytes" else 255), y, weights


def assert_same_trees(found, expected):
    np.testing.assert_array_equal(packed(found.nodes), packed(expected.nodes))
    np.testing.assert_array_equal(found.tree_start, expected.tree_start)
    np.testing.assert_array_equal(found.category_sets, expected.category_sets)
    assert found.nodes.size > 5 * N_TREES


@pytest.mark.parametrize("form", ["bytes", "pairs of bytes", "sparse"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"loss": "nnpu", "random_cuts": False},
        {"loss": "upu", "max_leaves": 9},
        {"replace_unl": True, "bag_unl": [500]},
        {"bag_unl": [100000]},
        {"bag_unl": [30, 200, 100], "repeats_pos": 3},
        {"bag_unl": [30, 200, 100], "first_tree": 31},
        {"max_depth": 3, "max_features": 6},
        {"first_tree": 31},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_trees_on_gathered_bags_are_those_of_all_rows(form, changed, weighted, clustered):
    bins, y, weights = problem(form)
    given = weights if weighted else None
    # The last clusters are of single rows, some of which have the weight 0.
    clusters = np.minimum(np.arange(900) // 9 + np.maximum(np.arange(900) - 850, 0), 140).astype(np.int32)
    clusters = clusters if clustered else None
    options = OPTIONS | changed
    assert_same_trees(
        grow_apart(bins, y, given, clusters, **options), grow_together(bins, y, given, clusters, **options)
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_pos": 0}, "rows of both labels, 4294967295 at most together, got 0 and 5"),
        ({"n_unl": 0}, "rows of both labels, 4294967295 at most together, got 3 and 0"),
        ({"n_unl": 2**32 - 3}, "rows of both labels, 4294967295 at most together, got 3 and 4294967293"),
        ({"n_trees": 0}, "n_trees"),
        ({"bag_unl": [2, 0]}, "bag_unl"),
        ({"bag_unl": []}, "bag_unl must have a number"),
        ({"repeats_pos": 0}, "repeats_pos"),
        ({"sample_weight": np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])}, "must be positive"),
        ({"sample_weight": np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0])}, "must be positive"),
        ({"sample_weight": np.ones(7)}, "sample_weight"),
        ({"clusters": np.zeros(7, np.int32)}, "clusters"),
        ({"clusters": np.arange(8, dtype=np.int32), "n_clusters": 7}, "from 0 to 6, got 7 for row 7"),
        ({"clusters": np.arange(1, 9, dtype=np.int32)}, "from 0 to 7, got 8 for row 7"),
        ({"clusters": np.arange(-1, 7, dtype=np.int32)}, "from 0 to 7, got -1 for row 0"),
    ],
)
def test_bags_that_cannot_be_drawn_are_refused(changed, words):
    given = {"n_pos": 3, "n_unl": 5, "sample_weight": None, "clusters": None, "n_clusters": 0}
    given |= {"n_trees": 2, "bag_unl": [2]} | changed
    options = _core.ForestOptions(
        **{name: given.pop(name) for name in ("n_trees", "bag_unl", "repeats_pos") if name in given}
    )
    with pytest.raises(ValueError, match=words):
        _core.draw_forest_bags(**given, options=options, n_threads=1)


@pytest.mark.parametrize(
    ("rows", "start", "n_pos", "words"),
    [
        ([0] * 8, [0, 4, 8], 0, "n_pos"),
        ([0] * 8, [0, 4, 8], 4, "n_unl"),
        ([0] * 8, [0, 6, 8], 2, "n_unl"),
        ([0] * 8, [0, 9, 8], 2, "n_unl"),
        ([0] * 8, [0, 4, 9], 2, "start must have the beginnings of 2 bags"),
        ([0] * 8, [1, 4, 8], 2, "start must have the beginnings of 2 bags"),
        ([], [0], 2, "n_trees"),
        ([900] * 8, [0, 4, 8], 2, "row 900 is out of range"),
    ],
)
def test_bags_that_cannot_be_are_refused(rows, start, n_pos, words):
    bins, _, _ = problem("bytes")
    options = _core.ForestOptions(**OPTIONS)
    with pytest.raises(ValueError, match=words):
        _core.grow_on_bags(
            bins._native, np.array(rows, np.uint32), np.array(start, np.int64), n_pos=n_pos, categorical=None,
            options=options, n_threads=1,
        )  # fmt: skip
