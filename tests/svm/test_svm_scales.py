"""Columns of any scale and costs of any size: a C-SVM is right, or says that it is not, by exact arithmetic."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import fastpu

EXPONENTS = (-8, -4, -2, 0, 2, 4, 6, 8)
COSTS = (-6, -2, 0, 3, 6, 10)
TOL = 1e-3
#: Of sums over the support vectors, relative to the sum of their sizes: a few dozen roundings.
ROUNDING = 1e-14
#: Of the primal objective: how much worse than the best a linear model may be. The engine asks its own gap, in which
#: sums of alpha times rows are rounded, to be 1e-9.
GAP = 1e-6
#: Pair updates of kernels, so that what crawls is soon given up.
FEW_STEPS = 20_000


def problem(seed: int, n: int = 20, d: int = 3, *, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 64) / 64
    y = np.where(X.sum(axis=1) + noise * rng.normal(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    return X, y


def fit(X, y, *, sparse: bool = False, **options):
    """The model, after a look at whether it warned as it should."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fastpu.baselines.fit_svm(sp.csr_array(X) if sparse else X, y, tol=TOL, **options)
    has_warned = any(issubclass(warning.category, fastpu.exceptions.ConvergenceWarning) for warning in caught)
    assert has_warned == (not model.converged)
    return model


# -- exact arithmetic --------------------------------------------------------------------------------------------------


def exact(values: np.ndarray) -> np.ndarray:
    """The same numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values, dtype=np.float64))


def exact_kernel(X: np.ndarray, model) -> np.ndarray:
    rows = exact(X)
    if model.kernel == "poly":
        return (Fraction(model.gamma) * rows.dot(rows.T) + Fraction(model.coef0)) ** model.degree
    values = np.empty((len(X), len(X)), dtype=object)
    with localcontext() as context:
        context.prec = 50
        for i, x in enumerate(rows):
            for j, z in enumerate(rows):
                exponent = -Fraction(model.gamma) * sum((x - z) ** 2)
                values[i, j] = Fraction((Decimal(exponent.numerator) / exponent.denominator).exp())
    return values


def check_feasible(model, X, y, C) -> np.ndarray:
    """The variables of all rows, alpha times y, are within their boxes and sum to 0."""
    variables = np.zeros(len(y))
    variables[model.support] = model.dual_coef
    assert ((variables * y >= 0) & (variables * y <= C)).all()
    assert abs(sum(exact(variables))) <= 1e-13 * np.abs(variables).sum()
    return exact(variables)


def check_linear(model, X, y, C) -> None:
    """Gap and scores of the model that is stored are those that it claims, by exact sums."""
    variables, rows = check_feasible(model, X, y, C), exact(X)
    found = model.decision_function(X)
    sizes = np.abs(X) @ np.abs(model.coef) + abs(model.intercept)
    np.testing.assert_array_less(
        np.abs(found - (rows.dot(exact(model.coef)) + Fraction(model.intercept)).astype(float)), 1e-15 * sizes + 1e-300
    )
    scores = exact(found)
    primal = sum(exact(model.coef) ** 2) / 2 + sum(
        max(0, 1 - t * f) * Fraction(C) for t, f in zip(y, scores, strict=True)
    )
    dual_w = (rows - rows[0]).T.dot(variables)
    gap = primal - (sum(variables * y) - sum(dual_w**2) / 2)
    assert gap >= -GAP * primal
    assert gap <= 1.01 * Fraction(model.gap) + Fraction(GAP) * primal
    if model.status == "tol":
        assert violation(scores, variables, y, C) <= TOL


def check_kernel(model, X, y, C) -> None:
    """The optimality conditions hold for the alpha that are stored, and scores are what follows from these."""
    variables = check_feasible(model, X, y, C)
    K = exact_kernel(X, model)
    scores = K.dot(variables) + Fraction(model.intercept)
    slack = float(max((abs(K)).dot(abs(variables)))) * ROUNDING * 100
    np.testing.assert_allclose(model.decision_function(X), scores.astype(float), rtol=0, atol=slack + 1e-12)
    found = violation(scores, variables, y, C)
    assert abs(found - model.violation) <= 2 * slack + 1e-9
    assert not model.converged or found <= TOL + 2 * slack


def violation(scores, variables, y, C) -> float:
    gradient, alpha = scores - y, variables * y
    may_grow, may_shrink = alpha < Fraction(C), alpha > 0
    rising = np.where(y > 0, may_grow, may_shrink).astype(bool)
    falling = np.where(y > 0, may_shrink, may_grow).astype(bool)
    return float(max(0, gradient[falling].max() - gradient[rising].min()))


# -- what was wrong ----------------------------------------------------------------------------------------------------


def test_large_numbers_have_support_vectors_though_alpha_is_tiny():
    X, y = np.array([[1000.0], [2000.0], [9000.0], [10000.0]]), np.array([-1, -1, 1, 1])
    model = fit(X, y, C=10, kernel="linear")
    np.testing.assert_allclose(model.decision_function(X), [-9 / 7, -1, 1, 9 / 7], rtol=1e-12)
    np.testing.assert_array_equal(model.support, [1, 2])


# -- every scale -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("columns", [slice(0, 1), slice(None)], ids=["one", "all"])
def test_linear_models_are_optimal_at_every_scale_and_cost(columns, sparse):
    unfinished = []
    for exponent in EXPONENTS:
        for cost in COSTS:
            X, y = problem(1)
            X[:, columns] *= 10.0**exponent
            model = fit(X, y, sparse=sparse, C=10.0**cost, kernel="linear")
            if model.converged:
                check_linear(model, X, y, 10.0**cost)
            else:
                unfinished.append((exponent, cost))
    assert set(unfinished) <= {(8, 10)}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernel_models_are_optimal_at_every_scale_and_cost_or_say_that_they_are_not(kernel, sparse):
    n_converged = 0
    for exponent in EXPONENTS[::2]:
        for cost in COSTS:
            X, y = problem(1, n=12)
            X[:, 0] *= 10.0**exponent
            options = {"kernel": kernel, "degree": 2, "max_iter": FEW_STEPS}
            model = fit(X, y, sparse=sparse, C=10.0**cost, **options)
            check_kernel(model, X, y, 10.0**cost)
            n_converged += model.converged
    assert n_converged >= 20


@given(
    seed=st.integers(0, 1000),
    exponents=st.lists(st.integers(-8, 8), min_size=1, max_size=4),
    cost=st.integers(-6, 10),
    offset=st.sampled_from([0.0, 1.0, 1000.0, 2.0**27]),
    noise=st.sampled_from([0.0, 1.0]),
    sparse=st.booleans(),
)
def test_linear_models_of_columns_of_any_scales_are_optimal_or_say_that_they_are_not(
    seed, exponents, cost, offset, noise, sparse
):
    X, y = problem(seed, d=len(exponents), noise=noise)
    X = (X + offset) * 10.0 ** np.array(exponents)
    model = fit(X, y, sparse=sparse, C=10.0**cost, kernel="linear")
    if model.converged:
        check_linear(model, X, y, 10.0**cost)


# -- sparse rows far from 0 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rbf_of_sparse_rows_far_from_0_is_that_of_dense_ones(dtype):
    """|x|^2 - 2 x'z + |z|^2 would leave no digit of the distance."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)) * 8) / 8
    y = np.where(X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=300) > 0, 1, -1)
    X[:, 1] *= rng.random(300) < 0.5
    X[:, 0] += 2.0**20 if dtype == np.float32 else 2.0**27
    X = X.astype(dtype)
    rows = sp.csr_array(X)
    dense, sparse = (fastpu.baselines.fit_svm(A, y, gamma=0.3) for A in (X, rows))
    expected = dense.decision_function(X)
    for found in (sparse.decision_function(rows), sparse.decision_function(X), dense.decision_function(rows)):
        np.testing.assert_allclose(found, expected, atol=1e-4 if dtype == np.float32 else 1e-10)
    assert roc_auc_score(y, expected) > 0.85


# -- float32 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_polynomials_of_float32_rows_have_the_scores_of_float64(sparse):
    X, y = problem(4, n=400, d=5)
    X = X.astype(np.float32)
    options = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "C": 1.0, "sparse": sparse}
    low, high = fit(X, y, **options), fit(X.astype(np.float64), y, **options)
    assert low.support_vectors.dtype == np.float32
    rows = sp.csr_array(X) if sparse else X
    np.testing.assert_allclose(low.decision_function(rows), high.decision_function(X.astype(np.float64)), atol=1e-9)


# -- functions that are no kernels -------------------------------------------------------------------------------------


def test_a_function_that_is_not_symmetric_is_refused_before_the_fit():
    X, y = problem(5, n=100)
    turn = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"kernel must be symmetric, .* got .* for rows \d+ and \d+ of X and"):
            fastpu.baselines.fit_svm(
                rows,
                y,
                kernel=lambda A, B: A @ (turn @ B.T) if isinstance(A, np.ndarray) else A @ sp.csr_array(turn) @ B.T,
            )
