"""The arguments of a forest, checked, and the model that is made of its trees, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._bags import AutoBags, BagRatio, check_bag_ratio
from fastpu.common._params import MANY, check_choice, check_int
from fastpu.common._progress import make_report, on_round
from fastpu.common._warn import warn
from fastpu.data._matrix import columns_of
from fastpu.data._training_rows import warn_of_balancing
from fastpu.data._validate import check_labels, well_scaled
from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._prior import prior_by_labels
from fastpu.model._threshold import ScoredRows
from fastpu.tree._copies import warn_of_copies
from fastpu.tree._fit import Start, bag_options, check_loss, check_max_features, drawn_features, joined
from fastpu.tree._leaks import warn_of_leaks
from fastpu.tree.tree_ensemble import TreeEnsemble

FUNCTION = "fit_forest"
LOSSES = ("gini", "nnpu", "upu")
WITH_PRIOR = ("nnpu", "upu")
SPLITTERS = ("random", "best")
AUTO_BAGS = AutoBags(ratio=2.0, least_unl=(10, 100, 500, 2000), least_pos=10)


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
    bag_ratio: BagRatio
    max_features: str | int | float
    min_leaf_rows: int
    max_depth: int | None
    max_leaves: int | None


def check_groups(
    y: object, weights: NDArray[np.float64] | None, n_rows: int, growth: Growth
) -> tuple[NDArray[np.int8], NDArray[np.float64] | None, float]:
    """Return labels, scaled weights, and the prior among the unlabelled rows (any number where there is no prior)."""
    labels = check_labels(y, n_rows, pu_only=FUNCTION)
    if weights is not None:
        weights = well_scaled(weights)
        for label, what in ((1, "positive row (+1)"), (0, "unlabelled row (0)")):
            if not (weights[labels == label] > 0).any():
                raise ValueError(f"sample_weight must be positive for at least one {what}, got zeros only")
        warn_of_balancing(FUNCTION, labels, weights)
    return labels, weights, prior_by_labels(growth.prior, growth.scenario, labels, weights)


@dataclass
class ForestRows(ScoredRows):
    """The training rows of a forest, wherever they are; `features` has their number, names and categories.

    `prior` is the one among the unlabelled rows, any number where there is none; `hashes(label)` returns hashes of the
    rows with a label and a positive weight, the same for equal rows, and `codes(feature)` the bins of all rows.
    """

    features: Any
    prior: float
    fingerprint: NDArray[np.uint64]
    hashes: Callable[[int], NDArray[np.uint64]]
    codes: Callable[[int], NDArray[np.uint32]]


class ForestFit:
    """A fit of a forest, wherever its rows are: its arguments but for the rows, checked."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        kind, prior, scenario = check_loss(given, LOSSES, WITH_PRIOR)
        max_depth, max_leaves = given["max_depth"], given["max_leaves"]
        self.growth = Growth(
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
        self.n_new = check_int("n_trees", given["n_trees"], low=1)
        self.start = Start.of(given["init_model"], given["random_state"], FUNCTION)
        self._callback, self._progress = given["callback"], given["progress"]

    @property
    def n_sets(self) -> int:
        """How many sets of categories the trees before have."""
        return 0 if self.start.before is None else len(self.start.before.category_sets)

    def model(
        self, rows: ForestRows, grow: Callable[[dict[str, Any], Callable[..., bool] | None], Any]
    ) -> TreeEnsemble:
        """Return the model of the trees that `grow` grows by these options of the core, calling a report for each."""
        growth, start, features = self.growth, self.start, rows.features
        params = {"method": FUNCTION, **asdict(growth), "max_bins": features.max_bins}
        start.check(features, params, rows.labels.size)
        start.check_rows(rows.fingerprint)
        n_all = start.n_trees + self.n_new
        options = {
            "n_trees": min(self.n_new, MANY),
            "first_tree": start.n_trees,
            "seed": start.seed,
            **bag_options(growth.bag_ratio, AUTO_BAGS, rows.labels, rows.weights),
            "loss": growth.loss,
            "prior": rows.prior,
            "random_cuts": growth.splitter == "random",
            "max_features": drawn_features(growth.max_features, features.n_features, is_sparse=features.is_sparse),
            "min_leaf_rows": growth.min_leaf_rows,
            "max_depth": -1 if growth.max_depth is None else growth.max_depth,
            "max_leaves": growth.max_leaves or 0,
        }
        with make_report(self._callback, self._progress, total=self.n_new, description="forest") as report:
            grown = grow(options, on_round(report, lambda tree, *rest: ForestRound(tree + 1, n_all, *rest)))
        params |= {"n_trees": n_all, "random_state": start.random_state}
        return _make_model(grown, rows, growth, start, params)


def _make_model(grown: Any, rows: ForestRows, growth: Growth, start: Start, params: dict[str, object]) -> TreeEnsemble:
    """Return the model of these trees and those before, with its threshold; warn if it tells no rows apart."""
    before = start.before
    trees = joined(before, grown)
    sizes = np.diff(trees["tree_starts"])
    n_trees = sizes.size
    # Tree by tree: reduceat would make all gains float64 at once.
    gains = [tree.sum(dtype=np.float64) for tree in np.split(grown.nodes["gain"], grown.tree_start[1:-1])]
    unsplit = 1.0 if growth.loss == "gini" else 4.0 * rows.prior * (1.0 - rows.prior)  # the loss of a bag
    objective = unsplit - np.array(gains)
    model = TreeEnsemble(
        **columns_of(rows.features),
        threshold=0.0,
        n_iter=n_trees,
        converged=grown.status == "n_trees",
        status=grown.status,
        objective=objective if before is None else np.concatenate([before.objective, objective]),
        history={"n_leaves": (sizes + 1) // 2},
        params=params,
        **trees,
        divisor=n_trees,
        seed=start.seed,
        oob_sum=grown.oob_sum,
        oob_count=grown.oob_count,
        training_labels=rows.labels,
        training_weights=rows.differing_weights(),
        fingerprint=rows.fingerprint,
    )
    model = rows.with_threshold(model)
    if not warn_of_copies(FUNCTION, rows.hashes):
        warn_of_leaks(FUNCTION, model, rows, rows.codes)
    if sizes.max() == 1:
        warn(
            f"{FUNCTION}: all {n_trees} trees are single leaves, which give every row the same score: either all "
            f"columns are constant, or min_leaf_rows = {growth.min_leaf_rows} leaves no split of a bag; give "
            f"more rows, or lower min_leaf_rows",
            DegenerateModelWarning,
        )
    elif grown.status == "n_trees":
        rows.warn_if_alike(
            FUNCTION, model, f"by {model.threshold_rule} no cut tells these apart: give more trees or rows"
        )
    return model
