"""Checked positives are compared with labelled ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fastpu import audit
from fastpu.audit._scar import _Pool


def made(rng, *, shift=0.0, goal="count", n_labeled=300):
    """Return a plan with its answers, and scores of labelled positives that are `shift` larger than the others'."""
    truth = rng.permutation(np.arange(5000) < 1000)
    scores = rng.normal(size=5000) + 1.5 * truth
    plan = audit.plan(scores, 150, goal=goal, k=800, random_state=rng)
    return plan, truth[plan.rows], rng.normal(size=n_labeled) + 1.5 + shift


@pytest.mark.parametrize("goal", ["count", "precision", "find"])
def test_p_values_hold_their_level_where_labels_are_at_random(goal):
    rng = np.random.default_rng(0)
    p = [audit.is_scar(*made(rng, goal=goal), n_permutations=59, random_state=rng).p_value for _ in range(60)]
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / 60)
    assert 0.35 < np.mean(p) < 0.75  # it is careful where a stratum is mostly positive, as above k


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_labels_that_depend_on_the_score_are_found(shift):
    rng = np.random.default_rng(1)
    found = [audit.is_scar(*made(rng, shift=shift), random_state=rng) for _ in range(5)]
    assert max(one.p_value for one in found) < 0.02
    for one in found:
        assert np.sign(one.difference) == np.sign(shift) == np.sign(one.recall_error.value)
        assert one.k == 800
        assert (one.factor > 1) == (shift > 0)
        assert one.recall_error.interval[0] < one.recall_error.value < one.recall_error.interval[1]


def test_draws_have_odds_in_proportion_to_probabilities():
    stratum, chance = np.array([0, 0, 1, 1, 1]), np.array([0.5, 0.1])
    pool = _Pool(np.arange(5.0), stratum, chance)
    draws = pool.draws(2, 6000, np.random.default_rng(0))
    sets = list(combinations(range(5), 2))
    wanted = np.array([np.prod(chance[stratum[list(rows)]]) for rows in sets])
    times = np.array([sum(set(draw.tolist()) == set(rows) for draw in draws) for rows in sets])
    assert np.all(np.abs(times / 6000 - wanted / wanted.sum()) < 0.025)


def test_the_difference_is_that_of_weighted_shares():
    pool = _Pool(np.array([3.0, 1.0, 2.0, 1.0]), np.array([0, 1, 0, 1]), np.array([1.0, 0.25]))
    # Checked: 3 with weight 1 and 1 with weight 4; labelled: 2 and 1.
    difference, cut = pool.furthest(np.array([0, 1]))
    assert (difference, cut) == (pytest.approx(0.5 - 0.2), 2.0)


def test_the_interval_of_the_recall_error_holds_the_truth():
    rng, held = np.random.default_rng(3), 0
    for _ in range(60):
        found = audit.is_scar(*made(rng), n_permutations=1, random_state=rng)
        low, high = found.recall_error.interval
        held += low <= 0 <= high  # labels are at random
    assert held / 60 > 0.8


@pytest.mark.parametrize("digits", [0, 1])
def test_labelled_rows_of_the_score_at_k_count_in_part(digits):
    rng, errors, p = np.random.default_rng(0), [], []
    for _ in range(40):
        truth = rng.permutation(np.arange(5000) < 1000)
        scores = np.round(rng.normal(size=5000) + 1.5 * truth, digits)
        plan = audit.plan(scores, 150, k=800, random_state=rng)
        labeled = np.round(rng.normal(size=300) + 1.5, digits)  # at random
        found = audit.is_scar(plan, truth[plan.rows], labeled, n_permutations=59, random_state=rng)
        errors.append(found.recall_error.value)
        p.append(found.p_value)
    assert abs(np.mean(errors)) < 0.03
    assert np.mean(p) > 0.35


def test_wrong_input_is_refused():
    plan, answers, labeled = made(np.random.default_rng(0))
    with pytest.raises(ValueError, match="answers must have at least 5 positive ones, got 0"):
        audit.is_scar(plan, np.zeros(150), labeled)
    with pytest.raises(ValueError, match="scores_of_labelled must hold a number for at least one"):
        audit.is_scar(plan, answers, [np.nan])
    with pytest.raises(ValueError, match="n_permutations must be an integer in"):
        audit.is_scar(plan, answers, labeled, n_permutations=0)
    with pytest.raises(TypeError, match="plan must be"):
        audit.is_scar(None, answers, labeled)
    narrow, few, _ = made(np.random.default_rng(0), goal="precision")
    with pytest.raises(ValueError, match="scores_of_labelled must hold scores of strata in which rows were checked"):
        audit.is_scar(narrow, few, [-9.0])


def customers(rng, *, shift=0.0, n=300):
    """As `made`, with ten rows of each customer, which score nearly the same; 20 customers are labelled."""
    positive = np.arange(n) < n // 5
    centre = rng.normal(size=n) + 1.5 * positive
    truth, group = np.repeat(positive, 10), np.repeat(np.arange(n), 10)
    plan = audit.plan(np.repeat(centre, 10) + 0.1 * rng.normal(size=truth.size), 200, k=500, random_state=rng)
    of_labeled = np.repeat(rng.normal(size=20) + 1.5 + shift, 10) + 0.1 * rng.normal(size=200)
    return (plan, truth[plan.rows], of_labeled), {"groups": group, "groups_of_labelled": np.repeat(np.arange(20), 10)}


def test_rows_of_a_customer_are_no_evidence_of_their_own():
    rng = np.random.default_rng(4)
    by_rows, by_groups = [], []
    for _ in range(40):
        arguments, groups = customers(rng)
        how = {"n_permutations": 59, "random_state": rng}
        plain, grouped = audit.is_scar(*arguments, **how), audit.is_scar(*arguments, **groups, **how)
        assert grouped.difference == plain.difference
        assert np.ptp(grouped.recall_error.interval) > np.ptp(plain.recall_error.interval)
        by_rows.append(plain.p_value)
        by_groups.append(grouped.p_value)
    assert np.mean(np.array(by_rows) <= 0.1) > 0.3
    assert np.mean(np.array(by_groups) <= 0.1) <= 0.15


def test_labels_that_depend_on_the_score_are_found_among_customers():
    rng = np.random.default_rng(5)
    found = [customers(rng, shift=1.5) for _ in range(5)]
    p_values = [audit.is_scar(*arguments, **groups, random_state=rng).p_value for arguments, groups in found]
    assert np.median(p_values) < 0.05


def test_groups_of_single_rows_are_rows():
    rng = np.random.default_rng(6)
    plan, answers, of_labeled = made(rng)
    plain = audit.is_scar(plan, answers, of_labeled, random_state=0)
    single = audit.is_scar(plan, answers, of_labeled, groups=range(5000), groups_of_labelled=range(300), random_state=0)
    assert single.recall_error == plain.recall_error
    assert single.p_value == pytest.approx(plain.p_value, abs=0.1)


def test_groups_of_one_kind_alone_are_refused():
    plan, answers, of_labeled = made(np.random.default_rng(0))
    with pytest.raises(TypeError, match="must be passed together, got None for groups_of_labelled"):
        audit.is_scar(plan, answers, of_labeled, groups=np.arange(5000))
    with pytest.raises(ValueError, match=r"groups_of_labelled must have one entry per row \(300\), got 2"):
        audit.is_scar(plan, answers, of_labeled, groups=np.arange(5000), groups_of_labelled=[1, 2])
