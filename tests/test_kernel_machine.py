"""The model of every SVM as an object: how it scores rows of any form, files, copies, and what its fields may be."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._validate import check_matrix
from fastpu.kernels import _kernels
from helpers import refused
from machine_cases import (
    FORMS,
    KERNELS,
    TIGHT,
    assert_scores,
    bits,
    each_fit,
    each_form,
    each_kernel,
    kernel_values,
    two_groups,
)


@pytest.fixture(scope="module")
def data():
    return two_groups()


@pytest.fixture
def small_blocks(monkeypatch):
    """Rows are converted in blocks of a few, whose borders must not show."""
    monkeypatch.setattr(_kernels, "_BLOCK_ENTRIES", 40)


def rbf(A, B):
    """A function of the caller's, which pickle can find."""
    A, B = (M.toarray() if sp.issparse(M) else np.asarray(M) for M in (A, B))
    return np.exp(-0.4 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


# -- blocks of rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_per_row", [0, 7, 50])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_have_all_rows_in_order_and_as_many_as_may_be(form, n_per_row, small_blocks):
    X = np.tril(np.ones((60, 60)))[[0, 3, 59, 45, *range(2, 40), 0, 0, 0], :]
    rows = form(X if form is sp.csr_array else X[:, :9])
    native = check_matrix(rows).native
    lengths = np.diff(rows.indptr) if form is sp.csr_array else np.full(len(X), 9)

    def fits(start, stop):
        return stop - start == 1 or max(lengths[start:stop].sum(), (stop - start) * n_per_row) <= 40

    blocks = [(rows.start, rows.stop) for rows in _kernels.row_blocks(native, n_per_row)]
    assert [row for block in blocks for row in range(*block)] == list(range(len(X)))
    for start, stop in blocks:
        assert fits(start, stop)
        assert stop == len(X) or not fits(start, stop + 1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_width_scale_of_weighted_rows_is_that_of_all_blocks_together(form, data, small_blocks):
    X, y = np.maximum(data[0], 0), data[1]  # sparse input leaves the zeros out
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    variance = np.var(np.repeat(X, weights.astype(int), axis=0))
    model = fastpu.fit_svm(form(X), y, kernel="rbf", gamma="scale", sample_weight=weights)
    assert model.gamma == pytest.approx(1 / (X.shape[1] * variance), rel=1e-12)


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


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
@each_form
@each_kernel
def test_rows_of_another_form_are_converted(kernel, form, rows, data, small_blocks):
    """In blocks, and computed in the wider of the two types."""
    X, y = data
    model = fastpu.fit_svm(form(X), y, **kernel)
    other = rows(X[::-1].copy())
    both = np.result_type(form(X).dtype, other.dtype)
    if model.kernel == "linear":  # in float64, whatever the rows are
        both = np.float64
    assert_scores(model, model.decision_function(other), other, X, both)


def test_the_linear_kernel_keeps_coefficients_and_no_support_vectors(data):
    X, y = data
    for form in FORMS.values():
        model = fastpu.fit_svm(form(X), y, kernel="linear")
        np.testing.assert_allclose(model.coef, X[model.support].T @ model.dual_coef, atol=1e-12)
        assert model.support_vectors is None
        assert (model.support_dense, model.support_data, model.gamma) == (None, None, None)
        np.testing.assert_allclose(model.decision_function(X), X @ model.coef + model.intercept, atol=1e-12)


def test_support_vectors_are_those_rows(data):
    X, y = data
    for form in FORMS.values():
        rows = form(X)
        model = fastpu.fit_svm(rows, y, C=0.5)
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

    model = fastpu.fit_svm(sp.csr_array(X) if sparse else X, y, kernel=lambda A, B: A @ B.T)
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
    model = fastpu.fit_svm(rows, y, kernel=linear, tol=TIGHT)
    assert shapes.count((1, 1)) == 0
    assert shapes.count((64, 64)) <= 7
    assert sum(a * b for a, b in shapes) / len(shapes) > 400
    assert abs(rows - before).sum() == 0
    assert model.converged


@each_form
@each_kernel
def test_scores_have_the_same_bits_for_every_number_of_threads(kernel, form):
    X, y = two_groups(300, 7)
    model = fastpu.fit_svm(form(X), y, **kernel)
    for rows in FORMS.values():
        assert len({model.decision_function(rows(X), n_threads=n).tobytes() for n in (1, 2, 7)}) == 1


def test_a_single_row_scores_as_it_does_among_others(data):
    X, y = data
    for kernel in KERNELS.values():
        for form in FORMS.values():
            model = fastpu.fit_svm(form(X), y, **kernel)
            together = model.decision_function(form(X))
            alone = [model.decision_function(form(X[i : i + 1]))[0] for i in range(len(X))]
            np.testing.assert_allclose(alone, together, atol=1e-12)


def test_empty_rows_and_columns_of_csr_score(data):
    X, y = data
    X = X.copy()
    X[::3] = 0.0
    X[:, 1] = 0.0
    for kernel in KERNELS.values():
        model = fastpu.fit_svm(sp.csr_array(X), y, C=30, **kernel)
        zeros = sp.csr_array((5, X.shape[1]))
        for rows in (zeros, X):
            assert_scores(model, model.decision_function(rows), rows, X)


def test_predict_is_positive_above_the_threshold_alone(data):
    X, y = data
    model = fastpu.fit_svm(X, y)
    scores = model.decision_function(X)
    assert (model.threshold, model.threshold_rule) == (0.0, "zero")
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, 1, -1))
    at = replace(model, threshold=float(scores[7]))
    assert at.predict(X[7:8])[0] == -1
    matched = model.with_threshold(prior=0.25, X_unl=X)
    assert np.count_nonzero(matched.predict(X) == 1) == len(X) // 4


@pytest.mark.parametrize("value", [1e200, -1e200])
def test_scores_that_are_no_numbers_are_refused(value):
    X, y = two_groups(40, 3)
    model = fastpu.fit_svm(X, y, **KERNELS["poly"])
    far = X.copy()
    far[2] = [value, -value, value]
    message = refused(ValueError, "X has entries so large", model.decision_function, far)
    assert "row 2" in message


# -- the object --------------------------------------------------------------------------------------------------------


@each_form
@each_fit
def test_saved_pickled_and_copied_models_score_bit_for_bit(fit, form, data, tmp_path):
    X, y = data
    for kernel in [*KERNELS.values(), {"kernel": "precomputed"}]:
        rows = X @ X.T if kernel["kernel"] == "precomputed" else form(X)
        model = fit(rows, y, **kernel)
        path = tmp_path / "model.npz"
        model.save(path)
        for other in (fastpu.load(path), pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
            assert type(other) is type(model)
            assert bits(other, rows) == bits(model, rows)
            assert (other.status, other.converged, other.n_iter) == (model.status, model.converged, model.n_iter)
            assert dict(other.params) == dict(model.params)
            assert (other.kernel, other.gamma, other.degree) == (model.kernel, model.gamma, model.degree)
            for name, values in model.history.items():
                np.testing.assert_array_equal(other.history[name], values)
            with pytest.raises(ValueError, match="read-only"):
                other.alpha[0] = 1.0


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
    assert bits(other, X) == bits(model, X)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(replace(model, function=lambda A, B: A @ B.T))


@each_form
def test_a_model_keeps_nothing_of_its_input(form, data):
    X, y = data
    rows = form(X.copy())
    model = fastpu.fit_svm(rows, y)
    before = bits(model, X)
    (rows.data if sp.issparse(rows) else rows)[:] = 0.0
    assert bits(model, X) == before


def test_a_model_is_frozen_and_says_what_it_is(data):
    X, y = data
    model = fastpu.fit_svm(X, y)
    with pytest.raises(FrozenInstanceError):
        model.intercept = 0.0
    assert repr(model).startswith("KernelMachine(n_features=4, n_iter=")
    assert model.converged
    assert model.status == "tol"
    assert model.violation <= 1e-3
    assert model.gap >= 0
    assert model.margin == 1.0
    assert set(model.history) == {"objective", "violation", "n_active", "n_steps"}
    np.testing.assert_array_equal(model.objective, model.history["objective"])
    assert model.history["n_steps"][-1] == model.n_iter


def test_params_are_the_arguments(data):
    X, y = data
    model = fastpu.fit_svm(X, y, C=2, max_iter=10_000)
    assert dict(model.params) == {
        "method": "fit_svm",
        "C": 2.0,
        "kernel": "rbf",
        "gamma": "scale",
        "degree": 3,
        "coef0": 0.0,
        "tol": 1e-3,
        "max_iter": 10_000,
    }
    assert fastpu.fit_svm(X, y, kernel=rbf).params["kernel"] == "callable"


# -- what a file may not say -------------------------------------------------------------------------------------------

BAD_FIELDS = [
    ({"support": np.array([3, 1])}, "as many entries"),
    ({"alpha": np.ones(3)}, "as many entries"),
    ({"support": "reversed"}, "ascending"),
    ({"support": "negative"}, "ascending"),
    ({"alpha": "zero"}, "alpha must be positive"),
    ({"alpha": "infinite"}, "alpha must be positive"),
    ({"dual_coef": "double"}, "dual_coef must be alpha or its negative"),
    ({"intercept": np.inf}, "intercept must be finite"),
    ({"kernel": "cubic"}, "kernel 'cubic' is unknown"),
    ({"gamma": None}, "gamma must be a positive number"),
    ({"gamma": -1.0}, "gamma must be a positive number"),
    ({"gamma": np.nan}, "gamma must be a positive number"),
    ({"degree": -1}, "degree must be >= 0"),
    ({"degree": 2**40}, "degree must be >= 0"),
    ({"coef0": np.nan}, "coef0 finite"),
    ({"function": rbf}, "function must be there"),
    ({"kernel": "callable"}, "function must be there"),
    ({"kernel": "linear"}, "coef must be there"),
    ({"coef": np.ones(4)}, "coef must be there"),
    ({"kernel": "precomputed"}, "support must be < 4"),
    ({"support_dense": None}, "support vectors must be there in one form"),
    ({"support_dense": np.ones((2, 4))}, "support_dense must have shape"),
    ({"support_data": np.ones(3)}, "support vectors must be there in one form"),
]


@pytest.mark.parametrize(("changes", "words"), BAD_FIELDS)
def test_fields_that_do_not_fit_each_other_are_refused(changes, words, data):
    X, y = data
    model = fastpu.fit_svm(X, y)
    n = model.support.size
    named = {
        "reversed": model.support[::-1].copy(),
        "negative": np.arange(n) - 1,
        "zero": np.zeros(n),
        "infinite": np.full(n, np.inf),
        "double": 2 * model.dual_coef,
    }
    changes = {k: named.get(v, v) if isinstance(v, str) else v for k, v in changes.items()}
    refused(ValueError, words, lambda: replace(model, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"support_indptr": lambda a: a + 1}, "support_indptr must rise from 0"),
        ({"support_indptr": lambda a: a[:-1]}, "support_indptr must rise from 0"),
        ({"support_indptr": lambda a: a[:0]}, "support_indptr must rise from 0"),
        ({"support_indptr": lambda a: np.append(a[::-1][1:], a[-1])}, "support_indptr must rise from 0"),
        ({"support_indptr": lambda a: np.append(a[:-1], a[-1] + 9)}, "must have"),
        ({"support_data": lambda a: a[:-1]}, "must have"),
        ({"support_indices": lambda a: a[:-1]}, "must have"),
        ({"support_indices": lambda a: a + np.int32(4)}, "support_indices must be in [0, 4)"),
        ({"support_indices": lambda a: a - np.int32(1)}, "support_indices must be in [0, 4)"),
        ({"support_indices": lambda a: a * np.int32(0)}, "support_indices must ascend in each row"),
        ({"support_indices": lambda a: None}, "support vectors must be there in one form"),
        ({"support_dense": lambda a: np.ones((3, 4))}, "support vectors must be there in one form"),
    ],
)
def test_broken_csr_support_vectors_are_refused(changes, words, data):
    X, y = data
    model = fastpu.fit_svm(sp.csr_array(X), y)
    broken = {name: change(getattr(model, name)) for name, change in changes.items()}
    refused(ValueError, words, replace, model, **broken)


def test_broken_linear_and_precomputed_models_are_refused(data):
    X, y = data
    linear = fastpu.fit_svm(X, y, kernel="linear")
    refused(ValueError, "coef must have 4 finite entries", replace, linear, coef=np.ones(3))
    refused(ValueError, "coef must have 4 finite entries", replace, linear, coef=np.full(4, np.nan))
    precomputed = fastpu.fit_svm(X @ X.T, y, kernel="precomputed")
    far = np.append(precomputed.support[:-1], 60)
    refused(ValueError, "support must be < 60, the number of training rows", replace, precomputed, support=far)


def test_a_model_without_support_vectors_scores_its_intercept(data):
    X, y = data
    for kernel in KERNELS.values():
        for form in FORMS.values():
            model = fastpu.fit_svm(form(X), y, **kernel)
            none = {name: getattr(model, name)[:0] for name in ("support", "alpha", "dual_coef")}
            vectors = {
                "support_dense": lambda a: a[:0],
                "support_data": lambda a: a[:0],
                "support_indices": lambda a: a[:0],
                "support_indptr": lambda a: a[:1],
                "coef": lambda a: 0 * a,
            }
            for name, cut in vectors.items():
                if getattr(model, name) is not None:
                    none[name] = cut(getattr(model, name))
            empty = replace(model, **none)
            np.testing.assert_array_equal(empty.decision_function(form(X)), np.full(len(X), model.intercept))
