"""Rows without a gradient (unlabelled ones at gamma=1) change no gain, but count for `min_leaf_rows`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fastpu
from tree_cases import assert_same_trees, slow_trees

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")


@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize("few", [1, -1])
def test_missing_rows_without_a_gradient_go_where_rows_are_lacking(kind, few):
    """Three rows on one side of the only cut, five on the other, four of U that are missing; a leaf needs five."""
    y = np.repeat([few, -few, 0], [3, 5, 4]).astype(np.int8)
    for column in (np.repeat([0.0, 1.0, np.nan], [3, 5, 4]), np.repeat([1.0, 0.0, np.nan], [3, 5, 4])):
        X = pd.DataFrame({"x": pd.Categorical(column) if kind == "categories" else column})
        options = {"gamma": 1.0, "min_leaf_rows": 5, "n_rounds": 2, "max_leaves": 2}
        model = fastpu.fit_boosted_trees(X, y, random_state=0, **options)
        assert model.nodes["feature"][0] == 0
        assert sorted(model.nodes["cover"][1:3]) == [5, 7]
        assert_same_trees(model, slow_trees(X, y, seed=model.seed, **options))


@pytest.mark.parametrize("seed", range(60))
def test_no_admissible_split_is_missed(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    y = rng.choice([1, 0, -1], n).astype(np.int8)
    y[:3] = 1, 0, -1
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    X[(rng.random((n, 2)) < 0.4) & (y == 0)[:, None]] = np.nan
    data = pd.DataFrame({"a": pd.Categorical(X[:, 0]), "b": X[:, 1]}) if seed % 2 else X
    options = {"min_leaf_rows": int(rng.integers(1, n // 2)), "l2": float(rng.choice([0.0, 1.0]))}
    options |= {"gamma": 1.0, "min_leaf_hessian": 0.0, "n_rounds": 3}
    model = fastpu.fit_boosted_trees(data, y, random_state=0, **options)
    assert_same_trees(model, slow_trees(data, y, seed=model.seed, **options))
