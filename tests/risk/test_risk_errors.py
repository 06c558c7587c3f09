"""What uPU and nnPU refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from helpers import refused
from risk_cases import FITS, each_fit, pu_rows, quiet

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    X, y, _ = pu_rows(30, 3)
    return X, y


def test_bad_options_of_their_own(data):
    for name, value, words in (
        ("beta", -1.0, "beta must be a finite number >= 0, got -1"),
        ("gamma_nn", 1.5, "gamma_nn must be a number in [0, 1], got 1.5"),
    ):
        refused(ValueError, words, fastpu.fit_nnpu, *data, prior=0.5, **{name: value})
        with pytest.raises(TypeError, match=name):
            fastpu.fit_upu(*data, prior=0.5, **{name: value})
    refused(ValueError, "tol must be a finite number > 0, got 0", fastpu.fit_upu, *data, prior=0.5, tol=0)
    refused(ValueError, "max_iter must be an integer >= 1, got 0", fastpu.fit_upu, *data, prior=0.5, max_iter=0)
    for name, value in (("centers", np.ones((2, 3))), ("bandwidth", 1.0)):
        for model in ("linear", "mlp"):
            words = f"{name} is for model='gauss', got it with model='{model}'"
            refused(ValueError, words, fastpu.fit_nnpu, *data, prior=0.5, model=model, **{name: value})
    with pytest.raises(TypeError, match="prior"):
        fastpu.fit_upu(*data)


def test_bad_centers_and_bandwidths(data):
    X, y = data

    def fit(**options):
        return fastpu.fit_upu(X, y, prior=0.5, loss="squared", lam=0.1, model="gauss", **options)

    refused(ValueError, "centers must have 3 features (columns) like the training data, got 2", fit, centers=X[:5, :2])
    refused(ValueError, "centers must not hold NaN", fit, centers=[[np.nan, 0.0, 0.0]])
    refused(ValueError, "bandwidth must be a finite number > 0, got 0", fit, bandwidth=0)
    for width in (1e-200, 1e200):
        refused(ValueError, "bandwidth must be such that its square is a number > 0", fit, bandwidth=width)
    refused(ValueError, "bandwidth=None is the median distance", fit, centers=np.full((3, 3), 1e200))
    words = "centers must be numbers of float32, the dtype of X"
    single = X.astype(np.float32)
    refused(ValueError, words, fastpu.fit_upu, single, y, prior=0.5, lam=0.1, model="gauss", centers=[[1e60, 0.0, 0.0]])


def test_newtons_method_takes_no_evaluation_set(data):
    X, y = data
    words = "eval_set is for models that are trained by Adam, got one with loss='logistic' and model='linear'"
    refused(ValueError, words, fastpu.fit_upu, X, y, prior=0.5, lam=0.1, loss="logistic", eval_set=(X, y))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0.1),
        ("weight_decay", 0.0),
        ("batch_size", 10),
        ("batch_size", None),
        ("n_epochs", 5),
        ("validation_fraction", 0.2),
        ("early_stopping_rounds", 3),
        ("early_stopping_rounds", None),
    ],
)
@pytest.mark.parametrize("options", [{"loss": "squared"}, {"model": "gauss"}], ids=["linear", "gauss"])
def test_newtons_method_takes_no_argument_of_training(name, value, options, data):
    words = f"{name} is for models that are trained by Adam, got it with loss="
    refused(ValueError, words, fastpu.fit_upu, *data, prior=0.5, lam=0.1, **options, **{name: value})


@pytest.mark.parametrize(("name", "value"), [("tol", 1e-3), ("max_iter", 7)])
@pytest.mark.parametrize("options", [{"loss": "sigmoid"}, {"model": "mlp"}], ids=["sigmoid", "mlp"])
def test_training_takes_no_argument_of_newtons_method(name, value, options, data):
    X, y = data
    words = f"{name} is for models that are solved by Newton's method, got {value!r} with loss="
    refused(ValueError, words, fastpu.fit_upu, X, y, prior=0.4, **options, **{name: value})


def test_bad_evaluation_sets(data):
    X, y = data
    fit = FITS["nnpu_mlp"]
    refused(TypeError, "eval_set must be one pair (X, y), got ndarray", fit, X, y, eval_set=X)
    refused(ValueError, "X of eval_set must have 3 features", fit, X, y, eval_set=(X[:, :2], y))
    refused(ValueError, "y of eval_set must have one entry per row", fit, X, y, eval_set=(X, y[:-1]))
    words = "y of eval_set must have at least one unlabelled row (0) for fit_nnpu"
    refused(ValueError, words, fit, X, y, eval_set=(X, np.ones(30)))
    words = "X of eval_set must hold numbers of float32, the dtype of X"
    refused(ValueError, words, fit, X.astype(np.float32), y, eval_set=(np.where(X > 0, 1e60, X), y))


@each_fit
def test_weight_zero_may_not_empty_a_group(fit, data):
    X, y = data
    words = f"y must have positive and unlabelled rows with a cost or weight that is not 0 for {fit.function.__name__}"
    refused(ValueError, words, fit, X, y, sample_weight=np.where(y == 1, 0.0, 1.0))


def test_numbers_that_overflow_on_the_way_are_refused(data):
    X, y = data
    words = "X, learning_rate, lam and weight_decay must be such that"
    for options in ({"loss": "squared", "learning_rate": 1e200}, {"loss": "logistic", "learning_rate": 1e308}):
        for model in ("linear", "mlp"):
            more = {"model": model, "n_hidden": 5, "random_state": 0, "n_epochs": 20, "prior": 0.5}
            refused(ValueError, words, fastpu.fit_nnpu, X, y, **options, **more)
    words = "must be such that scores do not overflow, the risk of epoch 2 is nan"  # not -nan, as of 0 * -inf
    refused(ValueError, words, fastpu.fit_nnpu, X, y, learning_rate=1e308, prior=0.3, random_state=0)
    words = "squares of its entries neither overflow nor vanish, got columns of the size 1"
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


OPTIONS = {"loss": "sigmoid", "prior": 0.5, "non_negative": True, "beta": 0.0, "gamma_nn": 1.0, "lam": 0.0,
           "weight_decay": 0.0, "learning_rate": 0.1, "scale": 1.0, "n_epochs": 2, "batch_size": 0, "seed": 0,
           "early_stopping_rounds": 0, "chosen": None, "eval_x": None, "eval_labels": None, "eval_weights": None,
           "callback": None, "n_threads": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prior", 1.5),
        ("beta", -1.0),
        ("gamma_nn", 2.0),
        ("loss", "hinge"),
        ("lam", -1.0),
        ("weight_decay", np.inf),
        ("learning_rate", 0.0),
        ("scale", 0.0),
        ("scale", np.inf),
        ("n_epochs", 0),
        ("batch_size", -1),
        ("early_stopping_rounds", -1),
    ],
)
def test_the_core_refuses_options_out_of_range(name, value, data):
    X, y = data
    refused(ValueError, name, _core.fit_nnpu, X, y.astype(np.int8), None, net(), **{**OPTIONS, name: value})


def test_the_core_refuses_arrays_that_do_not_fit(data):
    X, y = data
    labels = y.astype(np.int8)
    refused(ValueError, "features", _core.fit_nnpu, X, labels, None, net(4), **OPTIONS)
    refused(ValueError, "sizes of a net", _core.fit_nnpu, X, labels, None, {**net(), "coef": np.zeros(3)}, **OPTIONS)
    refused(ValueError, "labels", _core.fit_nnpu, X, labels - 1, None, net(), **OPTIONS)
    refused(ValueError, "positive and unlabelled", _core.fit_nnpu, X, labels * 0, None, net(), **OPTIONS)
    refused(ValueError, "weights", _core.fit_nnpu, X, labels, np.zeros(30), net(), **OPTIONS)
    refused(TypeError, "coef", _core.fit_nnpu, X.astype(np.float32), labels, None, net(), **OPTIONS)
    refused(ValueError, "features", _core.nnpu_scores, X[:, :2].copy(), net(), n_threads=1)
    evaluated = {**OPTIONS, "eval_x": X.astype(np.float32), "eval_labels": labels}
    refused(TypeError, "x and eval_x must have one form and type", _core.fit_nnpu, X, labels, None, net(), **evaluated)


def test_arrays_of_several_dtypes_are_refused_when_a_network_is_made_or_loaded(data):
    X, y = data
    model = fastpu.fit_nnpu(X, y, prior=0.5, model="mlp", n_hidden=3, n_epochs=1, random_state=0)
    text = "hidden_coef, hidden_intercept and coef must have one dtype"
    refused(ValueError, text, replace, model, coef=model.coef.astype(np.float32))
