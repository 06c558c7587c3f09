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


def grow_apart(bins, y, weights, *, n_trees=N_TREES, first_tree=0, **options):
    """Trees of rows that are gathered from three shards; returns nodes, starts and sets."""
    groups = [np.flatnonzero((y == label) & (weights > 0 if weights is not None else True)) for label in (1, 0)]
    of_groups = [None if weights is None else weights[rows] for rows in groups]
    repeats_pos, bag_unl = options.pop("repeats_pos"), options.pop("bag_unl")
    bags, start = _core.draw_forest_bags(
        n_pos=groups[0].size, n_unl=groups[1].size, weight_pos=of_groups[0], weight_unl=of_groups[1],
        options=_core.ForestOptions(
            seed=SEED, first_tree=first_tree, n_trees=n_trees, repeats_pos=repeats_pos, bag_unl=bag_unl,
            replace_unl=options.pop("replace_unl", False),
        ),
        n_threads=2,
    )  # fmt: skip
    n_pos = repeats_pos * groups[0].size
    is_unl = np.concatenate([np.arange(size) >= n_pos for size in np.diff(start)])
    drawn = np.unique(bags[is_unl])
    rows = np.concatenate([groups[0], groups[1][drawn]])
    parts = [bins[chosen] for chosen in np.array_split(rows, 3)]
    gathered = stacked_bins(parts)
    bags[is_unl] = groups[0].size + np.searchsorted(drawn, bags[is_unl])
    return _core.grow_on_bags(
        gathered._native, bags, start, n_pos=n_pos, categorical=None,
        options=_core.ForestOptions(first_tree=first_tree, seed=SEED, **options), n_threads=2,
    )  # fmt: skip


def grow_together(bins, y, weights, *, first_tree=0, n_trees=N_TREES, **options):
    given = _core.ForestOptions(n_trees=n_trees, first_tree=first_tree, seed=SEED, **options)
    return _core.grow_forest(
        bins._native, y, weights, None, given, clusters=None, oob_sum=None, oob_count=None, callback=None, n_threads=1
    )


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
def test_trees_on_gathered_bags_are_those_of_all_rows(form, changed, weighted):
    bins, y, weights = problem(form)
    given = weights if weighted else None
    options = OPTIONS | changed
    assert_same_trees(grow_apart(bins, y, given, **options), grow_together(bins, y, given, **options))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_pos": 0}, "from 1 to 4294967295 rows, got 0"),
        ({"n_unl": 2**32}, "from 1 to 4294967295 rows, got 4294967296"),
        ({"n_trees": 0}, "n_trees"),
        ({"bag_unl": [2, 0]}, "bag_unl"),
        ({"bag_unl": []}, "bag_unl must have a number"),
        ({"repeats_pos": 0}, "repeats_pos"),
        ({"weight_pos": np.array([1.0, 0.0, 2.0])}, "must be positive"),
        ({"weight_unl": np.ones(4)}, "weight_unl"),
    ],
)
def test_bags_that_cannot_be_drawn_are_refused(changed, words):
    given = {"n_pos": 3, "n_unl": 5, "weight_pos": None, "weight_unl": None, "n_trees": 2, "bag_unl": [2]} | changed
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
