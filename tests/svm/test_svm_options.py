"""SVMs: forms of rows, gamma, weights, small problems, threads and caches, callbacks, how a fit says that it ended."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from machine_cases import FIT_TOL, TIGHT, each_fit, each_form, each_single_fit, two_groups
from method_recipes import model_bits


@pytest.fixture(scope="module")
def data():
    return two_groups()


@pytest.fixture(scope="module")
def noisy():
    """A fit that takes many working sets."""
    X, y = two_groups(600, 5, seed=4, apart=0.3)
    return X, y, {"C": 300.0, "gamma": 2.0}


# -- gamma -------------------------------------------------------------------------------------------------------------


@each_form
def test_gamma_is_what_it_says(form, data, monkeypatch):
    """Also where the variance is that of many blocks of rows."""
    monkeypatch.setattr("fastpu.data._matrix._BLOCK_ENTRIES", 40)
    X, y = data
    rows = form(X)
    d = X.shape[1]
    assert fastpu.baselines.fit_svm(rows, y, gamma=0.7).gamma == 0.7
    assert fastpu.baselines.fit_svm(rows, y, gamma="auto").gamma == 1 / d
    np.testing.assert_allclose(fastpu.baselines.fit_svm(rows, y).gamma, 1 / (d * X.var()), rtol=1e-12)
    np.testing.assert_allclose(fastpu.baselines.fit_svm(form(X + 1000.0), y).gamma, 1 / (d * X.var()), rtol=1e-9)
    weights = np.arange(len(y)) % 3
    repeated = np.repeat(X, weights, axis=0)
    model = fastpu.baselines.fit_svm(rows, y, sample_weight=weights)
    np.testing.assert_allclose(model.gamma, 1 / (d * repeated.var()), rtol=1e-12)
    model = fastpu.baselines.fit_svm(rows, y, sample_cost=np.where(weights == 0, 0.0, 3.0))
    np.testing.assert_allclose(model.gamma, 1 / (d * X[weights > 0].var()), rtol=1e-12)


def test_gamma_of_constant_rows_is_one():
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        assert fastpu.baselines.fit_svm(np.ones((4, 3)), [1, 1, -1, -1]).gamma == 1.0
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        assert fastpu.baselines.fit_svm(sp.csr_array((4, 3)), [1, 1, -1, -1]).gamma == 1.0


# -- weights and costs -------------------------------------------------------------------------------------------------


def test_rows_of_cost_zero_are_left_out(data):
    X, y = data
    cost = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    kept = cost > 0
    model = fastpu.baselines.fit_svm(X, y, C=0.5, sample_cost=cost)
    alone = fastpu.baselines.fit_svm(X[kept], y[kept])
    np.testing.assert_array_equal(model.support, np.flatnonzero(kept)[alone.support])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-12)


def test_costs_multiply(data):
    X, y = data
    cost, weights = np.linspace(0.5, 2, len(y)), np.tile([0.5, 1.0, 2.0], len(y) // 3)
    together = fastpu.baselines.fit_svm(X, y, gamma=0.3, sample_cost=4 * cost * weights)
    assert model_bits(
        fastpu.baselines.fit_svm(X, y, gamma=0.3, C=4, sample_cost=cost, sample_weight=weights)
    ) == model_bits(together)
    assert (together.alpha <= (4 * cost * weights)[together.support] * (1 + 1e-12)).all()


def test_weights_have_no_scale_in_nu_svm(data):
    X, y = data
    model = fastpu.baselines.fit_nu_svm(X, y, nu=0.6, tol=TIGHT)
    heavy = fastpu.baselines.fit_nu_svm(X, y, nu=0.6, sample_weight=np.full(len(y), 8.0), tol=TIGHT)
    np.testing.assert_allclose(heavy.decision_function(X), model.decision_function(X), atol=FIT_TOL)
    one = fastpu.baselines.fit_one_class_svm(X, nu=0.2, tol=TIGHT)
    heavy = fastpu.baselines.fit_one_class_svm(X, nu=0.2, sample_weight=np.full(len(y), 8.0), tol=TIGHT)
    np.testing.assert_allclose(heavy.decision_function(X), 8 * one.decision_function(X), atol=1e-4)


# -- threads, interruption, endings ------------------------------------------------------------------------------------


@each_fit
def test_models_of_the_callers_kernels_are_bitwise_the_same_for_every_number_of_threads(fit, data):
    X, y = data
    for rows, kernel in ((X @ X.T, "precomputed"), (X, lambda A, B: np.tanh(0.1 * (A @ B.T)))):
        assert len({model_bits(fit(rows, y, n_threads=n, kernel=kernel), rows, n) for n in (1, 2, 7)}) == 1


@each_single_fit
def test_the_callback_hears_of_every_working_set(fit, data):
    X, y = data
    heard = []
    model = fit(X, y, callback=heard.append)
    assert heard
    for name in ("n_steps", "objective", "violation", "n_active"):
        np.testing.assert_array_equal([getattr(info, name) for info in heard], model.history[name][:-1], err_msg=name)
    assert {info.max_iter for info in heard} == {10_000_000}
    assert all(isinstance(info, fastpu.models.SvmRound) for info in heard)
    assert (model.history["n_steps"][-1], model.history["n_active"][-1]) == (model.n_iter, len(y))
    assert model.history["violation"][-1] == model.violation


def test_a_true_callback_ends_the_fit_without_a_warning(noisy):
    X, y, options = noisy
    full = fastpu.baselines.fit_svm(X, y, **options)
    heard = []

    def stop_at_third(info):
        heard.append(info)
        return len(heard) == 3

    model = fastpu.baselines.fit_svm(X, y, callback=stop_at_third, **options)
    assert (model.status, model.converged) == ("callback", False)
    assert model.n_iter == heard[-1].n_steps < full.n_iter
    assert model.violation > 1e-3
    assert model.gap > full.gap
    np.testing.assert_array_equal(model.objective[:3], full.objective[:3])


def test_errors_in_a_kernel_come_through(noisy):
    X, y, options = noisy

    def fail(*args):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fastpu.baselines.fit_svm(X, y, kernel=fail, **options)
    model = fastpu.baselines.fit_svm(X, y, kernel=lambda A, B: A @ B.T)
    object.__setattr__(model, "function", fail)
    with pytest.raises(KeyError, match="mine"):
        model.predict(X)


def test_a_callback_or_a_kernel_may_fit_another_model(data):
    X, y = data
    inner = []

    def fit_inside(*args):
        inner.append(model_bits(fastpu.baselines.fit_svm(X[:20], y[:20], n_threads=2)))

    def kernel(A, B):
        fit_inside()
        return A @ B.T

    fastpu.baselines.fit_svm(X, y, n_threads=2, callback=fit_inside)
    fastpu.baselines.fit_svm(X, y, n_threads=2, kernel=kernel)
    assert len(inner) > 1
    assert len(set(inner)) == 1


@each_single_fit
def test_a_fit_that_runs_out_of_steps_says_how_far_it_came(fit, data):
    X, y = data
    with pytest.warns(fastpu.exceptions.ConvergenceWarning) as caught:
        model = fit(X, y, max_iter=3)
    message = str(caught[0].message)
    for words in (
        f"{fit.function.__name__} ran all max_iter = 3 pair updates: the largest KKT violation is ",
        f"{model.violation:.3g}, above tol = 0.001, and the duality gap {model.gap:.3g}",
        "raise max_iter, scale the features of X, or accept a larger tol",
    ):
        assert words in message
    assert caught[0].filename == fit.with_labels.__code__.co_filename
    assert (model.status, model.converged, model.n_iter, model.params["max_iter"]) == ("max_iter", False, 3, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tol_below_what_rounding_allows_is_recognised(dtype, noisy):
    X, y, options = noisy
    X = (X + 1 / 3).astype(dtype)
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match=f"at the precision of {np.dtype(dtype)} kernel values"
    ) as caught:
        model = fastpu.baselines.fit_svm(X, y, tol=1e-300, **options)
    assert (model.status, model.converged) == ("precision", False)
    assert 0 < model.violation < 1e-2
    assert ("pass float64 rows" in str(caught[0].message)) == (dtype == np.float32)
