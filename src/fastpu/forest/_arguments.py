"""The arguments of a forest, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import MANY, check_choice, check_int
from fastpu.data._validate import check_labels, check_sample_weight, well_scaled
from fastpu.model._prior import prior_by_labels
from fastpu.tree._fit import check_bag_ratio, check_loss, check_max_features, drawn_features

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
    """Check those of a function's arguments, by their names, that say how trees are grown."""
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
