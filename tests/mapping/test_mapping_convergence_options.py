"""SMC and SVMC: kernels, files, what the model says, and few rows."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from helpers import refused
from mapping_cases import each_fit, rbf, zeros_and_all
from method_recipes import model_bits

pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.exceptions.DegenerateModelWarning")


@pytest.fixture(scope="module")
def data():
    return zeros_and_all()


# -- kernels -----------------------------------------------------------------------------------------------------------


@each_fit
def test_a_kernel_is_the_same_by_name_by_function_and_as_a_matrix(fit, data):
    X, y = data
    expected = fit(X, y, kernel="rbf", gamma=1.0, C=20, tol=1e-9)
    K = rbf(X, X)
    by_function, by_matrix = (fit(A, y, kernel=k, C=20, tol=1e-9) for A, k in ((X, rbf), (K, "precomputed")))
    for model, rows in ((by_function, X), (by_matrix, K)):
        np.testing.assert_array_equal(model.rejected_by, expected.rejected_by)
        staged = zip(model.staged_decision_function(rows), expected.staged_decision_function(X), strict=True)
        for found, wanted in staged:
            np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert by_matrix.other_rows.size == 0
    assert by_matrix.support_vectors is None


# -- copies and files --------------------------------------------------------------------------------------------------


def test_a_precomputed_kernel_is_saved_too(data, tmp_path):
    X, y = data
    K = rbf(X, X)
    model = fastpu.fit_svmc(K, y, kernel="precomputed", C=10)
    model.save(tmp_path / "model.npz")
    assert model_bits(fastpu.load(tmp_path / "model.npz"), K) == model_bits(model, K)


def test_the_model_says_how_it_was_made(data):
    X, y = data
    model = fastpu.fit_svmc(X, y, C=10, max_iter=50, solver_max_iter=10**6, gamma=0.5, random_state=np.int64(3))
    assert dict(model.params) == {
        "method": "fit_svmc",
        "nu_map": 0.01,
        "C": 10.0,
        "nu": None,
        "max_iter": 50,
        "max_pos_reject": None,
        "hold_out": None,
        "repair": True,
        "psi1": None,
        "psi2": None,
        "kernel": "rbf",
        "gamma": 0.5,
        "degree": 3,
        "coef0": 0.0,
        "tol": 1e-3,
        "solver_max_iter": 10**6,
        "random_state": 3,
    }
    assert "repair" not in fastpu.fit_smc(X, y, C=10).params
    assert fastpu.fit_smc(X, y, C=10).params["method"] == "fit_smc"
    assert model.threshold == 0.0


# -- few rows ----------------------------------------------------------------------------------------------------------


@each_fit
def test_a_hold_out_needs_two_positives(fit, data):
    X, _ = data
    y = np.where(np.arange(len(X)) == 7, 1, 0)
    words = "y must have at least 2 positive rows for hold_out = 0.2, got 1"
    refused(ValueError, words, fit, X, y, max_pos_reject=0.1)
    refused(ValueError, words, fit, X, y, hold_out=0.2)


@each_fit
def test_few_rows_are_enough(fit):
    """One positive and one unlabelled row, which has nowhere to go."""
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        model = fit([[0.0], [1.0]], [1, 0], C=100, gamma=1.0)
    assert model.unlabeled_set.tolist() == [-1]
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        model = fit(np.ones((5, 3)), [1, 1, 0, 0, 0])
    assert np.isfinite(model.decision_function(np.ones((1, 3)))).all()
