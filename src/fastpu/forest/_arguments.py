"""The arguments of a forest, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._text import describe
from fastpu.data._validate import check_labels, check_sample_weight, well_scaled
from fastpu.model._prior import proper_prior
from fastpu.tree._fit import check_prior_and_scenario, unlabelled_of_bag

if TYPE_CHECKING:
    from numpy.typing import NDArray


FUNCTION = "fit_forest"
CRITERIA = ("gini", "nnpu", "upu")
WITH_PRIOR = ("nnpu", "upu")
SPLITTERS = ("random", "best")
_SHARES = ("sqrt", "all")


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

    criterion: str
    prior: float | None
    scenario: str
    splitter: str
    bag_ratio: float | None
    max_features: str | int | float
    min_leaf_rows: int
    max_depth: int | None
    max_leaves: int | None

    def n_drawn_features(self, n_features: int) -> int:
        """Return how many features a node looks at."""
        if self.max_features == "all":
            return n_features
        if self.max_features == "sqrt":
            return math.isqrt(n_features)
        if isinstance(self.max_features, float):
            return max(1, int(self.max_features * n_features))
        return int(self.max_features)

    def of_bags(self, n_pos: int, n_unl: int) -> dict[str, Any]:
        """Return the arguments of the core that say how bags are drawn."""
        if self.bag_ratio is None:
            return {"bag_unl": n_unl, "replace_unl": True}
        return {"bag_unl": unlabelled_of_bag(self.bag_ratio, n_pos, n_unl), "replace_unl": False}

    def of_trees(self, n_features: int, prior: float) -> dict[str, Any]:
        """Return the arguments of the core that say how trees are grown, for this prior among the unlabelled rows."""
        return {
            "criterion": self.criterion,
            "prior": prior,
            "splitter": self.splitter,
            "max_features": min(self.n_drawn_features(n_features), n_features),
            "min_leaf_rows": self.min_leaf_rows,
            "max_depth": -1 if self.max_depth is None else self.max_depth,
            "max_leaves": self.max_leaves or 0,
        }

    def root_cost(self, prior: float) -> float:
        """Return the criterion of a bag that is not split."""
        return 1.0 if self.criterion == "gini" else 4.0 * prior * (1.0 - prior)


def check_growth(
    *,
    criterion: object,
    prior: object,
    scenario: object,
    splitter: object,
    bag_ratio: object,
    max_features: object,
    min_leaf_rows: object,
    max_depth: object,
    max_leaves: object,
) -> Growth:
    kind = check_choice("criterion", criterion, CRITERIA)
    given, drawn_as = check_prior_and_scenario(prior, scenario, f"criterion={kind!r}", is_needed=kind in WITH_PRIOR)
    return Growth(
        criterion=kind,
        prior=given,
        scenario=drawn_as,
        splitter=check_choice("splitter", splitter, SPLITTERS),
        bag_ratio=None if bag_ratio is None else check_float("bag_ratio", bag_ratio, low=0, open_low=True),
        max_features=_check_max_features(max_features),
        min_leaf_rows=min(check_int("min_leaf_rows", min_leaf_rows, low=1), MANY),
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
    if growth.prior is None:
        return labels, weights, 0.5
    mass = np.ones(labels.size) if weights is None else weights
    n_pos, n_unl = (float(mass[labels == label].sum()) for label in (1, 0))
    return labels, weights, proper_prior(growth.prior, growth.scenario, n_pos=n_pos, n_unl=n_unl)


def _check_max_features(value: object) -> str | int | float:
    if isinstance(value, str):
        return check_choice("max_features", value, _SHARES)
    if isinstance(value, float):
        return check_float("max_features", value, low=0, high=1, open_low=True)
    try:
        return min(check_int("max_features", value, low=1), MANY)
    except TypeError as error:
        raise TypeError(
            f"max_features must be 'sqrt', 'all', a number of features or a share of them in (0, 1], "
            f"got {describe(value)}"
        ) from error
