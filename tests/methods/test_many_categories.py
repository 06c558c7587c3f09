"""Columns of many categories, and of strings: signal is found, noise is not learnt by heart, and models keep them."""

from __future__ import annotations

import pickle

import lightgbm  # noqa: F401 - to_lightgbm needs it
import numpy as np
import pandas as pd
import pytest

import fastpu
from fastpu.common._methods import function_of
from fastpu.metrics import auc

N_ROWS = 20_000
FITS = {
    "forest": lambda X, y: fastpu.fit_forest(X, y, n_trees=60, random_state=0),
    "boosted trees": lambda X, y: fastpu.fit_boosted_trees(X, y, n_rounds=60),
    "stumps": lambda X, y: fastpu.fit_pnu_auc_boost(X, y, n_rounds=100),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def shops(n_rows, n_shops, rng):
    """Numbers of shops, and their names, whose order tells nothing."""
    number = rng.integers(0, n_shops, n_rows)
    names = np.char.add("shop ", np.random.default_rng(7).permutation(n_shops).astype(str)).astype(object)
    return number, names[number]


@each_fit
def test_categories_that_carry_the_label_are_found(fit):
    rng = np.random.default_rng(0)
    number, name = shops(N_ROWS, 900, rng)
    truth = number < 300
    model = fit(pd.DataFrame({"shop": name}), truth & (rng.random(N_ROWS) < 0.5))
    number, name = shops(N_ROWS, 900, rng)
    assert auc(number < 300, model.decision_function(pd.DataFrame({"shop": name}))) > 0.99


def with_noise(n_rows, seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.3
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)) + 0.7 * truth[:, None] * [1, 1, 0, 0], columns=list("abcd"))
    return X.assign(shop=shops(n_rows, 1000, rng)[1]), truth, truth & (rng.random(n_rows) < 0.5)


@each_fit
def test_noise_is_not_learnt_by_heart(fit):
    X, truth, y = with_noise(N_ROWS, 0)
    X_test, truth, _ = with_noise(N_ROWS, 1)
    found, alone = (auc(truth, fit(X[c], y).decision_function(X_test[c])) for c in (list(X), list("abcd")))
    assert found > alone - 0.01


def with_a_hundred_categories(seed):
    """Numbers of which two tell something, and beside them three columns of noise in 100 categories."""
    rng = np.random.default_rng(seed)
    truth = rng.random(2000) < 1 / 3
    numbers = pd.DataFrame(rng.normal(size=(2000, 3)) + truth[:, None] * [1.0, 0.7, 0.0], columns=list("abc"))
    noise = {f"noise {k}": pd.Categorical(rng.integers(0, 100, 2000)) for k in range(3)}
    return numbers, numbers.assign(**noise), truth & (rng.random(2000) < 0.3), truth


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fit_forest", {"n_trees": 60}),
        ("fit_forest", {"n_trees": 60, "splitter": "best"}),
        ("fit_forest", {"n_trees": 60, "loss": "nnpu", "prior": 0.25}),
        ("fit_forest", {"n_trees": 60, "loss": "upu", "prior": 0.25}),
        ("fit_boosted_trees", {"n_rounds": 30, "learning_rate": 0.3}),
        ("fit_boosted_trees", {"n_rounds": 30, "learning_rate": 0.3, "n_bags": 5}),
        ("fit_boosted_trees", {"n_rounds": 30, "learning_rate": 0.3, "loss": "logistic"}),
        ("fit_boosted_trees", {"n_rounds": 30, "learning_rate": 0.3, "loss": "logistic", "n_bags": 5}),
        ("fit_pnu_auc_boost", {}),
    ],
    ids=str,
)
def test_noise_in_sets_of_categories_does_little_harm(name, options):
    """Without standard errors or gains by chance taken off, it costs from .07 to .2 of AUC."""
    found = []
    for seed in range(3):
        *tables, y, truth = with_a_hundred_categories(seed)
        for X in tables:
            model = function_of(name)(X[:1000], y[:1000], random_state=seed, **options)
            found.append(auc(truth[1000:], model.decision_function(X[1000:])))
    without, with_noise = np.mean(found[::2]), np.mean(found[1::2])
    assert with_noise > without - (0.02 if name == "fit_pnu_auc_boost" else 0.05)


def small(n=1200, n_shops=400):
    rng = np.random.default_rng(0)
    number, name = shops(n, n_shops, rng)
    name[rng.random(n) < 0.1] = None
    X = pd.DataFrame({"x": rng.normal(size=n), "shop": name, "kind": rng.choice(["a", "b"], n).astype(object)})
    return X, (number < n_shops / 3) & (rng.random(n) < 0.5)


@each_fit
def test_saved_models_keep_their_categories(fit, tmp_path):
    X, y = small()
    model = fit(X, y)
    model.save(tmp_path / "model.fpu")
    for copy in (fastpu.load(tmp_path / "model.fpu"), pickle.loads(pickle.dumps(model))):
        assert copy.categories == model.categories
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("fit", [FITS["forest"], FITS["boosted trees"]], ids=["forest", "trees"])
def test_lightgbm_gives_the_same_scores(fit):
    X, y = small()
    model = fit(X, y)
    in_order = X.assign(shop=pd.Categorical(X["shop"]), kind=pd.Categorical(X["kind"]))
    booster = model.to_lightgbm()
    np.testing.assert_allclose(booster.predict(in_order, num_threads=1), model.decision_function(X), rtol=1e-12)


@each_fit
def test_a_hundred_thousand_categories_are_taken(fit):
    n = 100_000
    X = pd.DataFrame({"x": np.arange(n) % 17, "id": np.arange(n).astype(str).astype(object)})
    y = np.arange(n) % 17 > 12
    model = fit(X, y & (np.arange(n) % 2 == 0))
    assert len(model.categories["1"]) == n
    # No category has a row in two folds, so the column is missing as a whole, and splits nothing.
    assert model.feature_importances[1] == 0
    assert auc(y, model.decision_function(X)) == 1.0


def test_a_forest_grows_on():
    X, y = small()
    first = fastpu.fit_forest(X, y, n_trees=10, random_state=0)
    both = fastpu.fit_forest(X, y, n_trees=10, init_model=first)
    assert (both.packed_nodes == fastpu.fit_forest(X, y, n_trees=20, random_state=0).packed_nodes).all()
    with pytest.raises(ValueError, match=r"X must have in column 1 \('shop'\) what the training data have there"):
        fastpu.fit_forest(X.iloc[::-1], y, n_trees=10, init_model=first)


def test_rounds_are_judged_by_folds_and_by_rows_apart():
    X, y = small(3000)
    by_folds = fastpu.fit_boosted_trees(X, y, n_rounds=200, early_stopping_rounds=5, n_folds=3, random_state=0)
    apart = fastpu.fit_boosted_trees(X[::2], y[::2], n_rounds=40, eval_set=(X[1::2], y[1::2]), random_state=0)
    stumps = fastpu.fit_pnu_auc_boost(X[::2], y[::2], n_rounds=40, eval_set=(X[1::2], y[1::2]))
    assert by_folds.n_iter < 200
    # The AUC after the last round is that of the model.
    for model in (apart, stumps):
        found = auc(y[1::2], model.decision_function(X[1::2]))
        assert model.history["eval_auc"][model.n_iter - 1] == pytest.approx(found, abs=1e-12)
    staged = list(stumps.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], stumps.decision_function(X), rtol=1e-12, atol=1e-12)
