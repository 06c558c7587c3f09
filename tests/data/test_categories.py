"""Categorical columns of frames become places among categories that are known by their values, never by codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastpu
from fastpu.data._categories import MOST_CATEGORIES, check_kept
from fastpu.data._validate import check_matrix
from helpers import refused

COLOURS = ["red", "green", None, "red", "blue"]
KINDS = {
    "pandas": pd.Series(pd.Categorical(COLOURS, categories=["red", "green", "blue", "grey"])),
    "polars": pl.Series(COLOURS, dtype=pl.Categorical),
    "enum": pl.Series(COLOURS, dtype=pl.Enum(["red", "green", "blue", "grey"])),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def frame(kind, colours=None, **columns):
    column = KINDS[kind] if colours is None else recoded(kind, colours)
    columns = {"colour": column, "x": np.arange(len(column), dtype=np.float64), **columns}
    return pd.DataFrame(columns) if kind == "pandas" else pl.DataFrame(columns)


def recoded(kind, colours):
    """The same kind of column, whose library codes the categories in another order."""
    if kind == "pandas":
        return pd.Series(pd.Categorical(colours))
    if kind == "polars":
        return pl.Series(colours, dtype=pl.Categorical)
    return pl.Series(colours, dtype=pl.Enum(sorted({c for c in colours if c is not None})))


def learned(X):
    return check_matrix(X, nan="allow", categories="learn")


@each_kind
def test_categories_that_occur_are_kept(kind, unchanged):
    X = frame(kind)
    with unchanged(X.copy() if kind == "pandas" else X.clone()):
        matrix = learned(X)
    # An order is that of the dtype, or alphabetical where the library numbers categories as they come.
    kept = ("blue", "green", "red") if kind == "polars" else ("red", "green", "blue")
    assert matrix.categories == {"0": kept}
    expected = [np.nan if colour is None else kept.index(colour) for colour in COLOURS]
    np.testing.assert_array_equal(matrix.values, np.column_stack([expected, np.arange(5.0)]))
    assert matrix.feature_names == ("colour", "x")


@each_kind
@pytest.mark.parametrize("other", KINDS)
def test_other_frames_are_coded_by_the_kept_categories(kind, other):
    pl.Series(["pink", "blue", "red"], dtype=pl.Categorical)  # which polars numbers first
    kept = learned(frame(kind)).categories
    found = check_matrix(frame(other, ["pink", "blue", None, "red"]), nan="allow", categories=kept)
    expected = [np.nan, kept["0"].index("blue"), np.nan, kept["0"].index("red")]
    np.testing.assert_array_equal(found.values[:, 0], expected)
    assert found.categories == kept


def test_numbers_and_booleans_are_categories():
    X = pd.DataFrame({"n": pd.Categorical([3, 1, 3]), "b": pd.Categorical([True, False, None])})
    matrix = learned(X)
    assert matrix.categories == {"0": (1, 3), "1": (False, True)}
    np.testing.assert_array_equal(matrix.values, [[1, 1], [0, 0], [1, np.nan]])


@each_kind
def test_a_column_without_entries_has_no_category(kind):
    matrix = learned(frame(kind, [None, None]) if kind != "enum" else frame(kind)[2:3])
    assert matrix.categories == {"0": ()}
    assert np.isnan(matrix.values[:, 0]).all()
    again = check_matrix(frame(kind), nan="allow", categories=matrix.categories)
    assert np.isnan(again.values[:, 0]).all()


@each_kind
def test_single_precision_stays_beside_categories(kind):
    assert learned(frame(kind, x=np.arange(5, dtype=np.float32))).dtype == np.float32


def test_too_many_categories_are_refused_with_their_number():
    few = pd.DataFrame({"city": pd.Categorical(range(MOST_CATEGORIES))})
    assert len(learned(few).categories["0"]) == MOST_CATEGORIES
    many = pd.DataFrame({"city": pd.Categorical(range(MOST_CATEGORIES + 1))})
    refused(ValueError, "X, in column 'city', must have at most 255 categories, got 256", learned, many)
    assert len(learned(many[: MOST_CATEGORIES - 1]).categories["0"]) == MOST_CATEGORIES - 1  # those that occur count


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a", 1], "one kind, strings or numbers, got 1 and 'a'"),
        (pd.to_datetime(["2020-01-01"]), "that are strings or numbers"),
        ([(1, 2)], "that are strings or numbers, got (1, 2)"),
    ],
)
def test_categories_of_other_kinds_are_refused(values, text):
    refused(TypeError, text, learned, pd.DataFrame({"c": pd.Categorical(values)}))


@each_kind
def test_methods_without_categories_say_what_to_do(kind):
    X = frame(kind)
    text = "X must have numeric or boolean columns, got dtype"
    refused(TypeError, text, check_matrix, X)
    text = refused(TypeError, "in column 'colour'; make numbers of it", fastpu.fit_isvm, X, [1, 0, 0, 1, 0])
    assert "fit_forest and fit_boosted_trees take categories" in text


@each_kind
def test_frames_that_cannot_be_mapped_are_refused(kind):
    X = frame(kind)
    kept, names = learned(X).categories, ("colour", "x")

    def check(other, names=None):
        return check_matrix(other, nan="allow", categories=kept, n_features=2, feature_names=names)

    text = "X must have categories (dtype category or enum) in column 'colour', like the training data, got dtype"
    refused(TypeError, text, check, frame(kind, colour=np.arange(5.0)))
    text = "X must have numbers in column 'x', like the training data, got dtype"
    refused(TypeError, text, check, frame(kind, x=recoded(kind, list("abcde"))))
    swapped = X[["x", "colour"]]
    refused(ValueError, "in the same order: column 0 must be 'colour', got 'x'", check, swapped, names)
    refused(TypeError, "X must have categories (dtype category or enum) in column 'x'", check, swapped)
    refused(
        TypeError, "X must be a pandas or polars frame with categories in column 0 ('colour')", check, np.eye(2), names
    )
    text = "X, in column 'n', must have categories of the kind of the training data's, such as"
    refused(TypeError, text, check, pd.DataFrame({"n": pd.Categorical([1, 2]), "x": [1.0, 2.0]}))


def test_columns_of_text_are_told_to_become_categories():
    X = pd.DataFrame({"a": ["x", "y"]})
    refused(TypeError, "must have numeric, boolean or categorical columns", learned, X)
    refused(TypeError, "make categories of it if it holds few different values", learned, X)
    refused(TypeError, "or numbers if it holds numbers (pandas.to_numeric)", learned, X)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.date_range("2020-01-01", periods=3)),
        pd.Series(pd.date_range("2020-01-01", periods=3, tz="UTC")),
        pd.Series(pd.to_timedelta([1, 2, 3], unit="D")),
        pd.Series(pd.period_range("2020-01", periods=3, freq="M")),
        pl.Series(["2020-01-01"] * 3).str.to_date(),
        pl.Series(["2020-01-01"] * 3).str.to_datetime("%Y-%m-%d"),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("categories", ["learn", "refuse"])
def test_columns_of_times_are_told_to_become_numbers(column, categories):
    X = (pd if isinstance(column, pd.Series) else pl).DataFrame({"when": column})
    text = "in column 'when'; make a number of each time, such as the days since the first one, the month or the hour"
    refused(TypeError, text, check_matrix, X, categories=categories)


@each_kind
def test_stacked_frames_have_the_categories_of_all(kind):
    X, y = fastpu.stack(P=frame(kind), U=frame(kind, ["pink", "red", None]))
    assert y.tolist() == [1] * 5 + [0] * 3
    matrix = learned(X)
    kept = matrix.categories["0"]
    assert set(kept) == {"red", "green", "blue", "pink"}
    found = [None if np.isnan(code) else kept[int(code)] for code in matrix.values[:, 0]]
    assert found == [*COLOURS, "pink", "red", None]
    text = "U must have categories where P has some, and only there: column 'colour' has dtype"
    refused(TypeError, text, fastpu.stack, P=frame(kind), U=frame(kind, colour=np.arange(5.0)))


@pytest.mark.parametrize(
    "kept",
    [
        {"2": ("a",)},
        {"-1": ("a",)},
        {"x": ("a",)},
        {"01": ("a",)},
        {"0": "a"},
        {"0": ("a", "a")},
        {"0": ("a", 1)},
        {"0": (None,)},
        {"0": (("a",),)},
        {"0": tuple(range(256))},
    ],
)
def test_categories_of_a_file_are_checked(kept):
    with pytest.raises((TypeError, ValueError)):
        check_kept(kept, 2)


def test_categories_of_models_are_taken():
    check_kept({"0": ("a", "b"), "1": (1, 2.5), "9": ()}, 10)
