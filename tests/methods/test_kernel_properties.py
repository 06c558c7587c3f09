"""Any small input: kernels against their oracles, for those whose own tests do not draw their inputs.

Drawn so elsewhere: stump boosting, the dual of the SVM, its path, the graph of neighbours, paired moments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from fastpu import _core
from fastpu.data._matrix import CsrMatrix
from margin_engine_cases import make_engine, solve
from oracles import large_margin, nnpu, pual, stump_boost, svm
from risk_cases import train

#: Sums of a few numbers of the order of 10, in the type that they are computed in.
ROUNDING = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 2e-4}

#: Of an objective, beyond the certificates of both.
OBJECTIVE_TOL = 1e-8


@st.composite
def matrices(draw: st.DrawFn, least_rows: int = 1) -> np.ndarray:
    """Sixteenths, with many zeros and rows alike, exact in float32."""
    n, d = draw(st.integers(least_rows, 9)), draw(st.integers(1, 5))
    entries = st.one_of(st.just(0), st.integers(-64, 64))
    values = draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n))
    X = np.array(values, dtype=np.float64).reshape(n, d) / 16
    if n > 2 and draw(st.booleans()):
        X[n // 2] = X[0]
    return X


def native(X: np.ndarray, form: str) -> Any:
    dtype = np.float32 if "32" in form else np.float64
    if "csr" not in form:
        return X.astype(dtype)
    csr = sp.csr_array(X.astype(dtype))
    return CsrMatrix.of(csr)


forms = st.sampled_from(["64", "32", "csr64", "csr32"])
numbers = st.integers(0, 2**32 - 1)


@given(matrices(), st.sampled_from([1, 2, 3, 255]), numbers, st.booleans())
def test_cuts_are_the_quantiles_of_the_definition(X, max_bins, seed, is_weighted):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=len(X)).astype(float) if is_weighted else None
    if is_weighted and not weights.any():
        weights[0] = 1.0
    binned = fastpu.bin_features(X, max_bins=max_bins, sample_weight=weights)
    for found, expected in zip(binned.cuts, stump_boost.all_cuts(X, weights, max_bins), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(matrices(), forms, numbers, st.integers(0, 8), st.sampled_from([0.0, -1.0]))
def test_scores_of_stumps_are_sums_of_their_answers(X, form, seed, n_stumps, low):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, X.shape[1], size=n_stumps).astype(np.int32)
    thresholds = rng.integers(-64, 64, size=n_stumps) / 16.0
    polarity = rng.choice([-1, 1], size=n_stumps).astype(np.int8)
    alphas = rng.random(n_stumps)
    options = {"n_features": X.shape[1], "low": low, "n_threads": 1}
    found = _core.stump_scores(native(X, form), features, thresholds, polarity, alphas, **options)
    expected = np.zeros(len(X))
    for e, theta, p, alpha in zip(features, thresholds, polarity, alphas, strict=True):
        fires = (X[:, e] > theta) == (p > 0)
        expected += alpha * np.where(fires, 1.0, low)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@given(matrices(), st.sampled_from(["linear", "rbf", "poly", "sigmoid"]), forms, numbers)
def test_kernel_scores_are_sums_of_kernel_values(X, kernel, form, seed):
    rng = np.random.default_rng(seed)
    options = {"kernel": kernel, "gamma": 0.25, "degree": 2, "coef0": 0.5}
    coefs, intercepts = rng.normal(size=(len(X), 2)), rng.normal(size=2)
    found = _core.kernel_scores(native(X, form), native(X, form), coefs, intercepts, n_threads=2, **options)
    K = svm.kernel_matrix(X, **options)
    size = (np.abs(K) @ np.abs(coefs)).max() + 1
    tol = ROUNDING[np.dtype(np.float32 if "32" in form else np.float64)]
    np.testing.assert_allclose(found, K @ coefs + intercepts, rtol=0, atol=tol * size)


@given(matrices(2), st.sampled_from(["exact", "iadmm"]), numbers, st.sampled_from([0.01, 1.0, 30.0]))
def test_any_large_margin_problem_is_solved(X, solver, seed, C):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(len(X)) < 0.5, 1, -1)
    y[:2] = 1, -1
    s = (rng.random(len(X)) < 0.2).astype(float)
    problem = large_margin.Problem(X, y, C * rng.choice([0.5, 1.0, 2.0], size=len(X)), s)
    with np.errstate(all="ignore"):
        slow = large_margin.solve(problem)
    result = solve(make_engine(X), problem, solver=solver, tol=1e-9 if solver == "exact" else 1e-6)
    tol = OBJECTIVE_TOL * (1 + slow.objective)
    assert result["gap"] >= 0
    assert result["objective"] - result["gap"] <= slow.objective + tol
    assert slow.objective - slow.gap <= result["objective"] + tol
    if solver == "exact":
        assert result["status"] == "gap"


@given(matrices(2), forms, numbers, st.integers(0, 3), st.sampled_from(sorted(nnpu.LOSSES)))
def test_any_risk_of_a_net_and_the_way_of_its_first_step(X, form, seed, n_hidden, loss):
    rng = np.random.default_rng(seed)
    dtype = np.float32 if "32" in form else np.float64
    y = (rng.random(len(X)) < 0.5).astype(np.int8)
    y[:2] = 1, 0
    weights = rng.choice([0.5, 1.0, 3.0], size=len(X))
    risk = nnpu.Risk(loss, float(rng.random()), float(rng.choice([rng.random() / 8, 1e9])), float(rng.random()))
    # Eighths: products with the rows are exact, and whether a hidden unit is on does not depend on rounding.
    net = {
        "hidden_coef": rng.integers(-8, 8, size=(X.shape[1], n_hidden)).astype(dtype) / 8,
        "hidden_intercept": rng.integers(-8, 8, size=n_hidden).astype(dtype) / 8,
        "coef": rng.integers(-8, 8, size=n_hidden or X.shape[1]).astype(dtype) / 8,
        "intercept": 0.125,
    }
    rate = 0.125
    found = train(native(X, form), y, net, risk, weights=weights, n_epochs=1, learning_rate=rate)
    f = nnpu.scores(net, X)
    tol = ROUNDING[np.dtype(dtype)]
    assert found["risk"][0] == pytest.approx(nnpu.value(risk, f, y, weights), rel=tol, abs=tol)
    positive, negative = nnpu.parts(risk, f, y, weights)
    assert (found["positive"][0], found["negative"][0]) == pytest.approx((positive, negative), rel=tol, abs=tol)
    if abs(negative + risk.beta) > tol:  # else rounding decides which gradient is followed
        for key, part in nnpu.gradient(risk, net, X, y, weights).items():
            moved = np.asarray(found["net"][key] - net[key])
            expected = np.asarray(-rate * part / (np.abs(part) + 1e-8))  # the first step of Adam, whose eps is 1e-8
            is_clear = np.abs(part) > max(1e-4, 100 * tol)  # smaller ones may have another sign by rounding
            np.testing.assert_allclose(moved[is_clear], expected[is_clear], rtol=tol, err_msg=key)
            assert (np.abs(moved) <= rate * (1 + tol)).all()


@given(matrices(2), forms, numbers, st.sampled_from(["logistic", "squared"]), st.floats(1e-3, 1 - 1e-3))
def test_no_step_lowers_a_convex_risk_further(X, form, seed, loss, prior):
    rng = np.random.default_rng(seed)
    y = (rng.random(len(X)) < 0.5).astype(np.int8)
    y[:2] = 1, 0
    weights = rng.choice([0.5, 1.0, 3.0], size=len(X))
    options = _core.UpuOptions(loss=loss, prior=prior, lam=0.1, tol=1e-12)
    found = _core.fit_upu(native(X, form), y, weights, options, callback=None, n_threads=1)
    at = np.append(found["coef"], found["intercept"])
    least = nnpu.convex_risk(loss, prior, 0.1, at, X, y, weights)
    for _ in range(10):
        step = rng.normal(size=len(at)) * 10.0 ** rng.uniform(-4, 0)
        assert least <= nnpu.convex_risk(loss, prior, 0.1, at + step, X, y, weights) + 1e-10 * (1 + abs(least))


@given(matrices(2), numbers, st.sampled_from(["logistic", "squared"]), st.sampled_from([0.0, 0.1, 10.0]))
def test_a_convex_risk_never_rises_whatever_the_sizes_of_the_entries(X, seed, loss, lam):
    rng = np.random.default_rng(seed)
    X = X * 10.0 ** rng.integers(-8, 9, size=X.shape)
    y = (rng.random(len(X)) < 0.5).astype(np.int8)
    y[:2] = 1, 0
    options = _core.UpuOptions(loss=loss, prior=0.7, lam=lam, max_iter=100)
    found = _core.fit_upu(X, y, None, options, callback=None, n_threads=1)
    risks = np.asarray(found["risks"])
    sizes = np.maximum(np.abs(risks[:-1]), risks[0])
    assert np.all(np.diff(risks) <= 2e-9 * sizes)


@given(matrices(), st.sampled_from([1e-3, 0.1, 1.0, 30.0]))
def test_any_box_problem_of_pual_is_solved(H, cost):
    dual = _core.PualDual(H, n_threads=1)
    found = dual.solve([cost], tol=1e-9, max_iter=200, callback=None)[0]
    alpha = pual.box_qp(H @ H.T, np.full(len(H), 2.0), cost)
    v = H.T @ alpha
    best = 0.5 * v @ v - 2 * alpha.sum()
    w = H.T @ found["alpha"]
    assert found["status"] == "gap"
    assert abs(0.5 * w @ w - 2 * found["alpha"].sum() - best) <= OBJECTIVE_TOL * (1 + abs(best) + found["objective"])


@given(matrices(4), st.sampled_from(["linear", "rbf"]), st.booleans(), numbers)
def test_any_bags_are_the_machines_of_their_rows(X, kernel, has_start, seed):
    rng = np.random.default_rng(seed)
    n, n_pos = len(X), 2
    options = {"kernel": kernel, "gamma": 0.25, "degree": 2, "coef0": 0.0}
    engine = _core.SvmEngine(X, **options, function=None, cache_bytes=10**6, n_threads=1)
    bags = rng.integers(n_pos, n, size=(3, 4))
    costs = np.array([1.5, 0.5])
    everyone = np.arange(n)
    limits = {"tol": 1e-9, "max_iter": 10**5, "start": rng.random(n) if has_start else None}
    found = engine.solve_bags(everyone[:n_pos], bags, cost_pos=costs, cost_unl=0.75, score_rows=everyone, **limits)
    K = svm.kernel_matrix(X, **options)
    for bag, objective in zip(bags, found["objective"], strict=True):
        drawn, counts = np.unique(bag, return_counts=True)
        rows = np.concatenate([everyone[:n_pos], drawn])
        y = np.where(rows < n_pos, 1, -1)
        slow = svm.solve(svm.Problem("c_svm", K[np.ix_(rows, rows)], y, np.concatenate([costs, 0.75 * counts])))
        assert objective == pytest.approx(slow.objective, rel=1e-6, abs=1e-6)


@given(matrices(), matrices())
def test_products_and_factors_in_tiles_are_those_of_numpy(A, B):
    depth = min(A.shape[1], B.shape[1])
    A, B = np.ascontiguousarray(A[:, :depth]), np.ascontiguousarray(B[:, :depth])
    found = _core.tiled_product(A, np.ascontiguousarray(B.T), n_threads=2)
    np.testing.assert_allclose(found, A @ B.T, rtol=0, atol=1e-11)
    weighted = A * np.arange(len(A))[:, None]
    found = _core.tiled_symmetric_product(A, weighted, n_threads=2)
    np.testing.assert_allclose(found, A.T @ weighted, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)
    gram = _core.tiled_gram(A, n_threads=2)
    np.testing.assert_allclose(gram, A.T @ A, rtol=0, atol=1e-11)
    factor = gram + np.eye(depth)
    right = B.copy()
    system = factor.copy()
    assert _core.tiled_cholesky(factor, n_threads=1) == 0
    L = np.tril(factor)
    np.testing.assert_allclose(L @ L.T, system, rtol=1e-12, atol=1e-9)
    _core.tiled_solve(factor, right, n_threads=1)
    np.testing.assert_allclose(right @ L.T, B, rtol=0, atol=1e-8)
    right = B.copy()
    _core.tiled_back_solve(factor, right, n_threads=1)
    np.testing.assert_allclose(right @ L, B, rtol=0, atol=1e-8)
