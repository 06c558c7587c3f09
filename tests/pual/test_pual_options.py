"""PUAL, GLLC and the biased LS-SVM: forms of rows, many points, threads of BLAS, callbacks, warnings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import fastpu
from method_recipes import model_bits
from pual_cases import (
    FIT_TOL,
    each_fit,
    each_kernel,
    pu_rows,
    quiet,
)

pytestmark = quiet

POINTS = {
    "C_pos": [1.0, 0.1, 1.0, 10.0, 1.0, 1.0, 0.1],
    "C_unl": [0.1, 0.1, 0.5, 0.1, 0.1, 0.1, 0.5],
    "lam": [1.0, 1.0, 1.0, 0.01, 10.0, 1.0, 1.0],
}


@pytest.fixture(scope="module")
def data():
    return pu_rows(80, 4, seed=3)


# -- rows --------------------------------------------------------------------------------------------------------------


@each_fit
def test_a_kernel_matrix_and_a_function_give_what_the_kernel_does(fit, data):
    X, y = data
    K = np.exp(-0.4 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    options = {} if fit is fastpu.baselines.fit_bls_svm else {"graph": fastpu.knn_graph(X)}
    expected = fit(X, y, kernel="rbf", gamma=0.4, **options).decision_function(X)

    def rbf(A, B):
        assert not A.flags.writeable  # these may be rows of X itself
        assert not B.flags.writeable
        return np.exp(-0.4 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    for rows, kernel in ((K, "precomputed"), (K.astype(np.float32), "precomputed"), (X, rbf)):
        tol = 1e-3 if rows.dtype == np.float32 else FIT_TOL
        model = fit(rows, y, kernel=kernel, **options)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=tol)
        near = fit(rows, y, kernel=kernel, n_components=60, random_state=0, **options)
        np.testing.assert_allclose(near.decision_function(rows), expected, atol=0.3)


# -- many points -------------------------------------------------------------------------------------------------------


def test_a_graph_that_was_searched_before_serves_any_sigma(data):
    X, y = data
    found = fastpu.knn_graph(X, n_neighbors=5)
    for sigma in (0.5, 5.0):
        expected = fastpu.fit_pual(X, y, sigma=sigma)
        assert model_bits(fastpu.fit_pual(X, y, graph=found, sigma=sigma)) == model_bits(expected)
        pair = fastpu.knn_similarity(X, sigma=sigma)
        assert model_bits(fastpu.fit_pual(X, y, graph=pair)) == model_bits(expected)
        assert model_bits(fastpu.fit_pual(X, y, graph=tuple(sp.coo_array(m) for m in pair))) == model_bits(expected)


# -- threads -----------------------------------------------------------------------------------------------------------


def test_blas_has_one_thread_while_fits_run(data):
    seen = []

    def look(_):
        seen.append({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})

    fastpu.fit_pual(*data, callback=look, n_threads=2)
    assert seen
    assert set.union(*seen) == {1}


# -- callbacks ---------------------------------------------------------------------------------------------------------


@each_kernel
@each_fit
def test_the_callback_hears_of_every_step(fit, kernel, data):
    X, y = data
    heard = []
    models = fit(X, y, callback=heard.append, **kernel, **POINTS)
    assert all(isinstance(info, fastpu.models.PualRound) for info in heard)
    for model in models[1:5]:
        mine = [i for i in heard if (i.C_pos, i.C_unl, i.lam) == tuple(model.params[n] for n in POINTS)]
        if fit is fastpu.fit_pual:
            np.testing.assert_array_equal([i.gap for i in mine][-len(model.objective) + 1 :], model.history["gap"][:-1])
        else:
            assert mine[-1].objective == model.objective[-1]
    assert [model_bits(model) for model in models] == [model_bits(model) for model in fit(X, y, **kernel, **POINTS)]


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_a_fit_out_of_steps_is_told_with_its_gap(data):
    X, y = data
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        model = fastpu.fit_pual(X, y, sigma=1.0, max_iter=1)
    message = str(caught[0].message)
    assert message.startswith("fit_pual: for C_pos = 1, C_unl = 0.1, lam = 1, sigma = 1: not converged after 1 steps: ")
    share = f"the duality gap {model.gap:.3g} exceeds tol * objective = {1e-9 * model.objective[-1]:.3g}"
    assert message.endswith(f"{share} (tol = 1e-09); raise max_iter, or accept a larger tol")
    assert caught[0].filename == __file__
    assert (model.status, model.converged) == ("max_iter", False)
    assert 0 < model.gap < np.inf
    assert model.gap <= model.objective[-1]


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ConvergenceWarning")
def test_more_steps_do_not_leave_a_worse_model():
    """Where the active set gives up, on rows that are there twice, an interior point begins far from the minimum."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat(rng.normal(size=(75, 5)) + 0.7, 2, axis=0), rng.normal(size=(300, 5))])
    y = np.arange(450) < 150
    models = [fastpu.fit_pual(X, y, kernel="rbf", C_pos=1000.0, C_unl=1.0, max_iter=n) for n in (5, 6, 7, 9, 12, 200)]
    gaps = [model.gap for model in models]
    assert gaps == sorted(gaps, reverse=True)
    assert models[-1].converged
    assert not models[-2].converged


def test_flaws_of_many_points_are_told_once(data):
    X, y = data
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        fastpu.fit_pual(X, y, lam=[0.1, 1.0, 2.0], max_iter=1)
    assert len(caught) == 1
    assert "for 3 of 3 models, the worst with C_pos = 1, " in str(caught[0].message)
