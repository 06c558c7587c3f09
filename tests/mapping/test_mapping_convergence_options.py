"""SMC and SVMC: kernels, files, and a hold-out of few rows."""

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


# -- few rows ----------------------------------------------------------------------------------------------------------


@each_fit
def test_a_hold_out_needs_two_positives(fit, data):
    X, _ = data
    y = np.where(np.arange(len(X)) == 7, 1, 0)
    words = "y must have at least 2 positive rows for hold_out = 0.2, got 1"
    refused(ValueError, words, fit, X, y, max_pos_reject=0.1)
    refused(ValueError, words, fit, X, y, hold_out=0.2)
