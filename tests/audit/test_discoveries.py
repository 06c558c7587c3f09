"""Lists of rows keep their promise on negatives, and are as long as it allows."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import audit


def slow_longest(plan, answers, fdr):
    """Go through every beginning of the ranking."""
    weight = {int(h): plan.sizes[h] / plan.drawn[h] - 1 for h in np.unique(plan.stratum)}
    best = 0
    for k in range(1, plan.n_rows + 1):
        negatives = [(p, h) for p, h, a in zip(plan.place, plan.stratum, answers, strict=True) if p < k and a != 1]
        reached = [h for h in range(plan.ends.size) if plan.ends[h] - plan.sizes[h] < k]
        largest = max(weight.get(h, np.inf) for h in reached)
        length = k - len(negatives)
        if length and sum(weight[int(h)] for _, h in negatives) + largest <= fdr * length:
            best = k
    return best


@pytest.mark.parametrize("goal", ["count", "precision", "recall", "find"])
@pytest.mark.parametrize("seed", range(3))
def test_the_list_is_the_longest_of_all_beginnings(goal, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=600), 1)
    truth = scores + 0.3 * rng.normal(size=600) > 0.2
    plan = audit.plan(scores, 80, goal=goal, k=250, random_state=seed)
    answers = truth[plan.rows].astype(float)
    answers[5] = np.nan
    found = audit.discoveries(scores, plan, answers, fdr=0.2)
    assert found.n_first == slow_longest(plan, answers, 0.2) > 0
    assert np.array_equal(np.sort(scores[found.rows])[::-1], scores[found.rows])
    assert not np.isin(plan.rows[answers != 1], found.rows).any()
    assert np.isin(plan.rows[(answers == 1) & (plan.place < found.n_first)], found.rows).all()
    assert found.rows.size == found.n_first - np.count_nonzero((answers != 1) & (plan.place < found.n_first))


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("apart", [0.0, 1.8])
def test_the_mean_share_of_negatives_is_bounded(share, apart):
    rng, shares = np.random.default_rng(round(10 * share + apart)), []
    for _ in range(80):
        truth = rng.permutation(np.arange(4000) < share * 4000)
        scores = rng.normal(size=4000) + apart * truth
        plan = audit.plan(scores, 200, random_state=rng)
        rows = audit.discoveries(scores, plan, truth[plan.rows], fdr=0.2).rows
        shares.append(1 - truth[rows].mean() if rows.size else 0.0)
    assert np.mean(shares) <= 0.2 + 3 * np.std(shares) / np.sqrt(80)


def test_all_rows_checked_list_the_positives_exactly():
    scores = -np.arange(40.0)
    truth = np.arange(40) % 3 > 0
    plan = audit.plan(scores, 40, random_state=0)
    found = audit.discoveries(scores, plan, truth[plan.rows], fdr=0.01)
    assert np.array_equal(found.rows, np.flatnonzero(truth))
    assert found.more_checks is None


def test_further_checks_are_named_where_they_would_make_the_list_longer():
    scores = -np.arange(20_000.0)
    truth = np.arange(20_000) < 500
    plan = audit.plan(scores, 100, random_state=0)
    found = audit.discoveries(scores, plan, truth[plan.rows], fdr=0.05)
    assert found.more_checks is not None
    again = audit.plan(scores, found.more_checks, after=plan, random_state=1)
    assert audit.discoveries(scores, again, truth[again.rows], fdr=0.05).rows.size > found.rows.size


def test_wrong_input_is_refused():
    scores = -np.arange(1000.0)
    plan = audit.plan(scores, 20, random_state=0)
    with pytest.raises(ValueError, match="answers must be about .* or more for fdr=0.01, got 20"):
        audit.discoveries(scores, plan, np.ones(20), fdr=0.01)
    with pytest.raises(ValueError, match="plan must be a plan for these 1000 scores"):
        audit.discoveries(scores + 1, plan, np.ones(20))
    with pytest.raises(ValueError, match="answers must hold 20 answers"):
        audit.discoveries(scores, plan, np.ones(19))
    with pytest.raises(ValueError, match=r"fdr must be a number in \(0, 1\), got 1.0"):
        audit.discoveries(scores, plan, np.ones(20), fdr=1.0)
    with pytest.raises(ValueError, match="scores must hold a number for at least one row"):
        audit.discoveries(np.full(3, np.nan), plan, np.ones(20))
