"""What SMC and SVMC refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from helpers import refused
from mapping_cases import each_fit, groups


@pytest.fixture(scope="module")
def data():
    X, y, _ = groups(0, n=60, k=4)
    return X, y


@each_fit
def test_a_hold_out_needs_two_positives(fit, data):
    X, _ = data
    y = np.where(np.arange(60) == 7, 1, 0)
    words = "y must have at least 2 positive rows for hold_out = 0.2, got 1"
    refused(ValueError, words, fit, X, y, max_pos_reject=0.1)
    refused(ValueError, words, fit, X, y, hold_out=0.2)


@each_fit
def test_few_rows_are_enough(fit):
    """One positive and one unlabelled row, which has nowhere to go."""
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        model = fit([[0.0], [1.0]], [1, 0], C=100, gamma=1.0)
    assert model.unlabeled_set.tolist() == [-1]
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        model = fit(np.ones((5, 3)), [1, 1, 0, 0, 0])
    assert np.isfinite(model.decision_function(np.ones((1, 3)))).all()
