"""Kernel values of the core against their formulas, and the same bits whatever computes them."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp

from fastpu import _core
from fastpu.data._validate import check_matrix
from oracles import svm as oracle
from svm_cases import DTYPES, KERNELS, SUM_TOL, THREADS, kernel_rounding, make_engine, native

#: exp of an exact argument: reduction, polynomial and product round about once each.
EXP_ULPS = 2.0

#: Where exp of a normal number would be a subnormal one the core gives 0, and from a little before.
LEAST_EXPONENT = {np.float32: 87.0, np.float64: 708.0}

SIZES = (1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 129, 257, 300)
FEATURES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70)

each_kernel = pytest.mark.parametrize("name", KERNELS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
each_form = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])


def kernel_by_core(X, Z=None, *, dtype=np.float64, sparse=False, n_threads=1, isa="", **kernel):
    """K(x_i, z_j): the scores of as many models as there are z, each of one support vector."""
    Z = X if Z is None else Z
    kernel = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **kernel}
    support, x = (native(rows, dtype=dtype, sparse=sparse) for rows in (Z, X))
    return _core.kernel_scores(support, x, np.eye(len(Z)), np.zeros(len(Z)), n_threads=n_threads, isa=isa, **kernel)


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


@each_dtype
@pytest.mark.parametrize("degree", range(9))
@pytest.mark.parametrize("coef0", [0.0, 1.0, -2.5])
def test_polynomials_of_every_degree(degree, coef0, dtype, rng):
    X = rng.normal(size=(20, 4)).astype(dtype)
    kernel = {"kernel": "poly", "gamma": 0.7, "degree": degree, "coef0": coef0}
    error = np.abs(kernel_by_core(X, dtype=dtype, **kernel) - oracle.kernel_matrix(X, **kernel))
    assert np.all(error <= kernel_rounding(X, X, dtype=dtype, **kernel))


def exact_squares(dtype) -> np.ndarray:
    """Values whose squares are exact, spread over all that exp(-v^2) can hold."""
    digits = 10 if dtype == np.float32 else 24
    v = np.concatenate([np.sqrt(np.linspace(0, LEAST_EXPONENT[dtype], 400)), 2.0 ** -np.arange(1, 40)])
    mantissa, exponent = np.frexp(v)
    v = np.ldexp(np.round(mantissa * 2.0**digits) / 2.0**digits, exponent)
    return v[v * v <= LEAST_EXPONENT[dtype]]


@each_form
@each_dtype
def test_rbf_is_exp_to_its_last_digits_over_the_whole_range(dtype, sparse):
    v = exact_squares(dtype)
    values = kernel_by_core(v[:, None], np.zeros((1, 1)), dtype=dtype, sparse=sparse, kernel="rbf")[:, 0]
    with localcontext() as context:
        context.prec = 40
        exact = [(-(Decimal(float(x)) ** 2)).exp() for x in v]
        ulps = [float(abs(Decimal(float(k)) - e)) for k, e in zip(values, exact, strict=True)]
    error = np.array(ulps) / np.spacing(values.astype(dtype)).astype(np.float64)
    assert error.max() <= EXP_ULPS, f"{error.max():.3g} ulp at {-(v[error.argmax()] ** 2)!r}"
    assert values.max() <= 1.0


@each_form
@each_dtype
def test_rbf_of_distant_rows_is_zero_and_never_less(dtype, sparse):
    edge = LEAST_EXPONENT[dtype]
    far = np.sqrt(np.concatenate([np.linspace(edge - 2, edge + 50, 500), edge * np.logspace(0, 30, 50)]))
    values = kernel_by_core(far[:, None], np.zeros((1, 1)), dtype=dtype, sparse=sparse, kernel="rbf")[:, 0]
    assert np.all(values >= 0)
    assert np.all(values <= 2 * np.exp(-(far**2)) + np.finfo(dtype).tiny)
    assert np.all(values[far**2 > edge + 1] == 0)
    assert np.all(values[far**2 < edge - 1] > 0)


@each_dtype
def test_rbf_of_rows_too_far_for_the_square_of_their_distance_is_zero(dtype):
    large = float(np.finfo(dtype).max) / 4
    values = kernel_by_core(np.array([[large], [-large], [0.0]]), dtype=dtype, kernel="rbf")
    np.testing.assert_array_equal(values, np.eye(3))


# -- exact properties --------------------------------------------------------------------------------------------------


@each_form
@each_dtype
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_rbf_of_a_row_with_itself_is_exactly_one(dtype, sparse, offset, rng):
    X = rows_of(rng, 70, 9) + offset
    values = kernel_by_core(np.vstack([X, X]), dtype=dtype, sparse=sparse, kernel="rbf", gamma=0.3)
    assert np.all(np.diag(values) == 1)
    assert np.all(np.diag(values[:70, 70:]) == 1)
    assert values.max() == 1


@each_form
@each_dtype
@each_kernel
def test_kernel_matrices_are_symmetric_to_the_bit(name, dtype, sparse, rng):
    X = rows_of(rng, 83, 13) * 10.0 ** rng.integers(-3, 3, size=13)
    values = kernel_by_core(X, dtype=dtype, sparse=sparse, **KERNELS[name])
    np.testing.assert_array_equal(values, values.T)


@each_form
@each_dtype
@each_kernel
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits(name, dtype, sparse, rng):
    X, Z = rows_of(rng, 301, 13), rows_of(rng, 97, 13)
    coefs, intercepts = rng.normal(size=(97, 3)), rng.normal(size=3)
    kernel = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **KERNELS[name]}
    support, x = (native(rows, dtype=dtype, sparse=sparse) for rows in (Z, X))
    results = {
        bits(_core.kernel_scores(support, x, coefs, intercepts, n_threads=n_threads, isa=isa, **kernel))
        for isa in _core.isa_levels()
        for n_threads in THREADS
    }
    assert len(results) == 1


@each_dtype
@each_kernel
def test_sparse_rows_have_the_values_of_dense_ones(name, dtype, rng):
    X = rows_of(rng, 60, 17, zeros=0.8).astype(dtype)
    dense, csr = (kernel_by_core(X, dtype=dtype, sparse=sparse, **KERNELS[name]) for sparse in (False, True))
    allowed = [kernel_rounding(X, X, dtype=dtype, sparse=sparse, **KERNELS[name]) for sparse in (False, True)]
    assert np.all(np.abs(dense - csr) <= sum(allowed))


@each_kernel
def test_zeros_that_are_stored_change_nothing(name, rng):
    X = rows_of(rng, 40, 9)
    full = sp.csr_matrix(np.ones_like(X))
    full.data = X.ravel().copy()
    kernel = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **KERNELS[name]}
    scores = [
        _core.kernel_scores(m, m, np.eye(40), np.zeros(40), n_threads=1, isa="", **kernel)
        for m in (native(X, sparse=True), check_matrix(full).native)
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
        coefs, intercepts, degree=3, coef0=0.0, n_threads=2, isa="", **kernel,
    )  # fmt: skip
    K = kernel_by_core(X, Z, dtype=dtype, sparse=sparse, **kernel)
    assert scores.shape == (270, n_models)
    np.testing.assert_allclose(scores, K @ coefs + intercepts, rtol=0, atol=SUM_TOL * np.abs(coefs).sum())


@each_form
def test_scores_of_no_support_vector_are_the_intercepts(sparse, rng):
    X = rows_of(rng, 70, 3)
    scores = _core.kernel_scores(
        native(X[:0], sparse=sparse), native(X, sparse=sparse), np.zeros((0, 2)), np.array([1.5, -2.0]),
        kernel="rbf", gamma=1.0, degree=3, coef0=0.0, n_threads=2, isa="",
    )  # fmt: skip
    np.testing.assert_array_equal(scores, np.tile([1.5, -2.0], (70, 1)))


def test_rows_of_many_columns_are_scored_by_several_threads(rng):
    """Wide blocks are packed in parallel, inside a loop that is parallel itself."""
    X = rng.normal(size=(1100, 420))
    coefs, intercepts = rng.normal(size=(90, 1)), np.zeros(1)
    scores = [
        _core.kernel_scores(
            X[:90].copy(), X, coefs, intercepts, kernel="linear", gamma=1.0, degree=3, coef0=0.0, n_threads=n, isa=""
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
