"""Scores depend on neither the names nor the coding of categories, and ordered ones are numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fastpu
from fastpu.metrics import auc

FITS = {
    "forest": lambda X, y, **options: fastpu.fit_forest(X, y, n_trees=15, random_state=0, **options),
    "best splits": lambda X, y: fastpu.fit_forest(X, y, n_trees=5, splitter="best", random_state=0),
    "boosted trees": lambda X, y, **options: fastpu.fit_boosted_trees(X, y, n_rounds=15, **options),
    "stumps": lambda X, y, **options: fastpu.fit_pnu_auc_boost(X, y, n_rounds=15, **options),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def codings(n_categories, n=2500):
    """Labels, and the same rows as strings, as categories in order of appearance, renamed, and as numbers."""
    rng = np.random.default_rng(n_categories)
    place, x = rng.integers(0, n_categories, n), rng.normal(size=n)
    y = (rng.random(n) < 0.3 * place / n_categories).astype(np.int8)
    names = np.array([f"c{k:04}" for k in range(n_categories)], dtype=object)[place]
    columns = [
        names,
        pd.Categorical(names, categories=pd.unique(names)),
        np.array([f"q{k:04}" for k in rng.permutation(n_categories)], dtype=object)[place],
        pd.Categorical(rng.permutation(n_categories)[place]),
    ]
    return y, [pd.DataFrame({"x": x, "c": column}) for column in columns]


@each_fit
@pytest.mark.parametrize("n_categories", [40, 600])
def test_scores_depend_on_neither_names_nor_codes(fit, n_categories):
    y, (first, *others) = codings(n_categories)
    expected = fit(first, y).decision_function(first)
    for X in others:
        np.testing.assert_array_equal(fit(X, y).decision_function(X), expected)


@pytest.mark.parametrize("n_categories", [40, 600])
def test_binned_rows_have_the_order_of_the_frame(n_categories):
    y, (X, *_) = codings(n_categories)
    if n_categories < 256:
        model = fastpu.fit_forest(fastpu.bin_features(X), y, n_trees=5, random_state=0)
        assert model.categories == fastpu.fit_forest(X, y, n_trees=5, random_state=0).categories


LEVELS = [f"level {k}" for k in (7, 3, 9, 1, 0, 8, 2, 6, 5, 4)]


def with_levels(n=1500, ordered=True):
    rng = np.random.default_rng(0)
    place = rng.integers(0, 10, n)
    y = (rng.random(n) < 0.4 / (1 + np.exp(5.0 - place))).astype(np.int8)
    column = pd.Categorical.from_codes(place, categories=LEVELS, ordered=ordered)
    return pd.DataFrame({"level": column, "z": rng.normal(size=n)}), place, y


@pytest.mark.parametrize("fit", [FITS[name] for name in ("forest", "boosted trees", "stumps")])
def test_ordered_categories_are_the_numbers_of_their_levels(fit, tmp_path):
    X, place, y = with_levels()
    held = np.isin(place, [2, 6])
    number = X.assign(level=place)
    model, expected = fit(X[~held], y[~held]), fit(number[~held], y[~held])
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(number))
    assert model.categories == {"0": tuple(LEVELS), "levels": ("0",)}
    model.save(tmp_path / "model.fpu")
    np.testing.assert_array_equal(fastpu.load(tmp_path / "model.fpu").decision_function(X), model.decision_function(X))


@each_fit
def test_a_level_that_training_did_not_know_lies_between_its_neighbours(fit):
    X, place, y = with_levels()
    held = np.isin(place, [0, 4, 9])
    known = X[~held].assign(level=X["level"][~held].cat.remove_unused_categories())
    scores = fit(known, y[~held]).decision_function(X.assign(z=0.0))
    of_level = np.array([scores[place == k][0] for k in range(10)])
    low, high = sorted(of_level[[3, 5]])
    assert low <= of_level[4] <= high
    assert of_level[0] == of_level[1]
    assert of_level[9] == of_level[8]


def test_levels_known_in_another_order_are_missing():
    X, _, y = with_levels()
    model = fastpu.fit_forest(X, y, n_trees=5, random_state=0)
    turned = X["level"].cat.set_categories([*LEVELS[::-1], "new"], ordered=True)
    np.testing.assert_array_equal(model.decision_function(X.assign(level=turned)), model.decision_function(X))
    turned.iloc[0] = "new"
    missing = X["level"].astype(object)
    missing.iloc[0] = None
    scores = [model.decision_function(X.assign(level=column))[0] for column in (turned, pd.Categorical(missing))]
    assert scores[0] == scores[1]


def test_stacked_frames_keep_their_levels():
    X, _, _ = with_levels()
    stacked, _ = fastpu.stack(P=X[:10], U=X[10:])
    assert stacked["level"].dtype == X["level"].dtype


def letters(n_labels, seed):
    """One letter of one of ten columns is positive in half of its rows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 10, (2000, 10))
    truth = (codes[:, 4] == 3) & (rng.random(2000) < 0.5)
    X = pd.DataFrame(np.array(list("abcdefghij"), dtype=object)[codes], columns=[f"x{k}" for k in range(10)])
    y = np.zeros(2000, np.int8)
    y[rng.choice(np.flatnonzero(truth[:1000]), n_labels, replace=False)] = 1
    return X, y, truth


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: fastpu.fit_forest(X, y, n_trees=60, random_state=0),
        lambda X, y: fastpu.fit_boosted_trees(X, y, n_rounds=40, n_bags=5, random_state=0),
    ],
    ids=["forest", "bags"],
)
def test_one_letter_is_found_by_few_labels(fit):
    """By sets alone the forest is .1 behind the same columns as dummies."""
    ahead = []
    for seed in range(4):
        X, y, truth = letters(8, seed)
        forms = (X, pd.get_dummies(X, dtype=np.float32))
        ahead += [auc(truth[1000:], fit(rows[:1000], y[:1000]).decision_function(rows[1000:])) for rows in forms]
    assert np.mean(ahead[::2]) > np.mean(ahead[1::2]) - 0.03
