"""A common factor of all weights changes no tree: weights are exposures, survey counts, shares."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from tree_cases import pnu_rows

#: Scores of leaves that are the same but for the rounding of sums.
SCORE = 1e-9
#: The parameters that are in units of rows at the weights of the test.
BY_WEIGHT = {"min_leaf_rows": 20, "lam": 4.0, "min_leaf_hessian": 0.5}

WEIGHTS = {
    "ones": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "real": lambda rng, n: rng.random(n) + 0.1,
    "counts": lambda rng, n: rng.integers(9_000, 110_000, n) / 1e5,
}


def fit(X, y, weights, factor, **options):
    by_weight = {name: factor * value for name, value in BY_WEIGHT.items()}
    by_weight["min_leaf_rows"] = round(by_weight["min_leaf_rows"])
    return fastpu.fit_boosted_trees(
        X, y, sample_weight=factor * weights, n_rounds=8, random_state=0, **by_weight, **options
    )


def assert_same_splits(model, expected):
    for name in ("feature", "threshold", "left"):
        np.testing.assert_array_equal(model.nodes[name], expected.nodes[name])
    np.testing.assert_allclose(model.nodes["value"], expected.nodes["value"], rtol=SCORE, atol=SCORE)


@pytest.mark.parametrize("factor", [0.05, 0.35, 3.0, 500.0, 12345.65, 1e5, 2.5e5, 5e5, 6e5, 1e12, 2.0**50])
@pytest.mark.parametrize("of", WEIGHTS)
def test_a_common_factor_changes_no_split(of, factor):
    """From 1e5 on, each row used to be rounded as if it was as many rows: to some few units."""
    X, y = pnu_rows(600)
    weights = WEIGHTS[of](np.random.default_rng(1), len(y))
    for options in ({}, {"n_bags": 2}, {"loss": "logistic", "subsample_unl": 0.7}):
        labels = np.maximum(y, 0) if "loss" in options else y
        model = fit(X, labels, weights, factor, **options)
        assert_same_splits(model, fit(X, labels, weights, 1.0, **options))


@pytest.mark.parametrize("seed", range(40))
def test_a_common_factor_decides_no_tie(seed):
    """Few values make many ties: rows of weight 1 and 2 on one side of a split, or one row of weight 3."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(60, 5)).astype(float)
    y = rng.random(60) < 0.3
    y[0] = True
    weights = rng.integers(1, 4, 60).astype(float)
    expected = fit(X, y, weights, 1.0)
    for factor in (0.35, 0.6, 12345.65):
        assert_same_splits(fit(X, y, weights, factor), expected)


def test_rows_that_have_just_enough_weight_together_make_a_leaf():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    for weight, least in ((0.7, 7), (0.3, 3), (0.1, 1)):  # ten rows of .7 have a little less than 7 in numbers
        model = fastpu.fit_boosted_trees(
            X, y, sample_weight=np.full(20, weight), min_leaf_rows=least, n_rounds=1, lam=0, min_leaf_hessian=0,
            max_leaves=2,
        )  # fmt: skip
        assert model.nodes["threshold"][0] == 9.5
