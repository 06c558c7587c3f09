"""Dense matrices are converted once or not at all, never changed, and bad ones are named."""

from __future__ import annotations

import pathlib
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fastpu.data._validate import check_matrix
from helpers import refused


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
        assert type(matrix.values) is np.ndarray
        assert matrix.values.ctypes.data == source.ctypes.data
        assert matrix.dtype == dtype
        assert (matrix.n_rows, matrix.n_features) == source.shape
        assert matrix.feature_names is None
        assert not matrix.is_sparse


def test_big_endian_single_precision_stays_single():
    X = np.arange(6.0).reshape(3, 2).astype(">f4")
    assert check_matrix(X).dtype == np.float32


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        (
            np.zeros(3),
            ValueError,
            "X must be two-dimensional, got ndarray of shape (3,) and dtype float64; use X.reshape",
        ),
        (np.zeros((3, 0)), ValueError, "X must have at least 1 feature (column), got shape (3, 0)"),
        (np.zeros((2, 2), object), TypeError, "dtype object; use X.astype(float)"),
        ([[1, None]], TypeError, "(list), an array of dtype object; use numpy.asarray(X, dtype=float) if"),
        (pl.LazyFrame({"a": [1.0]}), TypeError, "rows must be in memory, got a polars LazyFrame"),
    ],
)
def test_bad_dense_matrices(X, error, text):
    refused(error, text, check_matrix, X)


def test_messages_use_the_name_of_the_argument():
    refused(ValueError, "X_unl must be two-dimensional", check_matrix, np.zeros(3), name="X_unl")
    for name in ("table.csv", pathlib.Path("table.csv")):
        text = refused(TypeError, "X must hold real numbers", check_matrix, name)
        assert text.endswith("read the table from its file first, for example by pandas.read_csv")
    text = refused(TypeError, "X must hold real numbers", check_matrix, {"a": [1.0]})
    assert text.endswith("make a frame of it: pandas.DataFrame(X)")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(3, 2), (70_000, 3)])  # within the first block, and behind it
def test_nan_and_inf_are_found_in_place(bad, shape):
    X = np.zeros(shape, dtype=np.float32)
    row = shape[0] - 1
    X[row, 1] = bad
    text = f"X must not hold NaN or infinite entries, got {bad} at row {row}, column 1"
    refused(ValueError, text, check_matrix, X)
    assert check_matrix(X, finite=False).values is X


def test_the_first_bad_entry_is_reported():
    X = np.zeros((4, 3))
    X[1, 2], X[2, 0] = np.nan, np.inf
    text = "got nan at row 1, column 2; fill missing entries first; fit_pnu_auc_boost, "
    assert refused(ValueError, text, check_matrix, X).endswith("and fit_boosted_trees take them as they are")
    X[1, 2] = -np.inf
    assert refused(ValueError, "got -inf at row 1, column 2", check_matrix, X).endswith("column 2")


@pytest.mark.parametrize("series", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0])], ids=["pandas", "polars"])
def test_a_single_column_of_a_frame_is_told_to_become_a_frame(series):
    text = refused(ValueError, "X must be two-dimensional, got Series of shape (2,)", check_matrix, series)
    assert text.endswith(
        "; use X.to_frame() if it is one feature, a slice of the frame such as frame[:1] if it is one row"
    )
    assert check_matrix(series.to_frame()).n_features == 1


def test_the_check_takes_no_memory_to_speak_of():
    X = np.zeros((200_000, 10))
    tracemalloc.start()
    check_matrix(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # a boolean for each entry would be 2 MB
