"""Trees scored where fastpu is not installed: by ONNX Runtime and by Treelite, through LightGBM's format."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import fastpu
from forest_cases import mixed_frame, pu_rows

pytest.importorskip("lightgbm", reason="to_lightgbm needs it")

#: What ONNX Runtime, which adds in single precision, may be off by: leaf values are at most 1 in size here.
SINGLE = {"rtol": 0.0, "atol": 2e-6}
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def with_gaps():
    """Numbers that single precision holds, with missing entries in two of four columns."""
    X, y = pu_rows(400)
    X = X.astype(np.float32).astype(np.float64)
    X[np.random.default_rng(1).random(400) < 0.2, 0] = np.nan
    X[np.random.default_rng(2).random(400) < 0.1, 2] = np.inf
    return X, y


def many_shops():
    """A frame with more categories than sets of them hold, beside few categories and numbers."""
    frame, y = mixed_frame(1200)
    shop = np.random.default_rng(3).integers(0, 300, 1200).astype(str)
    return frame.assign(a=frame["a"].astype(np.float32), b=frame["b"].astype(np.float32), shop=shop), y


ROWS = {"gaps": with_gaps, "categories": lambda: mixed_frame(300), "many categories": many_shops}
FITS = {
    "forest": lambda X, y: fastpu.fit_forest(X, y, n_trees=10, random_state=0),
    "forest of best splits": lambda X, y: fastpu.fit_forest(X, y, n_trees=10, splitter="best", random_state=0),
    "boosted trees": lambda X, y: fastpu.fit_boosted_trees(X, y, n_rounds=10),
    "bags": lambda X, y: fastpu.fit_boosted_trees(X, y, n_rounds=5, n_bags=3, random_state=0),
}


@cache
def fitted(fit, rows):
    X, y = ROWS[rows]()
    return FITS[fit](X, y), X


def places_of(model, X):
    """Numbers in place of categories, as a tool takes them that knows no frames."""
    if isinstance(X, np.ndarray):
        return X
    places = {
        str(column): {entry: place for place, entry in enumerate(model.categories.get(str(column), ()))}
        for column in range(X.shape[1])
    }
    columns = [
        [np.nan if pd.isna(entry) else places[str(column)][entry] for entry in X[name]]
        if str(column) in model.categories
        else X[name]
        for column, name in enumerate(X)
    ]
    return np.column_stack(columns).astype(np.float64)


def unlike_rows(model, X):
    """Rows of nothing but missing entries and, where a column is one of sets of categories, of a new category."""
    missing = np.full((1, model.n_features), np.nan)
    if isinstance(X, np.ndarray):
        return missing, missing
    new, as_frame = missing.copy(), X.iloc[:1].copy()
    for column, name in enumerate(X):
        categories = model.categories.get(str(column), ())
        unseen = None
        if 0 < len(categories) < 255:
            unseen = "of no training row" if isinstance(categories[0], str) else 10**6
            new[0, column] = len(categories)
        as_frame[name] = pd.Series([unseen], index=as_frame.index, dtype="category" if categories else "float64")
    return new, as_frame


def onnx_scores(booster, X):
    runtime = pytest.importorskip("onnxruntime")
    tools = pytest.importorskip("onnxmltools")
    single = tools.convert.common.data_types.FloatTensorType([None, X.shape[1]])
    converted = tools.convert_lightgbm(booster, initial_types=[("rows", single)], zipmap=False)
    session = runtime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"rows": X.astype(np.float32)})[0][:, 0]


def treelite_scores(booster, X, tmp_path):
    treelite = pytest.importorskip("treelite")
    booster.save_model(tmp_path / "model.txt")
    loaded = treelite.frontend.load_lightgbm_model(tmp_path / "model.txt")
    return treelite.gtil.predict(loaded, X).reshape(len(X))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("fit", FITS)
def test_onnx_runtime_gives_the_same_scores_in_single_precision(fit, rows):
    model, X = fitted(fit, rows)
    scores = onnx_scores(model.to_lightgbm(), places_of(model, X))
    assert np.ptp(scores) > 0.1
    np.testing.assert_allclose(scores, model.decision_function(X), **SINGLE)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("fit", FITS)
def test_treelite_gives_the_same_scores(fit, rows, tmp_path):
    model, X = fitted(fit, rows)
    scores = treelite_scores(model.to_lightgbm(), places_of(model, X), tmp_path)
    np.testing.assert_allclose(scores, model.decision_function(X), **CLOSE)


@pytest.mark.filterwarnings("ignore")  # the package itself warns when it is imported
@pytest.mark.parametrize("fit", FITS)
def test_shares_of_the_shap_package_add_up_to_the_scores(fit):
    shap = pytest.importorskip("shap", reason="too heavy for the packages of the tests: it brings numba along")
    model, X = fitted(fit, "gaps")
    found = shap.TreeExplainer(model.to_lightgbm())(X[:50])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model.decision_function(X[:50]), **CLOSE)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.UnlikeRowsWarning")
@pytest.mark.parametrize("rows", ROWS)
def test_missing_entries_and_new_categories_go_the_same_way(rows, tmp_path):
    model, X = fitted("forest", rows)
    booster = model.to_lightgbm()
    places, as_they_are = unlike_rows(model, X)
    expected = model.decision_function(as_they_are)
    np.testing.assert_allclose(onnx_scores(booster, places), expected, **SINGLE)
    np.testing.assert_allclose(treelite_scores(booster, places, tmp_path), expected, **CLOSE)


def test_rows_at_every_threshold_go_the_same_way_in_treelite(tmp_path):
    model, _ = fitted("forest of best splits", "gaps")
    splits = model.nodes[model.nodes["feature"] >= 0]
    around = np.concatenate(
        [np.nextafter(splits["threshold"], end) for end in (-np.inf, np.inf)] + [splits["threshold"]]
    )
    X = np.random.default_rng(0).permuted(np.tile(around[np.isfinite(around), None], 4), axis=0)
    np.testing.assert_allclose(treelite_scores(model.to_lightgbm(), X, tmp_path), model.decision_function(X), **CLOSE)
