"""pandas and polars frames are read with their names, and columns that are no numbers are named."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from fastpu.data._validate import check_matrix
from helpers import dense, refused


def pandas_frame():
    return pd.DataFrame(
        {
            "f": [1.5, 2.5, np.nan],
            "i": [1, 2, 3],
            "b": [True, False, True],
            "I": pd.array([1, None, 3], dtype="Int64"),
            "B": pd.array([True, None, False], dtype="boolean"),
            "F": pd.array([0.5, None, 2.0], dtype="Float32"),
            "u": np.array([1, 2, 3], dtype=np.uint8),
        }
    )


MIXED = np.array(
    [
        [1.5, 1, 1, 1, 1, 0.5, 1],
        [2.5, 2, 0, np.nan, np.nan, np.nan, 2],
        [np.nan, 3, 1, 3, 0, 2.0, 3],
    ]
)


def test_pandas_frames_with_numeric_boolean_and_nullable_columns(unchanged):
    frame = pandas_frame()
    before = frame.copy(deep=True)
    matrix = check_matrix(frame, finite=False)
    np.testing.assert_array_equal(matrix.values, MIXED)
    assert matrix.feature_names == tuple(frame.columns)
    assert matrix.dtype == np.float64
    pd.testing.assert_frame_equal(frame, before)


def test_pandas_frames_on_arrow():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.int64())),
            "f": pd.array([1.5, None, 3], dtype=pd.ArrowDtype(pa.float32())),
            "b": pd.array([True, None, False], dtype=pd.ArrowDtype(pa.bool_())),
        }
    )
    expected = np.array([[1, 1.5, 1], [np.nan] * 3, [3, 3, 0]])
    np.testing.assert_array_equal(check_matrix(frame, finite=False).values, expected)
    assert check_matrix(frame[["f"]], finite=False).dtype == np.float32
    frame = pd.DataFrame({"s": pd.array(["a", "b"], dtype=pd.ArrowDtype(pa.string()))})
    refused(TypeError, "in column 's'", check_matrix, frame)


def test_pandas_frames_of_one_type_need_no_copy_or_one():
    X = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    matrix = check_matrix(frame)
    assert matrix.dtype == np.float32
    assert np.shares_memory(matrix.values, X)
    assert matrix.feature_names == ("a", "b", "c")
    columns = pd.DataFrame({"a": X[:, 0].copy(), "b": X[:, 1].copy()})
    assert check_matrix(columns).dtype == np.float32
    columns["c"] = pd.array([1, 2, 3, 4], dtype="Float32")
    assert check_matrix(columns).dtype == np.float32


def test_titles_that_are_no_strings_are_kept():
    assert check_matrix(pd.DataFrame(np.eye(2))).feature_names == (0, 1)
    assert check_matrix(pd.DataFrame(np.eye(2), columns=["a", 1])).feature_names == ("a", 1)
    assert check_matrix(pd.DataFrame(np.eye(2), columns=[np.nan, pd.Timestamp("2020").date()])).feature_names == (
        None,
        "2020-01-01",
    )


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (["x", "y"], "in column 'bad'"),
        (pd.Categorical([1, 2]), "got dtype category in column 'bad'"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "in column 'bad'"),
        (np.array([1j, 2]), "got dtype complex128 in column 'bad'"),
        (np.array([1, "x"], dtype=object), "got dtype object in column 'bad'"),
        (pd.arrays.SparseArray([0.0, 1.0]), "in column 'bad' among columns that are not sparse"),
    ],
)
def test_pandas_columns_of_other_types_are_named(column, text):
    frame = pd.DataFrame({"a": [1.0, 2.0], "bad": column})
    refused(TypeError, "X must have numeric or boolean columns, got dtype", check_matrix, frame)
    refused(TypeError, text, check_matrix, frame)


def test_objects_that_are_numbers_become_numbers():
    columns = {
        "i": [1, None, 3],
        "f": [1.5, 2, None],
        "b": [True, None, False],
        "d": [Decimal("0.5"), None, Decimal(2)],
        "n": [None, None, None],
    }
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
    nan = np.nan
    expected = [[1, 1.5, 1, 0.5, nan], [nan, 2, nan, nan, nan], [3, nan, 0, 2, nan]]
    np.testing.assert_array_equal(check_matrix(frame, finite=False).values, expected)
    nothing = pl.DataFrame({"n": [None, None]})
    np.testing.assert_array_equal(check_matrix(nothing, finite=False).values, [[nan], [nan]])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_seconds_whatever_their_unit(unit):
    seconds = np.array([[1.0], [-86400.0], [np.nan]])
    values = np.array([1, -86400, "NaT"], dtype="timedelta64[s]")
    for dtype in (f"timedelta64[{unit}]", f"duration[{unit}][pyarrow]"):
        frame = pd.DataFrame({"d": pd.Series(values).astype(dtype)})
        np.testing.assert_array_equal(check_matrix(frame, finite=False).values, seconds)
    frame = pd.DataFrame({"d": pd.Series(list(pd.Series(values)), dtype=object)})
    np.testing.assert_array_equal(check_matrix(frame, finite=False).values, seconds)
    if unit != "s":
        frame = pl.DataFrame({"d": pl.Series(values.astype(f"timedelta64[{unit}]"))})
        np.testing.assert_array_equal(check_matrix(frame, finite=False).values, seconds)


def test_sparse_pandas_frames_stay_sparse():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X), columns=["a", "b"])
    matrix = check_matrix(frame)
    assert matrix.is_sparse
    assert matrix.feature_names == ("a", "b")
    np.testing.assert_array_equal(dense(matrix), X)
    filled = frame.astype(pd.SparseDtype(float, np.nan))
    refused(TypeError, "X must have numeric or boolean columns", check_matrix, filled)


def test_frames_without_rows_or_columns():
    refused(ValueError, "got shape (0, 1)", check_matrix, pd.DataFrame({"a": np.zeros(0)}))
    refused(ValueError, "got shape (0, 0)", check_matrix, pd.DataFrame())
    refused(ValueError, "got shape (2, 0)", check_matrix, pd.DataFrame(index=[0, 1]))
    refused(ValueError, "got shape (0, 1)", check_matrix, pl.DataFrame({"a": np.zeros(0)}))


def test_polars_frames():
    frame = pl.DataFrame(
        {
            "f": [1.5, None, 3.0],
            "i": [1, None, 3],
            "b": [True, None, False],
            "n": [1.0, float("nan"), 2.0],
        },
        schema_overrides={"i": pl.Int16},
    )
    matrix = check_matrix(frame, finite=False)
    np.testing.assert_array_equal(matrix.values, [[1.5, 1, 1, 1], [np.nan] * 4, [3, 3, 0, 2]])
    assert matrix.feature_names == ("f", "i", "b", "n")
    single = frame.select(pl.col("f", "n").cast(pl.Float32))
    assert check_matrix(single, finite=False).dtype == np.float32
    assert check_matrix(pl.concat([frame, frame]), finite=False).n_rows == 6
    refused(ValueError, "got nan at row 1, column 0 ('f')", check_matrix, frame)


@pytest.mark.parametrize("column", [["x", "y"], [b"x", b"y"], [[1], [2]], pl.Series([1, 2]).cast(pl.Date)])
def test_polars_columns_of_other_types_are_named(column):
    frame = pl.DataFrame({"a": [1.0, 2.0], "bad": column})
    refused(TypeError, "X must have numeric or boolean columns, got dtype", check_matrix, frame)
    refused(TypeError, "in column 'bad'", check_matrix, frame)
