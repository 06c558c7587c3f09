"""Rows for forests, and the slow forest of the same rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

import fastpu
from fastpu.data.binned_features import BinnedFeatures, bin_features
from oracles import forest as oracle

#: Missing entries, infinities of both signs, ties, a constant column and few values.
WILD = ("missing", "infinite", "ties", "constant", "many")


def pu_rows(n: int = 120, d: int = 4, *, seed: int = 0, gap: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, a third of the rows positive, and about every second of these labelled."""
    rng = np.random.default_rng([seed, n, d])
    truth = rng.random(n) < 1 / 3
    X = rng.normal(size=(n, d)) + gap * truth[:, None]
    labels = (truth & (rng.random(n) < 0.5)).astype(np.int8)
    labels[:2] = 1, 0
    return X, labels


def wild_rows(n: int = 120, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One column for each of WILD."""
    X, labels = pu_rows(n, len(WILD), seed=seed)
    rng = np.random.default_rng([seed, 1])
    X[rng.random(n) < 0.3, 0] = np.nan
    X[rng.random(n) < 0.1, 1] = np.inf
    X[rng.random(n) < 0.1, 1] = -np.inf
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = 2.5
    return X, labels


def mixed_frame(n: int = 120, *, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns of categories, one of which has missing entries, beside two of numbers."""
    X, labels = pu_rows(n, 2, seed=seed)
    rng = np.random.default_rng([seed, 2])
    words = np.array(["red", "green", "blue", "grey", "pink", "black"])
    codes = np.clip(np.round(X[:, 0] * 1.5 + rng.normal(size=n) + 2), 0, 5).astype(int)
    many = rng.integers(0, 40, n)
    colour = pd.Series(words[codes]).mask(rng.random(n) < 0.15)
    X[rng.random(n) < 0.2, 1] = np.nan
    frame = {"a": X[:, 0], "colour": pd.Categorical(colour), "b": X[:, 1], "shop": pd.Categorical(many * 3)}
    return pd.DataFrame(frame), labels


def bins_of(features: BinnedFeatures) -> oracle.Bins:
    """Codes, cuts and the values of bins, which tests of the bins compare with slow ones."""
    native = features._native
    starts, values = native.cut_starts, native.bin_values
    return oracle.Bins(
        codes=np.column_stack([features.column(e) for e in range(features.n_features)]).astype(np.int64),
        cuts=list(features.cuts),
        values=[values[starts[e] + e : starts[e + 1] + e + 1] for e in range(features.n_features)],
        categorical=[str(e) in features.categories for e in range(features.n_features)],
    )


def slow_forest(
    X: Any, labels: np.ndarray, *, seed: int, n_trees: int, max_bins: int = 255, sample_weight: Any = None,
    bag_ratio: float | Literal["auto"] | None = "auto", prior: float | None = None, first_tree: int = 0, **options: Any,
) -> oracle.Forest:  # fmt: skip
    """The forest that `fit_forest` has to grow, for a `max_features` that is a number."""
    counted = np.full(labels.size, True) if sample_weight is None else np.asarray(sample_weight) > 0
    features = X if isinstance(X, BinnedFeatures) else bin_features(X, max_bins=max_bins, sample_weight=counted)
    n_pos, n_unl = (int(np.sum((labels == label) & counted)) for label in (1, 0))
    repeats_pos, sizes = 1, [n_unl]
    if bag_ratio == "auto":
        repeats_pos = max(1, -(-10 // n_pos))
        sizes = [
            min(max(1, 2 * n_pos, min(least, round(0.1 * n_unl))), max(1, round(0.632 * n_unl)))
            for least in (10, 100, 500, 2000)
        ]
    elif bag_ratio is not None:
        sizes = [min(n_unl, max(1, round(bag_ratio * n_pos)))]
    grown = oracle.Options(prior=0.5 if prior is None else prior, **options)
    return oracle.grow_forest(
        bins_of(features), labels, grown, seed=seed, n_trees=n_trees, sizes=sizes, repeats_pos=repeats_pos,
        replace=bag_ratio is None, weights=sample_weight, first_tree=first_tree,
    )  # fmt: skip


def assert_same_forest(model: fastpu.models.TreeEnsemble, slow: oracle.Forest, first_tree: int = 0) -> None:
    """Node for node, by the bit."""
    nodes = model.nodes
    for t, tree in enumerate(slow.trees, start=first_tree):
        found = nodes[nodes["tree"] == t]
        expected = tree.table()
        assert len(found) == len(expected), f"tree {t}"
        for k, (node, entry) in enumerate(zip(found, expected, strict=True)):
            given = dict(zip(nodes.dtype.names, node.tolist(), strict=True))
            if "categories" in entry:
                given["categories"] = category_set(model, given["category_set"])
            differing = {name: (given[name], value) for name, value in entry.items() if given[name] != value}
            assert not differing, f"tree {t}, node {k}: {differing}"


def category_set(model: fastpu.models.TreeEnsemble, row: int) -> frozenset[int]:
    words = [int(word) for word in model.category_sets[row]]
    return frozenset(v for v in range(256) if words[v // 64] >> (v % 64) & 1)
