"""uPU and nnPU by Adam: the core equals the oracle, and nnPU keeps the risk from falling below 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from fastpu.data._matrix import DenseMatrix
from fastpu.data._sparse import read_sparse
from fastpu.risk._column_scales import read_columns
from oracles import nnpu
from risk_cases import LOSSES, ROUNDING, SINGLE, pu_rows, quiet, train

#: A beta below which R- never falls: the risk of uPU.
UPU = 1e9

#: In one block and in several, narrower and wider than tiles of the kernels.
SHAPES = [(40, 1, 0), (300, 3, 0), (150, 7, 1), (300, 70, 5), (130, 261, 100), (300, 3, 37)]


def start_of(d: int, h: int, seed: int = 0, dtype: Any = np.float64) -> nnpu.Net:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(d, h)) / np.sqrt(d)
    size = h or d
    return {
        "hidden_coef": hidden.astype(dtype),
        "hidden_intercept": rng.normal(size=h).astype(dtype) / 4,
        "coef": (rng.normal(size=size) / np.sqrt(size)).astype(dtype),
        "intercept": 0.25,
    }


def assert_nets_agree(found: _core.Net | fastpu.models.RiskNetwork, expected: nnpu.Net, tol: float = ROUNDING) -> None:
    for key, part in expected.items():
        np.testing.assert_allclose(getattr(found, key), part, rtol=tol, atol=tol, err_msg=key)


# -- fast equals slow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "d", "h"), SHAPES)
def test_risks_and_steps_are_those_of_the_oracle(n, d, h, loss):
    X, y, _ = pu_rows(n, d)
    net, weights = start_of(d, h), np.linspace(0.5, 2, n)
    for prior, beta in ((0.3, 0.0), (0.9, 0.0), (0.9, 0.02), (0.9, UPU)):
        risk = nnpu.Risk(loss, prior, beta, 0.7)
        for given in (None, weights):
            mass = np.ones(n) if given is None else given
            found = train(X, y, net, risk, n_epochs=3, weights=given)
            f = nnpu.scores(net, X)
            assert found.risk[0] == pytest.approx(nnpu.value(risk, f, y, mass), rel=ROUNDING)
            parts = (found.positive[0], found.negative[0])
            assert parts == pytest.approx(nnpu.parts(risk, f, y, mass), abs=ROUNDING)
            assert found.n_reversed[0] == nnpu.is_reversed(risk, f, y, mass)
            nets, _ = nnpu.adam(risk, net, X, y, mass, n_epochs=3, learning_rate=1e-2)
            assert_nets_agree(found.net, nets[-1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("beta", [0.0, UPU])
@pytest.mark.parametrize("batch_size", [None, 64])
@pytest.mark.parametrize(("n", "d", "h"), SHAPES)
def test_adam_goes_where_the_oracle_goes(n, d, h, batch_size, beta, loss):
    """In every epoch, with a ridge, dense and CSR."""
    X, y, _ = pu_rows(n, d)
    X[np.abs(X) < 0.3] = 0
    risk = nnpu.Risk(loss, 0.7, beta, 0.7)
    options = {"lam": 0.01, "seed": 5, "n_epochs": 25}
    nets, risks = nnpu.adam(risk, start_of(d, h), X, y, batch_size=batch_size, learning_rate=1e-2, **options)
    for rows in (X, read_sparse(sp.csr_array(X), "X")):
        found = train(rows, y, start_of(d, h), risk, batch_size=batch_size or 0, **options)
        assert_nets_agree(found.net, nets[-1])
        np.testing.assert_allclose(found.risk, risks, atol=ROUNDING)
    early = train(X, y, start_of(d, h), risk, batch_size=batch_size or 0, **{**options, "n_epochs": 2})
    assert_nets_agree(early.net, nets[1])


def test_float32_rows_are_trained_on_in_float32():
    X, y, _ = pu_rows(300, 20)
    risk = nnpu.Risk("sigmoid", 0.7)
    nets, _ = nnpu.adam(risk, start_of(20, 9), X, y, n_epochs=20, learning_rate=1e-2)
    for rows in (X.astype(np.float32), read_sparse(sp.csr_array(X.astype(np.float32)), "X")):
        found = train(rows, y, start_of(20, 9, dtype=np.float32), risk, n_epochs=20).net
        assert found.hidden_coef.dtype == np.float32
        assert_nets_agree(found, nets[-1], SINGLE)


# -- the mathematics ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few_labels():
    """Rows on which a network overfits the labelled ones."""
    X, y, truth = pu_rows(200, 20, share=0.1, apart=1.0)
    return X, y, truth


FREE = {"prior": 0.5, "model": "mlp", "n_hidden": 50, "learning_rate": 0.02, "lam": 0.0, "random_state": 0,
        "n_epochs": 150}  # fmt: skip


def test_upu_falls_below_zero_and_nnpu_does_not(few_labels):
    X, y, _ = few_labels
    upu = fastpu.fit_nnpu(X, y, beta=UPU, **FREE)
    assert upu.objective[-1] < -0.2
    assert not upu.history["n_reversed"].any()
    model = fastpu.fit_nnpu(X, y, **FREE)
    assert model.history["n_reversed"].any()
    assert (model.objective >= 0).all()
    reversed_ = model.history["negative_risk"] < 0
    np.testing.assert_array_equal(model.history["n_reversed"], reversed_)
    expected = model.history["positive_risk"] + np.maximum(model.history["negative_risk"], 0)
    np.testing.assert_allclose(model.objective, expected, atol=1e-15)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_risk_is_that_of_the_true_labels_where_the_positives_among_u_are_those_that_are_labelled(loss):
    X, _, truth = pu_rows(120, 2)
    P, N = X[truth == 1], X[truth == -1]
    net, prior, value = start_of(2, 0), len(P) / len(X), nnpu.LOSSES[loss][0]
    expected = prior * value(nnpu.scores(net, P)).mean() + (1 - prior) * value(-nnpu.scores(net, N)).mean()
    y = np.repeat([1, 0], [len(P), len(X)])
    found = train(np.vstack([P, X]), y, net, nnpu.Risk(loss, prior, UPU), n_epochs=1).risk[0]
    assert found == pytest.approx(expected, rel=ROUNDING)


def test_nnpu_with_the_loss_of_the_reference_learns_what_the_hidden_labels_are():
    """Nearly as well as a classifier by the true labels."""
    X, y, truth = pu_rows(2000, 5, share=0.2, apart=3.0)
    prior = float(np.mean(truth[y == 0] == 1))
    model = fastpu.fit_nnpu(X, y, prior=prior, model="mlp", random_state=0, loss="sigmoid")
    new, _, expected = pu_rows(2000, 5, seed=1, apart=3.0)
    best = np.mean(np.where(new[:, 0] > 1.5, 1, -1) == expected)
    assert np.mean(model.predict(new) == expected) > best - 0.02


# -- the reference's ways ----------------------------------------------------------------------------------------------


@quiet
def test_a_batch_of_all_rows_is_another_order_of_the_same_sums():
    X, y, _ = pu_rows(100, 4)
    options = {"prior": 0.5, "model": "mlp", "n_hidden": 8, "learning_rate": 0.01, "random_state": 1, "n_epochs": 20}
    whole, shuffled = (fastpu.fit_nnpu(X, y, batch_size=size, **options) for size in (None, 100))
    np.testing.assert_allclose(shuffled.hidden_coef, whole.hidden_coef, atol=ROUNDING)
    larger = fastpu.fit_nnpu(X, y, batch_size=10**9, **options)
    assert larger.hidden_coef.tobytes() == shuffled.hidden_coef.tobytes()


#: The settings of the paper's authors.
REFERENCE = {"loss": "sigmoid", "learning_rate": 1e-3, "batch_size": None, "n_epochs": 100}


@quiet
def test_the_settings_of_the_reference_can_be_had():
    """100 full batches of all rows, none held out, from the same start: as the oracle does them."""
    X, y, _ = pu_rows(60, 4)
    X /= read_columns(DenseMatrix(X), None).size  # the steps are those for rows of the size 1, as standardised ones are
    model = fastpu.fit_nnpu(X, y, prior=0.5, model="mlp", random_state=0, **REFERENCE)
    assert model.hidden_coef.shape == (4, 100)
    wanted = {**REFERENCE, "lam": 0.005, "beta": 0.0, "gamma_nn": 1.0}
    assert {name: model.params[name] for name in wanted} == wanted
    assert (model.n_iter, model.status, model.converged) == (100, "n_epochs", True)
    rng = np.random.default_rng(0)
    start = {
        "hidden_coef": rng.standard_normal((4, 100)) / np.sqrt(4),
        "hidden_intercept": np.zeros(100),
        "coef": rng.standard_normal(100) / np.sqrt(100),
        "intercept": 0.0,
    }
    nets, _ = nnpu.adam(nnpu.Risk("sigmoid", 0.5), start, X, y, n_epochs=100, learning_rate=1e-3, lam=0.005)
    assert_nets_agree(model, nets[-1])
