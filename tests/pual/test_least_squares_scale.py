"""Columns of any size and any distance from 0: PUAL, GLLC, the biased LS-SVM and the squared-loss AUC methods.

Beside extended precision for what has a closed form, and beside the certificate of convexity for PUAL. Scales are
powers of two where rescaling is to be exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from fastpu.common._methods import function_of
from helpers import refused
from pual_cases import pu_rows, quiet

# Columns on different scales are the subject.
pytestmark = [quiet, pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")]

#: Largest error of the scores: float64 has 16 digits, and products with columns far from 0 lose some of them.
SCALE_TOL = 1e-9
FORMS = {"dense": np.array, "csr": sp.csr_array}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def solve_extended(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A positive definite system in extended precision, by Cholesky's method on a diagonal of ones."""
    size = 1 / np.sqrt(np.diagonal(A))
    A, b, n = A * size * size[:, None], b * size, len(b)
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    x = b.copy()
    for j in range(n):
        x[j] = (x[j] - L[j, :j] @ x[:j]) / L[j, j]
    for j in reversed(range(n)):
        x[j] = (x[j] - L[j + 1 :, j] @ x[j + 1 :]) / L[j, j]
    return x * size


def bls_svm_scores(X: np.ndarray, y: np.ndarray, *, lam: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Scores of the training rows with C_pos = 1 and C_unl = 0.1."""
    Z = X.astype(np.longdouble)
    cost = np.where(y == 1, 2, np.longdouble(0.2)) * (1 if weights is None else weights)
    targets = np.where(y == 1, np.longdouble(1), -1)
    mean, middle = cost @ Z / cost.sum(), cost @ targets / cost.sum()
    Z = Z - mean
    A = Z.T @ (cost[:, None] * Z) + lam * np.eye(Z.shape[1], dtype=np.longdouble)
    return Z @ solve_extended(A, Z.T @ (cost * (targets - middle))) + middle


def ls_auc_scores(X: np.ndarray, y: np.ndarray, *, lam: float) -> np.ndarray:
    """Scores of the training rows less their mean."""
    Z = X.astype(np.longdouble)
    P, N = Z[y == 1], Z[y == -1]
    apart = P.mean(axis=0) - N.mean(axis=0)
    A = np.multiply.outer(apart, apart) + lam * np.eye(Z.shape[1], dtype=np.longdouble)
    for G in (P - P.mean(axis=0), N - N.mean(axis=0)):
        A += G.T @ G / len(G)
    return (Z - Z.mean(axis=0)) @ solve_extended(A, apart)


def objective(X: np.ndarray, y: np.ndarray, model: Any, *, lam: float) -> float:
    """The objective of PUAL without neighbours, for a linear model."""
    f = model.decision_function(X)
    losses = np.maximum(1 - f[y == 1], 0).sum() + 0.1 * ((1 + f[y == 0]) ** 2).sum()
    return float(lam / 2 * model.coef @ model.coef + losses)


# -- properties --------------------------------------------------------------------------------------------------------

scales = st.lists(st.floats(-8, 8), min_size=4, max_size=4) | st.floats(-8, 8).map(lambda e: [e] * 4)
cases = given(
    seed=st.integers(0, 99), exponents=scales, offset=st.sampled_from([0.0, 1.0, 2.0**20, -(2.0**27)]),
    log_lam=st.floats(-6, 3), form=st.sampled_from(list(FORMS)),
)  # fmt: skip


def scaled_rows(seed: int, exponents: list[float], offset: float) -> tuple[np.ndarray, np.ndarray]:
    X, y = pu_rows(40, 4, seed=seed)
    X[:, 2] += offset
    return X * 10.0 ** np.array(exponents), y


@cases
def test_closed_forms_are_those_of_extended_precision(seed, exponents, offset, log_lam, form):
    X, y = scaled_rows(seed, exponents, offset)
    lam = 10.0**log_lam
    tol = SCALE_TOL + 1e-14 * abs(offset)  # of the product of the column with its coefficient
    model = fastpu.baselines.fit_bls_svm(FORMS[form](X), y, lam=lam)
    assert model.converged
    np.testing.assert_allclose(model.decision_function(X), bls_svm_scores(X, y, lam=lam).astype(float), atol=tol)
    signs = np.where(y == 1, 1, -1)
    ranks = fastpu.baselines.fit_ls_auc(FORMS[form](X), signs, lam=lam)
    assert ranks.converged
    scores = ranks.decision_function(X)
    np.testing.assert_allclose(scores - scores.mean(), ls_auc_scores(X, signs, lam=lam).astype(float), atol=tol)


@cases
def test_gaps_of_pual_are_those_of_the_rows(seed, exponents, offset, log_lam, form):
    """No model is better by more than the gap: the fit of the same problem, exactly rescaled, is not."""
    X, y = scaled_rows(seed, exponents, offset)
    lam = 10.0**log_lam
    model = fastpu.fit_pual(FORMS[form](X), y, lam=lam, n_neighbors=0)
    assert model.converged
    value = objective(X, y, model, lam=lam)
    room = 1e-12 * abs(offset) * len(X)
    assert model.objective[-1] == pytest.approx(value, rel=1e-8, abs=room)
    other = fastpu.fit_pual(FORMS[form](X[::-1] * 2.0**20), y[::-1], lam=lam * 2.0**40, n_neighbors=0)
    assert abs(model.objective[-1] - other.objective[-1]) <= 1e-8 * model.objective[-1] + room


# -- one by one --------------------------------------------------------------------------------------------------------


def test_two_rows_of_many_thousands():
    X = [[4e5, 8e5, 2e6], [3e6, 1e6, -1e5]]
    model = fastpu.baselines.fit_bls_svm(X, [1, 0], C_unl=1.0, lam=0.01)
    np.testing.assert_allclose(model.decision_function(X), [1, -1], atol=1e-9)
    assert model.converged


@each_form
@pytest.mark.parametrize("fit", [fastpu.baselines.fit_bls_svm, fastpu.fit_gllc, fastpu.fit_pual])
def test_more_columns_than_rows_of_millions(fit, form):
    X, y = pu_rows(40, 200)
    scores = fit(form(X), y, lam=2.0**-40).decision_function(X)
    model = fit(form(X * 2.0**20), y)
    assert model.converged
    np.testing.assert_allclose(model.decision_function(X * 2.0**20), scores, atol=SCALE_TOL)
    # The ridge is so small that one a million times larger gives the same scores.
    np.testing.assert_allclose(scores, fit(form(X), y, lam=2.0**-20).decision_function(X), atol=1e-5)
    if fit is fastpu.baselines.fit_bls_svm:
        np.testing.assert_allclose(scores, np.where(y == 1, 1, -1), atol=1e-6)


@each_form
@pytest.mark.parametrize("function", ["fit_bls_svm", "fit_gllc", "fit_pual", "fit_ls_auc", "fit_samult"])
def test_a_column_far_from_0_is_moved_to_it(function, form):
    X, y = pu_rows(80, 4)
    fit, far = function_of(function), X.copy()
    far[:, 1] += 2.0**27
    if function in ("fit_ls_auc", "fit_samult"):
        y = np.where(y == 1, 1, np.where(np.arange(80) % 3 == 0, -1, 0))
    near = fit(X, y)
    np.testing.assert_allclose(fit(form(far), y).coef, near.coef, rtol=1e-6, atol=1e-9)


@each_form
@pytest.mark.parametrize("fit", [fastpu.baselines.fit_ls_auc, fastpu.fit_upu])
def test_the_width_of_gaussian_functions_does_not_depend_on_where_a_column_is(fit, form):
    X, y = pu_rows(80, 4)
    far = X.copy()
    far[:, 1] += 2.0**27
    y, given = (
        (2 * y - 1, {"model": "gauss"}) if fit is fastpu.baselines.fit_ls_auc else (y, {"prior": 0.3, "model": "gauss"})
    )
    near = fit(X, y, random_state=0, **given)
    moved = fit(form(far), y, random_state=0, **given)
    assert moved.bandwidth == pytest.approx(near.bandwidth, rel=1e-7)
    np.testing.assert_allclose(moved.decision_function(form(far)), near.decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", ["fit_bls_svm", "fit_gllc", "fit_pual"])
def test_numbers_whose_squares_vanish_do_not_hang(function):
    X = np.array([[1.0, 2, 3, 4], [4, 3, 2, 2], [1, 0, 2, 5]]) * 1e-162
    model = function_of(function)(X, [1, 0, 1])
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, scores[0], atol=1e-12)


@each_form
def test_what_float64_cannot_solve_is_told(form):
    """One column so large that the products of the rows have no digits for the other 199."""
    X, y = pu_rows(40, 200)
    X[:, 3] *= 1e8
    for fit in (fastpu.baselines.fit_bls_svm, fastpu.fit_gllc, fastpu.fit_pual):
        with pytest.warns(fastpu.exceptions.ConvergenceWarning, match=r"scale the features of X"):
            model = fit(form(X), y)
        assert (model.status, model.converged) == ("precision", False)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ConvergenceWarning")
def test_neighbours_of_rows_of_any_size_alone():
    """With tiny costs and ridge the matrix is that of the neighbours, which rounding may leave indefinite."""
    for seed in range(20):
        X, y = pu_rows(24, 13, seed=seed)
        X *= 10.0 ** np.random.default_rng(seed).integers(-8, 9, size=13)
        model = fastpu.fit_pual(X, y, C_unl=1e-60, lam=1e-50)
        assert np.isfinite(model.decision_function(X)).all()


def test_many_columns_of_any_size_are_solved_by_steps(monkeypatch):
    X, y = pu_rows(80, 6)
    signs, large = np.where(y == 1, 1, -1), X * 10.0 ** np.array([-8, 8, 0, 3, -3, 5])
    expected = ls_auc_scores(large, signs, lam=1e-3).astype(float)
    monkeypatch.setattr("fastpu.baselines._rank_models._MOST_DIRECT", 2)
    for form in FORMS.values():
        model = fastpu.baselines.fit_ls_auc(form(large), signs)
        assert model.status == "tol"
        scores = model.decision_function(large)
        np.testing.assert_allclose(scores - scores.mean(), expected, atol=1e-8)


# -- weights -----------------------------------------------------------------------------------------------------------


def test_absent_rows_of_a_kernel_matrix():
    X, y = pu_rows(40, 4)
    K, kept = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2)), np.arange(40) % 4 != 3
    weights = kept * 1.0
    model = fastpu.baselines.fit_bls_svm(K, y, kernel="precomputed", sample_weight=weights)
    other = fastpu.baselines.fit_bls_svm(X[kept], y[kept], kernel="rbf", gamma=0.4)
    np.testing.assert_allclose(model.decision_function(K), other.decision_function(X), atol=1e-9)
    assert set(model.support) <= set(np.flatnonzero(kept))


def test_weights_that_leave_a_group_out():
    X, y = pu_rows(40, 4)
    fit, none, tiny = fastpu.baselines.fit_bls_svm, (y == 0) * 1.0, np.full(40, 1e-200)
    refused(ValueError, "y must have positive and unlabelled rows with a cost or weight that is not 0 for fit_bls_svm",
            fit, X, y, sample_weight=none)  # fmt: skip
    refused(ValueError, "the sum of sample_weight over positive rows must be between 1e-100 and 1e+100",
            fit, X, y, sample_weight=tiny)  # fmt: skip


# -- sigma -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [fastpu.fit_pual, fastpu.fit_gllc])
def test_sigma_is_the_median_of_the_edges_by_default(fit):
    X, y = pu_rows(60, 4)
    middle = float(np.median(fastpu.knn_graph(X).edges().data))
    model = fit(X, y)
    assert model.params["sigma"] == middle == fastpu.knn_graph(X).median()
    np.testing.assert_array_equal(model.coef, fit(X, y, sigma=middle).coef)
    mixed = fit(X, y, sigma=["median", 1.0, np.str_("median")])
    assert [one.params["sigma"] for one in mixed] == [middle, 1.0, middle]
    rows = fit(X * 1024, y, lam=2.0**20)  # a squared length: it follows the scale of the rows
    assert rows.params["sigma"] == middle * 2.0**20
    np.testing.assert_allclose(rows.decision_function(X * 1024), model.decision_function(X), atol=1e-9)
    W, R = fastpu.knn_similarity(X)
    np.testing.assert_array_equal(W.data, fastpu.knn_similarity(X, sigma=middle)[0].data)
    np.testing.assert_allclose(fit(X, y, graph=(W, R)).coef, model.coef, rtol=1e-12)
    refused(ValueError, "sigma must be 'median' or a number > 0, got 'mean'", fit, X, y, sigma="mean")
    refused(ValueError, "sigma[1] must be 'median' or a number > 0, got 'mean'", fit, X, y, sigma=[1.0, "mean"])


@pytest.mark.parametrize("fit", [fastpu.fit_pual, fastpu.fit_gllc])
def test_neighbours_without_influence_are_told_with_the_remedy(fit):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 230)), (np.arange(120) < 40).astype(int)
    X[:60, 0] += 3.0
    with pytest.warns(fastpu.exceptions.ScaleWarning, match=r"sigma = 1 neighbours have no influence.* sigma='median'"):
        lonely = fit(X, y, sigma=1.0)
    alone = fit(X, y, n_neighbors=0)
    np.testing.assert_allclose(lonely.decision_function(X), alone.decision_function(X), atol=1e-6)
    assert np.abs(fit(X, y).decision_function(X) - alone.decision_function(X)).max() > 1e-3


def test_select_takes_the_median():
    X, y = pu_rows(60, 4)
    grid = {"sigma": ["median", 1.0], "lam": [0.1, 1.0]}
    found = fastpu.select(fastpu.fit_gllc, X, y, grid, cv=2, random_state=0, scoring="puf", scenario="single_set")
    assert set(found.table["param_sigma"]) == {"median", 1.0}
    assert found.best_params["sigma"] in ("median", 1.0)
