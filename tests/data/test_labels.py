"""Labels of every coding become +1, 0, -1, and what could mean two things is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from fastpu.data.labels import as_labels, stack
from helpers import outcome, refused

NAN = float("nan")


CLEAR = [
    ([1, 0, 1], [1, 0, 1]),
    ([1, 0, -1], [1, 0, -1]),
    ([0, -1], [0, -1]),
    ([1], [1]),
    ([0.0, -0.0], [0, 0]),
    ([True, None], [1, 0]),
    ([1, -1, NAN], [1, -1, 0]),
    ([None, None], [0, 0]),
    ([1, pd.NA], [1, 0]),
    ([np.int64(1), np.float32(0)], [1, 0]),
]


@pytest.mark.parametrize(("y", "expected"), CLEAR)
def test_codings_that_need_no_explanation(y, expected):
    labels = as_labels(y)
    assert labels.dtype == np.int8
    assert labels.flags.c_contiguous
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(as_labels(tuple(y)), expected)
    np.testing.assert_array_equal(as_labels(np.array(y, dtype=object)), expected)


SERIES = [
    pd.Series([True, None, True], dtype="boolean"),
    pd.Series([1, None, 1], dtype="Float32"),
    pd.Series([1, None, 1], dtype=object),
    pd.Series([1.0, np.nan, 1.0]),
    pd.Series([1, 0, 1], dtype="category"),
    pd.Index([1, 0, 1]),
    pd.array([1, None, 1], dtype="Int64"),
    pl.Series([1.0, None, 1.0]),
    pl.Series([1.0, NAN, 1.0]),
    pl.Series([True, None, True]),
    pl.Series([True, False, True]),
]


@pytest.mark.parametrize("y", SERIES, ids=lambda y: f"{type(y).__module__.split('.')[0]}-{y.dtype}")
def test_series(y):
    np.testing.assert_array_equal(as_labels(y), [1, 0, 1])


@pytest.mark.parametrize(
    "y",
    [
        ["P", "U", "N"],
        np.array(["P", "U", "N"]),
        np.array(["P", "U", "N"], dtype=object),
        pd.Series(["P", "U", "N"]),
        pd.Series(["P", "U", "N"], dtype="string"),
        pd.Series(["P", "U", "N"], dtype="category"),
        pl.Series(["P", "U", "N"]),
        pl.Series(["P", "U", "N"], dtype=pl.Categorical),
    ],
)
def test_strings_through_codings(y):
    np.testing.assert_array_equal(as_labels(y, positive="P", unlabeled="U", negative="N"), [1, 0, -1])
    refused(
        ValueError, "got 'N', 'P', 'U'" if isinstance(y, np.ndarray) and y.dtype.kind == "U" else "'P'", as_labels, y
    )


def test_missing_strings_are_unlabelled():
    for y in (["P", None, NAN], pd.Series(["P", None, None]), pl.Series(["P", None, None])):
        np.testing.assert_array_equal(as_labels(y, positive="P"), [1, 0, 0])


def test_bytes_and_mixed_values():
    np.testing.assert_array_equal(as_labels([b"p", b"u"], positive=b"p", unlabeled=b"u"), [1, 0])
    np.testing.assert_array_equal(as_labels(np.array([b"p", b"u"]), positive=b"p", unlabeled=b"u"), [1, 0])
    # A list of a number and a string stays what it is: 1 is not "1".
    np.testing.assert_array_equal(as_labels([1, "unknown"], unlabeled="unknown"), [1, 0])
    refused(
        ValueError,
        "y holds 1, not covered by positive=['1'], unlabeled=['unknown']",
        as_labels,
        [1, "unknown"],
        positive="1",
        unlabeled="unknown",
    )
    refused(
        ValueError,
        "y holds '1', not covered by positive=[1], unlabeled=['u']",
        as_labels,
        np.array(["1", "u"]),
        positive=1,
        unlabeled="u",
    )


@pytest.mark.parametrize(
    ("y", "codes", "expected"),
    [
        ([1, -1, -1], {"unlabeled": -1}, [1, 0, 0]),
        ([1, -1, -1], {"negative": -1}, [1, -1, -1]),
        ([1, -1, -1], {"unlabeled": 0}, [1, -1, -1]),
        ([1, 0], {"negative": 0}, [1, -1]),
        ([True, False], {"negative": False}, [1, -1]),
        ([1, 0, NAN], {"negative": 0}, [1, -1, 0]),
        ([1, 0, NAN], {"unlabeled": [0, NAN]}, [1, 0, 0]),
        ([1, 0, NAN], {"unlabeled": NAN, "negative": 0}, [1, -1, 0]),
        ([1, 0, None], {"unlabeled": [0, None]}, [1, 0, 0]),
        ([2, 1], {"positive": 2, "unlabeled": 1}, [1, 0]),
        ([2, 1, 0], {"positive": [2, 1]}, [1, 1, 0]),
        ([2, 1, 0], {"positive": np.array([1, 2])}, [1, 1, 0]),
        ([3, 4, 5], {"positive": 3, "unlabeled": {4, 5}}, [1, 0, 0]),
        ([0, 1], {"positive": 0, "unlabeled": 1}, [1, 0]),
        ([-1, 0], {"positive": -1}, [1, 0]),
        ([1.5, NAN], {"positive": 1.5}, [1, 0]),
        (["a", "b", "c"], {"positive": "a", "unlabeled": ("b", "c")}, [1, 0, 0]),
        (np.array([1, 0], np.uint8), {"negative": -1}, [1, 0]),
        (np.array([255, 0], np.uint8), {"positive": 255}, [1, 0]),
    ],
)
def test_codings(y, codes, expected):
    np.testing.assert_array_equal(as_labels(y, **codes), expected)


@pytest.mark.parametrize(
    ("y", "codes", "error", "text"),
    [
        ([1, -1], {}, ValueError, "y holds -1 and no unlabelled row, which is ambiguous"),
        ([-1, -1], {}, ValueError, "as_labels(y, unlabeled=-1) or as_labels(y, negative=-1)"),
        ([1, -1], {"positive": 1}, ValueError, "which is ambiguous"),
        ([1, 0, NAN], {}, ValueError, "y holds both 0 and missing entries"),
        ([1, 0, NAN], {}, ValueError, "if both do, pass as_labels(y, unlabeled=[0, numpy.nan]); if 0 means negative, "),
        ([1, 0, NAN], {}, ValueError, "as_labels(y, unlabeled=numpy.nan, negative=0)"),
        ([2, 1, 0], {}, ValueError, "y must hold 1 (positive), 0 or missing (unlabelled) and -1 (negative)"),
        ([2, 1, 0], {}, ValueError, "or booleans, got 0, 1, 2; for another coding use fastpu.as_labels(y, positive="),
        (np.arange(30) / 40, {}, ValueError, "so many numbers look like scores or probabilities: labels come before"),
        ([1, 0.5], {}, ValueError, "got 0.5, 1.0;"),
        ([1, np.inf], {}, ValueError, "got 1.0, inf;"),
        (range(100), {}, ValueError, "got 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 90 more"),
        (
            ["spam", "ham"],
            {"positive": "spam"},
            ValueError,
            "y holds 'ham', not covered by positive=['spam']; name all",
        ),
        ([0, 1], {"positive": 0}, ValueError, "y holds 1, not covered by positive=[0]"),
        ([True, False], {"unlabeled": 10**30}, ValueError, "y holds False, not covered by unlabeled=[1000"),
        ([1, 0, NAN], {"unlabeled": 0}, ValueError, "y holds missing, not covered by unlabeled=[0]"),
        (
            [1, 0],
            {"positive": 1, "unlabeled": 1},
            ValueError,
            "1 must stand for one kind of label in y, got it as positive",
        ),
        ([1, 0], {"positive": NAN, "unlabeled": None, "negative": [NAN]}, ValueError, "nan must stand for one kind"),
        ([1, 0], {"positive": []}, ValueError, "positive must name at least one value"),
        (
            [1, 0],
            {"positive": [[1]]},
            TypeError,
            "positive must be a value of y or a collection of them, got [1] (list)",
        ),
        ([1, 0], {"negative": {"a": 1}}, TypeError, "negative must be a value of y"),
        (
            [10**400, 0],
            {"positive": 0},
            ValueError,
            "y must hold labels within the range of float64, got a larger inte",
        ),
        (np.zeros((0, 1)), {}, ValueError, "y must not be empty"),
        (
            np.zeros((1, 3)),
            {},
            ValueError,
            "y must be one-dimensional, got ndarray of shape (1, 3) and dtype float64; use y.ravel()",
        ),
        (np.zeros((3, 2)), {}, ValueError, "y must be one-dimensional"),
        (pd.DataFrame({"y": [1, 0], "z": [1, 0]}), {}, ValueError, "y must be one-dimensional"),
        ([[1, 0], [1]], {}, ValueError, "y cannot be read as a list of labels"),
        (np.array([1j, 0], dtype=object), {}, TypeError, "got 1j (complex) at position 0"),
        (np.array([np.complex64(1), 0], dtype=object), {}, TypeError, "at position 0"),
        (np.array([{}, 1], dtype=object), {}, TypeError, "got {} (dict) at position 0"),
        (sp.csr_array(np.eye(2)), {}, ValueError, "y must be one-dimensional, got csr_array of shape (2, 2)"),
    ],
)
def test_what_is_refused(y, codes, error, text):
    refused(error, text, as_labels, y, **codes)


@pytest.mark.parametrize(
    ("y", "use"),
    [
        (np.array([[1], [0], [1]]), "ndarray of shape (3, 1) and dtype int64; use numpy.ravel(y)"),
        ([[1], [None], [1]], "[[1], [None], [1]] (list); use numpy.ravel(y)"),
        (pd.DataFrame({"label": pd.array([True, None, True], dtype="boolean")}), "shape (3, 1); use y['label']"),
        (pl.DataFrame({"label": [1, None, 1]}), "DataFrame of shape (3, 1); use y['label']"),
    ],
    ids=["array", "list", "pandas", "polars"],
)
def test_a_column_is_taken_for_a_vector_with_a_warning(y, use):
    with pytest.warns(fastpu.exceptions.LabelWarning, match=re.escape(use)) as told:
        labels = as_labels(y)
    np.testing.assert_array_equal(labels, [1, 0, 1])
    assert len(told) == 1
    assert told[0].filename == __file__


def test_a_fit_warns_of_a_column_once():
    with pytest.warns(fastpu.exceptions.LabelWarning, match="y is taken for a vector") as told:
        fastpu.fit_upu([[0.0], [1.0], [2.0]], np.array([[0], [0], [1]]), prior=0.3)
    assert len(told) == 1


@given(st.lists(st.sampled_from([1, 0, -1, 2, None, NAN, "a", True, 0.5]), min_size=1, max_size=12))
def test_any_mixture_is_coded_or_refused_with_a_message(y):
    labels = outcome(as_labels, y)
    if isinstance(labels, Exception):
        assert str(labels).startswith("y ")
        return
    assert labels.shape == (len(y),)
    for value, label in zip(y, labels, strict=True):
        missing = value is None or value != value
        assert label == (0 if missing else value)


# ------------------------------------------------------------------------------------------- stack


def test_arrays_are_stacked_in_order(unchanged):
    P, U, N = np.ones((2, 3)), np.zeros((1, 3)), -np.ones((3, 3))
    with unchanged(P, U, N):
        X, y = stack(P=P, U=U, N=N)
    np.testing.assert_array_equal(X, np.concatenate([P, U, N]))
    np.testing.assert_array_equal(y, [1, 1, 0, -1, -1, -1])
    assert y.dtype == np.int8
    for parts, labels in (
        ({"P": P, "U": U}, [1, 1, 0]),
        ({"U": U, "N": N}, [0, -1, -1, -1]),
        ({"P": P, "N": N}, [1, 1, -1, -1, -1]),
    ):
        np.testing.assert_array_equal(stack(**parts)[1], labels)


def test_single_precision_is_kept_if_all_parts_have_it():
    single, double = np.ones((1, 2), np.float32), np.ones((1, 2))
    assert stack(P=single, U=single)[0].dtype == np.float32
    assert stack(P=single, U=double)[0].dtype == np.float64
    assert stack(P=[[1, 2]], U=[[3, 4]])[0].dtype == np.float64
    assert stack(P=sp.csr_array(single), U=sp.csr_array(single))[0].dtype == np.float32


def test_nan_is_for_the_method_to_refuse():
    X, _ = stack(P=[[NAN, 1.0]], U=[[np.inf, 2.0]])
    np.testing.assert_array_equal(X, [[NAN, 1.0], [np.inf, 2.0]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_parts_stay_sparse(rng, form, kind, unchanged):
    parts = [rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.4) for n in (3, 1, 5)]
    P, U, N = (getattr(sp, f"{form}_{kind}")(part) for part in parts)
    with unchanged(P, U, N):
        X, y = stack(P=P, U=U, N=N)
    assert X.format == "csr"
    assert isinstance(X, sp.csr_array if kind == "array" else sp.csr_matrix)
    np.testing.assert_array_equal(X.toarray(), np.concatenate(parts))
    assert list(y) == [1] * 3 + [0] + [-1] * 5
    X.check_format(full_check=True)


def test_pandas_parts_stay_pandas():
    P = pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]}, index=[5, 6])
    U = pd.DataFrame({"a": [3, 4], "b": [0.5, np.nan]}, index=[5, 6])
    before = P.copy(deep=True)
    X, y = stack(P=P, U=U)
    assert list(X.columns) == ["a", "b"]
    assert list(X.index) == [0, 1, 2, 3]
    np.testing.assert_array_equal(X.to_numpy(dtype=float), [[1, 1], [2, 0], [3, 0.5], [4, NAN]])
    assert all(dtype.kind == "f" for dtype in X.dtypes)
    assert list(y) == [1, 1, 0, 0]
    pd.testing.assert_frame_equal(P, before)
    assert list(stack(P=P, U=pd.concat([U, U, U]))[1]) == [1] * 2 + [0] * 6
    single = pd.DataFrame(np.ones((1, 1), np.float32), columns=["a"])
    assert stack(P=single, U=single)[0].dtypes.iloc[0] == np.float32
    nullable = pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})
    X, _ = stack(P=nullable, U=pd.DataFrame({"a": [0.5]}))
    np.testing.assert_array_equal(X["a"].to_numpy(dtype=float, na_value=NAN), [1, NAN, 0.5])


def test_polars_parts_stay_polars():
    P = pl.DataFrame({"a": [1, 2], "b": [True, False]})
    U = pl.DataFrame({"a": [0.5, None], "b": [0.0, 1.0]})
    X, y = stack(P=P, U=U)
    assert X.columns == ["a", "b"]
    np.testing.assert_array_equal(X.to_numpy(), [[1, 1], [2, 0], [0.5, 0], [NAN, 1]])
    assert list(y) == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        ({}, ValueError, "at least two of P, U and N must be given, got none"),
        ({"P": np.ones((1, 1))}, ValueError, "at least two of P, U and N must be given, got ['P']"),
        ({"P": np.ones((1, 2)), "U": np.ones((1, 3))}, ValueError, "U must have 2 features (columns) like P, got 3"),
        (
            {"P": np.ones((1, 2)), "U": sp.csr_array(np.ones((1, 2)))},
            TypeError,
            "P, U and N must be of one kind, got P as an array, U as a sparse matrix",
        ),
        (
            {"P": pl.DataFrame({"a": [1.0]}), "U": pd.DataFrame({"a": [1.0]})},
            TypeError,
            "got P as a polars frame, U as a pandas frame",
        ),
        (
            {"P": pd.DataFrame({"a": [1.0], "b": [1.0]}), "U": pd.DataFrame({"b": [1.0], "a": [1.0]})},
            ValueError,
            "U must have the feature names of P, in the same order: column 0 must be 'a', got 'b'",
        ),
        (
            {"P": pl.DataFrame({"a": [1.0]}), "U": pl.DataFrame({"c": [1.0]})},
            ValueError,
            "column 0 must be 'a', got 'c'",
        ),
        (
            {"P": pd.DataFrame({"a": [1.0]}), "U": pd.DataFrame({"a": ["x"]})},
            TypeError,
            "U must have categories where P has some, and only there: column 'a' has dtype",
        ),
        (
            {"P": pl.DataFrame({"a": [1.0]}), "U": pl.DataFrame({"a": ["x"]})},
            TypeError,
            "U must have categories where P has some, and only there: column 'a' has dtype",
        ),
        (
            {"P": pd.DataFrame({"a": [1.0]}), "U": pd.DataFrame({"a": np.zeros(0)})},
            ValueError,
            "U must have at least 1 row, got shape (0, 1)",
        ),
        (
            {"P": pd.DataFrame({"a": [1.0]}), "U": pd.DataFrame({"a": [1.0], "b": [1.0]})},
            ValueError,
            "U must have 1 features (columns) like P, got 2",
        ),
    ],
)
def test_parts_that_do_not_fit(parts, error, text):
    refused(error, text, stack, **parts)
