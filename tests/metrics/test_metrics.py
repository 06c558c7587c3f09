"""Criteria equal their definitions over all pairs, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu.metrics import auc, average_precision, pn_risk, pu_auc, pu_risk, recall_at_k, un_risk
from helpers import rows_of

SCORES = st.sampled_from([-np.inf, -2.0, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 3.0, np.inf])
GROUP = st.lists(SCORES, min_size=1, max_size=12)


def pairs(a, b):
    """Share of the pairs with a above b, ties one half: every pair looked at."""
    won = sum(Fraction(1) if x > y else Fraction(1, 2) if x == y else 0 for x in a for y in b)
    return float(Fraction(won) / (len(a) * len(b)))


@given(GROUP, GROUP)
def test_everything_equals_its_definition(a, b):
    y = [1] * len(a) + [-1] * len(b)
    assert auc(y, a + b) == pairs(a, b)
    third = [2.0, 5.0]  # rows of the group that has no part in it
    for risk, groups in ((pn_risk, (1, -1, 0)), (pu_risk, (1, 0, -1)), (un_risk, (0, -1, 1))):
        labels = np.repeat(groups, [len(a), len(b), len(third)])
        assert risk(labels, a + b + third) == pairs(b, a)
        turned = np.repeat(groups, [len(b), len(a), len(third)])
        assert risk(labels, a + b + third) + risk(turned, b + a + third) == pytest.approx(1, abs=1e-15)


@given(GROUP, GROUP, st.data())
def test_weights_equal_repetition(a, b, data):
    n = len(a) + len(b)
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    y, score = np.array([1] * len(a) + [0] * len(b)), np.array(a + b)
    if weights[y == 1].sum() == 0 or weights[y == 0].sum() == 0:
        return
    expected = auc(np.repeat(y, weights), np.repeat(score, weights))
    assert auc(y, score, sample_weight=weights) == pytest.approx(expected, abs=1e-15)
    assert auc(y, score, sample_weight=weights * 2.0**-1030) == pytest.approx(expected, abs=1e-15)
    assert auc(y, score, sample_weight=weights * 1e306) == pytest.approx(expected, abs=1e-15)


def test_risks_of_unlabelled_rows_follow_from_that_of_the_labelled(rng):
    """R_PU = theta_n R_PN + theta_p / 2 and R_UN = theta_p R_PN + theta_n / 2, exactly if U is P and N."""
    pos, neg = np.round(rng.normal(1, 1, 30), 1), np.round(rng.normal(0, 1, 50), 1)
    unl = np.concatenate([pos, neg])
    theta = 30 / 80
    pn = pn_risk(*rows_of(pos, (), neg))
    assert pn == pytest.approx(1 - auc([1] * 30 + [-1] * 50, unl), abs=1e-15)
    assert pu_risk(*rows_of(pos, unl)) == pytest.approx((1 - theta) * pn + theta / 2, abs=1e-15)
    assert un_risk(*rows_of((), unl, neg)) == pytest.approx(theta * pn + (1 - theta) / 2, abs=1e-15)


def test_large_inputs_do_not_make_pairs():
    n = 200_000
    score = np.arange(2 * n, dtype=float)
    y = np.arange(2 * n) % 2
    # Positive 2i+1 beats the negatives 0, 2, ..., 2i.
    assert auc(y, score) == (n * (n + 1) // 2) / (n * n)


def test_integers_that_float64_does_not_have_are_told_apart(rng):
    small = rng.integers(0, 7, 60)
    for dtype, base in ((np.int64, 2**53), (np.int64, -(2**53) - 10), (np.uint64, 2**63)):
        score = np.array([base + int(k) for k in small], dtype)
        y, weight = np.arange(60) % 3 == 0, rng.random(60)
        assert auc(y, score) == auc(y, score.tolist()) == auc(y, pd.Series(score)) == auc(y, small)
        assert auc(y, score, sample_weight=weight) == auc(y, small, sample_weight=weight)
        sides = np.where(y, 1, -1)
        assert pn_risk(sides, score) == pn_risk(sides, small)
    assert auc([1, 0], [2**53 + 1, 2**53]) == 1.0
    assert auc([1, 0], np.array([2.0**53, np.inf])) == 0.0
    two, one = [1, 1, 0, 0], [1, 0, 0]
    large, plain = [2**53 + 1, 2**53, 2**53, 0], [2, 1, 1, 0]
    assert pu_auc(two, large, prior=0.1) == pu_auc(two, plain, prior=0.1)
    assert recall_at_k(two, large, k=1) == recall_at_k(two, plain, k=1) == 1.0
    assert recall_at_k(one, [2**53, 2**53 + 1, 0], k=1) == 0.0
    assert average_precision(one, [2**53, 2**53 + 1, 0], 0.1) == average_precision(one, [1, 2, 0], 0.1) == 0.2
