"""The arguments of a forest, checked, and the model that is made of its trees, wherever the rows are."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import MANY, check_choice, check_int
from fastpu.common._warn import warn
from fastpu.data._validate import check_labels, check_sample_weight, well_scaled
from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._prior import prior_by_labels
from fastpu.model._threshold import ScoredRows
from fastpu.tree._fit import check_bag_ratio, check_loss, check_max_features, drawn_features, joined
from fastpu.tree.tree_ensemble import TreeEnsemble

FUNCTION = "fit_forest"
LOSSES = ("gini", "nnpu", "upu")
WITH_PRIOR = ("nnpu", "upu")
SPLITTERS = ("random", "best")


@dataclass(frozen=True)
class ForestRound:
    """What a callback is told after a tree of a forest.

    Attributes
    ----------
    tree, n_trees : int
        The number of this tree, from 1, and how many trees the forest is to have.
    n_leaves : int
        Number of its leaves.
    depth : int
        Levels of splits above its deepest leaf; 0 for a tree that is a single leaf.
    """

    tree: int
    n_trees: int
    n_leaves: int
    depth: int


@dataclass(frozen=True)
class Growth:
    """The arguments that say how trees are grown: all but the rows, the seed and the number of trees."""

    loss: str
    prior: float | None
    scenario: str
    splitter: str
    bag_ratio: float | None
    max_features: str | int | float
    min_leaf_rows: int
    max_depth: int | None
    max_leaves: int | None

    def of_trees(self, n_features: int, prior: float, *, is_sparse: bool) -> dict[str, Any]:
        """Return the options of the core that say how trees are grown, for this prior among the unlabelled rows."""
        return {
            "loss": self.loss,
            "prior": prior,
            "random_cuts": self.splitter == "random",
            "max_features": drawn_features(self.max_features, n_features, is_sparse=is_sparse),
            "min_leaf_rows": self.min_leaf_rows,
            "max_depth": -1 if self.max_depth is None else self.max_depth,
            "max_leaves": self.max_leaves or 0,
        }


def check_growth(given: Mapping[str, Any]) -> Growth:
    kind, prior, scenario = check_loss(given, LOSSES, WITH_PRIOR)
    max_depth, max_leaves = given["max_depth"], given["max_leaves"]
    return Growth(
        loss=kind,
        prior=prior,
        scenario=scenario,
        splitter=check_choice("splitter", given["splitter"], SPLITTERS),
        bag_ratio=check_bag_ratio(given["bag_ratio"]),
        max_features=check_max_features(given["max_features"], ("auto", "sqrt", "all")),
        min_leaf_rows=min(check_int("min_leaf_rows", given["min_leaf_rows"], low=1), MANY),
        max_depth=None if max_depth is None else min(check_int("max_depth", max_depth, low=1), MANY),
        max_leaves=None if max_leaves is None else min(check_int("max_leaves", max_leaves, low=2), MANY),
    )


def check_groups(
    y: object, sample_weight: object, n_rows: int, growth: Growth
) -> tuple[NDArray[np.int8], NDArray[np.float64] | None, float]:
    """Return labels, weights, and the prior among the unlabelled rows (any number where there is no prior), checked."""
    labels = check_labels(y, n_rows, pu_only=FUNCTION)
    weights = check_sample_weight(sample_weight, n_rows)
    if weights is not None:
        weights = well_scaled(weights)
        for label, what in ((1, "positive row (+1)"), (0, "unlabelled row (0)")):
            if not (weights[labels == label] > 0).any():
                raise ValueError(f"sample_weight must be positive for at least one {what}, got zeros only")
    return labels, weights, prior_by_labels(growth.prior, growth.scenario, labels, weights)


@dataclass
class ForestRows(ScoredRows):
    """The training rows of a forest, wherever they are; `features` has their number, names and categories.

    `prior` is the one among the unlabelled rows, any number where there is none.
    """

    features: Any
    prior: float
    fingerprint: NDArray[np.uint64]


def make_model(
    grown: Any,
    rows: ForestRows,
    growth: Growth,
    seed: int,
    before: TreeEnsemble | None,
    params: dict[str, object],
) -> TreeEnsemble:
    """Return the model of these trees and those of `before`, with its threshold; warn if it tells no rows apart."""
    trees = joined(before, grown)
    sizes = np.diff(trees["tree_starts"])
    n_trees = sizes.size
    # Tree by tree: reduceat would make all gains float64 at once.
    gains = [tree.sum(dtype=np.float64) for tree in np.split(grown.nodes["gain"], grown.tree_start[1:-1])]
    unsplit = 1.0 if growth.loss == "gini" else 4.0 * rows.prior * (1.0 - rows.prior)  # the loss of a bag
    objective = unsplit - np.array(gains)
    with np.errstate(invalid="ignore"):
        held = grown.oob_sum / grown.oob_count
    make = functools.partial(
        TreeEnsemble,
        n_features=rows.features.n_features,
        feature_names=rows.features.feature_names,
        n_iter=n_trees,
        converged=grown.status == "n_trees",
        status=grown.status,
        objective=objective if before is None else np.concatenate([before.objective, objective]),
        history={"n_leaves": (sizes + 1) // 2},
        params=params,
        **trees,
        categories=rows.features.categories,
        divisor=n_trees,
        seed=seed,
        oob_sum=grown.oob_sum,
        oob_count=grown.oob_count,
        fingerprint=rows.fingerprint,
    )
    threshold, rule = rows.threshold(held, lambda: make(threshold=0.0))
    model = make(threshold=threshold, threshold_rule=rule)
    if sizes.max() == 1:
        warn(
            f"{FUNCTION}: all {n_trees} trees are single leaves, which give every row the same score: either all "
            f"columns are constant, or min_leaf_rows = {growth.min_leaf_rows} leaves no split of a bag; give "
            f"more rows, or lower min_leaf_rows",
            DegenerateModelWarning,
        )
    elif grown.status == "n_trees":
        rows.warn_if_alike(FUNCTION, model, f"by {rule} no cut tells these apart: give more trees or rows")
    return model
