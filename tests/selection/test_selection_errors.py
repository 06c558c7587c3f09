"""What `select` refuses, by its message."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.common._warn import warn
from helpers import refused
from selection_cases import Recorder, pu_data

GRID = {"shift": [0.0, 1.0]}


class Splitter:
    """What splits rows in half, if it is made first."""

    def split(self, X, y):
        rows = np.arange(len(y))
        return [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]


@pytest.fixture(scope="module")
def data():
    return pu_data(40, 12)


CASES = {
    "unknown parameter": ({"grid": {"C": [1]}}, ValueError, "grid names 'C', which Recorder does not take; it takes"),
    "a string": ({"grid": {"kernel": "rbf"}}, TypeError, "grid['kernel'] must be a list of values, got 'rbf'"),
    "twice": ({"shift": 1.0}, ValueError, "shift must be either in grid or an argument, got both"),
    "unknown argument": ({"scorring": "puf"}, ValueError, "an argument of select names 'scorring', which Recorder"),
    "too many folds": ({"cv": 13}, ValueError, "need at least 13 rows of each kind, got 12 positive; pass cv=12 or l"),
    "bytes for folds": ({"cv": b"x"}, TypeError, "cv must be an integer >= 2, a splitter of scikit-learn's kind, or a"),
    "a number in an array": ({"cv": np.array(2)}, TypeError, "got ndarray of shape () and dtype int64"),
    "a class of splitters": ({"cv": Splitter}, TypeError, "pairs of arrays of row numbers, got <class"),
    "masks": ({"cv": [([True], [False])]}, TypeError, "cv must hold arrays of row numbers, got shape (1,) and dtype"),
    "a triple": ({"cv": [([0], [1], [2])]}, TypeError, "cv must hold pairs (training rows, held-out rows), got tuple"),
    "numbers that are no rows": ({"cv": [([0.0], [1])]}, TypeError, "got shape (1,) and dtype float64 in pair 0"),
    "a table of rows": ({"cv": [([0], [1]), ([[0]], [1])]}, TypeError, "got shape (1, 1) and dtype int64 in pair 1"),
    "nothing held out": ({"cv": [([0, 1], np.empty(0, int))]}, TypeError, "got shape (0,) and dtype int64 in pair 0"),
    "before the first row": ({"cv": [([0, -1], [1])]}, ValueError, "row numbers from 0 to 39, got -1 in pair 0"),
    "out of range": ({"cv": [([0, 1], [40])]}, ValueError, "cv must hold row numbers from 0 to 39, got 40 in pair"),
    "no prior": ({"scoring": "err_star"}, ValueError, "prior must be given for scoring='err_star', got None"),
    "idle prior": ({"prior": 0.5}, ValueError, "prior must be None where neither scoring nor fit needs it, got 0.5"),
    "impossible prior": (
        {"scoring": "err_star", "prior": 0.2, "scenario": "single_set"},
        ValueError,
        "prior must be at least 0.3 with scenario='single_set'",
    ),
    "idle k": ({"k": 5}, ValueError, "k must be None unless scoring='lift', got 5 for scoring='puf' (str)"),
    "k of a function": ({"scoring": max, "k": 5}, ValueError, "k must be None unless scoring='lift', got 5 for scor"),
    "k in a fold": ({"scoring": "lift", "k": 8}, ValueError, "k must be at most 7, the number of unlabelled rows in f"),
    "k in a fold of the user's": (
        {"scoring": "lift", "k": 5, "cv": [(np.arange(40), np.arange(40)), (np.arange(40), np.arange(9, 40, 10))]},
        ValueError,
        "k must be at most 3, the number of unlabelled rows in fold 1 of 2, got 5",
    ),
    "k in a validation set": (
        {"scoring": "lift", "k": 3, "validation": (np.zeros((3, 2)), [1, 0, 0])},
        ValueError,
        "k must be at most 2, the number of unlabelled rows in y of validation, got 3",
    ),
    "no row to rank": ({"y": [1] * 40, "scoring": "lift", "k": 1}, ValueError, "(0) for scoring='lift', got 40 pos"),
    "prior of a ranking": ({"scoring": "average_precision"}, ValueError, "prior must be given for scoring='average_pr"),
    "idle prior of a lift": ({"scoring": "lift", "k": 1, "prior": 0.5}, ValueError, "prior must be None where neither"),
    "error in folds": ({"scoring": "error"}, ValueError, "y must hold true labels for scoring='error', got 28 unlab"),
    "no weights": ({"sample_weight": [1.0] * 40}, ValueError, "names 'sample_weight', which Recorder does not take"),
    "no unlabelled row": ({"y": [1] * 40}, ValueError, "y must hold positive rows (+1) and unlabelled ones (0)"),
    "no positive row": ({"y": [0] * 40, "scoring": "auc"}, ValueError, "y must hold positive and other rows for scor"),
    "a fit of nothing": ({"fit": lambda X, y, shift: 3}, TypeError, "fit must return a model with decision_function"),
    "a scoring of text": ({"scoring": lambda model, X, y: "good"}, TypeError, "scoring must return a number, got 'goo"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_arguments(case, data):
    options, error, text = CASES[case]
    call = {"fit": Recorder(), "X": data[0], "y": data[1], "grid": GRID, **options}
    refused(error, text, fastpu.select, call.pop("fit"), call.pop("X"), call.pop("y"), call.pop("grid"), **call)


def test_validation_labels_are_such_as_the_criterion_wants(data):
    X, y, truth = data

    def call(labels, **options):
        return fastpu.select, Recorder(), X, y, GRID, {"validation": (X, labels), **options}

    for labels, options, text in (
        (truth, {}, "y of validation must hold positive rows (+1) and unlabelled ones (0) for scoring='puf'"),
        (truth, {"scoring": "err_star", "prior": 0.4}, "y of validation must hold positive rows (+1) and unlabelled"),
        (truth[:5], {"scoring": "error"}, "y of validation must have one entry per row of the data (40), got 5"),
        (y[:5], {}, "y of validation must have one entry per row of the data (40), got 5"),
        (np.arange(40), {"scoring": "error"}, "y of validation must hold"),
        (np.arange(40) % 3 - 1, {"scoring": "auc"}, "y of validation must hold two kinds of labels"),
        (np.ones(40), {"scoring": "auc"}, "y of validation must have at least one positive and one negative row"),
    ):
        function, fit, rows, codes, grid, keywords = call(labels, **options)
        refused(ValueError, text, function, fit, rows, codes, grid, **keywords)
    function, fit, rows, codes, grid, keywords = call(np.ones(40), scoring="error")
    function(fit, rows, codes, grid, **keywords)  # one kind has an error rate


def test_validation_rows_have_the_features_of_the_training_rows(data):
    X, y, truth = data
    grid = {"C_pos": [1.0], "C_unl": [1.0]}
    refused(ValueError, "X must have 2 features", fastpu.select, fastpu.fit_bsvm, X, y, grid, scoring="error",
            validation=(X[:, :1], truth))  # fmt: skip


def test_a_kernel_matrix_is_not_one_of_several_kernels(data):
    X, y, _ = data
    grid = {"C_pos": [1.0], "C_unl": [1.0], "kernel": ["linear", "precomputed"]}
    refused(ValueError, "kernel='precomputed' must be an argument of its own, not in grid", fastpu.select,
            fastpu.fit_bsvm, X, y, grid)  # fmt: skip


def test_weights_that_a_method_refuses_are_refused(data):
    X, y, _ = data
    refused(TypeError, "sample_weight must be None for fit_bagging_svm", fastpu.select, fastpu.fit_bagging_svm, X, y,
            {"C": [1.0]}, sample_weight=np.ones(40))  # fmt: skip


def test_labels_that_a_method_does_not_take_are_its_own_to_refuse(data):
    X, _, truth = data
    text = refused(ValueError, "no point of grid gave an admissible model: 1 failed of 1", fastpu.select,
                   fastpu.fit_bsvm, X, truth, {"C_pos": [1.0], "C_unl": [1.0]}, scoring="error")  # fmt: skip
    assert "y holds -1 and no 0, which is ambiguous" in text


def test_what_a_fit_of_many_values_returns_is_looked_at_one_by_one(data):
    def fit(X, y, shift):
        warn("alike", fastpu.exceptions.DegenerateModelWarning)
        return ["model"] * len(shift)

    fit.shares = ("shift",)
    text = "fit must return a model with decision_function, got 'model' (str)"
    for admit in ((), ("degenerate",)):
        refused(TypeError, text, fastpu.select, fit, *data[:2], GRID, admit=admit)


def test_a_stop_iteration_of_the_users_comes_out_as_it_is(data):
    error = StopIteration("mine")

    def fail(*args, **options):
        raise error

    for fit, options in ((fail, {}), (Recorder(), {"scoring": fail})):
        with pytest.raises(StopIteration) as raised:
            fastpu.select(fit, *data[:2], GRID, **options)
        assert raised.value is error
