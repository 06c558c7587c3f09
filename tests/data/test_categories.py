"""Categorical columns of frames become places among categories that are known by their values, never by codes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastpu
from fastpu.data._categories import check_kept
from fastpu.data._validate import check_matrix
from helpers import refused

COLOURS = ["red", "green", None, "red", "blue"]
KINDS = {
    "pandas": pd.Series(pd.Categorical(COLOURS, categories=["red", "green", "blue", "grey"])),
    "polars": pl.Series(COLOURS, dtype=pl.Categorical),
    "enum": pl.Series(COLOURS, dtype=pl.Enum(["red", "green", "blue", "grey"])),
    "strings": pd.Series(COLOURS, dtype=object),
    "str": pd.Series(COLOURS, dtype="str"),
    "python strings": pd.Series(COLOURS, dtype=pd.StringDtype("python")),
    "polars strings": pl.Series(COLOURS, dtype=pl.String),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def frame(kind, colours=None, **columns):
    column = KINDS[kind] if colours is None else recoded(kind, colours)
    columns = {"colour": column, "x": np.arange(len(column), dtype=np.float64), **columns}
    return pd.DataFrame(columns) if is_pandas(kind) else pl.DataFrame(columns)


def is_pandas(kind):
    return isinstance(KINDS[kind], pd.Series)


def recoded(kind, colours):
    """The same kind of column, whose library codes the categories in another order."""
    if kind == "pandas":
        return pd.Series(pd.Categorical(colours))
    if kind == "enum":
        return pl.Series(colours, dtype=pl.Enum(sorted({c for c in colours if c is not None})))
    return (pd if is_pandas(kind) else pl).Series(colours, dtype=KINDS[kind].dtype)


def learned(X):
    return check_matrix(X, finite=False, takes_categories=True)


@each_kind
def test_categories_that_occur_are_kept(kind, unchanged):
    X = frame(kind)
    with unchanged(X.copy() if is_pandas(kind) else X.clone()):
        matrix = learned(X)
    # An order is that of the dtype, or alphabetical where the library numbers categories as they come.
    kept = ("red", "green", "blue") if kind in ("pandas", "enum") else ("blue", "green", "red")
    assert matrix.categories == {"0": kept}
    expected = [np.nan if colour is None else kept.index(colour) for colour in COLOURS]
    np.testing.assert_array_equal(matrix.values, np.column_stack([expected, np.arange(5.0)]))
    assert matrix.feature_names == ("colour", "x")


@each_kind
@pytest.mark.parametrize("other", KINDS)
def test_other_frames_are_coded_by_the_kept_categories(kind, other):
    pl.Series(["pink", "blue", "red"], dtype=pl.Categorical)  # which polars numbers first
    kept = learned(frame(kind)).categories
    found = check_matrix(frame(other, ["pink", "blue", None, "red"]), finite=False, categories=kept)
    expected = [len(kept["0"]), kept["0"].index("blue"), np.nan, kept["0"].index("red")]  # no row had pink
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
    again = check_matrix(frame(kind), finite=False, categories=matrix.categories)
    np.testing.assert_array_equal(again.values[:, 0], [0, 0, np.nan, 0, 0])  # all unseen, or missing


@each_kind
def test_single_precision_stays_beside_categories(kind):
    assert learned(frame(kind, x=np.arange(5, dtype=np.float32))).dtype == np.float32


@pytest.mark.parametrize("name", ["string", "large_string", "dictionary"])
def test_strings_of_arrow_are_categories(name):
    pa = pytest.importorskip("pyarrow")
    dtype = pa.dictionary(pa.int8(), pa.string()) if name == "dictionary" else getattr(pa, name)()
    X = pd.DataFrame({"colour": pd.Series(pd.array(COLOURS, dtype=pd.ArrowDtype(dtype)))})
    matrix = learned(X)
    assert matrix.categories == {"0": ("blue", "green", "red")}
    np.testing.assert_array_equal(matrix.values[:, 0], [2, 1, np.nan, 2, 0])


def test_missing_strings_are_missing_however_they_are_written():
    X = pd.DataFrame({"colour": pd.Series(["b", None, np.nan, pd.NA, "a"], dtype=object)})
    np.testing.assert_array_equal(learned(X).values[:, 0], [1, np.nan, np.nan, np.nan, 0])


def test_empty_columns_of_objects_are_what_the_training_data_have_there():
    X = pd.DataFrame({"a": pd.Series([None, None], dtype=object), "b": [1.0, 2.0]})
    assert learned(X).categories == {"0": ()}
    assert check_matrix(X, finite=False, categories={"0": ("u", "v")}).categories == {"0": ("u", "v")}
    as_numbers = check_matrix(X, finite=False, categories={})
    assert not as_numbers.categories
    assert np.isnan(as_numbers.values[:, 0]).all()


GAPS = {
    "floats": pd.Series([np.nan, np.nan]),  # what pandas.read_csv makes of a column without entries
    "nullable integers": pd.Series([None, None], dtype="Int64"),
    "nullable booleans": pd.Series([None, None], dtype="boolean"),
    "dates": pd.Series([pd.NaT, pd.NaT]),
    "strings": pd.Series([None, None], dtype="string"),
    "categories": pd.Series(pd.Categorical([None, None])),
    "objects": pd.Series([None, None], dtype=object),
    "polars, no type": pl.Series([None, None]),
    "polars, floats": pl.Series([None, float("nan")]),
    "polars, strings": pl.Series([None, None], dtype=pl.String),
    "polars, dates": pl.Series([None, None], dtype=pl.Date),
    "arrow, no type": [None, None],
    "arrow, floats": [None, float("nan")],
    "arrow, strings": [None, None],
}


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("categories", [{}, {"0": ("u", "v")}], ids=["of numbers", "of words"])
def test_a_column_of_a_batch_without_entries_is_missing_whatever_its_type(kind, categories):
    if kind.startswith("arrow"):
        pa = pytest.importorskip("pyarrow")  # users may have no such tables, and the package needs none
        dtype = {"no type": pa.null(), "floats": pa.float64(), "strings": pa.string()}[kind.removeprefix("arrow, ")]
        X = pa.table({"a": pa.array(GAPS[kind], dtype), "b": [1.0, 2.0]})
    else:
        X = (pl if kind.startswith("polars") else pd).DataFrame({"a": GAPS[kind], "b": [1.0, 2.0]})
    matrix = check_matrix(X, finite=False, categories=categories, n_features=2, feature_names=("a", "b"))
    np.testing.assert_array_equal(matrix.values, [[np.nan, 1], [np.nan, 2]])
    assert matrix.categories == categories


def test_a_column_of_a_batch_with_one_entry_of_another_type_is_refused():
    X = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, 2.0]})
    text = "X must have categories (strings, or dtype category or enum) in column 'a', like the training data"
    refused(TypeError, text, check_matrix, X, finite=False, categories={"0": ("u", "v")})
    text = "X must have numbers in column 'a', like the training data"
    refused(TypeError, text, check_matrix, X.assign(a=[None, "u"]), finite=False, categories={})


def test_bin_features_refuses_more_categories_than_it_has_codes_for():
    X = pd.DataFrame({"city": pd.Categorical(range(256))})
    assert len(fastpu.bin_features(X[:255]).categories["0"]) == 255
    text = "X must have at most 255 categories in column 0 ('city') for bin_features, got 256: more are put in an order"
    refused(ValueError, text, fastpu.bin_features, X)


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
    text = refused(TypeError, "in column 'colour'; if it holds numbers", fastpu.fit_isvm, X, [1, 0, 0, 1, 0])
    assert "fit_forest and fit_boosted_trees take categories" in text


@each_kind
def test_frames_that_cannot_be_mapped_are_refused(kind):
    X = frame(kind)
    kept, names = learned(X).categories, ("colour", "x")

    def check(other, names=None):
        return check_matrix(other, finite=False, categories=kept, n_features=2, feature_names=names)

    text = "X must have categories (strings, or dtype category or enum) in column 'colour', like the training data"
    refused(TypeError, text, check, frame(kind, colour=np.arange(5.0)))
    text = "X must have numbers in column 'x', like the training data, got dtype"
    refused(TypeError, text, check, frame(kind, x=recoded(kind, list("abcde"))))
    swapped = X[["x", "colour"]]
    refused(ValueError, "in the same order: column 0 must be 'colour', got 'x'", check, swapped, names)
    refused(TypeError, "X must have categories (strings, or dtype category or enum) in column 'x'", check, swapped)
    refused(
        TypeError, "X must be a pandas or polars frame with categories in column 0 ('colour')", check, np.eye(2), names
    )
    text = "X, in column 'n', must have categories of the kind of the training data's, such as"
    refused(TypeError, text, check, pd.DataFrame({"n": pd.Categorical([1, 2]), "x": [1.0, 2.0]}))


MENDED_COLUMNS = [
    pd.Series(pd.date_range("2020-01-02", periods=3)),
    pd.Series(pd.date_range("2020-01-02", periods=3, tz="UTC")),
    pd.Series(pd.date_range("2020-01-02", periods=3).date, dtype=object),
    pd.Series(pd.array(pd.date_range("2020-01-02", periods=3).date, dtype="date32[pyarrow]")),
    pd.Series(pd.array(pd.date_range("2020-01-02", periods=3), dtype="timestamp[us][pyarrow]")),
    pl.Series(["2020-01-01"] * 3).str.to_date(),
    pl.Series(["2020-01-01"] * 3).str.to_datetime("%Y-%m-%d"),
    pl.Series(["2020-01-01"] * 3).str.to_datetime("%Y-%m-%d", time_zone="UTC"),
]


@pytest.mark.parametrize("column", MENDED_COLUMNS, ids=lambda column: str(column.dtype))
@pytest.mark.parametrize("takes_categories", [True, False])
def test_the_line_in_the_message_mends_the_column(column, takes_categories):
    X = (pd if isinstance(column, pd.Series) else pl).DataFrame({"when": column})
    text = refused(TypeError, "in column 'when'; make", check_matrix, X, takes_categories=takes_categories)
    line = re.findall(r"X(?:\['when'\])? = .*", text)[0]
    names = {"pandas": pd, "polars": pl, "X": X}
    exec(line, names)  # noqa: S102
    assert check_matrix(names["X"], finite=False, takes_categories=True).n_rows == 3


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
    ],
)
def test_categories_of_a_file_are_checked(kept):
    with pytest.raises((TypeError, ValueError)):
        check_kept(kept, 2)


def test_categories_of_models_are_taken():
    check_kept({"0": ("a", "b"), "1": (1, 2.5), "9": ()}, 10)
