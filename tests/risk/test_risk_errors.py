"""What uPU and nnPU refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from helpers import refused
from oracles.nnpu import Risk
from risk_cases import FITS, pu_rows, quiet, train

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    X, y, _ = pu_rows(30, 3)
    return X, y


def test_options_of_the_basis_without_it(data):
    for name, value in (("centers", np.ones((2, 3))), ("bandwidth", 1.0)):
        for model in ("linear", "mlp"):
            words = f"{name} is for model='gauss', got it with model='{model}'"
            refused(ValueError, words, fastpu.fit_nnpu, *data, prior=0.5, model=model, **{name: value})


def test_what_adam_trains_is_sent_to_fit_nnpu(data):
    for name, value, words in (
        ("model", "mlp", "model must be one of 'linear', 'gauss' (fit_nnpu trains others), got 'mlp'"),
        ("loss", "sigmoid", "loss must be one of 'logistic', 'squared' (fit_nnpu trains others), got 'sigmoid'"),
    ):
        refused(ValueError, words, fastpu.fit_upu, *data, prior=0.5, **{name: value})


def test_bad_evaluation_sets(data):
    X, y = data
    fit = FITS["nnpu_mlp"]
    refused(TypeError, "eval_set must be one pair (X, y), got a list of 2 pairs", fit, X, y, eval_set=[(X, y), (X, y)])
    words = "y of eval_set must have at least one unlabelled row (0) for fit_nnpu"
    refused(ValueError, words, fit, X, y, eval_set=(X, np.ones(30)))
    words = "X of eval_set must hold numbers within the range of float32, the dtype of X"
    refused(ValueError, words, fit, X.astype(np.float32), y, eval_set=(np.where(X > 0, 1e60, X), y))


def test_numbers_that_overflow_on_the_way_are_refused(data):
    X, y = data
    words = "X, learning_rate and lam must be such that"
    for options in ({"loss": "squared", "learning_rate": 1e200}, {"loss": "logistic", "learning_rate": 1e308}):
        for model in ("linear", "mlp"):
            more = {"model": model, "n_hidden": 5, "random_state": 0, "n_epochs": 20, "prior": 0.5}
            refused(ValueError, words, fastpu.fit_nnpu, X, y, **options, **more)
    words = "must be such that scores do not overflow, the risk of epoch 2 is nan"  # not -nan, as of 0 * -inf
    refused(ValueError, words, fastpu.fit_nnpu, X, y, learning_rate=1e308, prior=0.3, random_state=0)
    words = "a size whose square float64 can hold, because the default of lam is proportional to it, got the size 1"
    for function in (fastpu.fit_nnpu, fastpu.fit_upu):
        for scale in (1e200, 1e-200):  # the default lam has the size of the squares
            refused(ValueError, words, function, X * scale, y, prior=0.3)


def test_memory_that_cannot_be_had_is_refused_before_any_work():
    """Hidden values of all rows at once, for a million of hidden units."""
    n = 2**20
    rows = sp.csr_array((n, 1))
    labels = np.zeros(n, dtype=np.int8)
    labels[0] = 1
    with pytest.raises(MemoryError, match=r"cannot allocate \d+ bytes for hidden values"):
        fastpu.fit_nnpu(rows, labels, prior=0.5, model="mlp", n_hidden=10**6, random_state=0)


def net(d: int = 3, h: int = 2) -> dict:
    size = h or d
    return {"hidden_coef": np.zeros((d, h)), "hidden_intercept": np.zeros(h), "coef": np.zeros(size), "intercept": 0.0}


def test_the_core_refuses_arrays_that_do_not_fit(data):
    X, y = data
    labels, risk = y.astype(np.int8), Risk()
    refused(ValueError, "features", train, X, labels, net(4), risk)
    refused(ValueError, "sizes of a net", train, X, labels, {**net(), "coef": np.zeros(3)}, risk)
    refused(ValueError, "labels", train, X, labels - 1, net(), risk)
    refused(ValueError, "positive and unlabelled", train, X, labels * 0, net(), risk)
    refused(ValueError, "weights", train, X, labels, net(), risk, weights=np.zeros(30))
    refused(TypeError, "coef", train, X.astype(np.float32), labels, net(), risk)
    refused(ValueError, "features", _core.nnpu_scores, X[:, :2].copy(), _core.Net(**net()), n_threads=1)
    words = "x and x of eval_rows must have one form and type"
    refused(TypeError, words, train, X, labels, net(), risk, eval_rows=(X.astype(np.float32), labels, None))


def test_arrays_of_several_dtypes_are_refused_when_a_network_is_made_or_loaded(data):
    X, y = data
    model = fastpu.fit_nnpu(X, y, prior=0.5, model="mlp", n_hidden=3, n_epochs=1, random_state=0)
    text = "hidden_coef, hidden_intercept and coef must have one dtype"
    refused(ValueError, text, replace, model, coef=model.coef.astype(np.float32))
