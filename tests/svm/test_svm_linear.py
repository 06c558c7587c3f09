"""C-SVMs with the linear kernel, which the engine of large margins solves; pairs follow where they must."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from machine_cases import two_groups
from method_recipes import model_bits


@pytest.fixture(scope="module")
def data():
    """Two groups that overlap, with a cost for each row."""
    X, y = two_groups(150, 5, apart=1.0)
    return X, y, np.random.default_rng(3).uniform(0.1, 2.0, size=150)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_pairs_alone_and_with_a_start_find_the_same(data, C):
    X, y, cost = data
    options = {"C": C, "sample_cost": cost, "kernel": "linear", "tol": 1e-6}
    model = fastpu.baselines.fit_svm(X, y, **options)
    pairs = fastpu.baselines.fit_svm(X, y, max_iter=10**8, **options)
    assert model.status == pairs.status == "tol"
    assert model.n_iter < pairs.n_iter / 5
    np.testing.assert_allclose(model.objective[-1], pairs.objective[-1], rtol=1e-6)
    np.testing.assert_allclose(model.coef, pairs.coef, rtol=1e-4, atol=1e-5)


def test_the_callback_hears_of_the_start_and_may_stop_there(data):
    X, y, _ = data
    heard = []
    model = fastpu.baselines.fit_svm(X, y, kernel="linear", callback=heard.append)
    first = [info for info in heard if info.n_steps == 0 and np.isinf(info.violation)]
    assert len(first) > 3
    assert {info.n_active for info in first} == {150}
    assert len(heard) - len(first) == len(model.history["n_steps"]) - 1
    assert first[-1].objective == pytest.approx(model.objective[-1], rel=1e-3)
    assert model_bits(model, X) == model_bits(fastpu.baselines.fit_svm(X, y, kernel="linear"), X)

    stopped = fastpu.baselines.fit_svm(X, y, kernel="linear", callback=lambda info: info.n_steps == 0)
    assert (stopped.status, stopped.converged) == ("callback", False)
    assert np.isfinite(stopped.coef).all()


def test_a_value_error_of_the_callback_is_no_failure_of_the_engine(data):
    X, y, _ = data

    def fail(info):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$"):
        fastpu.baselines.fit_svm(X, y, kernel="linear", callback=fail)


def test_wide_and_sparse_rows_go_to_the_same_engine_and_only_a_max_iter_to_pairs(data):
    X, y, _ = data
    wide, wider = np.hstack([X, np.zeros((150, 140))]), np.hstack([X, np.zeros((150, 2500))])
    expected = fastpu.baselines.fit_svm(X, y, kernel="linear").decision_function(X)
    for rows, options in ((wide, {}), (sp.csr_matrix(X), {}), (sp.csr_matrix(wider), {}), (X, {"max_iter": 10**8})):
        heard = []
        model = fastpu.baselines.fit_svm(rows, y, kernel="linear", callback=heard.append, **options)
        assert any(np.isinf(info.violation) for info in heard) == (not options)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=3e-3)  # by gap and tol


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_sparse_rows_are_solved_to_tol_and_no_further(C):
    rng = np.random.default_rng(9)
    X = sp.random_array((1000, 400), density=0.03, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=400) + rng.normal(size=1000) > 0, 1, -1)
    exact = fastpu.baselines.fit_svm(X, y, C=C, kernel="linear", tol=1e-9)
    gaps = []
    for tol in (1e-1, 1e-3):
        model = fastpu.baselines.fit_svm(X, y, C=C, kernel="linear", tol=tol)
        scores = X @ model.coef + model.intercept
        gradient, signed = scores - y, np.zeros(1000)
        signed[model.support] = model.dual_coef
        may_grow, may_shrink = signed < np.maximum(C * y, 0), signed > np.minimum(C * y, 0)
        violation = gradient[may_shrink].max() - gradient[may_grow].min()
        assert model.status == "tol"
        assert violation <= tol
        assert model.violation == pytest.approx(violation, abs=1e-12)
        assert model.objective[-1] == pytest.approx(exact.objective[-1], rel=tol**2)
        gaps.append(model.gap)
    assert gaps[0] > gaps[1] > 1e3 * exact.gap


def test_the_least_costs_of_all_leave_no_row_between_its_bounds(data):
    X, y, _ = data
    model = fastpu.baselines.fit_svm(X, y, C=5e-324, kernel="linear")
    assert model.converged
    assert model.violation == 0


def test_rows_too_large_to_be_squared_are_left_to_pairs(data):
    X, y, _ = data
    scale = 1e120
    with pytest.raises(ValueError, match="sum of squares"):
        fastpu.fit_isvm(scale * X, y == 1)
    model = fastpu.baselines.fit_svm(scale * X, y, C=scale**-2, kernel="linear", tol=1e-8)
    usual = fastpu.baselines.fit_svm(X, y, kernel="linear", tol=1e-8)
    assert model.status == "tol"
    np.testing.assert_allclose(model.decision_function(scale * X), usual.decision_function(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")
def test_rows_fewer_than_features_need_no_pairs_unless_a_column_is_far_larger(data):
    y = data[1]
    noise = np.random.default_rng(5).normal(size=(60, 300))
    for rows, is_hard in ((noise, False), (noise * np.append(1e8, np.ones(299)), True)):
        heard = []
        model = fastpu.baselines.fit_svm(rows, y[:60], kernel="linear", callback=heard.append)
        assert (model.n_iter > 0) == is_hard
        assert len(heard) <= 320  # of descent as many as there are features
        assert model.converged
        assert model.gap <= 1e-3 * 60  # tol times the costs


@pytest.mark.parametrize("seed", range(5))
def test_the_violation_is_that_of_the_worst_pair_of_rows(seed):
    rng = np.random.default_rng(seed)
    y, cost, decision = rng.choice(np.array([1, -1], np.int8), 12), rng.uniform(1, 2, 12), rng.normal(size=12)
    alpha = rng.choice([0.0, 0.5, 1.0], 12) * cost
    may_grow = np.where(y > 0, alpha < cost, alpha > 0)  # y alpha
    may_shrink = np.where(y > 0, alpha > 0, alpha < cost)
    worst = 0.0
    for i in np.flatnonzero(may_shrink):
        for j in np.flatnonzero(may_grow):
            worst = max(worst, (decision[i] - y[i]) - (decision[j] - y[j]))
    assert worst > 0
    assert _core.c_svm_violation(y, cost, alpha, decision) == worst
    np.testing.assert_allclose(_core.c_svm_violation(y, cost, alpha, decision + 7.0), worst, rtol=1e-12)
    assert _core.c_svm_violation(y[:1], cost[:1], alpha[:1], decision[:1]) == 0.0
    with pytest.raises(ValueError, match="alpha must be a 1-D array of 12 elements"):
        _core.c_svm_violation(y, cost, alpha[1:], decision)
