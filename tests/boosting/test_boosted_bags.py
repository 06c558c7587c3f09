"""Bags of boosted trees: what is in a bag, and the scores of the rows that are not."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import function_of
from tree_cases import fit, pnu_rows, pu_rows

# A few trees on a few rows may call all rows the same, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

#: Scores are summed in another order.
ROUNDING = 1e-12


def test_out_of_bag_scores_are_means_over_the_bags_without_the_row():
    X, y = pu_rows(200)
    model = fit(X, y, n_bags=6, bag_ratio=1.0, min_leaf_rows=5)
    assert model.oob_count[y == 0].mean() > 1
    assert model.oob_count[y == 1].mean() > 1
    per_bag = model.n_trees // 6
    bags = [sum(model._sums(fastpu.bin_features(X), t, t + 1, 1) for t in range(b * per_bag, (b + 1) * per_bag))
            for b in range(6)]  # fmt: skip
    np.testing.assert_allclose(model.decision_function(X), np.mean(bags, axis=0), rtol=ROUNDING, atol=ROUNDING)
    row = int(np.flatnonzero(model.oob_count == 5)[0])
    left_out = [(np.sum(bags, axis=0)[row] - bag[row]) / 5 for bag in bags]
    assert np.isclose(left_out, model.oob_decision_function[row]).any()


@pytest.mark.parametrize("function", ["fit_boosted_trees", "fit_forest"])
def test_bags_of_separable_rows_call_those_apart_positive(function):
    """Their out-of-bag scores are means of equal values, which differ by rounding alone."""
    given = {"n_bags": 5} if function == "fit_boosted_trees" else {"n_trees": 30, "splitter": "best"}
    X = np.where(np.arange(2000) < 30, 6.0, 0.0)[:, None]
    for seed in range(10):
        model = function_of(function)(X, np.arange(2000) < 6, random_state=seed, **given)
        np.testing.assert_array_equal(model.predict(X) > 0, np.arange(2000) < 30)


def with_absent_rows(weights, seed=0):
    """Rows, labels with negatives, and weights of which many are 0."""
    X, y = pnu_rows(600)
    rng = np.random.default_rng(seed)
    return X, y, np.where(rng.random(600) < 0.6, 0.0, rng.choice(weights, 600))


@pytest.mark.parametrize("function", ["fit_boosted_trees", "fit_forest"])
@pytest.mark.parametrize("bag_ratio", [None, 0.5, 2.0, 1e308])
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], [0.3, 1.7]], ids=str)
def test_rows_of_weight_zero_are_as_if_they_were_not_there(function, bag_ratio, weights):
    X, y, weights = with_absent_rows(weights)
    options = {"n_rounds": 4, "n_bags": 3, "min_leaf_rows": 3} if function == "fit_boosted_trees" else {"n_trees": 9}
    if function == "fit_forest":
        y = np.maximum(y, 0)
    there = weights > 0
    with_all, without = (
        function_of(function)(X[kept], y[kept], sample_weight=weights[kept], bag_ratio=bag_ratio, random_state=0,
                                  **options)
        for kept in (np.full(600, True), there)
    )  # fmt: skip
    np.testing.assert_array_equal(with_all.packed_nodes, without.packed_nodes)
    np.testing.assert_array_equal(with_all.oob_sum[there], without.oob_sum)
    np.testing.assert_array_equal(with_all.oob_count[there], without.oob_count)
    assert with_all.threshold == without.threshold
