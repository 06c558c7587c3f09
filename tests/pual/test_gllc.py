"""GLLC: its closed form by the normal equations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fastpu
from pual_cases import CLOSED_TOL, each_kernel, graph, problem, pu_rows, quiet

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
