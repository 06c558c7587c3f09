"""Solutions refined on the rows: those of the oracle, in every form of rows, and where a factor alone is not enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from oracles import pual_refinement as oracle
from pual_cases import KERNELS, features, graph, pu_rows, quiet

pytestmark = [quiet, pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")]

#: Two refinements of the same quadratic, whose sums are in another order.
REFINED_TOL = 1e-10

FORMS = {"dense": np.array, "csr": sp.csr_array}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_shape = pytest.mark.parametrize(("n", "d"), [(60, 4), (40, 90)], ids=["narrow", "wide"])


def centred(Z: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Features less the weighted mean of the unlabelled rows."""
    return Z - np.average(Z[y == 0], axis=0, weights=None if weights is None else weights[y == 0])


def check(model: Any, wanted: oracle.Refined, scores: np.ndarray, tol: float = REFINED_TOL) -> None:
    np.testing.assert_allclose(scores, wanted.scores, atol=tol)
    room = tol * max(wanted.objective, 0.1 * len(scores))  # of losses of around 0.1 for each row
    assert model.objective[-1] == pytest.approx(wanted.objective, abs=room)
    assert model.gap == pytest.approx(wanted.gap, abs=room)
    assert model.history["gap"][-1] == model.gap


@each_form
@each_shape
@pytest.mark.parametrize("lam", [1e-4, 1.0, 50.0])
def test_linear_pual_is_that_of_the_oracle(n, d, lam, form):
    X, y = pu_rows(n, d)
    W, R = graph(X)
    model = fastpu.fit_pual(form(X), y, lam=lam, graph=(W, R))
    wanted = oracle.pual(centred(X, y), R.toarray(), y == 1, model.alpha, C_pos=1.0, C_unl=0.1, lam=lam)
    check(model, wanted, model.decision_function(form(X)))


@each_form
@pytest.mark.parametrize("fit", [fastpu.fit_gllc, fastpu.baselines.fit_bls_svm])
@each_shape
def test_linear_closed_forms_are_those_of_the_oracle(n, d, fit, form):
    X, y = pu_rows(n, d)
    W, R = graph(X)
    given = {"graph": (W, R)} if fit is fastpu.fit_gllc else {}
    model = fit(form(X), y, C_pos=0.7, lam=0.3, **given)
    wanted = oracle.least_squares(
        centred(X, y), R.toarray() * bool(given), y == 1, np.ones(n), C_pos=0.7, C_unl=0.1, lam=0.3
    )
    check(model, wanted, model.decision_function(form(X)))


@each_kernel
def test_kernels_are_those_of_the_oracle(kernel):
    X, y = pu_rows()
    W, R = graph(X)
    Z = centred(features(X, kernel), y)
    for C_pos, model in zip((0.2, 1.0), fastpu.fit_pual(X, y, C_pos=[0.2, 1.0], graph=(W, R), **kernel), strict=True):
        wanted = oracle.pual(Z, R.toarray(), y == 1, model.alpha, C_pos=C_pos, C_unl=0.1, lam=1.0)
        check(model, wanted, model.decision_function(X), 1e-8)
    model = fastpu.fit_gllc(X, y, graph=(W, R), **kernel)
    wanted = oracle.least_squares(Z, R.toarray(), y == 1, np.ones(len(X)), C_pos=1.0, C_unl=0.1, lam=1.0)
    check(model, wanted, model.decision_function(X), 1e-8)


def test_landmarks_are_those_of_the_oracle():
    X, y = pu_rows()
    W, R = graph(X)
    model = fastpu.fit_pual(X, y, graph=(W, R), n_components=12, random_state=0, **KERNELS["rbf"])
    K = features(X, KERNELS["rbf"])
    K = K @ K.T
    values, vectors = np.linalg.eigh(K[np.ix_(model.support, model.support)])
    Z = centred(K[:, model.support] @ vectors / np.sqrt(values), y)
    wanted = oracle.pual(Z, R.toarray(), y == 1, model.alpha, C_pos=1.0, C_unl=0.1, lam=1.0)
    check(model, wanted, model.decision_function(X), 1e-7)


@each_form
def test_weights_of_rows_are_those_of_the_oracle(form):
    X, y = pu_rows()
    weights = np.random.default_rng(0).random(len(X)) + 0.1
    model = fastpu.baselines.fit_bls_svm(form(X), y, sample_weight=weights, lam=0.2)
    wanted = oracle.least_squares(
        centred(X, y, weights), np.zeros((60, 60)), y == 1, weights, C_pos=1.0, C_unl=0.1, lam=0.2
    )
    check(model, wanted, model.decision_function(X))


@pytest.mark.parametrize("fit", [fastpu.fit_pual, fastpu.fit_gllc])
def test_several_hundred_sparse_columns(fit):
    """A product of sparse matrices of this size has its columns side by side in memory, where the core takes rows."""
    X = sp.random_array((600, 260), density=0.05, format="csr", rng=np.random.default_rng(0))
    y = (np.arange(600) < 150).astype(int)
    np.testing.assert_allclose(
        fit(X, y).decision_function(X), fit(X.toarray(), y).decision_function(X.toarray()), atol=2e-4
    )


@each_form
@pytest.mark.parametrize("lam", [1e-7, 1e-5])
def test_steps_mend_what_the_factor_alone_does_not_solve(lam, form):
    """Columns that are almost equal: their products have half of the digits."""
    X, y = pu_rows(200, 12, seed=3)
    X = X[:, :1] + 2.0**-20 * X
    none = np.zeros((200, 200))
    model = fastpu.baselines.fit_bls_svm(form(X), y, lam=lam)
    wanted = oracle.least_squares(centred(X, y), none, y == 1, np.ones(200), C_pos=1.0, C_unl=0.1, lam=lam)
    assert wanted.first_excess > 1e3 * model.gap
    check(model, wanted, model.decision_function(form(X)), 1e-8)
    model = fastpu.fit_pual(form(X), y, lam=lam, n_neighbors=0)
    wanted = oracle.pual(centred(X, y), none, y == 1, model.alpha, C_pos=1.0, C_unl=0.1, lam=lam)
    check(model, wanted, model.decision_function(form(X)), 1e-4)
    assert model.converged


@each_form
@each_kernel
def test_one_call_for_many_costs_is_that_of_each(kernel, form):
    X, y = pu_rows()
    costs = [1e-3, 0.1, 1.0, 10.0]
    many = fastpu.fit_pual(form(X), y, C_pos=costs, **kernel)
    for cost, model in zip(costs, many, strict=True):
        one = fastpu.fit_pual(form(X), y, C_pos=cost, **kernel)
        np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), atol=1e-8)
        assert (model.status, model.n_iter) == (one.status, one.n_iter)


@pytest.mark.parametrize("kernel", [{}, KERNELS["rbf"], {"n_components": 20, **KERNELS["rbf"]}], ids=str)
@each_form
def test_threads_leave_scores_and_status_alone(kernel, form):
    X, y = pu_rows(2600, 6)  # enough rows for several blocks
    if kernel.get("kernel") and "n_components" not in kernel:
        X, y = X[:400], y[:400]
    fits = [fastpu.fit_pual(form(X), y, n_threads=n, random_state=0, **kernel) for n in (1, 2, 7)]
    for model in fits[1:]:
        np.testing.assert_allclose(model.decision_function(X), fits[0].decision_function(X), rtol=1e-9, atol=1e-9)
        assert (model.status, model.n_iter, model.gap) == (fits[0].status, fits[0].n_iter, fits[0].gap)
