"""Categorical columns of frames in a forest: split by sets, known by their values, unseen ones like missing ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fastpu
from forest_cases import mixed_frame
from oracles.forest import Criterion


@pytest.fixture(scope="module")
def rows():
    return mixed_frame(300)


@pytest.fixture(scope="module")
def model(rows):
    return fastpu.fit_forest(*rows, n_trees=30, random_state=0)


def test_splits_are_by_sets_of_categories(model, rows):
    X = rows[0]
    assert model.categories["1"] == tuple(X["colour"].dropna().unique())  # as the rows show them first
    assert model.feature_names == ("a", "colour", "b", "shop")
    nodes = model.nodes
    by_set = nodes[nodes["category_set"] >= 0]
    assert set(by_set["feature"]) == {1, 3}
    assert np.isnan(by_set["threshold"]).all()
    assert (nodes["category_set"][nodes["feature"] == 0] == -1).all()
    assert by_set["category_set"].tolist() == list(range(len(model.category_sets)))


def test_frames_of_any_library_and_coding_score_the_same(model, rows):
    X = rows[0]
    expected = model.decision_function(X)
    recoded = X.assign(
        colour=X["colour"].cat.set_categories(["pink", "none", "black", "grey", "blue", "green", "red"]),
        shop=X["shop"].cat.reorder_categories(list(X["shop"].cat.categories[::-1])),
    )
    np.testing.assert_array_equal(model.decision_function(recoded), expected)
    as_text = X["colour"].astype(object).where(X["colour"].notna(), None).tolist()
    other = pl.DataFrame({"a": X["a"], "colour": pl.Series(as_text, dtype=pl.Categorical), "b": X["b"]})
    text_shops = fastpu.fit_forest(X.drop(columns="shop"), rows[1], n_trees=5, random_state=0)
    np.testing.assert_array_equal(
        text_shops.decision_function(other), text_shops.decision_function(X[["a", "colour", "b"]])
    )


@pytest.mark.parametrize("name", ["gini", "upu"])
def test_what_is_taken_off_is_the_mean_gain_of_a_cut_by_chance(name):
    n_pos, n_unl, prior = 200, 500, 0.3
    criterion = Criterion(name, n_pos, n_unl, prior)
    rng, gains = np.random.default_rng(0), []
    for _ in range(4000):
        is_left = rng.random(n_pos + n_unl) < 0.4
        p = int(is_left[rng.integers(0, n_pos, n_pos)].sum())  # drawn with replacement
        u = int(is_left[n_pos:].sum())
        gains.append(criterion.cost(n_pos, n_unl) - criterion.cost(p, u) - criterion.cost(n_pos - p, n_unl - u))
    assert np.mean(gains) == pytest.approx(criterion.chance_gain(n_pos, n_unl), rel=0.1)
