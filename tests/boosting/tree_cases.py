"""Slow boosted trees of the rows of a model, and their comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

import fastpu
from fastpu.data.binned_features import BinnedFeatures, bin_features
from forest_cases import bins_of, category_set, mixed_frame, pu_rows, wild_rows
from oracles import boosted_trees as oracle
from oracles.forest import Bins, derived

__all__ = ["assert_same_trees", "fit", "mixed_frame", "pnu_rows", "pu_rows", "slow_trees", "wild_rows"]

#: Gains are kept in float32; leaves are summed in another order.
GAIN, VALUE = 1e-5, 1e-9


def fit(X: Any, y: Any, **options: Any) -> fastpu.models.TreeEnsemble:
    """A small model; `options` go before what it is made with otherwise."""
    given = {"n_rounds": 4, "learning_rate": 0.3, "random_state": 7, "n_threads": 1}
    return fastpu.fit_boosted_trees(X, y, **{**given, **options})


def pnu_rows(n: int = 150, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of all three groups."""
    X, y = pu_rows(n, seed=seed)
    return X, np.where((y == 0) & (X[:, 0] < 0.2) & (np.arange(n) % 3 == 0), -1, y).astype(np.int8)


def slow_trees(
    X: Any, y: Any, *, seed: int, n_rounds: int, max_bins: int = 255, sample_weight: Any = None,
    n_bags: int = 1, bag_ratio: float = 3.0, **options: Any,
) -> list[oracle.Boosted]:  # fmt: skip
    """The boosters, one for each bag, that `fit_boosted_trees` has to make."""
    features = X if isinstance(X, BinnedFeatures) else bin_features(X, max_bins=max_bins, sample_weight=sample_weight)
    bins, labels, given = bins_of(features), np.asarray(y), oracle.Options(**options)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if n_bags == 1:
        return [oracle.boost(bins, labels, given, seed=derived(seed, 0), n_rounds=n_rounds, weights=weights)]
    boosted = []
    for bag in range(n_bags):
        seed_of_bag = derived(seed, bag + 1)
        n_pos, n_unl = (np.sum((labels == label) & (1 if weights is None else weights > 0)) for label in (1, 0))
        n_unl = max(1, round(min(bag_ratio * n_pos, n_unl)))
        rows = oracle.bag_of(labels, weights, n_unl, derived(seed_of_bag, 0))
        of_bag = Bins(bins.codes[rows], bins.cuts, bins.values, bins.categorical)
        held = None if weights is None else weights[rows]
        made = oracle.boost(of_bag, labels[rows], given, seed=derived(seed_of_bag, 1), n_rounds=n_rounds, weights=held)
        boosted.append(made)
    return boosted


def assert_same_trees(model: fastpu.models.TreeEnsemble, slow: list[oracle.Boosted]) -> None:
    """Node for node: the splits exactly, gains and values up to rounding."""
    nodes, trees = model.nodes, [tree for boosted in slow for tree in boosted.trees]
    assert model.n_trees == len(trees)
    for t, tree in enumerate(trees):
        found, expected = nodes[nodes["tree"] == t], tree.table()
        assert len(found) == len(expected), f"tree {t}"
        for k, (node, entry) in enumerate(zip(found, expected, strict=True)):
            has = dict(zip(nodes.dtype.names, node.tolist(), strict=True))
            if "categories" in entry:
                has["categories"] = category_set(model, has["category_set"])
            where = f"tree {t}, node {k}: {has} is not {entry}"
            np.testing.assert_allclose(has.pop("gain"), entry.pop("gain", 0.0), rtol=GAIN, atol=1e-9, err_msg=where)
            np.testing.assert_allclose(
                has.pop("value"), entry.pop("value", np.nan), rtol=VALUE, atol=VALUE, err_msg=where
            )
            assert {name: has[name] for name in entry} == entry, where
