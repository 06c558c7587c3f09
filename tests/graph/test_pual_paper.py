"""The kernel form of PUAL as printed: it does the paper's updates, and warns that the paper derives others."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from helpers import refused
from method_recipes import model_bits
from oracles import pual as oracle
from pual_cases import graph, pu_rows, quiet

pytestmark = [quiet, pytest.mark.filterwarnings("ignore::fastpu.PaperFormWarning")]

RBF = {"kernel": "rbf", "gamma": 0.4, "kernel_form": "paper"}


@pytest.fixture(scope="module")
def data():
    X, y = pu_rows(40, 3)
    K = np.exp(-0.4 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    return X, y, K


@pytest.mark.parametrize("mu", [1e-3, 0.02])
def test_iterates_are_the_printed_ones(mu, data):
    X, y, K = data
    for n_iter in (1, 5, 40):
        with pytest.warns(fastpu.ConvergenceWarning):
            model = fastpu.fit_pual(X, y, mu=mu, max_iter=n_iter, tol=1e-15, C_unl=0.3, **RBF)
        expected = oracle.paper_kernel_form(K, y == 1, 1.0, 0.3, mu, n_iter)
        if model.objective[-1] == model.objective.min():  # the model is that of the least residual
            np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_the_safe_step_converges(data):
    X, y, K = data
    model = fastpu.fit_pual(X, y, **RBF)
    assert (model.status, model.converged) == ("residual", True)
    assert model.objective[-1] <= 1e-9
    assert np.isnan(model.gap)
    expected = oracle.paper_kernel_form(K, y == 1, 1.0, 0.1, model.mu, 3 * model.n_iter)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    n_pos, n_unl = int(y.sum()), int((y == 0).sum())
    M22 = 2 * 0.1 * n_unl + model.mu * n_pos
    J = np.eye(len(y)) - np.outer(np.ones(len(y)), np.where(y == 1, model.mu, 0.2)) / M22
    G = (J @ K @ J.T)[np.ix_(y == 1, y == 1)] + 1 / M22
    assert 0.4 < model.mu * np.linalg.eigvalsh(G)[-1] < 0.51


def test_a_fixed_point_satisfies_the_conditions_of_what_it_minimises(data):
    """1/2 |f|_K^2 + C_pos hinge + 2 C_unl sum_u f + M22/2 mean^2 - mu/2 sum_p f^2: its gradient by the spec."""
    X, y, K = data
    model = fastpu.fit_pual(X, y, C_unl=0.3, tol=1e-12, **RBF)
    f, is_pos, mu = model.decision_function(X), y == 1, model.mu
    s = np.where(is_pos, mu, 0.6)
    mean = s @ f / s.sum()
    right = np.where(is_pos, 0.0, -0.6)
    right[is_pos] = model.alpha + mu * f[is_pos]
    omega = right - s * mean
    np.testing.assert_allclose(omega.sum(), 0, atol=1e-8)
    smooth = K @ omega
    np.testing.assert_allclose(f - f[0], smooth - smooth[0], atol=1e-7)


def test_it_depends_on_the_step_and_not_on_neighbours_or_ridge(data):
    X, y, _ = data
    model = fastpu.fit_pual(X, y, **RBF)
    for other in ({"lam": 7.0}, {"sigma": 3.0}, {"n_neighbors": 2}, {"graph": graph(X)}):
        same = fastpu.fit_pual(X, y, **RBF, **other)
        assert model_bits(same, X) == model_bits(model, X)
    slow = fastpu.fit_pual(X, y, mu=model.mu / 10, max_iter=100_000, **RBF)
    assert np.abs(slow.decision_function(X) - model.decision_function(X)).max() > 1e-3


def test_there_are_ten_thousand_steps_by_default(data):
    X, y, _ = data
    few = np.r_[np.flatnonzero(y == 1)[:3], np.flatnonzero(y == 0)[:3]]
    with pytest.warns(fastpu.ConvergenceWarning, match="after 10000 iterations"):
        fastpu.fit_pual(X[few], y[few], tol=1e-300, **RBF)


@pytest.mark.filterwarnings("ignore::fastpu.PaperFormWarning")
def test_sigma_without_influence_is_the_papers(data):
    X, y = data[:2]
    model = fastpu.fit_gllc(X, y, kernel="rbf", gamma=0.4, kernel_form="paper")
    assert model.params["sigma"] == 1.0


def test_a_step_that_is_too_long_diverges_and_says_so(data):
    X, y, _ = data
    with pytest.warns(
        fastpu.ConvergenceWarning, match="fit_pual: .* the iteration diverged with mu = 5 after"
    ) as caught:
        model = fastpu.fit_pual(X, y, mu=5.0, **RBF)
    assert caught[0].filename == __file__
    assert (model.status, model.converged) == ("diverged", False)
    assert np.isfinite(model.decision_function(X)).all()


def test_an_iteration_without_a_first_step_is_refused(data):
    X, y, _ = data
    refused(ValueError, "mu must be between 1e-100 and 1e+100, got 1e+308", fastpu.fit_pual, X, y, mu=1e308, **RBF)
    K = X @ X.T
    options = {"kernel": "precomputed", "kernel_form": "paper", "n_neighbors": 0}
    words = "X and mu must be so small that the iteration has a first step, got mu=1e+100"
    refused(ValueError, words, fastpu.fit_pual, 1e98 * K, y, mu=1e100, **options)
    words = "so small that squares of sums of kernel values do not overflow"
    for fit in (fastpu.fit_pual, fastpu.fit_gllc):
        refused(ValueError, words, fit, 1e150 * K, y, **options)


@pytest.mark.filterwarnings("default::fastpu.PaperFormWarning")
@pytest.mark.parametrize("fit", [fastpu.fit_pual, fastpu.fit_gllc], ids=["pual", "gllc"])
def test_the_warning_says_what_it_is(fit, data):
    X, y, _ = data
    with pytest.warns(fastpu.PaperFormWarning) as caught:
        fit(X, y, **RBF)
    message = str(caught[0].message)
    for words in (f"{fit.__name__}: kernel_form='paper'", "lam, sigma, n_neighbors and graph have no influence"):
        assert words in message
    assert caught[0].filename == __file__


def test_forms_and_labels(data):
    X, y, K = data
    expected = fastpu.fit_pual(X, y, **RBF).decision_function(X)
    model = fastpu.fit_pual(K, y, kernel="precomputed", kernel_form="paper")
    np.testing.assert_allclose(model.decision_function(K), expected, atol=1e-7)
    linear = fastpu.fit_pual(X, y, kernel_form="paper")
    np.testing.assert_allclose(linear.decision_function(X), X @ linear.coef + linear.intercept, atol=1e-10)
    models = fastpu.fit_pual(X, y, C_unl=[0.1, 0.3], lam=[1.0, 2.0], **RBF)
    np.testing.assert_allclose(models[0].decision_function(X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_callback_hears_of_every_iteration_and_ends_it(data):
    X, y, _ = data
    heard = []
    model = fastpu.fit_pual(X, y, callback=lambda info: heard.append(info) or info.n_iter == 7, **RBF)
    assert (model.status, model.n_iter, len(heard)) == ("callback", 7, 7)
    assert np.isnan(heard[0].gap)


def test_what_it_does_not_take(data):
    X, y, _ = data
    refused(
        ValueError, "n_components must be None for kernel_form='paper'", fastpu.fit_pual, X, y, n_components=3, **RBF
    )
    refused(ValueError, "kernel_form must be", fastpu.fit_pual, X, y, kernel_form="printed")
