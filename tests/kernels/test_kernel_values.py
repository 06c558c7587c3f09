"""Kernel values of the core against their formulas, and the same bits whatever computes them."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
from helpers import refused
from oracles import svm as oracle
from svm_cases import DTYPES, KERNELS, kernel_rounding, make_engine, native

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


def test_a_matrix_of_values_needs_rows_that_fit_each_other():
    options = {"kernel": "rbf", "gamma": 1.0, "degree": 3, "coef0": 0.0, "n_threads": 1}
    X = np.ones((3, 2))
    refused(
        ValueError, "x and y must have the same number of columns", _core.kernel_matrix, X, X[:, :1].copy(), **options
    )
    refused(TypeError, "x and y must have one form and type", _core.kernel_matrix, X, X.astype(np.float32), **options)
    single = X.astype(np.float32)
    refused(TypeError, "x must have entries of type float64", _core.kernel_matrix, single, single, **options)


# -- engines -----------------------------------------------------------------------------------------------------------


def kernel_by_engine(engine, n) -> np.ndarray:
    rows = np.arange(n, dtype=np.int64)
    return np.array([engine.scores(rows[i : i + 1], np.ones(1), 0.0, rows) for i in range(n)])


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
