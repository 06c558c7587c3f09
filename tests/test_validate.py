"""Inputs are converted once or not at all, never changed, and bad ones are named."""

from __future__ import annotations

import decimal
import fractions
import re
import threading
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from fastpu._validate import (
    check_binary,
    check_bool,
    check_choice,
    check_float,
    check_int,
    check_labels,
    check_matrix,
    check_random_state,
    check_sample_weight,
    check_vector,
    label_counts,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def dense(matrix):
    """A checked matrix as a plain array."""
    if not matrix.is_sparse:
        return matrix.native
    data, indices, indptr, shape = matrix.native
    return sp.csr_array((data, indices, indptr), shape=shape).toarray()


def refused(error, text, function, *args, **kwargs):
    with pytest.raises(error, match=re.escape(text)) as info:
        function(*args, **kwargs)
    return str(info.value)


# ------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(1)])
def test_integers_of_any_kind_become_int(value):
    assert type(check_int("n_rounds", value, low=1)) is int


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, ValueError, "n_rounds must be an integer >= 1, got 0"),
        (-(10**30), ValueError, "n_rounds must be an integer >= 1, got -1000"),
        (3.0, TypeError, "n_rounds must be an integer >= 1, got 3.0 (float)"),
        (True, TypeError, "n_rounds must be an integer >= 1, got True (bool)"),
        (np.True_, TypeError, "n_rounds must be an integer >= 1, got True"),
        ("3", TypeError, "n_rounds must be an integer >= 1, got '3' (str)"),
        (None, TypeError, "got None (NoneType)"),
        (np.array([3]), TypeError, "got ndarray of shape (1,) and dtype int64"),
    ],
)
def test_bad_integers(value, error, text):
    refused(error, text, check_int, "n_rounds", value, low=1)


def test_integer_ranges_in_words():
    refused(ValueError, "k must be an integer in [2, 5], got 6", check_int, "k", 6, low=2, high=5)
    refused(ValueError, "k must be an integer <= 5, got 6", check_int, "k", 6, high=5)
    refused(TypeError, "k must be an integer, got 1.5 (float)", check_int, "k", 1.5)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(1), fractions.Fraction(1, 2)])
def test_numbers_of_any_kind_become_float(value):
    assert type(check_float("gamma", value, low=0, high=1)) is float


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.5, ValueError, "rho must be a number in [0, 1), got 1.5"),
        (1, ValueError, "rho must be a number in [0, 1), got 1.0"),
        (-1e-300, ValueError, "got -1e-300"),
        (np.nan, ValueError, "rho must be a number in [0, 1), got nan"),
        (np.float32("nan"), ValueError, "got nan"),
        (10**400, ValueError, "rho must be a number in [0, 1), got 1000"),
        (False, TypeError, "rho must be a number in [0, 1), got False (bool)"),
        ("0.5", TypeError, "got '0.5' (str)"),
        (0.5j, TypeError, "got 0.5j (complex)"),
        (decimal.Decimal("0.5"), TypeError, "(Decimal)"),
    ],
)
def test_bad_floats(value, error, text):
    refused(error, text, check_float, "rho", value, low=0, high=1, open_high=True)


def test_open_and_infinite_ends():
    refused(ValueError, "C must be a finite number > 0, got 0.0", check_float, "C", 0, low=0, open_low=True)
    refused(ValueError, "C must be a finite number > 0, got inf", check_float, "C", np.inf, low=0, open_low=True)
    assert check_float("C", np.inf, low=0, allow_inf=True) == np.inf
    refused(ValueError, "C must be a number >= 0, got nan", check_float, "C", np.nan, low=0, allow_inf=True)


def test_choices_and_switches():
    assert check_choice("step", "jensen", ("jensen", "line_search")) == "jensen"
    refused(ValueError, "step must be one of 'a', 'b', got 'c'", check_choice, "step", "c", ("a", "b"))
    refused(TypeError, "step must be one of 'a', 'b', got 1 (int)", check_choice, "step", 1, ("a", "b"))
    assert check_bool("progress", np.True_) is True
    refused(TypeError, "progress must be True or False, got 1 (int)", check_bool, "progress", 1)


def test_random_states():
    generator = np.random.default_rng(3)
    assert check_random_state(generator) is generator
    assert check_random_state(np.int64(3)).random() == np.random.default_rng(3).random()
    assert isinstance(check_random_state(None), np.random.Generator)
    refused(ValueError, "random_state must be an integer >= 0, got -1", check_random_state, -1)
    refused(TypeError, "random_state must be None, an integer >= 0 or", check_random_state, 1.0)
    refused(TypeError, "default_rng(seed)", check_random_state, np.random.RandomState(0))


# ---------------------------------------------------------------------------------- dense matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_the_core_reads_passes_without_a_copy(rng, dtype, unchanged, tmp_path):
    X = rng.normal(size=(50, 4)).astype(dtype)
    read_only = X.copy()
    read_only.flags.writeable = False
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    for source in (X, read_only, mapped, X.view(np.matrix), X[10:20], X[:1], X[:, :][::1]):
        with unchanged(np.asarray(source)):
            matrix = check_matrix(source)
        assert type(matrix.native) is np.ndarray
        assert matrix.native.ctypes.data == source.ctypes.data
        assert matrix.dtype == dtype
        assert (matrix.n_rows, matrix.n_features) == source.shape
        assert matrix.feature_names is None
        assert not matrix.is_sparse


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: X[::-1],
        lambda X: X[:, ::-1],
        lambda X: X[:, :3],
        lambda X: X.astype(X.dtype.newbyteorder()),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.longdouble),
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.uint64),
        lambda X: X > 0,
        lambda X: X.tolist(),
        lambda X: [list(row) for row in X],
        lambda X: np.ndarray(X.shape, X.dtype, b"x" + X.tobytes(), 1),  # not aligned
        lambda X: np.broadcast_to(X[0], X.shape),
    ],
)
def test_other_layouts_are_converted_once(change, unchanged):
    X = np.arange(1.0, 21.0).reshape(5, 4) % 7
    source = change(X)
    with unchanged(source):
        matrix = check_matrix(source)
    assert matrix.native.flags.c_contiguous
    assert matrix.native.flags.aligned
    assert matrix.native.dtype.isnative
    expected = np.asarray(source)
    assert matrix.dtype == (np.float32 if expected.dtype == np.float16 else np.float64)
    np.testing.assert_array_equal(matrix.native, expected.astype(matrix.dtype))


def test_big_endian_single_precision_stays_single():
    X = np.arange(6.0).reshape(3, 2).astype(">f4")
    assert check_matrix(X).dtype == np.float32


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        (np.zeros(3), ValueError, "X must be two-dimensional, got ndarray of shape (3,) and dtype float64; use X.reshape"),
        (np.zeros((2, 2, 2)), ValueError, "X must be two-dimensional, got ndarray of shape (2, 2, 2)"),
        (1.0, ValueError, "X must be two-dimensional, got 1.0 (float)"),
        (np.zeros((0, 3)), ValueError, "X must have at least 1 row(s), got shape (0, 3)"),
        (np.zeros((3, 0)), ValueError, "X must have at least 1 feature (column), got shape (3, 0)"),
        ([], ValueError, "X must be two-dimensional, got [] (list)"),
        ([[1.0, 2.0], [3.0]], ValueError, "X cannot be read as an array of numbers"),
        (np.zeros((2, 2), complex), TypeError, "got ndarray of shape (2, 2) and dtype complex128"),
        (np.zeros((2, 2), object), TypeError, "dtype object; use X.astype(float)"),
        ([[1, None]], TypeError, "got [[1, None]] (list), an array of dtype object"),
        ([["a"]], TypeError, "an array of dtype <U1"),
        (np.zeros((2, 2), "M8[s]"), TypeError, "dtype datetime64[s]"),
        (np.zeros((2, 2), "m8[s]"), TypeError, "dtype timedelta64[s]"),
        (np.zeros((2, 2), [("a", "f8")]), TypeError, "X must hold real numbers"),
        (np.ma.masked_array(np.zeros((2, 2))), TypeError, "X must not be a masked array"),
        (None, TypeError, "got None (NoneType)"),
        ({"a": 1}, TypeError, "got {'a': 1} (dict)"),
        ("text", TypeError, "got 'text' (str)"),
        (pl.LazyFrame({"a": [1.0]}), TypeError, "(LazyFrame)"),
    ],
)
def test_bad_dense_matrices(X, error, text):
    refused(error, text, check_matrix, X)


def test_messages_use_the_name_of_the_argument():
    refused(ValueError, "X_unl must be two-dimensional", check_matrix, np.zeros(3), name="X_unl")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(3, 2), (70_000, 3)])  # within the first block, and behind it
def test_nan_and_inf_are_found_in_place(bad, shape):
    X = np.zeros(shape, dtype=np.float32)
    row = shape[0] - 1
    X[row, 1] = bad
    text = f"X must not hold NaN or infinite entries, got {bad} at row {row}, column 1"
    refused(ValueError, text, check_matrix, X)
    policy = {"nan": "allow"} if np.isnan(bad) else {"inf": "allow"}
    assert check_matrix(X, **policy).native is X
    word, other = ("infinite", np.inf) if np.isnan(bad) else ("NaN", np.nan)
    X[0, 0] = other
    text = f"X must not hold {word} entries, got {other} at row 0, column 0"
    refused(ValueError, text, check_matrix, X, **policy)
    assert check_matrix(X, nan="allow", inf="allow").native is X


def test_the_first_bad_entry_is_reported():
    X = np.zeros((4, 3))
    X[1, 2], X[2, 0] = np.nan, np.inf
    refused(ValueError, "got nan at row 1, column 2", check_matrix, X)


def test_extended_precision_beyond_double_is_reported_as_infinite():
    huge = np.array([[np.finfo(np.longdouble).max]])
    if huge[0, 0] > np.finfo(np.float64).max:
        refused(ValueError, "got inf at row 0, column 0", check_matrix, huge)


def test_the_check_takes_no_memory_to_speak_of():
    X = np.zeros((200_000, 10))
    tracemalloc.start()
    check_matrix(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # a boolean for each entry would be 2 MB


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(width=16)))
def test_any_finite_array_passes_and_any_other_is_refused(X):
    if np.isfinite(X).all():
        assert check_matrix(X).native is X
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
        refused(ValueError, f"row {row}, column {column}", check_matrix, X)


# --------------------------------------------------------------------------------- sparse matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("build", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_passes_without_a_copy(rng, dtype, build, unchanged):
    X = build(rng.normal(size=(30, 5)).astype(dtype) * (rng.random((30, 5)) < 0.3))
    X.data.flags.writeable = False
    with unchanged(X):
        matrix = check_matrix(X)
    data, indices, indptr, shape = matrix.native
    assert data.ctypes.data == X.data.ctypes.data
    assert indices.ctypes.data == X.indices.ctypes.data
    assert (indices.dtype, indptr.dtype) == (np.int32, np.int64)
    assert shape == (30, 5)
    assert matrix.is_sparse
    assert matrix.dtype == dtype


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.bool_, np.longdouble])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_is_read(rng, form, dtype, kind, unchanged):
    X = (rng.integers(-3, 4, size=(6, 4)) * (rng.random((6, 4)) < 0.5)).astype(dtype)
    source = getattr(sp, f"{form}_{kind}")(X)
    with unchanged(source):
        matrix = check_matrix(source)
    assert matrix.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(dense(matrix), X.astype(np.float64))
    _, indices, indptr, _ = matrix.native
    for start, stop in zip(indptr[:-1], indptr[1:], strict=True):
        assert np.all(np.diff(indices[start:stop]) > 0)


def test_rows_that_are_unsorted_or_hold_duplicates_are_put_in_order(unchanged):
    data = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    indices = np.array([2, 0, 1, 1, 0], dtype=np.int64)
    X = sp.csr_array((data, indices, np.array([0, 2, 4, 4, 5])), shape=(4, 3))
    with unchanged(X):
        matrix = check_matrix(X)
    np.testing.assert_array_equal(dense(matrix), [[2, 0, 1], [0, 12, 0], [0, 0, 0], [16, 0, 0]])
    assert matrix.native[0].size == 4


def test_duplicates_are_summed_without_overflow_and_true_twice_is_true():
    place = (np.array([0, 0]), np.array([0, 0]))
    assert dense(check_matrix(sp.coo_array((np.array([100, 100], np.int8), place), shape=(1, 1)))) == 200
    assert dense(check_matrix(sp.coo_array((np.array([True, True]), place), shape=(1, 1)))) == 1


def test_explicit_zeros_and_spare_room_are_fine():
    X = sp.csr_array(np.array([[0.0, 3.0], [4.0, 0.0]]))
    X.data[0] = 0.0
    roomy = sp.csr_array(X)
    roomy.data = np.append(X.data, [np.nan, 9.0])
    roomy.indices = np.append(X.indices, [77, -5])
    matrix = check_matrix(roomy)
    assert matrix.native[0].size == 2
    np.testing.assert_array_equal(dense(matrix), [[0, 0], [4, 0]])


def test_a_long_row_is_checked_across_blocks():
    n = (1 << 18) + 10
    X = sp.csr_array((np.ones(n), np.arange(n), np.array([0, n])), shape=(1, n))
    assert check_matrix(X).native[0].ctypes.data == X.data.ctypes.data
    X.indices[1 << 18] = X.indices[(1 << 18) - 1]  # a duplicate just where a block begins
    assert check_matrix(X).native[0].size == n - 1


def corrupt(form, part, value):
    X = getattr(sp, f"{form}_array")(np.eye(3))
    setattr(X, part, np.asarray(value)) if form != "lil" else None
    return X


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("part", "value", "text"),
    [
        ("indices", [0, 1, 3], "X must have indices from 0 to 2, got 3"),
        ("indices", [0, -1, 2], "X must have indices from 0 to 2, got -1"),
        ("indices", [0, 2**40, 2], f"got {2**40}"),
        ("indices", [0.0, 1.0, 2.0], "X.indptr and X.indices must be integers"),
        ("indices", [[0, 1, 2]], "with X.indices of shape (1, 3)"),
        ("indptr", [0, 1, 3], "one more (4), got shape (3,)"),
        ("indptr", [1, 1, 2, 3], "X.indptr must start at 0 and never decrease"),
        ("indptr", [0, 3, 1, 3], "X.indptr must start at 0 and never decrease"),
        ("indptr", np.array([0, 3, 1, 3], np.uint32), "X.indptr must start at 0 and never decrease"),
        ("indptr", [0, 1, 2, 9], "got 9 for 3 indices and 3 entries"),
        ("indptr", [0, 1, 2, -1], "X.indptr must start at 0 and never decrease"),
        ("indptr", [0.0, 1.0, 2.0, 3.0], "X.indptr and X.indices must be integers"),
    ],
)
def test_corrupt_compressed_matrices_are_refused_before_they_are_read(form, part, value, text):
    refused(ValueError, text, check_matrix, corrupt(form, part, value))


@pytest.mark.parametrize(
    ("part", "value", "text"),
    [
        ("row", [0, 1, 3], "X must have row numbers from 0 to 2, got 3"),
        ("row", [0, -1, 2], "X must have row numbers from 0 to 2, got -1"),
        ("col", [0, 1, 5], "X must have column numbers from 0 to 2, got 5"),
        ("col", [0, 1], "X must have one row and one column number per entry"),
    ],
)
def test_corrupt_coo_matrices_are_refused(part, value, text):
    X = sp.coo_matrix(np.eye(3))
    setattr(X, part, np.asarray(value))
    refused(ValueError, text, check_matrix, X)


def test_corrupt_lil_and_dok_matrices_are_refused():
    X = sp.lil_array(np.eye(3))
    X.rows[1] = [0, 2]
    refused(ValueError, "X must have as many column numbers as entries in each row", check_matrix, X)
    X = sp.lil_array(np.eye(3))
    X.rows[1] = [7]
    refused(ValueError, "X must have column numbers from 0 to 2, got 7", check_matrix, X)


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        (sp.csr_array(np.eye(2) * 1j), TypeError, "X must hold real numbers, got dtype complex128"),
        (sp.csr_array((0, 3)), ValueError, "X must have at least 1 row(s), got shape (0, 3)"),
        (sp.csr_array((3, 0)), ValueError, "X must have at least 1 feature"),
        (sp.csr_array((1, 2**31)), ValueError, "X must have at most 2147483647 columns if sparse, got 2147483648"),
    ],
)
def test_bad_sparse_matrices(X, error, text):
    refused(error, text, check_matrix, X)


def test_one_dimensional_sparse_arrays_are_refused():
    refused(ValueError, "X must be two-dimensional", check_matrix, sp.coo_array(np.ones(3)))


def test_nan_in_sparse_matrices_is_found_in_place():
    X = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [2.0, np.nan]]))
    refused(ValueError, "got nan at row 2, column 1", check_matrix, X)
    assert check_matrix(X, nan="allow").is_sparse
    refused(TypeError, "X must be dense, got csr_array of shape (3, 2)", check_matrix, X, sparse=False)


@given(st.data())
def test_random_triplets_agree_with_scipy(data):
    n, d, m = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5)), data.draw(st.integers(0, 12))
    row = data.draw(hnp.arrays(np.int32, m, elements=st.integers(0, n - 1)))
    col = data.draw(hnp.arrays(np.int32, m, elements=st.integers(0, d - 1)))
    values = data.draw(hnp.arrays(np.float64, m, elements=st.integers(-9, 9)))
    X = sp.coo_array((values, (row, col)), shape=(n, d))
    for form in ("coo", "csr", "csc"):
        np.testing.assert_array_equal(dense(check_matrix(X.asformat(form))), X.toarray())


# ------------------------------------------------------------------------------------------ frames


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
    matrix = check_matrix(frame, nan="allow")
    np.testing.assert_array_equal(matrix.native, MIXED)
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
    np.testing.assert_array_equal(check_matrix(frame, nan="allow").native, expected)
    assert check_matrix(frame[["f"]], nan="allow").dtype == np.float32
    frame = pd.DataFrame({"s": pd.array(["a", "b"], dtype=pd.ArrowDtype(pa.string()))})
    refused(TypeError, "in column 's'", check_matrix, frame)


def test_pandas_frames_of_one_type_need_no_copy_or_one():
    X = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    matrix = check_matrix(frame)
    assert matrix.dtype == np.float32
    assert np.shares_memory(matrix.native, X)
    assert matrix.feature_names == ("a", "b", "c")
    columns = pd.DataFrame({"a": X[:, 0].copy(), "b": X[:, 1].copy()})
    assert check_matrix(columns).dtype == np.float32
    columns["c"] = pd.array([1, 2, 3, 4], dtype="Float32")
    assert check_matrix(columns).dtype == np.float32


def test_names_that_are_no_strings_are_not_kept():
    assert check_matrix(pd.DataFrame(np.eye(2))).feature_names is None
    assert check_matrix(pd.DataFrame(np.eye(2), columns=["a", 1])).feature_names is None


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (["x", "y"], "in column 'bad'"),
        (pd.Categorical([1, 2]), "got dtype category in column 'bad'"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "in column 'bad'"),
        (np.array([1j, 2]), "got dtype complex128 in column 'bad'"),
        (np.array([1, None], dtype=object), "got dtype object in column 'bad'"),
        (pd.arrays.SparseArray([0.0, 1.0]), "in column 'bad' among columns that are not sparse"),
    ],
)
def test_pandas_columns_of_other_types_are_named(column, text):
    frame = pd.DataFrame({"a": [1.0, 2.0], "bad": column})
    refused(TypeError, "X must have numeric or boolean columns, got dtype", check_matrix, frame)
    refused(TypeError, text, check_matrix, frame)


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
    matrix = check_matrix(frame, nan="allow")
    np.testing.assert_array_equal(matrix.native, [[1.5, 1, 1, 1], [np.nan] * 4, [3, 3, 0, 2]])
    assert matrix.feature_names == ("f", "i", "b", "n")
    single = frame.select(pl.col("f", "n").cast(pl.Float32))
    assert check_matrix(single, nan="allow").dtype == np.float32
    assert check_matrix(pl.concat([frame, frame]), nan="allow").n_rows == 6
    refused(ValueError, "got nan at row 1, column 0 ('f')", check_matrix, frame)


@pytest.mark.parametrize("column", [["x", "y"], [b"x", b"y"], [[1], [2]], pl.Series([1, 2]).cast(pl.Date), [None, None]])
def test_polars_columns_of_other_types_are_named(column):
    frame = pl.DataFrame({"a": [1.0, 2.0], "bad": column})
    refused(TypeError, "X must have numeric or boolean columns, got dtype", check_matrix, frame)
    refused(TypeError, "in column 'bad'", check_matrix, frame)


def test_features_are_compared_with_those_at_fit():
    names = ("a", "b")
    frame = pd.DataFrame(np.eye(2), columns=list(names))
    assert check_matrix(frame, n_features=2, feature_names=names).feature_names == names
    assert check_matrix(np.eye(2), n_features=2, feature_names=names).feature_names is None
    assert check_matrix(frame, n_features=2).n_features == 2
    text = "X must have 3 features (columns), as at fit, got 2"
    refused(ValueError, text, check_matrix, np.eye(2), n_features=3)
    text = "X must have the feature names seen at fit, in the same order: column 0 must be 'a', got 'b'"
    refused(ValueError, text, check_matrix, frame[["b", "a"]], n_features=2, feature_names=names)
    polars = pl.DataFrame({"a": [1.0], "c": [1.0]})
    refused(ValueError, "column 1 must be 'b', got 'c'", check_matrix, polars, n_features=2, feature_names=names)


# ------------------------------------------------------------------------------ vectors and labels


def test_weights():
    assert check_sample_weight(None, 3) is None
    weights = np.array([0.0, 1.0, 2.0])
    assert check_sample_weight(weights, 3) is weights
    for source in (
        [0, 1, 2],
        weights.astype(np.float32),
        weights.astype(">f8"),
        pd.Series([0, 1, 2], dtype="Int64"),
        pl.Series([0, 1, 2]),
        np.array([False, True, True]) * 1,
    ):
        checked = check_sample_weight(source, 3)
        assert checked.dtype == np.float64
        assert checked.dtype.isnative
        assert checked.sum() in (2, 3)


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        (1.0, TypeError, "sample_weight must have one entry per row (2), got the scalar 1.0"),
        (np.float64(1), TypeError, "got the scalar 1.0"),
        (np.array(1.0), ValueError, "sample_weight must be one-dimensional"),
        ([1.0], ValueError, "sample_weight must have one entry per row (2), got 1"),
        ([[1.0], [1.0]], ValueError, "sample_weight must be one-dimensional"),
        ([0.0, 0.0], ValueError, "sample_weight must have a positive entry, got zeros only"),
        ([1.0, -0.5], ValueError, "sample_weight must be >= 0, got -0.5 at position 1"),
        ([1.0, np.nan], ValueError, "must not hold NaN or infinite entries, got nan at position 1"),
        ([np.inf, 1.0], ValueError, "got inf at position 0"),
        ([1e308, 1e308], ValueError, "sample_weight must have a finite sum"),
        (["a", "b"], TypeError, "sample_weight must hold real numbers"),
        ([1j, 1], TypeError, "sample_weight must hold real numbers"),
        (np.array([1, None]), TypeError, "dtype object"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "got nan at position 1"),
        (pd.Series(["a", "b"]), TypeError, "sample_weight must hold real numbers"),
        ([], ValueError, "sample_weight must not be empty"),
    ],
)
def test_bad_weights(weights, error, text):
    refused(error, text, check_sample_weight, weights, 2)


def test_vectors():
    assert check_vector("score", [1, 2], n=2).dtype == np.float64
    assert check_vector("score", [1, np.inf], inf="allow")[1] == np.inf
    refused(ValueError, "score must have 3 entries, got 2", check_vector, "score", [1, 2], n=3)
    refused(ValueError, "score must not hold NaN entries, got nan", check_vector, "score", [np.nan], inf="allow")


def test_labels_of_methods_that_take_negatives():
    np.testing.assert_array_equal(check_labels([1, -1, 1], 3), [1, -1, 1])
    np.testing.assert_array_equal(check_labels([1, 0, -1], 3), [1, 0, -1])
    np.testing.assert_array_equal(check_labels([True, False], 2), [1, 0])
    assert check_labels(np.array([1.0, 0.0]), 2).dtype == np.int8
    refused(ValueError, "y must have one entry per row of the data (3), got 2", check_labels, [1, 0], 3)
    refused(ValueError, "target must be one-dimensional", check_labels, [[1, 0]], 2, name="target")
    assert label_counts(np.array([1, 0, 0, -1, -1, -1], dtype=np.int8)) == (1, 2, 3)


def test_labels_of_methods_that_take_none():
    np.testing.assert_array_equal(check_labels([1, 0, np.nan * 0 + 1], 3, pu_only="fit_pual"), [1, 0, 1])
    text = refused(ValueError, "y holds -1 and no 0, which is ambiguous", check_labels, [1, -1], 2, pu_only="fit_pual")
    assert "as_labels(y, unlabeled=-1)" in text
    assert "fit_pual does not take it" in text
    assert "fit_pnu_auc_boost, fit_rankboost_auc and fit_pnu_adaboost" in text
    text = refused(ValueError, "got 2 of them (-1)", check_labels, [1, 0, -1, -1], 4, pu_only="fit_pual")
    assert "fit_pual, which takes no labelled negatives" in text
    assert "fit_pnu_adaboost" in text
    refused(ValueError, "at least one positive row (+1) for fit_pual, got none", check_labels, [0], 1, pu_only="fit_pual")
    refused(ValueError, "at least one unlabelled row (0) for fit_pual", check_labels, [1], 1, pu_only="fit_pual")


def test_true_labels():
    for labels in ([1, -1, 1], [1, 0, 1], [True, False, True], [1.0, 0.0, 1.0], pd.Series([1, 0, 1]), pl.Series([1, -1, 1])):
        np.testing.assert_array_equal(check_binary(labels), [True, False, True])
    refused(ValueError, "y_true must hold two kinds of labels", check_binary, [1, 0, -1])
    refused(ValueError, "y_true must hold positive rows as 1, got 0 and -1 only", check_binary, [0, -1])
    refused(ValueError, "got 2 positive and 0 negative", check_binary, [1, 1])
    refused(ValueError, "got 0 positive and 2 negative", check_binary, [0, 0])
    refused(ValueError, "y_true must not hold missing labels", check_binary, [1, np.nan])
    assert check_binary([1, 1], both=False).all()


def test_checks_run_in_several_threads_at_once(rng):
    X = rng.normal(size=(1000, 20))
    bad = X.copy()
    bad[999, 19] = np.nan
    failures = []

    def work():
        for _ in range(50):
            try:
                check_matrix(X)
                refused(ValueError, "row 999, column 19", check_matrix, bad)
            except BaseException as error:  # noqa: BLE001 - a thread's failure is reported below
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
