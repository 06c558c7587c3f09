"""Trees as a LightGBM model: the same way for every row, the same scores, and shares of columns that add up."""

from __future__ import annotations

import dataclasses
import sys

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from forest_cases import mixed_frame, pu_rows, wild_rows
from helpers import refused

#: Scores are sums of tens of leaf values of size 1, added in another order.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
ONE_THREAD = {"num_threads": 1}


def predict(booster, X, **options):
    return booster.predict(X, **ONE_THREAD, **options)


def assert_same_scores(model, X):
    np.testing.assert_allclose(predict(model.to_lightgbm(), X), model.decision_function(X), **CLOSE)


def threshold_rows(model, around=(0.0,)):
    """Rows with every threshold of a model, its neighbours on both sides, and the ends of the numbers."""
    nodes = model.nodes
    X = []
    for feature in range(model.n_features):
        cuts = np.unique(nodes["threshold"][(nodes["feature"] == feature) & np.isfinite(nodes["threshold"])])
        ends = [np.inf, np.nan, 0.0, -0.0, sys.float_info.max, -sys.float_info.max, 1e-34, -1e-34]
        X.append(np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), ends]))
    rng = np.random.default_rng(0)
    return np.column_stack([rng.permutation(np.resize(column, 3 * max(map(len, X)))) for column in X])


@pytest.fixture(scope="module")
def framed():
    X, y = mixed_frame(300)
    return X, fastpu.fit_forest(X, y, n_trees=30, random_state=0)


@pytest.mark.parametrize("splitter", ["random", "best"])
@pytest.mark.parametrize("options", [{}, {"loss": "nnpu", "prior": 0.2}, {"max_leaves": 6}], ids=str)
def test_scores_are_those_of_the_forest(splitter, options):
    X, y = pu_rows(300)
    model = fastpu.fit_forest(X, y, n_trees=40, splitter=splitter, random_state=0, **options)
    assert_same_scores(model, X)
    assert_same_scores(model, threshold_rows(model))


@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "upu", "prior": 0.2}, {"n_bags": 4, "bag_ratio": 2.0, "random_state": 0}],
    ids=str,
)
def test_boosted_trees_and_bags_of_them_score_the_same(options):
    for X, y in (mixed_frame(300), pu_rows(300)):
        model = fastpu.fit_boosted_trees(X, y, n_rounds=20, **options)
        assert_same_scores(model, X)
        shares = predict(model.to_lightgbm(), X, pred_contrib=True)
        np.testing.assert_allclose(shares.sum(axis=1), model.decision_function(X), **CLOSE)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_a_model_without_trees_scores_zero():
    X = np.zeros((50, 2))
    booster = fastpu.fit_boosted_trees(X, np.arange(50) < 20, n_rounds=3).to_lightgbm()
    assert booster.num_trees() == 0
    assert predict(booster, X).tolist() == [0.0] * 50
    assert (predict(booster, X, pred_contrib=True) == 0).all()


def test_missing_and_infinite_entries_go_the_same_way():
    X, y = wild_rows(400)
    model = fastpu.fit_forest(X, y, n_trees=60, random_state=0)
    nodes = model.nodes
    is_split = nodes["feature"] >= 0
    assert {True, False} == set(nodes["missing_left"][is_split].tolist())
    X[np.isneginf(X)] = np.nan  # as the notes say
    assert_same_scores(model, X)
    rows = threshold_rows(model)
    assert np.isposinf(rows).any()
    assert np.isnan(rows).any()
    assert_same_scores(model, rows)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.CopiedRowsWarning")  # a column of few values
def test_minus_infinity_is_missing_where_it_goes_left_too():
    """A split of missing entries from all others has the threshold -inf, which both sides of the format keep."""
    X, y = pu_rows(200, 1)
    X[y > 0] = np.nan
    model = fastpu.fit_forest(X, y, n_trees=5, splitter="best", random_state=0)
    assert np.isneginf(model.nodes["threshold"][0])
    assert_same_scores(model, np.array([[np.nan], [-np.inf], [np.inf], [0.0], [-sys.float_info.max]]))


def test_single_precision_and_sparse_rows_score_the_same():
    X, y = pu_rows(300)
    X[np.abs(X) < 0.7] = 0.0
    for rows in (X.astype(np.float32), sp.csr_array(X)):
        model = fastpu.fit_forest(rows, y, n_trees=40, random_state=0)
        given = rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)  # the only one that LightGBM knows
        np.testing.assert_allclose(predict(model.to_lightgbm(), given), model.decision_function(rows), **CLOSE)
        around = threshold_rows(model)
        assert_same_scores(model, around[(np.abs(around) < sys.float_info.max).all(axis=1)].astype(np.float32))


def test_tiny_numbers_that_lightgbm_reads_as_zero_score_as_zero():
    X, y = pu_rows(200, 1)
    model = fastpu.fit_forest(np.sign(X) * 1e-300, y, n_trees=20, random_state=0)
    assert (np.abs(model.nodes["threshold"][model.nodes["feature"] >= 0]) < 1e-300).all()
    tiny = np.array([[1e-300], [-1e-300], [5e-324]])
    np.testing.assert_allclose(predict(model.to_lightgbm(), tiny), model.decision_function(np.zeros((3, 1))), **CLOSE)


def test_frames_with_categories_score_the_same_in_any_coding(framed):
    X, model = framed
    nodes = model.nodes
    assert {True, False} == set(nodes["missing_left"][nodes["category_set"] >= 0].tolist())
    booster = model.to_lightgbm()
    expected = model.decision_function(X)
    np.testing.assert_allclose(predict(booster, X), expected, **CLOSE)
    recoded = X.assign(
        colour=X["colour"].cat.set_categories(["pink", "none", "black", "grey", "blue", "green", "red"]),
        shop=X["shop"].cat.reorder_categories(list(X["shop"].cat.categories[::-1])),
    )
    np.testing.assert_allclose(predict(booster, recoded), expected, **CLOSE)
    unknown = X.assign(colour=pd.Categorical(["ultraviolet", None] * (len(X) // 2)))
    np.testing.assert_allclose(predict(booster, unknown), model.decision_function(unknown), **CLOSE)
    text = X[["a", "colour", "b"]].assign(colour=X["colour"].astype(object).where(X["colour"].notna(), None))
    other = pl.DataFrame(text.to_dict("list"), schema_overrides={"colour": pl.Categorical})
    of_text = fastpu.fit_forest(other, np.arange(300) < 100, n_trees=10, random_state=0)
    np.testing.assert_allclose(
        predict(of_text.to_lightgbm(), other.to_pandas()), of_text.decision_function(other), **CLOSE
    )


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.CopiedRowsWarning")  # a column of few values
def test_places_of_categories_score_the_same(framed):
    X, model = framed
    places = np.column_stack([
        [model.categories[str(column)].index(entry) if not pd.isna(entry) else np.nan for entry in X[name]]
        if str(column) in model.categories else X[name]
        for column, name in enumerate(X)
    ])  # fmt: skip
    expected = model.decision_function(X)
    np.testing.assert_allclose(predict(model.to_lightgbm(), places), expected, **CLOSE)
    unknown = places.copy()
    unknown[:, 1] = np.resize([-1.0, 255.0, 256.0, 1000.0, np.nan], len(X))
    missing = X.assign(colour=pd.Categorical([None] * len(X), categories=["red"]))
    np.testing.assert_allclose(predict(model.to_lightgbm(), unknown), model.decision_function(missing), **CLOSE)


@pytest.mark.parametrize("kind", ["numbers", "frame"])
def test_shares_of_the_columns_add_up_to_the_scores(framed, kind):
    X, model = framed
    if kind == "numbers":
        X, y = wild_rows(300)
        X[np.isneginf(X)] = np.nan
        model = fastpu.fit_forest(X, y, n_trees=20, random_state=0)
    shares = predict(model.to_lightgbm(), X, pred_contrib=True)
    np.testing.assert_allclose(shares.sum(axis=1), model.decision_function(X), rtol=1e-12, atol=1e-12)
    nodes = model.nodes
    leaves = nodes[nodes["feature"] < 0]
    roots = nodes["cover"][model.tree_starts[:-1]][leaves["tree"]]
    mean = np.sum(leaves["value"] * leaves["cover"] / roots) / model.divisor
    np.testing.assert_allclose(shares[:, -1], mean, rtol=1e-12)


def test_the_description_has_the_nodes(framed):
    _, model = framed
    text = model.to_lightgbm().dump_model()
    assert text["feature_names"] == ["a", "colour", "b", "shop"]
    assert text["pandas_categorical"] == [list(model.categories["1"]), list(model.categories["3"])]
    nodes = model.nodes
    for t, tree in enumerate(text["tree_info"]):
        waiting, own = [(tree["tree_structure"], 0)], nodes[nodes["tree"] == t]
        n_rows = 0.0
        while waiting:
            node, place = waiting.pop()
            if "leaf_value" in node:
                n_rows += node["leaf_count"]
                np.testing.assert_allclose(node["leaf_value"], own[place]["value"] / model.divisor, rtol=1e-15)
                continue
            assert node["split_feature"] == own[place]["feature"]
            assert node["internal_count"] == node["internal_weight"] == own[place]["cover"]
            np.testing.assert_allclose(node["split_gain"], own[place]["gain"], rtol=1e-6)
            leaves = leaves_below(node)
            mean = np.average([v for v, _ in leaves], weights=[n for _, n in leaves])
            np.testing.assert_allclose(node["internal_value"], mean, rtol=1e-12)
            sides = ["left", "right"]
            if own[place]["category_set"] >= 0 and own[place]["missing_left"]:
                sides.reverse()
            waiting += [(node["left_child"], own[place][sides[0]]), (node["right_child"], own[place][sides[1]])]
        assert n_rows == own[0]["cover"]


def leaves_below(node):
    if "leaf_value" in node:
        return [(node["leaf_value"], node["leaf_count"])]
    return leaves_below(node["left_child"]) + leaves_below(node["right_child"])


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_trees_of_a_single_leaf_score_the_same():
    X, y = pu_rows(100, 2)
    model = fastpu.fit_forest(np.zeros_like(X), y, n_trees=3, random_state=0)
    booster = model.to_lightgbm()
    np.testing.assert_allclose(predict(booster, X), model.decision_function(X), **CLOSE)
    assert predict(booster, X, pred_contrib=True).tolist() == [[0, 0, s] for s in model.decision_function(X)]
    assert booster.feature_importance("gain").tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.CopiedRowsWarning")  # a column of few values
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
@given(st.lists(st.floats(allow_nan=False, width=64), min_size=2, max_size=12, unique=True))
def test_every_number_goes_the_same_way(values):
    """Forests on any values of one column route these, and what lies between them, as LightGBM does."""
    values = [v for v in values if v > -np.inf and (v == 0 or abs(v) > 1e-34)]
    X = np.resize([*values, 1.0], 60)[:, None]
    model = fastpu.fit_forest(X, np.arange(60) % 7 == 0, n_trees=2, min_leaf_rows=1, random_state=0, n_threads=1)
    rows = threshold_rows(model)
    assert_same_scores(model, rows[(rows == 0) | ~(np.abs(rows) <= 1e-34)][:, None])


def test_without_lightgbm_the_error_says_how_to_install_it(framed, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    refused(ImportError, "to_lightgbm needs LightGBM: pip install lightgbm", framed[1].to_lightgbm)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, ["Column_0", "Column_1", "Column_2", "Column_3"]),
        (("height in cm", "größe", 'a"b', "x:[1,{2}]"), ["height_in_cm", "größe", "a_b", "x__1__2__"]),
        (("a\x00", "\x1bb", "c\\n", "d\ud800"), ["a_", "_b", "c_n", "d_"]),
        (("a b", "a_b", "a:b", "a_b_2"), ["a_b", "a_b_3", "a_b_4", "a_b_2"]),
        (("", "_", "é", "日本"), ["_", "__2", "é", "日本"]),
        (("Tree=0", "end of trees", "x\ty", "x\ny"), ["Tree=0", "end_of_trees", "x_y", "x_y_2"]),
    ],
)
def test_any_names_give_a_model_that_can_be_written_and_read(names, expected):
    X = pu_rows(300)[0][:, :4]
    y = np.arange(300) < 60
    model = dataclasses.replace(fastpu.fit_forest(X, y, n_trees=5, random_state=0), feature_names=names)
    booster = model.to_lightgbm()
    assert booster.feature_name() == expected
    assert booster.dump_model()["feature_names"] == expected
    again = lightgbm.Booster(model_str=booster.model_to_string())
    np.testing.assert_allclose(predict(again, X), model.decision_function(X), **CLOSE)
    lightgbm.Dataset(X, y, feature_name=expected, params={"verbose": -1}).construct()
