"""LSAUC, SAMULT and PNU-AUC: the minima of sums over pairs, and the invariants of the mathematics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.baselines import _rank_models
from fastpu.baselines._squared_pairs import PairLoss
from fastpu.data._training_rows import TrainingRows
from fastpu.data._validate import check_matrix
from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._threshold import balanced_accuracy_threshold
from ls_auc_cases import FITS, ROUNDING, assert_same, centers_of, each_fit, pnu_rows
from oracles import ls_auc as oracle

each_form = pytest.mark.parametrize("form", [np.array, sp.csr_array], ids=["dense", "csr"])

#: Conjugate gradients end at this relative residual; the condition of the systems here is below 1e5.
STEPS_TOL = 1e-6


@pytest.fixture(scope="module")
def data():
    X, y, _ = pnu_rows()
    return X, y


def features(model, X):
    return X if model.basis == "linear" else oracle.gauss(X, centers_of(model), model.bandwidth)


# -- fast equals slow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@each_form
@each_fit
def test_coefficients_are_those_of_all_pairs(fit, form, weighted, data):
    X, y = data
    weights = np.random.default_rng(3).uniform(0.2, 3, len(y)) if weighted else None
    method = fit.func.__name__.removeprefix("fit_")
    of_pairs = {name: value for name, value in fit.keywords.items() if name in ("gamma", "eta", "prior")}
    for lam in (1e-3, 0.5):
        model = fit(form(X), y, lam=lam, sample_weight=weights)
        F = features(model, X)
        expected = oracle.fit(method, F, y, lam, weights, **of_pairs)
        np.testing.assert_allclose(model.coef, expected, atol=ROUNDING * np.abs(expected).max(), rtol=0)
        value = oracle.objective(model.coef, method, F, y, lam, weights, **of_pairs)
        assert model.objective[-1] == pytest.approx(value, abs=1e-9)
        assert (model.status, model.converged, model.n_iter) == ("closed_form", True, 0)
        assert model.history["residual"][0] < 1e-9


@each_form
@pytest.mark.parametrize("name", [name for name in FITS if "gauss" not in name])
def test_conjugate_gradients_find_the_same(name, form, data, monkeypatch):
    X, y = data
    fit = FITS[name]
    for weights in (None, np.random.default_rng(3).uniform(0.2, 3, len(y))):
        direct = fit(form(X), y, sample_weight=weights)
        monkeypatch.setattr(_rank_models, "_MOST_DIRECT", 0)
        stepped = fit(form(X), y, sample_weight=weights)
        monkeypatch.undo()
        assert (stepped.status, stepped.converged) == ("tol", True)
        assert 1 <= stepped.n_iter <= 3 * X.shape[1]
        assert len(stepped.history["residual"]) == len(stepped.objective) == stepped.n_iter + 1
        assert (np.diff(stepped.objective) <= 1e-12).all()
        np.testing.assert_allclose(stepped.coef, direct.coef, rtol=STEPS_TOL, atol=STEPS_TOL * 0.1)
        assert stepped.objective[-1] == pytest.approx(direct.objective[0], abs=1e-9)


def test_more_features_than_can_be_factored_are_solved_by_steps_in_both_forms():
    rng = np.random.default_rng(4)
    n, d = 60, 2500
    X = np.where(rng.random((n, d)) < 0.02, rng.normal(size=(n, d)), 0)
    y = np.repeat([1, 0, -1], 20)
    X[y == 1, 0] += 1
    models = [fastpu.baselines.fit_samult(rows, y, lam=0.1) for rows in (X, sp.csr_array(X))]
    for model in models:
        assert model.status == "tol"
        F = X - X.mean(axis=0)  # the solution lies in the span of differences of rows
        U, s, Vt = np.linalg.svd(F, full_matrices=False)
        Z = (U * s)[:, s > 1e-9]
        A, b = oracle.system("samult", Z, y, gamma=0.5)
        expected = Vt[s > 1e-9].T @ np.linalg.solve(A + 0.1 * np.eye(len(b)), b)
        np.testing.assert_allclose(model.coef, expected, atol=1e-7)


def test_sparse_rows_of_many_columns_are_taken_many_at_a_time():
    """Each was a block of its own, so that 20,000 rows of text took half a minute."""
    matrix = check_matrix(sp.random(500, 100_000, 3e-4, format="csr", random_state=0))
    rows = TrainingRows(matrix, np.repeat([1, -1], 250), None, None, 500)
    assert len(list(PairLoss(matrix, rows, [(1.0, 1, -1)]).blocks())) == 1


@each_fit
def test_the_threshold_is_that_of_the_best_balanced_accuracy(fit, data):
    X, y = data
    model = fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, features(model, X) @ model.coef, atol=1e-10)
    expected = balanced_accuracy_threshold(scores[y == 1], scores[y == -1])
    assert model.threshold == expected
    assert model.threshold_rule == (
        "best balanced accuracy between labelled positive and labelled negative training rows"
    )
    for eta, group, upper, lower in ((1, -1, 1, 0), (-1, 1, 0, -1)):
        kept = y != group
        model = fastpu.baselines.fit_pnu_auc(X[kept], y[kept], prior=0.5, eta=eta)
        scores = model.decision_function(X)
        assert model.threshold == balanced_accuracy_threshold(scores[y == upper], scores[y == lower])


# -- mathematics -------------------------------------------------------------------------------------------------------


def test_limits_are_the_other_methods(data):
    X, y = data
    for options in ({}, {"model": "gauss", "centers": X[::5], "bandwidth": 2.0}):
        plain = fastpu.baselines.fit_ls_auc(X, y, **options)
        assert_same(fastpu.baselines.fit_samult(X, y, gamma=1, **options), plain)
        for prior in (0.1, 0.9):
            assert_same(fastpu.baselines.fit_pnu_auc(X, y, prior=prior, eta=0, **options), plain)
            nearly = fastpu.baselines.fit_pnu_auc(X, y, prior=prior, eta=1e-9, **options)
            np.testing.assert_allclose(nearly.coef, plain.coef, atol=1e-5 * np.abs(plain.coef).max())


@pytest.mark.parametrize("eta", [1.0, -1.0, 0.5])
def test_a_single_set_prior_is_converted(eta, data):
    X, y = data
    n_pos, n_unl = np.sum(y == 1), np.sum(y == 0)
    overall = (0.35 * n_unl + n_pos) / len(y)
    model = fastpu.baselines.fit_pnu_auc(X, y, prior=overall, scenario="single_set", eta=eta)
    assert_same(model, fastpu.baselines.fit_pnu_auc(X, y, prior=0.35, eta=eta))
    assert model.params["prior_among_unlabeled"] == pytest.approx(0.35)


# -- systems without a minimum -----------------------------------------------------------------------------------------


def indefinite_rows():
    """Positive rows spread far along a feature along which the unlabelled ones are not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.repeat([1, 0, -1], 20)
    X[y == 1, 1] *= 10
    X[y == 1, 0] += 2
    return X, y


@pytest.mark.parametrize("kind", ["linear", "gauss"])
def test_an_indefinite_system_is_recognised(kind):
    X, y = indefinite_rows()
    options = {"prior": 0.8, "eta": 1.0, "model": kind, "lam": 1e-3}
    if kind == "gauss":
        options |= {"centers": X[:15], "bandwidth": 5.0}
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match=r"no minimum: the smallest eigenvalue .* \|eta\| <= 0.25"
    ):
        model = fastpu.baselines.fit_pnu_auc(X, y, **options)
    assert (model.status, model.converged) == ("indefinite", False)
    F = features(model, X)
    A, b = oracle.system("pnu_auc", F, y, eta=1.0, prior=0.8)
    least = np.linalg.eigvalsh(A)[0] + 1e-3
    assert least < 0
    assert model.history["smallest_eigenvalue"][0] == pytest.approx(least, rel=1e-6)
    gradient = (A + 1e-3 * np.eye(len(b))) @ model.coef - b
    assert np.abs(gradient).max() < 1e-7 * np.abs(b).max()
    for change in ({"lam": 1.01 * (1e-3 - least)}, {"eta": 0.25}):
        cured = fastpu.baselines.fit_pnu_auc(X, y, **{**options, **change})
        assert (cured.status, cured.converged) == ("closed_form", True)


def test_conjugate_gradients_recognise_it_too(monkeypatch):
    X, y = indefinite_rows()
    monkeypatch.setattr(_rank_models, "_MOST_DIRECT", 2)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="fit_pnu_auc: the objective has no minimum"):
        model = fastpu.baselines.fit_pnu_auc(X, y, prior=0.8, eta=1.0)
    assert (model.status, model.converged) == ("indefinite", False)
    assert model.coef.any()
    A, b = oracle.system("pnu_auc", X, y, eta=1.0, prior=0.8)
    value = 1 - 2 * b @ model.coef + model.coef @ (A + 1e-3 * np.eye(3)) @ model.coef
    assert model.objective[-1] == pytest.approx(value)


def test_a_singular_system_gives_the_shortest_minimum(data):
    X, y = data
    twice = np.hstack([X, X])
    model, single = fastpu.baselines.fit_ls_auc(twice, y, lam=0), fastpu.baselines.fit_ls_auc(X, y, lam=0)
    assert (model.status, model.converged) == ("singular", True)
    np.testing.assert_allclose(model.coef, np.tile(single.coef, 2) / 2, rtol=1e-8)
    few = np.flatnonzero(y)[:6]
    wide = np.random.default_rng(0).normal(size=(6, 30))
    model = fastpu.baselines.fit_ls_auc(wide, np.where(y[few] == 1, 1, -1), lam=0)
    assert model.status == "singular"
    assert model.objective[0] == pytest.approx(0, abs=1e-9)


@each_form
def test_a_constant_feature_tells_nothing(form):
    for n in range(10, 60):
        constant = form(np.full((n, 1), 0.1 * n))  # the mean of n such entries is often another number in float64
        with pytest.warns(DegenerateModelWarning, match="the model scores every row 0"):
            model = fastpu.baselines.fit_ls_auc(constant, np.where(np.arange(n) % 3, 1, -1), lam=0)
        assert model.status == "singular"


def test_features_whose_squares_vanish_are_reported(data):
    X, y = data
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning,
        match=r"fit_ls_auc: rounding errors ended the solution .*; raise lam, or scale the features",
    ):
        model = fastpu.baselines.fit_ls_auc(X * 1e-170, y, lam=0)
    assert (model.status, model.converged) == ("precision", False)
    assert fastpu.baselines.fit_ls_auc(X * 1e-120, y, lam=1e-3).converged


def test_steps_that_are_not_enough_are_reported(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_rank_models, "_MOST_DIRECT", 0)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match=r"fit_ls_auc: all max_iter = 1 steps were taken"):
        model = fastpu.baselines.fit_ls_auc(X, y, max_iter=1)
    assert (model.status, model.converged, model.n_iter) == ("max_iter", False, 1)


def test_groups_that_are_alike_are_reported():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), [1, 1, -1, -1]
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="fit_ls_auc: the model scores every row 0"):
        model = fastpu.baselines.fit_ls_auc(X, y)
    assert not model.coef.any()


def test_scores_in_the_wrong_order_are_reported():
    """PU-AUC does not look at the negative rows, which are on the side of the positive ones here."""
    X, y = np.array([[0.0], [0.1], [-1.0], [-1.2], [5.0], [6.0]]), [1, 1, 0, 0, -1, -1]
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="calls 0 of 6 training rows positive, because its scores"
    ):
        fastpu.baselines.fit_pnu_auc(X, y, prior=0.3, eta=1)
