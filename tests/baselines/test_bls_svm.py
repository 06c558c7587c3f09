"""The biased least-squares SVM: GLLC without neighbours."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from pual_cases import each_kernel, pu_rows, quiet

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    return pu_rows()


@each_kernel
def test_it_is_gllc_without_neighbours(kernel, data):
    X, y = data
    model = fastpu.baselines.fit_bls_svm(X, y, **kernel)
    other = fastpu.fit_gllc(X, y, n_neighbors=0, **kernel)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


def test_a_warning_names_its_own_parameters_alone():
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="C_pos = 1, C_unl = 0.1, lam = 1e[+]06: the model calls all"
    ):
        fastpu.baselines.fit_bls_svm([[1.0], [3.0], [2.0]], [0, 1, 1], lam=1e6)
