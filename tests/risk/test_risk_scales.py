"""uPU and nnPU on columns in another unit: a common factor of all columns changes nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._matrix import CsrMatrix, DenseMatrix
from fastpu.risk._column_scales import read_columns
from machine_cases import each_form
from oracles import nnpu
from risk_cases import ROUNDING, pu_rows, quiet, train

pytestmark = quiet

#: At their defaults, so that early stopping is tried too.
DEFAULTS = {
    "nnpu_linear": (fastpu.fit_nnpu, {"random_state": 1}),
    "nnpu_gauss": (fastpu.fit_nnpu, {"model": "gauss", "n_centers": 20, "random_state": 1}),
    "nnpu_mlp": (fastpu.fit_nnpu, {"model": "mlp", "n_hidden": 20, "random_state": 1}),
    "nnpu_batches": (fastpu.fit_nnpu, {"model": "mlp", "n_hidden": 9, "batch_size": 64, "random_state": 1}),
    "upu_logistic": (fastpu.fit_upu, {}),
    "upu_squared": (fastpu.fit_upu, {"loss": "squared"}),
    "upu_gauss": (fastpu.fit_upu, {"model": "gauss", "n_centers": 20, "random_state": 1}),
}


@pytest.mark.parametrize("name", DEFAULTS)
@each_form
def test_a_common_factor_of_all_columns_changes_nothing(name, form):
    """nnPU's AUC was .929, .919, .877 and .895 for rows times 1, 1e2, 1e4 and 1e6: Adam's steps have one length."""
    function, options = DEFAULTS[name]
    X, y, truth = pu_rows(400, 4)
    X *= [1.0, 3.0, 0.5, 2.0]
    X[:, 3] += 8.0  # far from 0
    model = function(form(X), y, prior=0.4, **options)
    scores = model.decision_function(form(X))
    is_single = form(X).dtype == np.float32
    for scale in (2.0**-20, 2.0**17, 1e-6, 1e2, 1e4, 1e6):
        other = function(form(X * scale), y, prior=0.4, **options)
        found = other.decision_function(form(X * scale))
        assert (other.n_iter, other.status) == (model.n_iter, model.status)
        if float(scale).hex().startswith("0x1.0000000000000p"):
            assert found.tobytes() == scores.tobytes()
        tol = 0.05 if is_single else 1e-9
        np.testing.assert_allclose(found, scores, rtol=0, atol=tol * np.abs(scores).max())
        assert fastpu.metrics.auc(truth, found) == pytest.approx(fastpu.metrics.auc(truth, scores), abs=0.1 * tol)
        np.testing.assert_allclose(other.history["risk"], model.history["risk"], rtol=0, atol=tol)
        given = other.params["lam"]
        is_of_rows = options.get("model", "linear") == "linear"  # of others for what a factor does not change
        assert given == pytest.approx(model.params["lam"] * (scale**2 if is_of_rows else 1), rel=1e-4)


def test_early_stopping_sees_the_penalties_at_any_scale():
    """Squares of the weights overflow at 1e-200, and those of the scale at 1e200."""
    X, y, _ = pu_rows(200, 3)
    options = {"prior": 0.4, "lam": 0.0, "random_state": 0}
    model = fastpu.fit_nnpu(X, y, **options)
    for scale in (1e-200, 1e200):
        assert fastpu.fit_nnpu(X * scale, y, **options).n_iter == model.n_iter > 30


def test_a_given_ridge_is_one_on_the_weights_of_the_rows_as_they_are():
    X, y, _ = pu_rows(200, 3)
    options = {"prior": 0.4, "random_state": 0, "n_epochs": 200}
    for lam in (0.0, 0.3):
        model = fastpu.fit_nnpu(X, y, lam=lam, **options)
        larger = fastpu.fit_nnpu(8 * X, y, lam=64 * lam, **options)
        np.testing.assert_array_equal(8 * larger.coef, model.coef)
    many = {**options, "n_epochs": 3000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.ConvergenceWarning)
        for scale in (1.0, 5.0):
            by_adam = fastpu.fit_nnpu(scale * X, y, lam=0.3, beta=1e9, **many)
            exact = fastpu.fit_upu(scale * X, y, prior=0.4, lam=0.3)
            np.testing.assert_allclose(by_adam.coef, exact.coef, rtol=1e-3)


@pytest.mark.parametrize("batch_size", [0, 32])
@pytest.mark.parametrize("h", [0, 6])
def test_steps_at_a_scale_are_those_on_rows_divided_by_it(h, batch_size):
    X, y, _ = pu_rows(90, 4)
    rng = np.random.default_rng(1)
    scale, lam = 48.0, 0.01 if h else 0.2
    hidden, coef = rng.normal(size=(4, h)), rng.normal(size=h or 4)
    start = {"hidden_coef": hidden / scale, "hidden_intercept": np.zeros(h), "intercept": 0.0,
             "coef": coef if h else coef / scale}  # fmt: skip
    risk = nnpu.Risk("logistic", 0.4)
    options = {"n_epochs": 15, "seed": 2}
    found = train(scale * X, y, start, risk, scale=scale, batch_size=batch_size, lam=lam, **options)
    same = {**start, "hidden_coef": hidden, "coef": coef}
    # That of a linear model is for the weights of the rows as they are, smaller than those of the divided rows.
    of_divided = lam if h else lam / scale**2
    nets, risks = nnpu.adam(
        risk, same, X, y, learning_rate=1e-2, batch_size=batch_size or None, lam=of_divided, **options
    )
    first = "hidden_coef" if h else "coef"
    np.testing.assert_allclose(getattr(found.net, first) * scale, nets[-1][first], atol=ROUNDING)
    np.testing.assert_allclose(found.net.hidden_intercept, nets[-1]["hidden_intercept"], atol=ROUNDING)
    np.testing.assert_allclose(found.risk, risks, atol=ROUNDING)


# -- the size ----------------------------------------------------------------------------------------------------------


def size_of(X, weights=None) -> float:
    matrix = CsrMatrix.of(X) if sp.issparse(X) else DenseMatrix(X)
    return read_columns(matrix, weights).size


def test_the_size_of_standardised_columns_and_of_text_of_unit_rows_is_1():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert size_of(X) == pytest.approx(1, rel=1e-12)
    assert size_of(X + 1000) == pytest.approx(1, rel=1e-9)
    assert size_of(np.round(rng.random((300, 5))) * 2 - 1) == pytest.approx(1, rel=1e-3)
    words = sp.random_array((400, 2000), density=0.02, rng=rng, format="csr", data_sampler=rng.random)
    lengths = np.sqrt(words.power(2).sum(axis=1))
    assert 0.5 < size_of(sp.csr_array(words / lengths[:, None])) < 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_size_is_the_same_for_dense_and_sparse_rows_and_by_its_definition(weighted, dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6)) * [1.0, 30.0, 0.1, 2.0, 1.0, 1.0]
    X[:, 1] += 2000.0
    X[rng.random((400, 6)) < [0.0, 0.0, 0.9, 0.5, 1.0, 0.0]] = 0  # the fifth column is empty
    X[:, 5] = 3.7  # does not vary
    X = X.astype(dtype)
    weights = rng.integers(1, 4, 400).astype(np.float64) if weighted else None
    mass = np.ones(400) if weights is None else weights
    parts, shares = [], []
    for f in (0, 2, 3):
        set_ = X[:, f] != 0
        parts.append(np.sqrt(np.average(X[set_, f].astype(float) ** 2, weights=mass[set_])))
        shares.append(mass[set_].sum() / mass.sum())
    far = X[:, 1].astype(float)
    parts.append(np.sqrt(np.average((far - np.average(far, weights=mass)) ** 2, weights=mass)))
    expected = np.median(parts) / np.sqrt(np.mean([*shares, 1.0]))
    rel = 1e-4 if dtype == np.float32 else 1e-12
    assert size_of(X, weights) == pytest.approx(expected, rel=rel)
    assert size_of(sp.csr_array(X), weights) == pytest.approx(expected, rel=rel)
    if weights is not None:
        repeated = np.repeat(X, weights.astype(int), axis=0)
        assert size_of(repeated) == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 1e36), (np.float64, 1e300)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_size_of_numbers_next_to_the_largest_and_the_smallest(form, dtype, largest):
    X = np.random.default_rng(2).normal(size=(50, 3))
    for scale in (largest, 1 / largest):
        assert size_of(form((X * scale).astype(dtype))) == pytest.approx(scale * size_of(X), rel=1e-4)


@each_form
def test_rows_without_an_entry_have_the_size_1(form):
    assert size_of(form(np.zeros((5, 2)))) == 1
    assert size_of(form(np.full((5, 2), 0.1))) == 1  # far from 0, and does not vary
