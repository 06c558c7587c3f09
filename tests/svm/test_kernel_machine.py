"""The model of every SVM as an object: how it scores rows of any form, files, copies, and what its fields may be."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from machine_cases import (
    FORMS,
    TIGHT,
    assert_scores,
    each_fit,
    each_form,
    each_kernel,
    kernel_values,
    two_groups,
)
from method_recipes import model_bits


@pytest.fixture(scope="module")
def data():
    return two_groups()


@pytest.fixture
def small_blocks(monkeypatch):
    """Rows are converted in blocks of a few, whose borders must not show."""
    monkeypatch.setattr("fastpu.data._matrix._BLOCK_ENTRIES", 40)


def rbf(A, B):
    """A function of the caller's, which pickle can find."""
    A, B = (M.toarray() if sp.issparse(M) else np.asarray(M) for M in (A, B))
    return np.exp(-0.4 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


# -- scores ------------------------------------------------------------------------------------------------------------


@each_form
@each_kernel
@each_fit
def test_scores_are_the_sum_over_support_vectors(fit, kernel, form, data):
    X, y = data
    X = form(X)
    model = fit(X, y, **kernel)
    assert_scores(model, model.decision_function(X), X, X, X.dtype)
    np.testing.assert_array_equal(np.abs(model.dual_coef), model.alpha)
    assert (np.diff(model.support) > 0).all()


def test_the_linear_kernel_keeps_coefficients_and_no_support_vectors(data):
    X, y = data
    for form in FORMS.values():
        model = fastpu.baselines.fit_svm(form(X), y, kernel="linear")
        np.testing.assert_allclose(model.coef, X[model.support].T @ model.dual_coef, atol=1e-12)
        assert model.support_vectors is None
        assert (model.support_dense, model.support_data, model.gamma) == (None, None, None)
        np.testing.assert_allclose(model.decision_function(X), X @ model.coef + model.intercept, atol=1e-12)


def test_support_vectors_are_those_rows(data):
    X, y = data
    for form in FORMS.values():
        rows = form(X)
        model = fastpu.baselines.fit_svm(rows, y, C=0.5)
        vectors = model.support_vectors
        assert type(vectors) is (sp.csr_array if sp.issparse(rows) else np.ndarray)
        assert vectors.dtype == rows.dtype
        np.testing.assert_array_equal(vectors.toarray() if sp.issparse(vectors) else vectors, X[model.support])
        assert vectors.shape == (model.support.size, X.shape[1])


@each_fit
def test_a_precomputed_kernel_is_the_kernel_itself(fit, data):
    X, y = data
    named = fit(X, y, gamma=0.4, tol=TIGHT)
    K = kernel_values(X, X, named)
    model = fit(K, y, kernel="precomputed", tol=TIGHT)
    np.testing.assert_array_equal(model.support, named.support)
    np.testing.assert_allclose(model.decision_function(K), named.decision_function(X), atol=1e-7)
    assert model.support_vectors is None
    assert model.n_features == len(X)
    without = K.copy()
    without[:, np.setdiff1d(np.arange(len(X)), model.support)] = 7.0
    np.testing.assert_array_equal(model.decision_function(without), model.decision_function(K))
    single = fit(K.astype(np.float32), y, kernel="precomputed")
    np.testing.assert_allclose(single.decision_function(K), named.decision_function(X), atol=2e-2)


@pytest.mark.parametrize("sparse", [False, True])
@each_fit
def test_a_function_is_the_kernel_that_it_computes(fit, sparse, data, small_blocks):
    X, y = data
    rows = sp.csr_array(X) if sparse else X
    named = fit(rows, y, gamma=0.4, tol=TIGHT)
    model = fit(rows, y, kernel=rbf, tol=TIGHT)
    assert (model.kernel, model.function) == ("callable", rbf)
    np.testing.assert_array_equal(model.support, named.support)
    np.testing.assert_allclose(model.decision_function(rows), named.decision_function(rows), atol=1e-7)
    for other in (sp.csr_array(X), X, X.astype(np.float32)):
        np.testing.assert_allclose(model.decision_function(other), named.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_function_sees_rows_of_the_training_form_in_blocks_it_cannot_write_to(sparse, data, small_blocks):
    X, y = data
    heard = []

    def linear(A, B):
        heard.append((type(A), type(B), A.shape, B.shape))
        if not sparse:
            with pytest.raises(ValueError, match="read-only"):
                A[0, 0] = 1.0
        return A @ B.T

    model = fastpu.baselines.fit_svm(sp.csr_array(X) if sparse else X, y, kernel=lambda A, B: A @ B.T)
    model = replace(model, function=linear)
    for rows in (X, sp.csr_array(X)):
        heard.clear()
        np.testing.assert_allclose(
            model.decision_function(rows), X[:] @ (X[model.support].T @ model.dual_coef) + model.intercept, atol=1e-9
        )
        kind = sp.csr_array if sparse else np.ndarray
        assert {call[:2] for call in heard} == {(kind, kind)}
        assert sum(call[2][0] for call in heard) == len(X)
        assert len(heard) > 5
        assert {call[3] for call in heard} == {(model.support.size, X.shape[1])}


@pytest.mark.parametrize("sparse", [False, True])
def test_a_fit_asks_a_function_for_many_values_at_a_time(sparse):
    """The diagonal too; and rows that it could spoil for later calls are not to be written to."""
    X, y = two_groups(400, 3)
    shapes = []

    def linear(A, B):
        shapes.append((A.shape[0], B.shape[0]))
        assert A.shape == B.shape or not (B.data if sparse else B).flags.writeable
        (A.data if sparse else A)[:] *= 2.0  # a copy that nobody looks at again
        return A @ B.T / 2.0

    rows = sp.csr_array(X) if sparse else X
    before = rows.copy()
    model = fastpu.baselines.fit_svm(rows, y, kernel=linear, tol=TIGHT)
    assert shapes.count((1, 1)) == 0
    assert shapes.count((64, 64)) <= 7
    assert sum(a * b for a, b in shapes) / len(shapes) > 400
    assert abs(rows - before).sum() == 0
    assert model.converged


# -- the object --------------------------------------------------------------------------------------------------------


@each_fit
def test_a_model_with_a_function_is_pickled_but_not_saved(fit, data, tmp_path):
    X, y = data
    model = fit(X, y, kernel=rbf)
    path = tmp_path / "model.npz"
    message = refused(TypeError, "the model cannot be saved: its function is <function rbf", model.save, path)
    assert "pickle the model" in message
    assert not path.exists()
    assert not list(tmp_path.iterdir())
    other = pickle.loads(pickle.dumps(model))
    assert model_bits(other, X) == model_bits(model, X)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(replace(model, function=lambda A, B: A @ B.T))


# -- what a file may not say -------------------------------------------------------------------------------------------


def test_sparse_support_vectors_whose_columns_fall_are_refused_when_a_model_is_made_or_loaded(data):
    X, y = data
    model = fastpu.baselines.fit_svm(sp.csr_array(X), y, kernel="rbf")
    text = "support_indices must ascend in each row"
    refused(ValueError, text, replace, model, support_indices=model.support_indices[::-1].copy())
