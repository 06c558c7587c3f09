"""What ISVM, IPSI and BPSI refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from isvm_cases import FITS, each_fit, each_iteration, pu_rows


@pytest.fixture(scope="module")
def data():
    X, y, _ = pu_rows(30, 3, seed=2)
    return X, y


SHARED = [
    ({"C": 0}, ValueError, "C must be a finite number > 0, got 0"),
    ({"C": -1.5}, ValueError, "C must be a finite number > 0, got -1.5"),
    ({"C": np.nan}, ValueError, "C must be a finite number > 0, got nan"),
    ({"C": np.inf}, ValueError, "C must be a finite number > 0, got inf"),
    ({"C": "1"}, TypeError, "C must be a finite number > 0, got '1'"),
    ({"C": True}, TypeError, "C must be a finite number > 0, got True"),
    ({"C": []}, ValueError, "C must be a number > 0 or a sequence of at least one of them, got []"),
    ({"C": [1.0, -2.0]}, ValueError, "C[1] must be a finite number > 0, got -2"),
    ({"C": [1.0, "2"]}, TypeError, "C[1] must be a finite number > 0, got '2'"),
    ({"C": [[1.0], [2.0]]}, TypeError, "C[0] must be a finite number > 0, got [1.0]"),
    ({"C": np.ones((2, 2))}, TypeError, "C[0] must be a finite number > 0, got ndarray of shape (2,)"),
    ({"solver": "admm"}, ValueError, "solver must be one of 'auto', 'exact', 'iadmm', got 'admm'"),
    ({"solver": None}, TypeError, "solver must be one of 'auto', 'exact', 'iadmm', got None"),
    ({"solver_tol": 0}, ValueError, "solver_tol must be a number in (0, 1), got 0"),
    ({"solver_tol": 1.0}, ValueError, "solver_tol must be a number in (0, 1), got 1"),
    ({"solver_tol": "small"}, TypeError, "solver_tol must be a number in (0, 1), got 'small'"),
    ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1, got 0"),
    ({"max_iter": 2.5}, TypeError, "max_iter must be an integer >= 1, got 2.5"),
    ({"solver_max_iter": 0}, ValueError, "solver_max_iter must be an integer >= 1, got 0"),
    ({"solver_max_iter": 1e3}, TypeError, "solver_max_iter must be an integer >= 1, got 1000.0"),
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


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tol": -1e-3}, ValueError, "tol must be a finite number >= 0, got -0.001"),
        ({"tol": np.nan}, ValueError, "tol must be a finite number >= 0, got nan"),
        ({"tol": None}, TypeError, "tol must be a finite number >= 0, got None"),
        ({"check_increase": 1}, TypeError, "check_increase must be True or False, got 1"),
        ({"check_increase": "yes"}, TypeError, "check_increase must be True or False, got 'yes'"),
    ],
)
@each_iteration
def test_bad_options_of_algorithm_1(fit, options, error, words, data):
    refused(error, words, fit, *data, **options)


def test_bad_options_of_their_own(data):
    refused(TypeError, "C must be a finite number > 0, got None", fastpu.fit_bpsi, *data, C=None, C_pos=1, C_unl=1)
    refused(ValueError, "init must be one of 'hinge', 'psi', 'isvm', got 'svm'", fastpu.fit_ipsi, *data, init="svm")
    refused(TypeError, "init must be one of 'hinge', 'psi', 'isvm', got 1", fastpu.fit_ipsi, *data, init=1)
    with pytest.raises(TypeError, match="init"):
        fastpu.fit_isvm(*data, init="hinge")
    for name in ("C_pos", "C_unl"):
        costs = {"C_pos": 1.0, "C_unl": 1.0, name: 0.0}
        refused(ValueError, f"{name} must be a finite number > 0, got 0", fastpu.fit_bpsi, *data, **costs)


@each_fit
def test_bad_rows(fit, data):
    X, y = data
    hole = X.copy()
    hole[4, 1] = np.nan
    refused(ValueError, "X must not hold NaN or infinite entries, got nan at row 4, column 1", fit, hole, y)
    hole[4, 1] = np.inf
    refused(
        ValueError, "X must not hold NaN or infinite entries, got inf at row 4, column 1", fit, sp.csr_array(hole), y
    )
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
    words = (
        f"y must have positive and unlabelled rows with a cost or weight that is not 0 for {fit.function.__name__}, "
        f"got 0 positive and {np.sum(y == 0)} unlabelled"
    )
    refused(ValueError, words, fit, X, y, sample_weight=np.where(y == 1, 0.0, 1.0))


@each_fit
def test_rows_whose_squares_overflow_are_refused(fit, data):
    X, y = data
    for form in (np.array, sp.csr_array):
        message = refused(ValueError, "X", fit, form(X * 1e300), y)
        assert "overflow" in message or "too large" in message or "square" in message


@each_fit
def test_costs_beyond_numbers_are_refused(fit, data):
    X, y = data
    refused(ValueError, "C", fit, X, y, C=1e-323)
    for C in (1e102, 1.7e308):
        refused(ValueError, "C", fit, X, y, C=C)
    assert np.isfinite(fit(X, y, C=1e20).coef).all()


def test_arguments_are_checked_before_the_rows_are_looked_at(data):
    """A wrong option is told although y is wrong too."""
    for fit in FITS.values():
        refused(ValueError, "solver must be one of", fit, data[0], [1, 2], solver="fast")
