"""What uPU and nnPU refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

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


SHARED = [
    ({"prior": 0}, ValueError, "prior must be a number in (0, 1), got 0"),
    ({"prior": 1.0}, ValueError, "prior must be a number in (0, 1), got 1"),
    ({"prior": np.nan}, ValueError, "prior must be a number in (0, 1), got nan"),
    ({"prior": None}, TypeError, "prior must be a number in (0, 1), got None"),
    ({"scenario": "other"}, ValueError, "scenario must be one of 'case_control', 'single_set', got 'other'"),
    ({"prior": 0.001, "scenario": "single_set"}, ValueError, "prior must be at least"),
    ({"lam": -1.0}, ValueError, "lam must be a finite number >= 0, got -1"),
    ({"lam": np.inf}, ValueError, "lam must be a finite number >= 0, got inf"),
    ({"lam": [1.0]}, TypeError, "lam must be a finite number >= 0, got [1.0]"),
    ({"loss": "hinge"}, ValueError, "loss must be one of 'sigmoid', 'logistic', 'squared', got 'hinge'"),
    ({"loss": None}, TypeError, "loss must be one of 'sigmoid', 'logistic', 'squared', got None"),
    ({"model": "cnn"}, ValueError, "model must be one of 'linear', 'gauss', 'mlp', got 'cnn'"),
    ({"n_hidden": 0}, ValueError, "n_hidden must be an integer in [1, 1000000], got 0"),
    ({"n_centers": 0}, ValueError, "n_centers must be an integer >= 1, got 0"),
    ({"learning_rate": 0}, ValueError, "learning_rate must be a finite number > 0, got 0"),
    ({"weight_decay": -0.1}, ValueError, "weight_decay must be a finite number >= 0, got -0.1"),
    ({"batch_size": 0}, ValueError, "batch_size must be an integer >= 1, got 0"),
    ({"batch_size": 2.0}, TypeError, "batch_size must be an integer >= 1, got 2.0"),
    ({"n_epochs": 0}, ValueError, "n_epochs must be an integer >= 1, got 0"),
    ({"early_stopping_rounds": 0, "eval_set": ([[0.0]], [1])}, ValueError, "early_stopping_rounds must be an integer"),
    ({"early_stopping_rounds": "never"}, ValueError, "early_stopping_rounds must be one of 'auto', got 'never'"),
    ({"batch_size": "small"}, ValueError, "batch_size must be one of 'auto', got 'small'"),
    ({"validation_fraction": 0}, ValueError, "validation_fraction must be a number in (0, 1), got 0"),
    ({"validation_fraction": 1.0}, ValueError, "validation_fraction must be a number in (0, 1), got 1"),
    ({"random_state": -1}, ValueError, "random_state must be an integer >= 0, got -1"),
    ({"random_state": "seed"}, TypeError, "random_state must be None, an integer >= 0"),
    ({"n_threads": 0}, ValueError, "n_threads must be an integer >= 1, got 0"),
    ({"callback": 3}, TypeError, "callback must be callable or None, got 3"),
    ({"progress": 1}, TypeError, "progress must be True or False, got 1"),
    ({"sample_weight": 2.0}, TypeError, "sample_weight must have one entry per row (30), got the scalar 2.0"),
    ({"sample_weight": np.ones(29)}, ValueError, "sample_weight must have one entry per row (30), got 29"),
    ({"sample_weight": -np.ones(30)}, ValueError, "sample_weight must be >= 0, got -1.0 at position 0"),
]


@pytest.mark.parametrize(("options", "error", "words"), SHARED)
@each_fit
def test_bad_options(fit, options, error, words, data):
    refused(error, words, fit, *data, **options)


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
def test_bad_rows(fit, data):
    X, y = data
    hole = X.copy()
    hole[4, 1] = np.nan
    refused(ValueError, "X must not hold NaN or infinite entries, got nan at row 4, column 1", fit, hole, y)
    hole[4, 1] = np.inf
    words = "X must not hold NaN or infinite entries, got inf at row 4, column 1"
    refused(ValueError, words, fit, sp.csr_array(hole), y)
    refused(ValueError, "X must be two-dimensional", fit, X[:, 0], y)
    refused(ValueError, "X must have at least 1 row(s), got shape (0, 3)", fit, X[:0], y[:0])
    refused(TypeError, "X must hold real numbers", fit, X.astype(complex), y)
    binned = fastpu.bin_features(X)
    refused(TypeError, f"X must be the rows themselves for {fit.function.__name__}, got BinnedFeatures", fit, binned, y)
    refused(ValueError, "y must have one entry per row of the data (30), got 29", fit, X, y[:-1])


@each_fit
def test_labels_that_are_not_those_of_pu_learning(fit, data):
    X, y = data
    name = fit.function.__name__
    message = refused(ValueError, "y holds -1 and no 0, which is ambiguous", fit, X, np.where(y == 1, 1, -1))
    assert "as_labels(y, unlabeled=-1)" in message
    mixed = np.where(np.arange(30) < 5, -1, y)
    refused(ValueError, f"must hold +1 (positive) and 0 (unlabelled) for {name}, which takes no", fit, X, mixed)
    refused(ValueError, f"y must have at least one unlabelled row (0) for {name}, got none", fit, X, np.ones(30))
    refused(ValueError, f"y must have at least one positive row (+1) for {name}, got none", fit, X, np.zeros(30))


@each_fit
def test_weight_zero_may_not_empty_a_group(fit, data):
    X, y = data
    words = f"y must have positive and unlabelled rows with a cost or weight that is not 0 for {fit.function.__name__}"
    refused(ValueError, words, fit, X, y, sample_weight=np.where(y == 1, 0.0, 1.0))


def test_numbers_that_overflow_on_the_way_are_refused(data):
    X, y = data
    for options in ({"loss": "squared"}, {"loss": "logistic", "learning_rate": 1e308}):
        for model in ("linear", "mlp"):
            more = {"model": model, "n_hidden": 5, "random_state": 0, "n_epochs": 20, "prior": 0.5}
            words = "X, learning_rate, lam and weight_decay must be such that"
            refused(ValueError, words, fastpu.fit_nnpu, X * 1e200, y, **options, **more)
    words = "must be such that scores do not overflow, the risk of epoch 2 is nan"  # not -nan, as of 0 * -inf
    refused(ValueError, words, fastpu.fit_nnpu, X * 1e300, y, learning_rate=1e150, prior=0.3, random_state=0)


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


RISK = {"loss": "sigmoid", "prior": 0.5, "non_negative": True, "beta": 0.0, "gamma_nn": 1.0}
TRAINING = {"lam": 0.0, "weight_decay": 0.0, "learning_rate": 0.1, "n_epochs": 2, "batch_size": 0, "seed": 0,
            "early_stopping_rounds": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("risk", "prior", 1.5),
        ("risk", "beta", -1.0),
        ("risk", "gamma_nn", 2.0),
        ("risk", "loss", "hinge"),
        ("training", "lam", -1.0),
        ("training", "weight_decay", np.inf),
        ("training", "learning_rate", 0.0),
        ("training", "n_epochs", 0),
        ("training", "batch_size", -1),
        ("training", "early_stopping_rounds", -1),
    ],
)
def test_the_core_refuses_options_out_of_range(part, name, value, data):
    X, y = data
    given = {"risk": dict(RISK), "training": dict(TRAINING)}
    given[part][name] = value
    rest = {"eval_x": None, "eval_labels": None, "callback": None, "n_threads": 1, "isa": ""}
    refused(ValueError, name, _core.fit_nnpu, X, y.astype(np.int8), None, net(), **given, **rest)


def test_the_core_refuses_arrays_that_do_not_fit(data):
    X, y = data
    labels = y.astype(np.int8)
    rest = {"risk": RISK, "training": TRAINING, "eval_x": None, "eval_labels": None, "callback": None}
    rest |= {"n_threads": 1, "isa": ""}
    refused(ValueError, "features", _core.fit_nnpu, X, labels, None, net(4), **rest)
    refused(ValueError, "sizes of a net", _core.fit_nnpu, X, labels, None, {**net(), "coef": np.zeros(3)}, **rest)
    refused(ValueError, "labels", _core.fit_nnpu, X, labels - 1, None, net(), **rest)
    refused(ValueError, "positive and unlabelled", _core.fit_nnpu, X, labels * 0, None, net(), **rest)
    refused(ValueError, "weights", _core.fit_nnpu, X, labels, np.zeros(30), net(), **rest)
    refused(TypeError, "coef", _core.fit_nnpu, X.astype(np.float32), labels, None, net(), **rest)
    refused(ValueError, "features", _core.nnpu_scores, X[:, :2].copy(), net(), n_threads=1, isa="")
    evaluated = {"eval_x": X.astype(np.float32), "eval_labels": labels, "callback": None, "n_threads": 1, "isa": ""}
    words = "x and eval_x must have one form and type"
    refused(TypeError, words, _core.fit_nnpu, X, labels, None, net(), risk=RISK, training=TRAINING, **evaluated)
