"""Rows that belong together: intervals count groups, and the values stay those of the rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import beta

from fastpu.exceptions import EstimateWarning
from fastpu.metrics import average_precision, lift_at_k, precision_at_k, pu_auc, ranking_curve, recall_at_k
from helpers import refused
from normal_scores import NEAR, held_by, truth_of

ROWS = 10  # of a group


def customers(rng, n_labelled, n_others, *, prior=0.2, apart=2.0):
    """Labels, scores, the truth and the customer of each row; nine tenths of the variance is between customers."""
    y = np.arange(n_labelled + n_others) < n_labelled
    truth = y | (rng.random(y.size) < prior)
    y, truth, customer = (np.repeat(of, ROWS) for of in (y, truth, np.arange(y.size)))
    shared, own = np.repeat(rng.normal(size=n_labelled + n_others), ROWS), rng.normal(size=y.size)
    return y, apart * truth + np.sqrt(0.9) * shared + np.sqrt(0.1) * own, truth, customer


CALLS = {
    "recall_at_k": lambda y, scores, **how: recall_at_k(y, scores, 60, **how),
    "lift_at_k": lambda y, scores, **how: lift_at_k(y, scores, 60, **how),
    "precision_at_k": lambda y, scores, **how: precision_at_k(y, scores, 60, 0.2, **how),
    "average_precision": lambda y, scores, **how: average_precision(y, scores, 0.2, **how),
    "pu_auc": lambda y, scores, **how: pu_auc(y, scores, prior=0.2, **how),
}


@pytest.mark.parametrize(("above", "n"), [(0, 5), (1, 5), (3, 20), (20, 20)])
def test_intervals_of_the_recall_are_those_of_clopper_and_pearson_for_groups(above, n):
    """All unlabelled rows have one score, and the rows of a group are all above the cut or all below it."""
    y = np.repeat([1, 0], [ROWS * n, 200])
    scores = np.concatenate([np.repeat(np.where(np.arange(n) < above, 1.0, -1.0), ROWS), np.zeros(200)])
    customer = np.arange(y.size) // ROWS
    found = recall_at_k(y, scores, 10, groups=customer, n_boot=10_000, random_state=0)
    low = beta.ppf(0.05, above, n - above + 1) if above else 0.0
    high = beta.ppf(0.95, above + 1, n - above) if above < n else 1.0
    assert found.value == above / n
    assert found.interval == pytest.approx((low, high), abs=NEAR)


@pytest.mark.parametrize("name", CALLS)
def test_groups_of_single_rows_change_nothing_and_larger_ones_the_interval_alone(name):
    y, scores, _, customer = customers(np.random.default_rng(1), 20, 60)
    how = {"n_boot": 200, "random_state": 0}
    plain, single, grouped = (
        CALLS[name](y, scores, groups=groups, **how)
        for groups in (None, np.arange(y.size)[::-1], [f"customer {c}" for c in customer])
    )
    assert plain == single
    assert grouped.value == plain.value == CALLS[name](y, scores, groups=customer)
    assert np.ptp(grouped.interval) > 1.5 * np.ptp(plain.interval)


def test_the_curve_has_the_intervals_of_single_numbers_of_rows():
    y, scores, _, customer = customers(np.random.default_rng(1), 20, 60)
    how = {"groups": customer, "n_boot": 4000}
    curve = ranking_curve(y, scores, prior=0.2, n_points=20, random_state=0, **how)
    point = 12
    k = int(curve.n_flagged[point])
    single = precision_at_k(y, scores, k, 0.2, random_state=1, **how)
    assert curve.precision_interval[point] == pytest.approx(single.interval, abs=0.04)
    lift = lift_at_k(y, scores, k, random_state=1, **how)
    assert curve.lift_interval[point] == pytest.approx(lift.interval, abs=0.1)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")  # of priors that are wide
@pytest.mark.parametrize(("n_labelled", "n_others"), [(5, 200), (20, 200), (60, 200)])
def test_intervals_by_groups_hold_the_truth_where_those_by_rows_do_not(n_labelled, n_others):
    rng = np.random.default_rng(7)
    k = 400
    truth = truth_of(2.0, 0.2, k / (n_others * ROWS))
    held = {}
    for by in ("rows", "groups"):
        found = {"recall": [], "mean": [], "auc": []}
        here = []
        for _ in range(60):
            y, scores, is_positive, customer = customers(rng, n_labelled, n_others)
            how = {"groups": customer if by == "groups" else None, "n_boot": 60, "random_state": rng}
            found["recall"].append(recall_at_k(y, scores, k, **how).interval)
            found["mean"].append(average_precision(y, scores, 0.2, **how).interval)
            try:
                found["auc"].append(pu_auc(y, scores, prior=0.2, **how).interval)
            except ValueError:  # rows seem to exclude an AUC that groups leave possible
                found["auc"].append((1.0, 1.0))
            low, high = precision_at_k(y, scores, k, 0.2, **how).interval
            here.append(low <= is_positive[~y][np.argsort(-scores[~y])[:k]].mean() <= high)
        held[by] = [held_by(intervals, truth[name]) for name, intervals in found.items()] + [np.mean(here)]
    assert min(held["groups"]) >= 0.83, held
    assert np.mean(held["rows"]) < 0.75, held


def test_a_precision_above_1_may_be_chance_where_few_groups_are_labelled():
    """Thirty labelled rows on top of all others are too many by chance; three customers are not."""
    y = np.repeat([1, 0], [30, 300])
    scores = np.concatenate([np.full(30, 2.0), np.linspace(0, 1, 300)])
    with pytest.warns(EstimateWarning, match="precision_at_k: with prior=0.3"):
        precision_at_k(y, scores, 30, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert precision_at_k(y, scores, 30, 0.3, groups=np.arange(330) // ROWS) == 1.0


def test_bad_groups_are_refused():
    y, scores = [1, 1, 0, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    for call in (recall_at_k, lift_at_k):
        refused(ValueError, "groups must have at least two groups with unlabelled rows for an interval, got one", call,
                y, scores, 1, groups=[1, 2, 3, 3, 3], n_boot=1)  # fmt: skip
    refused(
        ValueError, "groups must have one entry per row (5), got 4", pu_auc, y, scores, prior=0.2, groups=[1, 2, 3, 4]
    )
    refused(ValueError, "groups must name the group of every row", average_precision, y, scores, 0.2,
            groups=[1, 2, None, 3, 4])  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_one_group_of_unlabelled_rows_has_a_value_and_no_interval(name):
    y, scores, _, _ = customers(np.random.default_rng(1), 20, 60)
    one = np.where(y, np.arange(y.size), -1)
    assert CALLS[name](y, scores, groups=one) == CALLS[name](y, scores)
    refused(ValueError, "at least two groups with unlabelled rows", CALLS[name], y, scores, groups=one, n_boot=2)
