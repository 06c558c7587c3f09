"""Boosting: groups and weights of the rows, and names of columns that eval sets and stages must share."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import assert_same_stumps, make_problem, to_csr


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


# -- sparse rows -------------------------------------------------------------------------------------------------------


def test_input_flags_of_a_sparse_matrix_stay_as_they_were(data):
    X, y = data
    matrix = to_csr(X)
    matrix.has_sorted_indices = False
    fastpu.fit_pnu_auc_boost(matrix, y, n_rounds=3)
    assert not matrix._has_sorted_indices if hasattr(matrix, "_has_sorted_indices") else True


# -- weights -----------------------------------------------------------------------------------------------------------


def test_a_group_of_weight_zero_is_no_group(data):
    X, y = data
    weights = np.where(y == -1, 0.0, 1.0)
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
        fastpu.fit_pnu_auc_boost(X[y != -1], y[y != -1], n_rounds=8),
    )
    with pytest.raises(ValueError, match=r"y must hold.*positive weight"):
        fastpu.fit_pnu_auc_boost(X, y, sample_weight=np.where(y == 1, 1.0, 0.0))


@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1e20, 1e290])
def test_the_scale_of_the_weights_does_not_matter(factor, data):
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights * factor),
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
    )
