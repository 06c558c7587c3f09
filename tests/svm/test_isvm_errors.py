"""What ISVM, IPSI and BPSI refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from isvm_cases import FITS, each_fit, pu_rows


@pytest.fixture(scope="module")
def data():
    X, y, _ = pu_rows(30, 3, seed=2)
    return X, y


def test_bad_options_of_their_own(data):
    refused(
        TypeError, "C must be a finite number > 0, got None", fastpu.baselines.fit_bpsi, *data, C=None, C_pos=1, C_unl=1
    )
    refused(ValueError, "init must be one of 'hinge', 'psi', 'isvm', got 'svm'", fastpu.fit_ipsi, *data, init="svm")
    refused(TypeError, "init must be one of 'hinge', 'psi', 'isvm', got 1", fastpu.fit_ipsi, *data, init=1)
    with pytest.raises(TypeError, match="init"):
        fastpu.fit_isvm(*data, init="hinge")
    for name in ("C_pos", "C_unl"):
        costs = {"C_pos": 1.0, "C_unl": 1.0, name: 0.0}
        refused(ValueError, f"{name} must be a finite number > 0, got 0", fastpu.baselines.fit_bpsi, *data, **costs)


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
