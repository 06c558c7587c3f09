"""Weights of candidates are those of the slow formulas, and do what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.ensemble._weights import auc_and_covariance, weights_of
from oracles import ensemble as oracle

ROUNDING = 1e-7  # a ridge of 1e-10 keeps the fast formula regular


def scores(n_pos=12, n_other=40, m=4, seed=0):
    rng = np.random.default_rng(seed)
    is_positive = np.arange(n_pos + n_other) < n_pos
    found = rng.normal(size=(1, is_positive.size)) + rng.normal(size=(m, is_positive.size)) + is_positive
    return np.round(found, 1), is_positive  # with ties


@pytest.mark.parametrize("n_pos", [2, 5, 40])
def test_aucs_and_weights_are_those_of_the_oracle(n_pos):
    found, is_positive = scores(n_pos)
    expected = oracle.auc_and_covariance(found[:, is_positive], found[:, ~is_positive])
    auc, covariance = auc_and_covariance(found, is_positive, ~is_positive, None)
    np.testing.assert_allclose(auc, expected[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(covariance, expected[1], rtol=0, atol=1e-14)
    start = np.array([2.0, 1.0, 1.0, 0.2])
    np.testing.assert_allclose(
        weights_of(auc, covariance, n_pos, start), oracle.weights(auc, covariance, n_pos, start), atol=ROUNDING
    )


def test_a_weight_of_a_row_counts_as_repetitions_in_the_auc():
    found, is_positive = scores()
    repeats = np.random.default_rng(1).integers(1, 4, size=is_positive.size)
    auc, _ = auc_and_covariance(found, is_positive, ~is_positive, repeats.astype(float))
    again = np.repeat(is_positive, repeats)
    expected, _ = auc_and_covariance(np.repeat(found, repeats, axis=1), again, ~again, None)
    np.testing.assert_allclose(auc, expected, rtol=0, atol=1e-14)


def test_equal_candidates_keep_the_weights_they_start_with():
    found, is_positive = scores(m=1)
    found = np.repeat(found, 3, axis=0)
    auc, covariance = auc_and_covariance(found, is_positive, ~is_positive, None)
    np.testing.assert_allclose(weights_of(auc, covariance, 12, np.array([2.0, 1.0, 1.0])), [0.5, 0.25, 0.25], atol=1e-9)


def test_more_rows_give_a_better_candidate_more_weight():
    found, is_positive = scores(m=2)
    auc, covariance = auc_and_covariance(found, is_positive, ~is_positive, None)
    better = int(np.argmax(auc))
    weights = [weights_of(auc, covariance / k, 12 * k, np.ones(2))[better] for k in (1, 10, 100)]
    assert 0.5 < weights[0] < weights[1] < weights[2]


def test_a_single_row_of_a_group_leaves_the_weights_as_they_are():
    found, is_positive = scores(n_pos=1)
    auc, covariance = auc_and_covariance(found, is_positive, ~is_positive, None)
    assert np.isfinite(auc).all()
    assert weights_of(auc, covariance, 1, np.array([1.0, 1.0, 2.0, 4.0])).tolist() == [0.125, 0.125, 0.25, 0.5]
