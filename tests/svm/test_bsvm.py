"""Biased SVM: positive against unlabelled rows with two costs."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from machine_cases import each_form, each_kernel, two_groups
from method_recipes import model_bits


@pytest.fixture(scope="module")
def data():
    """Rows of two groups, true labels, and PU labels: every other positive is hidden."""
    X, truth = two_groups(80, 4, apart=2.0)
    y = np.where((truth == 1) & (np.arange(80) % 4 == 0), 1, 0)
    return X, truth, y


@each_form
@each_kernel
def test_it_is_the_svm_of_positive_against_unlabelled_rows_with_a_cost_for_each(kernel, form, data):
    X, _, y = data
    rows = form(X)
    model = fastpu.fit_bsvm(rows, y, C_pos=2.0, C_unl=0.5, **kernel)
    supervised = fastpu.baselines.fit_svm(
        rows, np.where(y == 1, 1, -1), sample_cost=np.where(y == 1, 2.0, 0.5), **kernel
    )
    assert model_bits(model, rows) == model_bits(supervised, rows)


def test_costs_multiply(data):
    X, _, y = data
    model = fastpu.fit_bsvm(X, y, C=4.0, C_pos=0.5, C_unl=0.25)
    same = fastpu.fit_bsvm(X, y, C_pos=2.0, C_unl=1.0)
    assert model_bits(model, X) == model_bits(same, X)
    assert (same.params["C"], same.params["C_pos"], same.params["C_unl"]) == (1.0, 2.0, 1.0)
    assert same.params["method"] == "fit_bsvm"
    assert same.kernel == "linear"
