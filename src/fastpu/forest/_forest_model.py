"""The model that is made of the trees of a forest, and the warnings about it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import warn
from fastpu.exceptions import DegenerateModelWarning
from fastpu.forest._forest_options import FUNCTION, ForestOptions
from fastpu.tree._copies import warn_of_copies
from fastpu.tree._init_model import TreeSeed
from fastpu.tree._leaks import warn_of_leaks
from fastpu.tree._tree_arrays import GrownTrees, tree_arrays
from fastpu.tree._tree_rows import BaggedRows
from fastpu.tree.tree_ensemble import TreeEnsemble


class GrownForest(GrownTrees, Protocol):
    """New trees, and the out-of-bag sums of all trees: a `_core.ForestResult`, or what workers have grown."""

    @property
    def oob_sum(self) -> NDArray[np.float64]: ...
    @property
    def oob_count(self) -> NDArray[np.int32]: ...
    @property
    def status(self) -> str: ...


def make_forest(
    grown: GrownForest, rows: BaggedRows, options: ForestOptions, seed: TreeSeed, init_model: TreeEnsemble | None
) -> TreeEnsemble:
    """Return the model of the trees of `init_model`, if it is given, and the new ones, with its threshold."""
    trees = tree_arrays(init_model, grown)
    n_before = 0 if init_model is None else init_model.n_trees
    objective = _loss_left(grown, options, rows.prior)
    model = TreeEnsemble(
        n_features=rows.features.n_features,
        feature_names=rows.features.feature_names,
        categories=rows.features.categories,
        threshold=0.0,
        n_iter=trees.n_trees,
        converged=grown.status == "n_trees",
        status=grown.status,
        objective=objective if init_model is None else np.concatenate([init_model.objective, objective]),
        history={"n_leaves": trees.n_leaves},
        params={
            **options.params(rows.features.max_bins),
            "n_trees": n_before + options.n_trees,
            "random_state": seed.random_state,
        },
        packed_nodes=trees.packed_nodes,
        tree_starts=trees.tree_starts,
        category_sets=trees.category_sets,
        divisor=trees.n_trees,
        seed=seed.value,
        oob_sum=grown.oob_sum,
        oob_count=grown.oob_count,
        training_labels=rows.labels,
        training_weights=rows.differing_weights(),
        fingerprint=rows.fingerprint,
    )
    model = rows.with_threshold(model)
    _warn_of(model, rows, options)
    return model


def _loss_left(grown: GrownTrees, options: ForestOptions, prior: float) -> NDArray[np.float64]:
    """Return for each tree what its splits leave of the loss of its bag."""
    # Tree by tree: reduceat would make all gains float64 at once.
    gains = [tree.sum(dtype=np.float64) for tree in np.split(grown.nodes["gain"], grown.tree_start[1:-1])]
    of_bag = 1.0 if options.loss == "gini" else 4.0 * prior * (1.0 - prior)
    loss_left: NDArray[np.float64] = of_bag - np.array(gains)
    return loss_left


def _warn_of(model: TreeEnsemble, rows: BaggedRows, options: ForestOptions) -> None:
    if not warn_of_copies(FUNCTION, rows):
        warn_of_leaks(FUNCTION, model, rows)
    if model.history["n_leaves"].max() == 1:
        warn(
            f"{FUNCTION}: all {model.n_trees} trees are single leaves, which give every row the same score. Either all "
            f"columns are constant, or min_leaf_rows = {options.min_leaf_rows} allows no split of a bag: give more "
            f"rows, or lower min_leaf_rows",
            DegenerateModelWarning,
        )
    elif model.status == "n_trees":
        rows.warn_if_alike(
            FUNCTION, model, f"by {model.threshold_rule} no cut tells these apart: give more trees or rows"
        )
    if rows.clusters is not None:
        rows.warn_of_groups_in_all_bags(FUNCTION, model)
