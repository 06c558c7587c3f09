"""Kernel values of the core against their formulas, and the same bits whatever computes them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fastpu import _core
from fastpu.data._validate import check_matrix
from helpers import refused
from oracles import svm as oracle
from svm_cases import DTYPES, KERNELS, SUM_TOL, THREADS, kernel_rounding, make_engine, native

SIZES = (1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 129, 257, 300)
FEATURES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70)

each_kernel = pytest.mark.parametrize("name", KERNELS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
each_form = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])


def kernel_by_core(X, Z=None, *, dtype=np.float64, sparse=False, n_threads=1, **kernel):
    """K(x_i, z_j): the scores of as many models as there are z, each of one support vector."""
    Z = X if Z is None else Z
    kernel = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **kernel}
    support, x = (native(rows, dtype=dtype, sparse=sparse) for rows in (Z, X))
    return _core.kernel_scores(support, x, np.eye(len(Z)), np.zeros(len(Z)), n_threads=n_threads, **kernel)


def rows_of(rng, n, d, *, zeros=0.5):
    """Normal entries, many of them zero, and a row of zeros."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) > zeros)
    X[n // 2] = 0.0
    return X


def bits(*arrays) -> bytes:
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


# -- values ------------------------------------------------------------------------------------------------------------


@each_form
@each_dtype
@each_kernel
def test_values_are_those_of_the_formula_for_every_number_of_columns(name, dtype, sparse, rng):
    for d in FEATURES:
        X, Z = (rows_of(rng, n, d).astype(dtype) for n in (23, 11))
        values = kernel_by_core(X, Z, dtype=dtype, sparse=sparse, **KERNELS[name])
        allowed = kernel_rounding(X, Z, dtype=dtype, sparse=sparse, **KERNELS[name])
        error = np.abs(values - oracle.kernel_matrix(X, Z, **KERNELS[name]))
        assert np.all(error <= allowed), f"d={d}: {np.max(error / allowed):.3g} times what rounding explains"


@each_form
@each_dtype
@each_kernel
def test_values_are_those_of_the_formula_for_every_number_of_rows(name, dtype, sparse, rng):
    X = rows_of(rng, max(SIZES), 5).astype(dtype)
    whole = kernel_by_core(X, dtype=dtype, sparse=sparse, **KERNELS[name])
    allowed = kernel_rounding(X, X, dtype=dtype, sparse=sparse, **KERNELS[name])
    assert np.all(np.abs(whole - oracle.kernel_matrix(X, **KERNELS[name])) <= allowed)
    for n in SIZES:  # and a part of the rows has a part of the values
        part = kernel_by_core(X[:n], X[-n:], dtype=dtype, sparse=sparse, **KERNELS[name])
        np.testing.assert_array_equal(part, whole[:n, -n:])


@each_form
@each_kernel
def test_a_matrix_of_values_has_those_of_the_scores(name, sparse, rng, monkeypatch):
    options = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **KERNELS[name]}
    for n, m, d in ((1, 1, 1), (70, 33, 5), (33, 130, 17), (3, 0, 2)):
        X, Z = (rows_of(rng, max(size, 1), d)[:size] for size in (n, m))
        rows = [native(matrix, sparse=sparse) for matrix in (X, Z)]
        found = _core.kernel_matrix(*rows, n_threads=1, **options)
        np.testing.assert_array_equal(found, kernel_by_core(X, Z, sparse=sparse, **KERNELS[name]))
        for n_threads, level in [*((threads, "") for threads in THREADS), *((2, isa) for isa in _core.isa_levels())]:
            monkeypatch.setenv("FASTPU_ISA", level)
            again = _core.kernel_matrix(*rows, n_threads=n_threads, **options)
            np.testing.assert_array_equal(again, found)


def test_a_matrix_of_values_needs_rows_that_fit_each_other():
    options = {"kernel": "rbf", "gamma": 1.0, "degree": 3, "coef0": 0.0, "n_threads": 1}
    X = np.ones((3, 2))
    refused(
        ValueError, "x and y must have the same number of columns", _core.kernel_matrix, X, X[:, :1].copy(), **options
    )
    refused(TypeError, "x and y must have one form and type", _core.kernel_matrix, X, X.astype(np.float32), **options)
    single = X.astype(np.float32)
    refused(TypeError, "x must have entries of type float64", _core.kernel_matrix, single, single, **options)


# -- exact properties --------------------------------------------------------------------------------------------------


@each_kernel
def test_zeros_that_are_stored_change_nothing(name, rng):
    X = rows_of(rng, 40, 9)
    full = sp.csr_matrix(np.ones_like(X))
    full.data = X.ravel().copy()
    kernel = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **KERNELS[name]}
    scores = [
        _core.kernel_scores(m, m, np.eye(40), np.zeros(40), n_threads=1, **kernel)
        for m in (native(X, sparse=True), check_matrix(full))
    ]
    np.testing.assert_array_equal(*scores)


# -- scores ------------------------------------------------------------------------------------------------------------


@each_form
@each_dtype
@pytest.mark.parametrize("n_models", [1, 2, 5])
def test_scores_are_the_sums_that_they_claim_to_be(n_models, dtype, sparse, rng):
    X, Z = (rows_of(rng, n, 6).astype(dtype) for n in (270, 75))
    coefs, intercepts = rng.normal(size=(75, n_models)), rng.normal(size=n_models)
    kernel = {"kernel": "rbf", "gamma": 0.5}
    scores = _core.kernel_scores(
        *(native(rows, dtype=dtype, sparse=sparse) for rows in (Z, X)),
        coefs, intercepts, degree=3, coef0=0.0, n_threads=2, **kernel,
    )  # fmt: skip
    K = kernel_by_core(X, Z, dtype=dtype, sparse=sparse, **kernel)
    assert scores.shape == (270, n_models)
    np.testing.assert_allclose(scores, K @ coefs + intercepts, rtol=0, atol=SUM_TOL * np.abs(coefs).sum())


@each_form
def test_scores_of_no_support_vector_are_the_intercepts(sparse, rng):
    X = rows_of(rng, 70, 3)
    scores = _core.kernel_scores(
        native(X[:0], sparse=sparse), native(X, sparse=sparse), np.zeros((0, 2)), np.array([1.5, -2.0]),
        kernel="rbf", gamma=1.0, degree=3, coef0=0.0, n_threads=2,
    )  # fmt: skip
    np.testing.assert_array_equal(scores, np.tile([1.5, -2.0], (70, 1)))


def test_rows_of_many_columns_are_scored_by_several_threads(rng):
    """Wide blocks are packed in parallel, inside a loop that is parallel itself."""
    X = rng.normal(size=(1100, 420))
    coefs, intercepts = rng.normal(size=(90, 1)), np.zeros(1)
    scores = [
        _core.kernel_scores(
            X[:90].copy(), X, coefs, intercepts, kernel="linear", gamma=1.0, degree=3, coef0=0.0, n_threads=n
        )
        for n in THREADS
    ]
    expected = X @ (X[:90].T @ coefs)
    np.testing.assert_allclose(scores[0], expected, rtol=0, atol=SUM_TOL * np.abs(expected).max())
    assert len({bits(s) for s in scores}) == 1


# -- engines -----------------------------------------------------------------------------------------------------------


def kernel_by_engine(engine, n) -> np.ndarray:
    rows = np.arange(n, dtype=np.int64)
    return np.array([engine.scores(rows[i : i + 1], np.ones(1), 0.0, rows) for i in range(n)])


@each_form
@each_dtype
@each_kernel
def test_an_engine_scores_with_the_same_values(name, dtype, sparse, rng):
    X = rows_of(rng, 67, 5)
    engine = make_engine(X, dtype=dtype, sparse=sparse, **KERNELS[name])
    assert engine.n_rows == 67
    expected = kernel_by_core(X, dtype=dtype, sparse=sparse, **KERNELS[name])
    np.testing.assert_array_equal(kernel_by_engine(engine, 67), expected)


@each_dtype
def test_precomputed_values_are_taken_as_they_are(dtype, rng):
    G = rng.normal(size=(67, 67))
    G = (G + G.T).astype(dtype)
    np.testing.assert_array_equal(kernel_by_engine(make_engine(G, kernel="precomputed", dtype=dtype), 67), G)


def test_values_of_a_function_are_taken_as_they_are(rng):
    G = rng.normal(size=(67, 67))
    G += G.T
    asked = []

    def function(rows, columns):
        asked.append((rows.dtype, columns.dtype))
        return np.ascontiguousarray(G[np.ix_(rows, columns)])

    engine = make_engine(np.zeros((67, 1)), kernel="function", function=function, n_threads=3)
    np.testing.assert_array_equal(kernel_by_engine(engine, 67), G)
    assert set(asked) == {(np.dtype(np.int64), np.dtype(np.int64))}


@each_form
def test_an_engine_scores_any_rows_in_any_order(sparse, rng):
    X = rows_of(rng, 300, 5)
    engine = make_engine(X, sparse=sparse, gamma=0.5, n_threads=2)
    K = kernel_by_core(X, sparse=sparse, kernel="rbf", gamma=0.5)
    support, rows = rng.permutation(300)[:40], rng.integers(0, 300, size=500)
    coef = rng.normal(size=40)
    scores = engine.scores(support.astype(np.int64), coef, 0.25, rows.astype(np.int64))
    np.testing.assert_allclose(scores, K[np.ix_(rows, support)] @ coef + 0.25, rtol=0, atol=SUM_TOL * 40)
