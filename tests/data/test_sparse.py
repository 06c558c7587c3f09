"""Sparse matrices stay sparse and unchanged, and corrupt ones are refused before they are read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastpu.data._validate import check_matrix
from helpers import dense, refused

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("build", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_passes_without_a_copy(rng, dtype, build, unchanged):
    X = build(rng.normal(size=(30, 5)).astype(dtype) * (rng.random((30, 5)) < 0.3))
    X.data.flags.writeable = False
    with unchanged(X):
        matrix = check_matrix(X)
    assert matrix.is_sparse
    assert matrix.data.ctypes.data == X.data.ctypes.data
    assert matrix.indices.ctypes.data == X.indices.ctypes.data
    assert (matrix.indices.dtype, matrix.indptr.dtype) == (np.int32, np.int64)
    assert matrix.shape == (30, 5)
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
    for start, stop in pairwise(matrix.indptr):
        assert np.all(np.diff(matrix.indices[start:stop]) > 0)


def test_duplicates_are_summed_without_overflow_and_true_twice_is_true():
    place = (np.array([0, 0]), np.array([0, 0]))
    assert dense(check_matrix(sp.coo_array((np.array([100, 100], np.int8), place), shape=(1, 1)))) == 200
    assert dense(check_matrix(sp.coo_array((np.array([True, True]), place), shape=(1, 1)))) == 1


def test_a_long_row_is_checked_across_blocks():
    n = (1 << 18) + 10
    X = sp.csr_array((np.ones(n), np.arange(n), np.array([0, n])), shape=(1, n))
    assert check_matrix(X).data.ctypes.data == X.data.ctypes.data
    X.indices[1 << 18] = X.indices[(1 << 18) - 1]  # a duplicate just where a block begins
    assert check_matrix(X).data.size == n - 1


def test_corrupt_coo_matrices_are_refused():
    X = sp.coo_matrix(np.eye(3))
    X.col = np.array([0, 1])
    refused(ValueError, "X must have one row and one column number per entry", check_matrix, X)


def test_corrupt_lil_and_dok_matrices_are_refused():
    X = sp.lil_array(np.eye(3))
    X.rows[1] = [0, 2]
    refused(ValueError, "X must have as many column numbers as entries in each row", check_matrix, X)
    X = sp.lil_array(np.eye(3))
    X.rows[1] = [7]
    refused(ValueError, "X must have column numbers from 0 to 2, got 7", check_matrix, X)


def test_one_dimensional_sparse_arrays_are_refused():
    X = sp.coo_array(np.ones(3))
    if X.ndim == 2:
        pytest.skip("this SciPy has no one-dimensional sparse arrays")
    refused(ValueError, "X must be two-dimensional", check_matrix, X)


def test_sparse_matrices_of_more_columns_than_indices_are_refused():
    X = sp.csr_array((1, 2**31))
    refused(ValueError, "X must have at most 2147483647 columns if sparse, got 2147483648", check_matrix, X)


def test_nan_in_sparse_matrices_is_found_in_place():
    X = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [2.0, np.nan]]))
    refused(ValueError, "got nan at row 2, column 1", check_matrix, X)
    assert check_matrix(X, finite=False).is_sparse
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
