"""The model of a forest, made of its trees, wherever the rows are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import warn
from fastpu.exceptions import DegenerateModelWarning
from fastpu.forest._arguments import FUNCTION, Growth
from fastpu.model._threshold import best_threshold
from fastpu.tree._fit import joined
from fastpu.tree.tree_ensemble import TreeEnsemble

_FEW = 100  # with more rows on each side of the threshold out of bag, rows in the bags need not be scored


@dataclasses.dataclass(frozen=True)
class ForestRows:
    """The training rows of a forest, wherever they are.

    `features` has the number of features, their names and their categories. `prior` is the one among the unlabelled
    rows, any number where there is none. `score` returns the scores that a model gives all rows.
    """

    features: Any
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    prior: float
    fingerprint: NDArray[np.uint64]
    score: Callable[[TreeEnsemble], NDArray[np.float64]]


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
    model = TreeEnsemble(
        n_features=rows.features.n_features,
        feature_names=rows.features.feature_names,
        threshold=0.0,
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
    held = model.oob_decision_function
    threshold, rule = best_threshold(rows.labels, rows.weights, lambda: rows.score(model), held)
    model = dataclasses.replace(model, threshold=threshold, threshold_rule=rule)
    if sizes.max() == 1:
        warn(
            f"{FUNCTION}: all {n_trees} trees are single leaves, which give every row the same score: either all "
            f"columns are constant, or min_leaf_rows = {growth.min_leaf_rows} leaves no split of a bag; give "
            f"more rows, or lower min_leaf_rows",
            DegenerateModelWarning,
        )
    elif grown.status == "n_trees" and (verdict := _only_verdict(model, rows)):
        warn(
            f"{FUNCTION}: the model calls all {rows.labels.size} training rows {verdict}: by {rule} no cut tells "
            f"positive from unlabelled rows; give more trees or rows, or rank by the scores (with_threshold)",
            DegenerateModelWarning,
        )
    return model


def _only_verdict(model: TreeEnsemble, rows: ForestRows) -> str:
    """Return what the model calls all training rows, or "" if two of them differ."""
    held = model.oob_decision_function
    if held is not None and min(np.sum(held > model.threshold), np.sum(held <= model.threshold)) > _FEW:
        return ""  # the trees whose bags they are in tell them apart even better
    n_positive = np.count_nonzero(rows.score(model) > model.threshold)
    return "" if 0 < n_positive < rows.labels.size else "positive" if n_positive else "negative"
