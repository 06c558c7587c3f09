"""PUAL: the model is the minimum of eq. (7), by an oracle and by what must hold at the minimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from oracles import pual as oracle
from oracles.svm import kernel_matrix
from pual_cases import (
    CLOSED_TOL,
    FIT_TOL,
    KERNELS,
    each_kernel,
    graph,
    problem,
    pu_rows,
    quiet,
)

#: Costs at which every alpha is at its bound, and at which few are; ridges from tiny to dominant.
GRID = [
    {"C_pos": C_pos, "C_unl": C_unl, "lam": lam}
    for C_pos, C_unl, lam in itertools.product((1e-3, 1.0, 1e3), (0.01, 0.5), (1e-4, 1.0, 1e3))
]

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    X, y = pu_rows()
    return X, y, graph(X)


# -- fast == slow ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", GRID, ids=str)
@each_kernel
def test_it_is_the_minimum(kernel, at, data):
    X, y, G = data
    P = problem(X, y, kernel=kernel, **at)
    model = fastpu.fit_pual(X, y, graph=G, tol=1e-11, **kernel, **at)
    theta = P.minimum(model.alpha, 1e-7)
    assert model.converged
    assert model.status == "gap"
    rounding = 1e-13 * (at["C_pos"] * np.sum(y == 1) + at["C_unl"] * np.sum(y == 0))  # of a sum of such terms
    assert 0 <= model.gap <= 1e-9 * model.objective[-1] + rounding
    np.testing.assert_allclose(model.objective[-1], P.pual(theta), rtol=1e-7)
    f = model.decision_function(X)
    np.testing.assert_allclose(f, P.Z @ theta[:-1] + theta[-1], atol=FIT_TOL)
    # The dual variables and the coefficients made of them are those of this f.
    assert (model.alpha[f[y == 1] < 1 - 1e-3] > at["C_pos"] * (1 - 1e-3)).all()
    assert (model.alpha[f[y == 1] > 1 + 1e-3] < at["C_pos"] * 1e-3).all()
    np.testing.assert_allclose(model.alpha.sum(), 2 * at["C_unl"] * (1 + f[y == 0]).sum(), rtol=1e-6, atol=1e-8)
    if kernel["kernel"] != "linear":
        np.testing.assert_allclose(model.dual_coef.sum(), 0, atol=1e-9 * np.abs(model.dual_coef).max())


@pytest.mark.parametrize(("n", "d"), [(300, 3), (60, 200), (3, 2), (2, 1), (2, 3)], ids=str)
@each_kernel
def test_sizes(kernel, n, d):
    """Many positives for each feature, more features than rows, and the fewest rows; of GLLC too."""
    X, y = pu_rows(n, d, seed=n)
    if n < 5:
        y[:] = [1] + [0] * (n - 1)
    P = problem(X, y, kernel=kernel, n_neighbors=2)
    model = fastpu.fit_pual(X, y, graph=graph(X, 2), **kernel)
    theta = P.minimum(model.alpha)
    np.testing.assert_allclose(model.objective[-1], P.pual(theta), rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), P.Z @ theta[:-1] + theta[-1], atol=FIT_TOL)
    theta, model = P.solve_gllc(), fastpu.fit_gllc(X, y, graph=graph(X, 2), **kernel)
    np.testing.assert_allclose(model.decision_function(X), P.Z @ theta[:-1] + theta[-1], atol=CLOSED_TOL)


def test_many_unlabelled_rows_or_one(data):
    X, _, _ = data
    for positives in (1, len(X) - 1):
        y = (np.arange(len(X)) < positives).astype(int)
        P = problem(X, y)
        model = fastpu.fit_pual(X, y, graph=graph(X))
        np.testing.assert_allclose(model.objective[-1], P.pual(P.minimum(model.alpha)), rtol=1e-8)


# -- the mathematics ---------------------------------------------------------------------------------------------------


def test_constant_and_repeated_columns(data):
    X, y, G = data
    expected = fastpu.fit_pual(X, y, graph=G).decision_function(X)
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_allclose(
        fastpu.fit_pual(constant, y, graph=G).decision_function(constant), expected, atol=FIT_TOL
    )
    twice = np.column_stack([X, X])
    model = fastpu.fit_pual(twice, y, graph=G, lam=2.0)
    np.testing.assert_allclose(model.decision_function(twice), expected, atol=FIT_TOL)
    np.testing.assert_allclose(model.coef[:4], model.coef[4:], atol=1e-9)


def test_the_linear_kernel_in_all_its_forms_is_one_function(data):
    """For few columns, as a precomputed matrix, a function and a polynomial, and for more columns than rows."""
    X, y, G = data
    expected = fastpu.fit_pual(X, y, graph=G).decision_function(X)
    wide = np.column_stack([X, np.zeros((len(X), 100))])
    for rows, options in (
        (X @ X.T, {"kernel": "precomputed"}),
        (X, {"kernel": lambda A, B: A @ B.T}),
        (X, {"kernel": "poly", "degree": 1, "gamma": 1.0}),
        (wide, {}),
        (sp.csr_array(wide), {}),
    ):
        model = fastpu.fit_pual(rows, y, graph=G, **options)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=FIT_TOL)


def test_duplicates_and_kernels_of_low_rank():
    X, y = pu_rows(30, 3)
    rows, labels = np.concatenate([X, X, X]), np.concatenate([y, 0 * y, y])
    G = graph(rows)
    flat = {"kernel": "rbf", "gamma": 1e-6}
    for kernel in (*KERNELS.values(), flat):
        for lam in (1e-4, 1.0):
            P = problem(rows, labels, kernel=kernel, lam=lam)
            model = fastpu.fit_pual(rows, labels, graph=G, lam=lam, **kernel)
            theta = P.minimum(model.alpha, 1e-7)
            np.testing.assert_allclose(model.objective[-1], P.pual(theta), rtol=1e-7)
            np.testing.assert_allclose(model.decision_function(rows), P.Z @ theta[:-1] + theta[-1], atol=FIT_TOL)


@pytest.mark.parametrize("fit", [fastpu.fit_pual, fastpu.fit_gllc])
@pytest.mark.parametrize("kernel", KERNELS.values())
def test_repeating_every_row_is_dividing_lam_and_keeps_the_neighbours_influence(fit, kernel):
    """Sums of losses and f'Rf become `times` as large, the ridge does not."""
    X, y = pu_rows(60, 3)
    times, lam = 12, 0.6
    order = np.random.default_rng(0).permutation(60 * times)
    rows, labels = np.repeat(X, times, axis=0)[order], np.repeat(y, times)[order]
    options = {"C_unl": 0.1, "n_neighbors": 20, **kernel}
    single = fit(X, y, lam=lam, **options)
    repeated = fit(rows, labels, lam=lam * times, **options)
    alone = fit(X, y, lam=lam, **{**options, "n_neighbors": 0})
    expected = single.decision_function(X)
    np.testing.assert_allclose(repeated.decision_function(X), expected, atol=FIT_TOL)
    assert np.abs(alone.decision_function(X) - expected).max() > 10 * FIT_TOL
    assert repeated.params["sigma"] == single.params["sigma"]
    with pytest.warns(fastpu.exceptions.ScaleWarning, match="neighbours have no influence"):
        fit(rows, labels, lam=lam * times, sigma=1e-9, **options)


def test_a_kernel_matrix_that_is_indefinite_by_rounding_alone_is_taken():
    X, y = pu_rows(60, 2)
    rough = kernel_matrix(X, gamma=0.01).astype(np.float32)
    assert np.linalg.eigvalsh(rough.astype(np.float64))[0] < 0
    expected = fastpu.fit_pual(X, y, graph=graph(X), kernel="rbf", gamma=0.01).decision_function(X)
    model = fastpu.fit_pual(rough, y, graph=graph(X), kernel="precomputed")
    np.testing.assert_allclose(model.decision_function(rough), expected, atol=1e-3)


def test_rows_that_are_all_the_same_give_a_constant():
    X, y = np.ones((10, 2)), np.arange(10) < 3
    for kernel in KERNELS.values():
        model = fastpu.fit_pual(X, y, graph=graph(X), C_pos=1.0, C_unl=0.1, **kernel)
        # 3 (1 - b)_+ + 0.7 (1 + b)^2 is least where 1.4 (1 + b) = 3, or at b = 1
        np.testing.assert_allclose(model.decision_function(X), min(1.0, 3 / 1.4 - 1), atol=1e-6)


def test_a_model_with_alpha_at_the_bounds_needs_no_iterations(data):
    X, y, G = data
    model = fastpu.fit_pual(X, y, graph=G, C_pos=1e-3, C_unl=0.5, lam=10.0)
    assert model.n_iter == 0
    assert 0 <= model.gap <= 1e-15 * model.objective[-1]
    np.testing.assert_array_equal(model.alpha, 1e-3)
    assert (model.decision_function(X)[y == 1] <= 1).all()


def test_far_labelled_positives_cost_nothing():
    """Far unlabelled positives do have an effect, in eq. (7) too."""
    X = np.array([[2.0], [3.0], [0.0], [-0.5], [0.2], [-1.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    options = {"n_neighbors": 0, "C_pos": 10.0, "C_unl": 0.1, "lam": 0.01}
    model = fastpu.fit_pual(X, y, **options)
    far = X.copy()
    far[1] = 1000.0
    np.testing.assert_allclose(fastpu.fit_pual(far, y, **options).coef, model.coef, rtol=1e-4)
    unlabelled = np.append(X, [[1000.0]], axis=0)
    assert abs(fastpu.fit_pual(unlabelled, np.append(y, 0), **options).coef[0]) < 0.1 * model.coef[0]


@pytest.mark.parametrize("kernel", [KERNELS["linear"], KERNELS["rbf"]], ids=["linear", "rbf"])
def test_extreme_parameters_do_not_break_it(kernel, data):
    X, y, G = data
    P = {name: problem(X, y, kernel=kernel, **{name: 1e-8}) for name in ("C_pos", "C_unl", "lam")}
    for name, one in P.items():
        model = fastpu.fit_pual(X, y, graph=G, **kernel, **{name: 1e-8})
        assert np.isfinite(model.decision_function(X)).all()
        np.testing.assert_allclose(model.objective[-1], one.dual(model.alpha), rtol=1e-6, atol=1e-12)
    for at in ({"C_pos": 1e6}, {"C_unl": 1e6}, {"lam": 1e9}):
        model = fastpu.fit_pual(X, y, graph=G, tol=1e-6, **kernel, **at)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.converged


# -- Nystroem ----------------------------------------------------------------------------------------------------------


def test_with_all_landmarks_nystroem_is_the_kernel(data):
    X, y, G = data
    model = fastpu.fit_pual(X, y, graph=G, **KERNELS["rbf"])
    same = fastpu.fit_pual(X, y, graph=G, n_components=len(X), **KERNELS["rbf"])
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=FIT_TOL)
    near = fastpu.fit_pual(X, y, graph=G, n_components=len(X) - 1, random_state=0, **KERNELS["rbf"])
    np.testing.assert_allclose(near.decision_function(X), model.decision_function(X), atol=0.2)
    assert model.nystroem_residual is None
    assert near.support.size == len(X) - 1


@pytest.mark.parametrize("kernel", [KERNELS["rbf"], KERNELS["poly"]], ids=["rbf", "poly"])
def test_nystroem_is_the_linear_form_of_its_features(kernel, data):
    X, y, G = data
    model = fastpu.fit_pual(X, y, graph=G, n_components=8, random_state=1, **kernel)
    K = kernel_matrix(X, **kernel)
    inner = K[np.ix_(model.support, model.support)]
    approximate = K[:, model.support] @ np.linalg.pinv(inner, rcond=1e-12) @ K[model.support]
    np.testing.assert_allclose(model.nystroem_residual, np.mean(np.diag(K - approximate)), atol=1e-7)
    values, vectors = np.linalg.eigh(approximate)
    kept = values > 1e-10 * values[-1]
    P = problem(X, y)
    P = oracle.Problem(vectors[:, kept] * np.sqrt(values[kept]), P.is_pos, P.R, P.C_pos, P.C_unl, P.lam)
    theta = P.minimum(model.alpha)
    np.testing.assert_allclose(model.decision_function(X), P.Z @ theta[:-1] + theta[-1], atol=FIT_TOL)
    more = fastpu.fit_pual(X, y, graph=G, n_components=30, random_state=1, **kernel)
    assert more.nystroem_residual < model.nystroem_residual


# -- neighbours --------------------------------------------------------------------------------------------------------


def test_neighbours_that_are_not_similar_are_none(data):
    X, y, _ = data
    none = fastpu.fit_pual(X, y, n_neighbors=0)
    empty = fastpu.fit_pual(X, y, graph=(sp.csr_array((60, 60)), sp.csr_array((60, 60))))
    np.testing.assert_array_equal(none.coef, empty.coef)
    tiny = fastpu.fit_pual(X, y, graph=graph(X, sigma=1e-6))
    np.testing.assert_allclose(tiny.coef, none.coef, atol=CLOSED_TOL)
    some = fastpu.fit_pual(X, y, graph=graph(X))
    assert np.abs(some.coef - none.coef).max() > 1e-6
