"""SMC and SVMC: forms of rows, kernels, files, what the model says, interruption."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix
from mapping_cases import FORMS, bits, each_fit, each_kernel, forgetful, rbf, zeros_and_all

pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.DegenerateModelWarning")


@pytest.fixture(scope="module")
def data():
    return zeros_and_all()


# -- inputs ------------------------------------------------------------------------------------------------------------


@each_kernel
@each_fit
def test_sparse_and_single_precision_rows_give_the_same_sets(fit, kernel, data):
    X, y = data
    expected = fit(X, y, C=10, tol=1e-6, **kernel)
    for rows in (sp.csr_array(X), sp.csc_matrix(X), X.astype(np.float32), sp.csr_array(X, dtype=np.float32)):
        model = fit(rows, y, C=10, tol=1e-5 if rows.dtype == np.float32 else 1e-6, **kernel)
        assert np.mean(model.unlabeled_set == expected.unlabeled_set) > 0.97
        np.testing.assert_array_equal(model.rejected_by == 0, expected.rejected_by == 0)
        if kernel["kernel"] != "linear":
            assert model.support_vectors.dtype == rows.dtype
            assert sp.issparse(model.support_vectors) == sp.issparse(rows)


@each_fit
def test_text_in_csr_works_from_end_to_end(fit):
    """Wide rows of words, a dense copy of which would take 400 MB."""
    rng = np.random.default_rng(0)
    n, d, topic = 240, 200_000, np.arange(240) % 4
    words = np.where(rng.random((n, 60)) < 0.35, rng.integers(0, 40, (n, 60)) + 50 * topic[:, None], 0)
    words = np.where(words, words, rng.integers(200, d, (n, 60)))
    X = sp.csr_array((np.ones(n * 60), words.ravel(), np.arange(0, n * 60 + 1, 60)), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    truth = topic == 0
    y = np.where(truth & (np.arange(n) % 8 == 0), 1, 0)
    model = fit(X, y, kernel="linear", C=10.0)
    unlabelled = y == 0
    assert np.mean((model.unlabeled_set == 1) == truth[unlabelled]) >= 0.85
    assert model.coef.shape == (d,)
    assert model.other_dense is None
    staged = list(model.staged_decision_function(X))
    np.testing.assert_allclose(staged[model.n_iter], model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_fit
def test_frames_keep_their_names(fit, library, data):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    X, y = data
    names = ["age", "dose", "mass", "size"]
    table = module.DataFrame({name: X[:, e] for e, name in enumerate(names)})
    for psi2 in ({"C": 100}, {"psi2": lambda P, N: lambda rows: rows @ (P.mean(axis=0) - N.mean(axis=0))}):
        model = fit(table, module.Series(y), **psi2)
        assert bits(model, X) == bits(fit(X, y, **psi2), X)
        assert model.feature_names == tuple(names)
        np.testing.assert_array_equal(model.decision_function(table), model.decision_function(X))
        for call in (model.predict, lambda t, m=model: list(m.staged_decision_function(t))):
            with pytest.raises(ValueError, match="dose"):
                call(table[["age", "mass", "dose", "size"]])
            with pytest.raises(ValueError, match="X must have 4 features"):
                call(table[["age", "dose", "mass"]])


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


def test_gamma_follows_the_variance_of_all_rows(data):
    X, y = data
    model = fastpu.fit_svmc(X, y, C=100)
    assert model.gamma == pytest.approx(1 / (X.shape[1] * X.var()))
    assert model.params["gamma"] == "scale"


# -- copies and files --------------------------------------------------------------------------------------------------


def test_a_model_of_the_callers_kernel_can_be_pickled_but_not_saved(data, tmp_path):
    X, y = data
    model = fastpu.fit_svmc(X, y, kernel=rbf, C=10)
    assert bits(pickle.loads(pickle.dumps(model)), X) == bits(model, X)
    refused(TypeError, "function", model.save, tmp_path / "model.npz")


def test_a_precomputed_kernel_is_saved_too(data, tmp_path):
    X, y = data
    K = rbf(X, X)
    model = fastpu.fit_svmc(K, y, kernel="precomputed", C=10)
    model.save(tmp_path / "model.npz")
    assert bits(fastpu.load(tmp_path / "model.npz"), K) == bits(model, K)


def test_with_threshold_keeps_the_log(data):
    X, y = data
    model = fastpu.fit_svmc(X, y, C=10)
    other = model.with_threshold(prior=0.4, X_unl=X[y == 0])
    assert abs(np.mean(other.predict(X[y == 0]) == 1) - 0.4) < 0.02
    assert bits(other, X) == bits(model, X)


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


def test_fields_that_do_not_fit_each_other_are_refused(data):
    X, y = data
    for form, options in ((FORMS["dense64"], {"gamma": 1.0}), (FORMS["csr64"], {"kernel": "linear"})):
        model = fastpu.fit_svmc(form(X), y, C=100, **options)
        for words, fields in (
            ("rejected_by must have an entry", {"rejected_by": model.rejected_by[1:]}),
            ("history must have an entry for the mapping", {"n_iter": model.n_iter + 1, "objective": np.zeros(9)}),
            ("history and boundary_starts must fit", {"boundary_starts": model.boundary_starts[1:]}),
            ("boundary_starts must rise from 0", {"boundary_starts": model.boundary_starts + 1}),
            ("boundary_starts must rise from 0", {"boundary_starts": model.boundary_starts[::-1]}),
            ("boundary_coefs must have a finite", {"boundary_coefs": model.boundary_coefs[1:]}),
            ("boundary_coefs must have a finite", {"boundary_coefs": model.boundary_coefs * np.nan}),
            ("boundary_intercepts must be finite", {"boundary_intercepts": model.boundary_intercepts * np.nan}),
            ("boundary_support must hold support vectors", {"boundary_support": model.boundary_support + 1000}),
            ("must", {"other_rows": model.other_rows[1:]}),
            ("in one form", {"other_dense": None, "other_data": None}),
        ):
            refused(ValueError, words, replace, model, **fields)


# -- interruption ------------------------------------------------------------------------------------------------------


@posix
@each_fit
def test_ctrl_c_stops_a_fit_and_the_next_one_works(fit):
    X, y, options = forgetful()
    expected = bits(fit(X, y, **options))
    rng = np.random.default_rng(0)
    many, labels = rng.normal(size=(20_000, 20)), np.where(np.arange(20_000) % 4 == 0, 1, 0)
    first = {"psi1": lambda P, U: lambda rows: rows[:, 0]}
    assert interrupted_after(lambda: fit(many, labels, C=1e3, gamma=0.5, **first)) < INTERRUPT_SECONDS
    assert bits(fit(X, y, **options)) == expected
