"""Recall, lift and precision at k, average precision and curves, against definitions and simulated truth."""

from __future__ import annotations

import warnings
from math import erf, sqrt

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


# ---- Intervals ----


def test_samples_are_those_of_rows_drawn_again():
    """The bootstrap counts rows at places; here the same rows are drawn out of the sorted scores."""
    rng = np.random.default_rng(2)
    pos, unl = np.round(rng.normal(1, 1, 30), 1), np.round(rng.normal(size=80), 1)
    found = lift_at_k(*rows_of(pos, unl), 10, n_boot=20, random_state=3)
    mean = average_precision(*rows_of(pos, unl), prior=0.1, n_boot=20, random_state=3)
    curve = ranking_curve(*rows_of(pos, unl), prior=0.1, n_points=10, n_boot=20, random_state=3)
    generator = np.random.default_rng(3)
    falling = [np.sort(scores)[::-1] for scores in (pos, unl)]
    drawn = [[part[generator.integers(0, part.size, part.size)] for part in falling] for _ in range(20)]
    np.testing.assert_allclose(found.samples, [lift_at_k(*rows_of(p, u), 10) for p, u in drawn], rtol=1e-14)
    np.testing.assert_allclose(mean.samples, [oracle.average_precision(p, u, 0.1) for p, u in drawn], rtol=1e-12)
    assert found.interval == tuple(np.quantile(found.samples, [0.05, 0.95]))
    assert (found.value, float(found)) == (lift_at_k(*rows_of(pos, unl), 10),) * 2
    expected = [[recall_at_k(*rows_of(p, u), int(k)) for k in curve.n_flagged] for p, u in drawn]
    np.testing.assert_allclose(curve.recall_interval, np.quantile(expected, [0.05, 0.95], axis=0).T, rtol=1e-12)
    np.testing.assert_allclose(curve.lift_interval, curve.recall_interval / curve.share[:, None])
    np.testing.assert_allclose(curve.precision_interval, np.minimum(1, 0.1 * curve.lift_interval))
    np.testing.assert_allclose(curve.precision, np.minimum(1, 0.1 * curve.lift))


def test_what_estimates_and_curves_say_of_themselves():
    estimate = RankingEstimate(2.0, (1.25, 3.5), np.zeros(3))
    assert repr(estimate) == "RankingEstimate(value=2, interval=(1.25, 3.5))"
    curve = ranking_curve(*rows_of(POS, UNL))
    assert (curve.precision, curve.recall_interval, curve.lift_interval, curve.precision_interval) == (None,) * 4
    assert ranking_curve(*rows_of(POS, UNL), prior=0.4).precision_interval is None
    assert ranking_curve(*rows_of(POS, UNL), n_boot=2).precision_interval is None
    assert repr(curve) == "RankingCurve(5 points up to 5 unlabelled rows)"
    assert repr(ranking_curve(*rows_of(POS, UNL), prior=0.4)).endswith("rows, prior=0.4)")
    same = [recall_at_k(*rows_of(POS, UNL), 2, n_boot=9, random_state=0).samples.tolist() for _ in range(2)]
    assert same[0] == same[1]


def test_points_of_a_curve_are_dense_at_the_top_and_end_with_all_rows():
    curve = ranking_curve(*rows_of(np.zeros(3), np.arange(100_000.0)))
    assert curve.n_flagged[:4].tolist() == [1, 2, 3, 4]
    assert curve.n_flagged[-1] == 100_000
    assert 180 <= curve.n_flagged.size <= 200
    assert np.diff(curve.share).max() < 0.011
    short = ranking_curve(*rows_of(np.zeros(3), np.arange(50.0)), n_points=5)
    assert short.n_flagged.tolist() == [1, 26, 50]
    assert ranking_curve(*rows_of(np.zeros(3), np.arange(50.0)), n_points=50).n_flagged.size == 50


# ---- Where the truth is known: N(0, 1) of negative rows, N(apart, 1) of positive ones ----


def beyond(cut):
    return 0.5 - 0.5 * erf(cut / sqrt(2))


def average_precision_of_all(apart, prior):
    """The average precision of the whole population."""
    cuts = np.linspace(-8, 8 + apart, 20_001)
    recall = np.array([beyond(cut - apart) for cut in cuts])
    share = prior * recall + (1 - prior) * np.array([beyond(cut) for cut in cuts])
    precision = prior * recall / share
    return float(np.sum((precision[1:] + precision[:-1]) / 2 * -np.diff(recall)))


@pytest.mark.filterwarnings("ignore:average_precision:fastpu.exceptions.EstimateWarning")
@pytest.mark.parametrize(
    ("apart", "prior", "n_pos", "n_unl"),
    [(4, 0.2, 50, 500), (1, 0.05, 20, 300), (0, 0.1, 50, 500), (3, 0.3, 50, 500), (4, 0.05, 20, 300)],
)
def test_intervals_of_average_precision_hold_the_truth_where_few_rows_bias_it(apart, prior, n_pos, n_unl):
    """The middle 90 % of the samples held it in 68, 83, 76, 81 and 88 % of these cases."""
    rng = np.random.default_rng(8)
    truth = average_precision_of_all(apart, prior)
    covered = middle = 0
    for _ in range(120):
        pos, unl = rng.normal(apart, 1, n_pos), rng.normal(size=n_unl) + apart * (rng.random(n_unl) < prior)
        found = average_precision(*rows_of(pos, unl), prior=prior, n_boot=60, random_state=rng)
        ends = np.quantile(found.samples, [0.05, 0.95])
        assert 0 <= found.interval[0] <= ends[0] <= ends[1] <= found.interval[1] <= 1
        covered += found.interval[0] <= truth <= found.interval[1]
        middle += ends[0] <= truth <= ends[1]
    assert middle < covered
    assert covered / 120 >= 0.87


def test_the_interval_of_an_average_precision_is_the_same_for_the_same_seed_and_wide_enough():
    rng = np.random.default_rng(9)
    pos, unl = rng.normal(1, 1, 40), rng.normal(size=300) + (rng.random(300) < 0.2)
    found, again = (average_precision(*rows_of(pos, unl), 0.2, n_boot=50, random_state=4) for _ in range(2))
    assert found.interval == again.interval
    middle, reach = 2 * found.value - found.samples.mean(), 2 * found.samples.std()
    ends = np.quantile(found.samples, [0.05, 0.95])
    assert found.interval == (min(ends[0], middle - reach), max(ends[1], middle + reach))


@pytest.mark.filterwarnings("ignore:average_precision:fastpu.exceptions.EstimateWarning")
def test_the_interval_of_an_average_precision_reaches_1_where_a_perfect_ranking_often_has_so_small_an_estimate():
    rng = np.random.default_rng(51)
    pos, unl = rng.normal(4, 1, 50), rng.normal(size=500) + 4 * (rng.random(500) < 0.2)
    found = average_precision(*rows_of(pos, unl), 0.2, n_boot=50, random_state=4)
    assert 2 * found.value - found.samples.mean() + 2 * found.samples.std() < 0.97
    assert found.interval[1] == 1
    perfect = [average_precision(*rows_of(hidden[:50], np.append(hidden[50:], np.full(500 - n_hidden, -1.0))), 0.2)
               for n_hidden in rng.binomial(500, 0.2, 200) for hidden in [rng.random(50 + n_hidden)]]  # fmt: skip
    assert found.value > np.quantile(perfect, 0.02)


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
        fastpu.exceptions.EstimateWarning, match="100 % of the labelled positives are above the cut, and 5 % of the unl"
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
