"""uPU and nnPU by Adam: the core equals the oracle, and nnPU keeps the risk from falling below 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._matrix import DenseMatrix
from fastpu.data._sparse import read_sparse
from fastpu.risk._columns import read_columns
from oracles import nnpu
from risk_cases import LOSSES, ROUNDING, SINGLE, pu_rows, quiet, train

#: Central differences of float64 numbers of the order of 1.
DIFFERENCE, DIFFERENCE_TOL = 1e-6, 1e-7

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


def assert_nets_agree(found: nnpu.Net, expected: nnpu.Net, tol: float = ROUNDING) -> None:
    for key, part in expected.items():
        np.testing.assert_allclose(found[key], part, rtol=tol, atol=tol, err_msg=key)


# -- the oracle itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [nnpu.Risk(loss, 0.6, beta, 0.7) for loss in LOSSES for beta in (0.01, UPU)])
@pytest.mark.parametrize("h", [0, 4])
@pytest.mark.parametrize("far", [0.1, 2.0])
def test_the_oracle_has_the_gradient_that_differences_have(risk, h, far):
    X, y, _ = pu_rows(30, 3)
    weights = np.linspace(0.5, 2, 30)
    net = start_of(3, h)
    net = {key: far * part for key, part in net.items()}
    back = nnpu.is_reversed(risk, nnpu.scores(net, X), y, weights)
    found = nnpu.gradient(risk, net, X, y, weights)
    for key, part in net.items():
        for place in np.ndindex(np.shape(part)):
            values = []
            for sign in (1, -1):
                moved = {name: np.array(other, dtype=float) for name, other in net.items()}
                moved[key][place] += sign * DIFFERENCE
                values.append(nnpu.followed(risk, nnpu.scores(moved, X), y, weights, back))
            expected = (values[0] - values[1]) / (2 * DIFFERENCE)
            assert np.asarray(found[key])[place] == pytest.approx(expected, abs=DIFFERENCE_TOL)


def test_losses_are_those_of_the_papers():
    z = np.linspace(-5, 5, 11)
    loss = {name: nnpu.LOSSES[name][0] for name in LOSSES}
    np.testing.assert_allclose(loss["sigmoid"](z) + loss["sigmoid"](-z), 1)
    for name in ("logistic", "squared"):  # which makes uPU convex
        np.testing.assert_allclose(loss[name](z) - loss[name](-z), -z, atol=1e-12)


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
            assert found["risk"][0] == pytest.approx(nnpu.value(risk, f, y, mass), rel=ROUNDING)
            parts = (found["positive"][0], found["negative"][0])
            assert parts == pytest.approx(nnpu.parts(risk, f, y, mass), abs=ROUNDING)
            assert found["n_reversed"][0] == nnpu.is_reversed(risk, f, y, mass)
            nets, _ = nnpu.adam(risk, net, X, y, mass, n_epochs=3, learning_rate=1e-2)
            assert_nets_agree(found["net"], nets[-1])


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
        assert_nets_agree(found["net"], nets[-1])
        np.testing.assert_allclose(found["risk"], risks, atol=ROUNDING)
    early = train(X, y, start_of(d, h), risk, batch_size=batch_size or 0, **{**options, "n_epochs": 2})
    assert_nets_agree(early["net"], nets[1])


def test_float32_rows_are_trained_on_in_float32():
    X, y, _ = pu_rows(300, 20)
    risk = nnpu.Risk("sigmoid", 0.7)
    nets, _ = nnpu.adam(risk, start_of(20, 9), X, y, n_epochs=20, learning_rate=1e-2)
    for rows in (X.astype(np.float32), read_sparse(sp.csr_array(X.astype(np.float32)), "X")):
        found = train(rows, y, start_of(20, 9, dtype=np.float32), risk, n_epochs=20)["net"]
        assert found["hidden_coef"].dtype == np.float32
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


def test_beta_allows_so_much_below_zero(few_labels):
    X, y, _ = few_labels
    model = fastpu.fit_nnpu(X, y, beta=0.1, **FREE)
    negative = model.history["negative_risk"]
    np.testing.assert_array_equal(model.history["n_reversed"], negative < -0.1)
    assert negative.min() < -0.1  # which is where the rule begins
    np.testing.assert_allclose(model.objective, model.history["positive_risk"] + np.maximum(negative, -0.1), atol=1e-15)


def test_without_gamma_there_is_no_step_back():
    X, y, _ = pu_rows(40, 3, share=0.9, apart=3.0)
    net = {**start_of(3, 0), "coef": np.array([2.0, 0.0, 0.0]), "intercept": -2.0}
    still = train(X, y, net, nnpu.Risk("sigmoid", 0.95, 0.0, 0.0), n_epochs=5)
    np.testing.assert_array_equal(still["net"]["coef"], net["coef"])
    assert (still["n_reversed"] == 1).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_risk_is_unbiased(loss):
    """Over draws of P and U, its mean is the risk with the true labels, for f and prior given."""
    rng = np.random.default_rng(8)
    prior, n_draws = 0.4, 3000
    net = {**start_of(2, 0), "coef": np.array([0.8, -0.3]), "intercept": 0.1}

    def drawn(n: int, positive: bool) -> np.ndarray:
        return rng.normal(size=(n, 2)) + ([1.0, 0.5] if positive else [-1.0, 0.0])

    value = nnpu.LOSSES[loss][0]
    many = 400_000
    truth = prior * value(nnpu.scores(net, drawn(many, True))).mean()
    truth += (1 - prior) * value(-nnpu.scores(net, drawn(many, False))).mean()
    y = np.repeat(np.array([1, 0], dtype=np.int8), [15, 25])
    risk = nnpu.Risk(loss, prior, UPU)
    values = []
    for _ in range(n_draws):
        hidden = rng.random(25) < prior
        unlabelled = np.where(hidden[:, None], drawn(25, True), drawn(25, False))
        X = np.vstack([drawn(15, True), unlabelled])
        values.append(train(X, y, net, risk, n_threads=1, n_epochs=1)["risk"][0])
    error = np.std(values) / np.sqrt(n_draws)
    assert abs(np.mean(values) - truth) < 4 * error
    assert error < 0.01


@pytest.mark.parametrize(("n", "options"), [(8000, {}), (2000, {"loss": "sigmoid"})], ids=["default", "reference"])
def test_nnpu_learns_what_the_hidden_labels_are(n, options):
    """Nearly as well as a classifier by the true labels. The bounded loss of the reference needs fewer rows."""
    X, y, truth = pu_rows(n, 5, share=0.2, apart=3.0)
    prior = float(np.mean(truth[y == 0] == 1))
    model = fastpu.fit_nnpu(X, y, prior=prior, model="mlp", random_state=0, **options)
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
    assert_nets_agree({key: getattr(model, key) for key in start}, nets[-1])
