"""What SMC and SVMC refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from mapping_cases import each_fit, groups

BAD_OPTIONS = [
    ({"nu_map": 0.0}, ValueError, "nu_map must be a number in (0, 1], got 0"),
    ({"nu_map": 1.5}, ValueError, "nu_map must be a number in (0, 1], got 1.5"),
    ({"nu_map": np.nan}, ValueError, "nu_map must be a number in (0, 1], got nan"),
    ({"nu_map": "small"}, TypeError, "nu_map must be a number in (0, 1], got 'small'"),
    ({"nu_map": None}, TypeError, "nu_map must be a number in (0, 1], got None"),
    ({"C": 0.0}, ValueError, "C must be a finite number > 0, got 0"),
    ({"C": -1}, ValueError, "C must be a finite number > 0, got -1"),
    ({"C": np.inf}, ValueError, "C must be a finite number > 0, got inf"),
    ({"C": [1.0]}, TypeError, "C must be a finite number > 0, got [1.0]"),
    ({"nu": 0.0}, ValueError, "nu must be a number in (0, 1], got 0"),
    ({"nu": 1.01}, ValueError, "nu must be a number in (0, 1], got 1.01"),
    ({"nu": True}, TypeError, "nu must be a number in (0, 1], got True"),
    ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1, got 0"),
    ({"max_iter": 10.0}, TypeError, "max_iter must be an integer >= 1, got 10.0"),
    ({"max_iter": None}, TypeError, "max_iter must be an integer >= 1, got None"),
    ({"solver_max_iter": 0}, ValueError, "solver_max_iter must be an integer >= 1, got 0"),
    ({"solver_max_iter": "all"}, TypeError, "solver_max_iter must be an integer >= 1, got 'all'"),
    ({"max_pos_reject": 1.0}, ValueError, "max_pos_reject must be a number in [0, 1), got 1"),
    ({"max_pos_reject": -0.1}, ValueError, "max_pos_reject must be a number in [0, 1), got -0.1"),
    ({"max_pos_reject": "5 %"}, TypeError, "max_pos_reject must be a number in [0, 1), got '5 %'"),
    ({"hold_out": 0.0}, ValueError, "hold_out must be a number in (0, 1), got 0"),
    ({"hold_out": 1}, ValueError, "hold_out must be a number in (0, 1), got 1"),
    ({"kernel": "gauss"}, ValueError, "kernel must be one of 'linear'"),
    ({"kernel": 5}, TypeError, "kernel must be one of 'linear'"),
    ({"gamma": -1.0}, ValueError, "gamma must be"),
    ({"gamma": "big"}, ValueError, "gamma must be 'scale', 'auto' or a number > 0, got 'big'"),
    ({"degree": -1}, ValueError, "degree must be an integer"),
    ({"coef0": np.inf}, ValueError, "coef0 must be a finite number, got inf"),
    ({"cache_mb": 0}, ValueError, "cache_mb must be a finite number > 0, got 0"),
    ({"tol": 0.0}, ValueError, "tol must be a finite number > 0, got 0"),
    ({"random_state": -1}, ValueError, "random_state must be an integer >= 0, got -1"),
    ({"random_state": "seed"}, TypeError, "random_state must be None, an integer >= 0"),
    ({"n_threads": 0}, ValueError, "n_threads must be an integer >= 1, got 0"),
    ({"callback": 3}, TypeError, "callback must be callable or None, got 3"),
    ({"callback": lambda info: 3}, TypeError, "callback must return True to stop, False or None, got 3"),
    ({"progress": "yes"}, TypeError, "progress must be True or False, got 'yes'"),
    ({"sample_weight": np.ones(60)}, TypeError, "sample_weight"),
    ({"n_rounds": 5}, TypeError, "n_rounds"),
]


@pytest.fixture(scope="module")
def data():
    X, y, _ = groups(0, n=60, k=4)
    return X, y


@pytest.mark.parametrize(
    ("options", "error", "words"), BAD_OPTIONS, ids=[f"{i}-{next(iter(case[0]))}" for i, case in enumerate(BAD_OPTIONS)]
)
@each_fit
def test_bad_options_are_named(fit, options, error, words, data):
    refused(error, words, fit, *data, **options)


def test_repair_is_true_or_false(data):
    refused(TypeError, "repair must be True or False, got 1", fastpu.fit_svmc, *data, repair=1)
    refused(TypeError, "repair", fastpu.fit_smc, *data, repair=True)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (np.zeros(60), ValueError, "y must have at least one positive row (+1) for {}, got none"),
        (np.ones(60), ValueError, "y must have at least one unlabelled row (0) for {}, got none"),
        (np.repeat([1, 0, -1], 20), ValueError, "takes no labelled negatives, got 20 of them (-1)"),
        (np.repeat([1, -1], 30), ValueError, "y holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass"),
        (np.ones(7), ValueError, "y must have one entry per row of the data (60), got 7"),
        (np.full(60, 2), ValueError, "y"),
        (None, (ValueError, TypeError), "y"),
    ],
)
@pytest.mark.parametrize("name", ["fit_smc", "fit_svmc"])
def test_bad_labels_are_named(name, y, error, words, data):
    refused(error, words.format(name), getattr(fastpu, name), data[0], y)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros(6), ValueError, "X must be two-dimensional"),
        (np.zeros((0, 2)), ValueError, "X must have at least 1 row"),
        (np.zeros((6, 2)) * 1j, TypeError, "X must hold real numbers"),
        (
            [[0.0, 1.0]] * 5 + [[np.nan, 1.0]],
            ValueError,
            "X must not hold NaN or infinite entries, got nan at row 5, co",
        ),
        ([[0.0, 1.0]] * 5 + [[1.0, -np.inf]], ValueError, "got -inf at row 5, column 1"),
        (sp.csr_array([[np.nan, 1.0]] * 6), ValueError, "got nan at row 0, column 0"),
        (np.full((6, 2), None), TypeError, "X must hold real numbers"),
        ([[0.0, 1.0], [1.0]], ValueError, "X"),
    ],
)
@each_fit
def test_bad_matrices_are_named(fit, X, error, words):
    refused(error, words, fit, X, [1, 1, 0, 0, 0, 0])


@each_fit
def test_bins_are_no_rows(fit, data):
    X, y = data
    refused(TypeError, "got BinnedFeatures, which are for boosting only", fit, fastpu.bin_features(X, max_bins=4), y)


@each_fit
def test_bad_precomputed_kernels_are_named(fit, data):
    X, y = data
    refused(ValueError, "X must be square for kernel='precomputed'", fit, X, y, kernel="precomputed")
    refused(TypeError, "X must be dense", fit, sp.csr_array(X @ X.T), y, kernel="precomputed")
    K = X @ X.T
    K[3, 5] += 1.0
    refused(ValueError, "X must be symmetric for kernel='precomputed'", fit, K, y, kernel="precomputed")


@each_fit
def test_a_hold_out_needs_two_positives(fit, data):
    X, _ = data
    y = np.where(np.arange(60) == 7, 1, 0)
    words = "y must have at least 2 positive rows for hold_out = 0.2, got 1"
    refused(ValueError, words, fit, X, y, max_pos_reject=0.1)
    refused(ValueError, words, fit, X, y, hold_out=0.2)


@each_fit
def test_overflowing_kernels_are_named(fit, data):
    X, y = data
    refused(ValueError, "scale X", fit, X * 1e200, y, kernel="poly", gamma=1.0)


@each_fit
def test_bad_rows_are_refused_at_predict(fit, data):
    X, y = data
    ours = fit(X, y, C=100, gamma=1.0)
    users = fit(X, y, psi2=lambda P, N: lambda rows: rows @ (P.mean(axis=0) - N.mean(axis=0)))
    for model in (ours, users):
        for call in (model.decision_function, model.predict, lambda t, m=model: list(m.staged_decision_function(t))):
            refused(ValueError, "X must have 4 features", call, X[:, :3])
            refused(TypeError, "X must hold real numbers", call, X * 1j)
            refused(ValueError, "got nan at row 0", call, X * np.nan)
            refused(ValueError, "X must be two-dimensional", call, X[0])
        refused(ValueError, "n_threads must be", model.staged_decision_function, X, n_threads=0)


@each_fit
def test_few_rows_are_enough(fit):
    """One positive and one unlabelled row, which has nowhere to go."""
    with pytest.warns(fastpu.DegenerateModelWarning):
        model = fit([[0.0], [1.0]], [1, 0], C=100, gamma=1.0)
    assert model.unlabeled_set.tolist() == [-1]
    with pytest.warns(fastpu.DegenerateModelWarning):
        model = fit(np.ones((5, 3)), [1, 1, 0, 0, 0])
    assert np.isfinite(model.decision_function(np.ones((1, 3)))).all()
