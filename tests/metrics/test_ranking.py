"""Recall, lift and precision at k, average precision and curves, against definitions and simulated truth."""

from __future__ import annotations

import warnings
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from fastpu.metrics import (
    RankingEstimate,
    average_precision,
    lift_at_k,
    precision_at_k,
    ranking_curve,
    recall_at_k,
)
from helpers import rows_of
from oracles import ranking as oracle

TIED = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)
POS, UNL = [0.9, 0.4, 0.8, 0.2], [0.7, 0.4, 0.3, 0.1, 0.0]


# ---- Against definitions ----


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
@given(pos=TIED, unl=TIED, prior=st.floats(0.01, 0.99), data=st.data())
def test_values_are_those_of_the_definitions_and_do_not_depend_on_the_order_of_rows(pos, unl, prior, data):
    k = data.draw(st.integers(1, len(unl)))
    recall = oracle.recall_at_k(pos, unl, k)
    assert recall_at_k(*rows_of(pos, unl), k) == pytest.approx(recall, abs=1e-14)
    assert lift_at_k(*rows_of(pos, unl), k) == pytest.approx(recall * len(unl) / k, abs=1e-13)
    assert precision_at_k(*rows_of(pos, unl), k, prior=prior) == pytest.approx(
        min(1, prior * recall * len(unl) / k), abs=1e-13
    )
    assert average_precision(*rows_of(pos, unl), prior=prior) == pytest.approx(
        oracle.average_precision(pos, unl, prior)
    )
    turned = (
        recall_at_k(*rows_of(pos[::-1], unl[::-1]), k),
        average_precision(*rows_of(pos[::-1], unl[::-1]), prior=prior),
    )
    assert turned == (recall_at_k(*rows_of(pos, unl), k), average_precision(*rows_of(pos, unl), prior=prior))
    curve = ranking_curve(*rows_of(pos, unl), prior=prior)
    assert curve.n_flagged.tolist() == list(range(1, len(unl) + 1))
    np.testing.assert_array_equal(curve.recall, [recall_at_k(*rows_of(pos, unl), i) for i in curve.n_flagged])
    assert (np.diff(curve.recall) >= 0).all()


def test_random_scores_have_lift_one_and_perfect_ones_the_most_that_is_possible():
    same = np.zeros(7)
    assert [lift_at_k(*rows_of(same, np.zeros(5)), k) for k in (1, 2, 5)] == [1, 1, 1]
    assert average_precision(*rows_of(same, np.zeros(5)), prior=0.3) == pytest.approx(0.3)
    unl = np.repeat([1.0, -1.0], [20, 80])
    assert recall_at_k(*rows_of(same + 1, unl), 20) == 1
    assert lift_at_k(*rows_of(same + 1, unl), 20) == 5
    assert precision_at_k(*rows_of(same + 1, unl), 20, prior=0.2) == 1
    assert average_precision(*rows_of(same + 1, unl), prior=0.2) == 1
    assert recall_at_k(*rows_of([np.inf, -np.inf], [np.inf, 0.0]), 1) == 0.5


def test_average_precision_is_that_of_scikit_learn_where_the_labelled_rows_are_the_hidden_ones():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.3
    score = np.round(truth + rng.normal(size=500), 1)
    expected = metrics.average_precision_score(truth, score)
    assert average_precision(*rows_of(score[truth], score), prior=truth.mean()) == pytest.approx(expected, abs=1e-12)


def test_k_is_a_number_of_rows_or_a_share_of_them():
    rng = np.random.default_rng(1)
    pos, unl = rng.normal(1, 1, 50), rng.normal(size=1000)
    for share, rows in ((0.05, 50), (0.0514, 51), (1e-9, 1), (1.0, 1000), (np.float32(0.25), 250)):
        assert recall_at_k(*rows_of(pos, unl), share) == recall_at_k(*rows_of(pos, unl), rows)
        assert lift_at_k(*rows_of(pos, unl), share) == lift_at_k(*rows_of(pos, unl), np.int64(rows))
    assert recall_at_k(*rows_of(pos, unl), 1) <= recall_at_k(*rows_of(pos, unl), 1.0)


# ---- Estimates and curves ----


def test_what_estimates_and_curves_say_of_themselves():
    estimate = RankingEstimate(2.0, (1.25, 3.5))
    assert repr(estimate) == "RankingEstimate(value=2, interval=(1.25, 3.5))"
    curve = ranking_curve(*rows_of(POS, UNL))
    assert (curve.precision, curve.recall_interval, curve.lift_interval, curve.precision_interval) == (None,) * 4
    assert ranking_curve(*rows_of(POS, UNL), prior=0.4).precision_interval is None
    assert ranking_curve(*rows_of(POS, UNL), n_boot=2).precision_interval is None
    assert repr(curve) == "RankingCurve(5 points up to 5 unlabelled rows)"
    assert repr(ranking_curve(*rows_of(POS, UNL), prior=0.4)).endswith("rows, prior=0.4)")
    curve = ranking_curve(*rows_of(POS, UNL), prior=0.4, n_boot=2)
    np.testing.assert_allclose(curve.lift_interval, curve.recall_interval / curve.share[:, None])
    np.testing.assert_allclose(curve.precision, np.minimum(1, 0.4 * curve.lift))


def test_points_of_a_curve_are_dense_at_the_top_and_end_with_all_rows():
    curve = ranking_curve(*rows_of(np.zeros(3), np.arange(100_000.0)))
    assert curve.n_flagged[:4].tolist() == [1, 2, 3, 4]
    assert curve.n_flagged[-1] == 100_000
    assert 180 <= curve.n_flagged.size <= 200
    assert np.diff(curve.share).max() < 0.011
    short = ranking_curve(*rows_of(np.zeros(3), np.arange(50.0)), n_points=5)
    assert short.n_flagged.tolist() == [1, 26, 50]
    assert ranking_curve(*rows_of(np.zeros(3), np.arange(50.0)), n_points=50).n_flagged.size == 50


# ---- Warnings and errors ----


def test_an_impossible_precision_is_told():
    rng = np.random.default_rng(0)
    unl = np.concatenate([rng.normal(4, 1, 100), rng.normal(size=900)])
    pos = rng.normal(4, 1, 200)
    assert precision_at_k(*rows_of(pos, unl), 50, prior=0.1) > 0.9  # of the right prior nothing is told
    assert average_precision(*rows_of(pos, unl), prior=0.1) > 0.9
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match=r"precision_at_k: with prior=0\.3 the precision of 50 rows would"
    ):
        assert precision_at_k(*rows_of(pos, unl), 50, prior=0.3) == 1
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match="The cut has 100 % of the labelled positives above it, and 5 % of the"
    ):
        assert precision_at_k(*rows_of(pos + 9, unl), 50, prior=0.3) == 1
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match=r"average_precision: with prior=0\.3 the precision of \d+ rows, "
    ):
        assert average_precision(*rows_of(pos, unl), prior=0.3) == pytest.approx(1, abs=0.05)
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match="of 0 rows, where half of the positives are found, would be infini"
    ):
        assert average_precision(*rows_of(np.full(50, 9.0), np.arange(-99, 1.0)), prior=0.3) == 1
    assert precision_at_k(*rows_of([1.0], unl), 50, prior=0.9) <= 1  # one row shows nothing


def test_a_precision_is_impossible_from_three_standard_errors_of_two_shares_on():
    pos, unl = np.repeat([1.0, -1.0], [12, 8]), np.repeat([2.0, -2.0], [6, 94])
    told = []
    for prior in np.linspace(0.05, 0.9, 60):
        found, hidden = 0.6 * 20, 6.0  # of 20 labelled positives and, if all flagged rows are positive, of prior * 100
        pooled = (found + hidden) / (20 + 100 * prior)
        z = (0.6 - 0.06 / prior) / sqrt(max(1e-9, pooled * (1 - pooled)) * (1 / 20 + 1 / (100 * prior)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            precision_at_k(*rows_of(np.where(pos > 0, 3.0, pos), unl), 6, prior=prior)
        assert bool(caught) == (z > 3), prior
        told.append(bool(caught))
    assert 0 < sum(told) < 60
