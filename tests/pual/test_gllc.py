"""GLLC: its closed form by the normal equations, and what it shares with PUAL."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fastpu
from pual_cases import CLOSED_TOL, KERNELS, each_kernel, graph, problem, pu_rows, quiet

GRID = [
    {"C_pos": C_pos, "C_unl": C_unl, "lam": lam}
    for C_pos, C_unl, lam in itertools.product((1e-3, 1.0, 1e3), (0.01, 0.5), (1e-2, 1.0, 1e3))
]

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    X, y = pu_rows()
    return X, y, graph(X)


@pytest.mark.parametrize("at", GRID, ids=str)
@each_kernel
def test_it_is_the_minimum(kernel, at, data):
    X, y, G = data
    P = problem(X, y, kernel=kernel, **at)
    theta = P.solve_gllc()
    model = fastpu.fit_gllc(X, y, graph=G, **kernel, **at)
    np.testing.assert_allclose(model.decision_function(X), P.Z @ theta[:-1] + theta[-1], atol=CLOSED_TOL)
    np.testing.assert_allclose(model.objective[-1], P.squared(theta), rtol=1e-7, atol=1e-10)
    assert (model.status, model.converged, model.n_iter) == ("closed_form", True, 0)
    assert 0 <= model.gap <= 1e-15 * model.objective[-1]
    assert model.alpha is None


@pytest.mark.parametrize(("n", "d"), [(300, 3), (60, 200), (2, 1)], ids=str)
@each_kernel
def test_sizes(kernel, n, d):
    X, y = pu_rows(n, d, seed=n)
    if n < 5:
        y[:] = [1, 0]
    P = problem(X, y, kernel=kernel, n_neighbors=2)
    theta = P.solve_gllc()
    model = fastpu.fit_gllc(X, y, graph=graph(X, 2), **kernel)
    np.testing.assert_allclose(model.decision_function(X), P.Z @ theta[:-1] + theta[-1], atol=CLOSED_TOL)


def test_duplicates_and_kernels_of_low_rank():
    X, y = pu_rows(30, 3)
    rows, labels = np.concatenate([X, X]), np.concatenate([y, 0 * y])
    for kernel in KERNELS.values():
        P = problem(rows, labels, kernel=kernel)
        theta = P.solve_gllc()
        model = fastpu.fit_gllc(rows, labels, graph=graph(rows), **kernel)
        np.testing.assert_allclose(model.decision_function(rows), P.Z @ theta[:-1] + theta[-1], atol=CLOSED_TOL)


@each_kernel
def test_it_is_pual_where_no_positive_is_free_of_its_cost(kernel, data):
    """The gradient of GLLC's loss on a positive is -2 C_pos (1 - f): with this as alpha, PUAL has the same f."""
    X, y, G = data
    model = fastpu.fit_gllc(X, y, graph=G, **kernel)
    P = problem(X, y, kernel=kernel)
    f = model.decision_function(X)
    theta = P.theta_of(2 * P.C_pos * (1 - f[y == 1]))
    np.testing.assert_allclose(P.Z @ theta[:-1] + theta[-1], f, atol=CLOSED_TOL)


def test_a_far_labelled_positive_drags_it_along_and_not_pual():
    X = np.array([[2.0], [3.0], [0.0], [-0.5], [0.2], [-1.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    far = X.copy()
    far[1] = 1000.0
    options = {"n_neighbors": 0, "C_pos": 10.0, "C_unl": 0.1, "lam": 0.01}
    assert abs(fastpu.fit_gllc(far, y, **options).coef[0]) < 0.1 * fastpu.fit_gllc(X, y, **options).coef[0]
