"""Growing the trees of a forest on rows in memory, and what a callback is given for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastpu import _core
from fastpu.common._progress import Report
from fastpu.data._categories import category_flags
from fastpu.forest._forest_options import ForestOptions
from fastpu.tree._tree_rows import TreeRowsInMemory
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass(frozen=True)
class ForestRound:
    """What a callback is given after each tree of a forest.

    Attributes
    ----------
    tree, n_trees : int
        The number of this tree, counted from 1, and the number of trees that the forest is to have.
    n_leaves : int
        Number of leaves of this tree.
    depth : int
        Number of splits between the root and the deepest leaf; 0 for a tree that is a single leaf.
    """

    tree: int
    n_trees: int
    n_leaves: int
    depth: int


def tree_callback(report: Report | None, n_trees: int) -> Callable[[int, int, int], bool] | None:
    """Return what is called with the number of each tree, from 0, its leaves and its depth; None without a report."""
    if report is None:
        return None
    return lambda tree, n_leaves, depth: report(ForestRound(tree + 1, n_trees, n_leaves, depth))


def grow_forest(
    rows: TreeRowsInMemory,
    options: ForestOptions,
    seed: int,
    init_model: TreeEnsemble | None,
    report: Report | None,
) -> _core.ForestResult:
    """Grow the trees; they and their out-of-bag sums come after those of `init_model`, if it is given."""
    features = rows.features
    n_before = 0 if init_model is None else init_model.n_trees
    core_options = options.for_core(
        prior=rows.prior,
        bags=options.bag_sizes(rows.labels, rows.weights),
        n_features=features.n_features,
        is_sparse=features.is_sparse,
        seed=seed,
        first_tree=n_before,
        n_trees=options.n_trees,
        first_set=0 if init_model is None else len(init_model.category_sets),
    )
    return _core.grow_forest(
        features._native,
        rows.labels,
        rows.weights,
        category_flags(features.categories, features.n_features),
        core_options,
        clusters=rows.clusters,
        oob_sum=None if init_model is None else init_model.oob_sum,
        oob_count=None if init_model is None else init_model.oob_count,
        callback=tree_callback(report, n_before + options.n_trees),
        n_threads=rows.n_threads,
    )
