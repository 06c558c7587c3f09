"""Plans and estimates: what they promise for every population, by enumeration where it is small."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from fastpu import audit
from fastpu.audit._checked import _outwards


def every_draw(plan):
    """Return all draws that a plan's strata and counts allow, which are equally likely, as plans of sorted rows."""
    starts = plan.ends - plan.sizes
    parts = [
        list(combinations(range(start, end), count))
        for start, end, count in zip(starts.tolist(), plan.ends.tolist(), plan.drawn.tolist(), strict=True)
    ]
    for draw in product(*parts):
        place = np.concatenate([np.array(part, dtype=np.int64) for part in draw])
        stratum = np.searchsorted(plan.ends, place, side="right")
        yield replace(plan, place=place, rows=place, stratum=stratum)


def falling(n):
    """Return scores whose ranking is the order of the rows."""
    return -np.arange(n, dtype=float)


# ---- Draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["count", "precision", "recall", "find"])
def test_rows_are_drawn_as_often_as_their_probability_says(goal):
    scores = np.round(np.random.default_rng(0).normal(size=60), 1)  # with ties
    times, promised, n_draws = np.zeros(60), np.zeros(60), 600
    for seed in range(n_draws):
        plan = audit.plan(scores, 12, goal=goal, k=20, random_state=seed)
        times[plan.rows] += 1
        promised[plan.rows] += plan.probability
    # Rows of one score have one chance, whatever stratum they fall into: compare by score.
    for score in np.unique(scores):
        tied = scores == score
        mean = times[tied].mean() / n_draws
        assert np.all(np.abs(times[tied] / n_draws - mean) < 5 * np.sqrt(mean * (1 - mean) / n_draws) + 1e-9)
    assert np.all((times == 0) == (promised == 0))


@pytest.mark.parametrize("goal", ["count", "precision", "recall", "find"])
@pytest.mark.parametrize("n", [3, 10, 57, 300])
def test_a_plan_has_n_rows_once_each_with_the_probability_of_its_stratum(goal, n):
    scores = np.random.default_rng(n).normal(size=1000)
    plan = audit.plan(scores, n, goal=goal, k=400, prior=0.1, random_state=n)
    assert np.unique(plan.rows).size == plan.rows.size == n
    assert plan.ends[-1] == plan.n_rows == 1000
    assert np.all(plan.sizes > 0)
    assert np.array_equal(plan.probability, (plan.drawn / plan.sizes)[plan.stratum])
    assert np.array_equal(plan.score, scores[plan.rows])
    assert np.array_equal(np.sort(scores)[::-1][plan.place], plan.score)
    assert np.array_equal(plan.lowest, np.sort(scores)[::-1][plan.ends - 1])
    if goal == "precision":
        assert plan.place.max() < 400
    if goal == "find":
        assert set(range(n // 2)) <= set(plan.place.tolist())
        assert np.all(plan.place[: n // 2] == np.arange(n // 2))


def test_each_part_of_the_order_has_rows_of_all_strata():
    plan = audit.plan(falling(5000), 200, random_state=0)
    for part in (50, 100, 150):
        counts = np.bincount(plan.stratum[:part], minlength=plan.ends.size)
        assert np.all(np.abs(counts - plan.drawn * part / 200) < 2)


def test_all_rows_can_be_drawn():
    plan = audit.plan(falling(37), 37, random_state=0)
    assert np.all(plan.probability == 1)
    truth = np.random.default_rng(0).random(37) < 0.4
    found = audit.estimate(plan, truth[plan.rows], k=10)
    for name, known in (
        ("count", truth.sum()),
        ("precision", truth[:10].mean()),
        ("recall", truth[:10].sum() / truth.sum()),
    ):
        estimate = getattr(found, name)
        assert estimate.value == pytest.approx(known)
        assert estimate.interval == pytest.approx((known, known), abs=1e-9)
    for n in (20, 37):
        plan = audit.plan(falling(37), n, random_state=0)
        for all_alike in (0, 1):
            found = audit.estimate(plan, np.full(n, all_alike), k=10)
            assert found.precision.interval[all_alike] == found.share.interval[all_alike] == all_alike
            assert found.count.interval[0] <= all_alike * 37 <= found.count.interval[1]
    assert audit.estimate(plan, np.zeros(37), k=10).recall.interval == (0, 1)  # of no positives


def test_a_later_plan_draws_no_row_again_and_completes_one_random_sample_of_each_stratum():
    scores, times = falling(40), np.zeros(40)
    for seed in range(500):
        first = audit.plan(scores, 10, random_state=seed)
        both = audit.plan(scores, 8, after=first, random_state=seed + 10**6)
        assert np.array_equal(both.rows[:10], first.rows)
        assert both.n_before == 10
        assert np.unique(both.rows).size == 18
        times[both.rows] += 1
    chance = np.repeat(both.drawn / both.sizes, both.sizes)
    assert np.all(np.abs(times / 500 - chance) < 5 * np.sqrt(chance * (1 - chance) / 500))


def test_a_later_plan_may_have_another_goal():
    scores = np.random.default_rng(1).normal(size=2000)
    first = audit.plan(scores, 60, random_state=0)
    at_k = audit.plan(scores, 40, goal="precision", k=150, after=first, random_state=1)
    assert np.all(at_k.place[60:] < 150)
    assert 150 in at_k.ends
    top = audit.plan(scores, 40, goal="find", after=at_k, random_state=2)
    assert np.unique(top.rows).size == 140
    assert np.all(np.isin(np.arange(20), top.place))


def test_a_part_that_a_later_plan_cuts_off_is_not_spoken_for_by_its_neighbours():
    scores = falling(100)
    for seed in range(40):
        first = audit.plan(scores, 4, strata=[50, 100], random_state=seed)
        later = audit.plan(scores, 6, goal="precision", k=30, after=first, random_state=seed)
        assert np.all(later.drawn > 0)
        truth = np.arange(100) >= 30
        found = audit.estimate(later, truth[later.rows])
        assert found.count.value == 70


def test_a_plan_cannot_be_changed():
    plan = audit.plan(falling(100), 10, random_state=0)
    with pytest.raises(ValueError, match="read-only"):
        plan.rows[0] = 3


@pytest.mark.parametrize("prior", [0.001, 0.5, 0.9])
def test_a_guess_of_the_share_moves_draws_and_no_estimate(prior):
    scores = falling(3000)
    plan, other = (audit.plan(scores, 100, prior=guess, random_state=0) for guess in (prior, None))
    assert not np.array_equal(plan.ends, other.ends)
    truth = np.arange(3000) < 900
    counts = [
        audit.estimate(each, truth[each.rows]).count.value
        for each in (audit.plan(scores, 100, prior=prior, random_state=seed) for seed in range(100))
    ]
    assert np.mean(counts) == pytest.approx(900, abs=3 * np.std(counts) / 10 + 1)


def test_the_same_seed_gives_the_same_plan():
    scores = np.round(np.random.default_rng(0).normal(size=500), 1)
    one, other = (audit.plan(scores, 50, random_state=7) for _ in range(2))
    assert np.array_equal(one.rows, other.rows)


# ---- Estimates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [0b0000000000, 0b1000000001, 0b1110100000, 0b0000011011, 0b1111111111])
def test_the_count_is_unbiased_over_all_draws(truth):
    y = np.array([truth >> i & 1 for i in range(10)])
    plan = audit.plan(falling(10), 5, strata=[3, 6], random_state=0)
    counts = [audit.estimate(draw, y[draw.rows]).count.value for draw in every_draw(plan)]
    assert len(counts) == prod(comb(int(n), int(k)) for n, k in zip(plan.sizes, plan.drawn, strict=True))
    assert np.mean(counts) == pytest.approx(y.sum())


@pytest.mark.parametrize("sizes", [(4, 10), (20, 60)])
def test_intervals_hold_every_truth_of_a_small_population(sizes):
    drawn = np.array([3, 5]) if sizes[0] == 4 else np.array([8, 12])
    (top, rest), n_rows = sizes, sum(sizes)
    plan = audit.plan(falling(n_rows), int(drawn.sum()), strata=[top, n_rows], random_state=0)
    stratum = np.repeat([0, 1], drawn)
    plan = replace(plan, place=np.arange(drawn.sum()), stratum=stratum)  # what the places are does not matter here
    results = list(product(range(drawn[0] + 1), range(drawn[1] + 1)))
    rank = np.concatenate([np.arange(count) for count in drawn])
    limits = np.array([audit.estimate(plan, rank < np.array(found)[stratum]).count.interval for found in results])
    held = np.zeros((top + 1, rest + 1))
    for of_top, of_rest in product(range(top + 1), range(rest + 1)):
        chance = np.outer(
            hypergeom(top, of_top, drawn[0]).pmf(np.arange(drawn[0] + 1)),
            hypergeom(rest, of_rest, drawn[1]).pmf(np.arange(drawn[1] + 1)),
        ).ravel()
        count = of_top + of_rest
        held[of_top, of_rest] = chance @ ((limits[:, 0] < count + 1e-6) & (limits[:, 1] > count - 1e-6))
    # Mid-P intervals of so few draws miss some truths a little more often than in a tenth of the draws.
    assert held.mean() > 0.95
    assert np.quantile(held, 0.05) > 0.92
    assert held.min() > 0.87


@pytest.mark.parametrize("n", [29, 25, 15, 5])
def test_ends_are_whole_counts_that_are_possible_and_hold_every_truth_often_enough(n):
    """With 29 of 30 rows checked, 26 of them positive, there are 26 or 27: both are in the interval."""
    plan = audit.plan(falling(30), n, strata=[30], random_state=0)
    limits = np.array([audit.estimate(plan, np.arange(n) < found).count.interval for found in range(n + 1)])
    assert np.array_equal(limits, np.rint(limits))
    assert np.all(limits[:, 0] >= np.arange(n + 1))
    assert np.all(limits[:, 1] <= np.arange(n + 1) + 30 - n)
    if n == 29:
        assert limits[26].tolist() == [26, 27]
    for truth in range(31):
        chance = hypergeom(30, truth, n).pmf(np.arange(n + 1))
        assert chance[(limits[:, 0] <= truth) & (truth <= limits[:, 1])].sum() >= 0.9


def test_one_unchecked_row_leaves_two_values_of_precision_and_recall():
    plan = audit.plan(falling(30), 29, strata=[30], random_state=0)
    answers = np.arange(29) % 3 > 0
    found = audit.estimate(plan, answers, k=10)
    (last,) = np.setdiff1d(np.arange(30), plan.place)
    truth = np.zeros(30)
    truth[plan.place] = answers
    possible = []
    for truth[last] in (0.0, 1.0):
        possible.append((truth[:10].mean(), truth[:10].sum() / truth.sum()))
    for name, values in zip(("precision", "recall"), np.sort(possible, axis=0).T, strict=True):
        assert getattr(found, name).interval == pytest.approx(tuple(values), abs=1e-15)


@pytest.mark.parametrize(
    "possible", [(2, 4, 1, 3), (0, 5, 0, 1), (3, 3, 0, 4), (0, 0, 0, 3), (1, 6, 2, 2), (0, 2, 0, 0)]
)
def test_limits_of_recall_are_moved_outwards_to_possible_values(possible):
    least, most, least_below, most_below = possible
    values = {
        Fraction(above, above + below)
        for above in range(least, most + 1)
        for below in range(least_below, most_below + 1)
        if above + below
    }
    for low, high in combinations(np.linspace(0, 1, 41).tolist(), 2):
        expected = (
            max((value for value in values if value <= low + 1e-9), default=min(values)),
            min((value for value in values if value >= high - 1e-9), default=max(values)),
        )
        assert _outwards([low, high], list(possible)) == pytest.approx(tuple(map(float, expected)), abs=1e-15)


@pytest.mark.parametrize(("n_rows", "n"), [(1000, 40), (200, 100), (5000, 100)])
def test_limits_of_one_stratum_are_nearly_those_of_the_hypergeometric_mid_p_test(n_rows, n):
    for found in (0, 1, 3, n // 3, n - 1, n):
        plan = audit.plan(falling(n_rows), n, strata=[n_rows], random_state=0)
        low, high = audit.estimate(plan, np.arange(n) < found).count.interval
        totals = np.arange(found, n_rows - n + found + 1)
        law = hypergeom(n_rows, totals, n)
        below = law.cdf(found) - law.pmf(found) / 2
        held = totals[(below > 0.05) & (below < 0.95)]
        width = held[-1] - held[0]
        assert abs(low - held[0]) < 0.06 * width + 1
        assert abs(high - held[-1]) < 0.12 * width + 1


def test_unclear_answers_are_bounded_by_every_way_to_fill_them():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=500)
    plan = audit.plan(scores, 40, k=100, random_state=0)
    answers = np.where(plan.score > rng.normal(size=40), 1.0, 0.0)
    unclear = rng.choice(40, 4, replace=False)
    given = answers.copy()
    given[unclear] = np.nan
    bounds = audit.estimate(plan, given)
    left_out = audit.estimate(plan, given, unclear="missing")
    for filling in product([0.0, 1.0], repeat=4):
        answers[unclear] = filling
        filled = audit.estimate(plan, answers)
        for name in ("count", "precision", "recall"):
            low, high = getattr(bounds, name).interval
            at_least, at_most = getattr(filled, name).interval
            assert low <= at_least + 1e-9
            assert at_most <= high + 1e-9
    assert left_out.count.value == bounds.count.value
    assert np.diff(left_out.count.interval) < np.diff(bounds.count.interval)


def test_a_stratum_without_answers_is_joined_to_its_neighbour():
    plan = audit.plan(falling(100), 20, strata=[20, 60, 100], random_state=0)
    answers = np.where(plan.stratum == 0, 1.0, 0.0)
    answers[plan.stratum == 1] = np.nan
    found = audit.estimate(plan, answers, unclear="missing")
    assert found.count.value == pytest.approx(60)  # the first two strata are taken for one, all positive


def test_a_plan_for_precision_knows_nothing_of_the_rest():
    plan = audit.plan(falling(1000), 50, goal="precision", k=100, random_state=0)
    found = audit.estimate(plan, np.arange(50) % 2)
    assert found.precision.value == pytest.approx(0.5, abs=0.1)
    assert np.isnan(found.count.value)
    assert found.count.interval[1] > 925
    assert found.count.interval[0] < 60
    assert np.isnan(found.recall.value)
    assert found.recall.interval == (0, 1)


def test_what_was_seen_bounds_the_count():
    plan = audit.plan(falling(60), 50, random_state=0)
    low, high = audit.estimate(plan, np.ones(50)).count.interval
    assert low >= 50 - 1e-9
    assert high == pytest.approx(60, abs=1e-6)
    low, high = audit.estimate(plan, np.zeros(50)).count.interval
    assert low == pytest.approx(0, abs=1e-6)
    assert high <= 10 + 1e-9


def test_the_curve_agrees_with_single_estimates():
    scores = np.random.default_rng(0).normal(size=3000)
    plan = audit.plan(scores, 100, random_state=0)
    answers = plan.score > 1
    curve = audit.estimate(plan, answers).curve
    assert curve.n_flagged[-1] == 3000
    assert curve.recall[-1] == 1
    assert np.all(np.diff(curve.recall) >= 0)
    for i in (20, 100, 150):
        one = audit.estimate(plan, answers, k=int(curve.n_flagged[i]))
        assert one.recall.value == curve.recall[i]
        assert one.recall.interval == tuple(curve.recall_interval[i])
        assert one.precision.value == curve.precision[i]
        assert one.precision.interval == tuple(curve.precision_interval[i])


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_intervals_hold_the_truth_in_a_simulation(share):
    rng = np.random.default_rng(round(100 * share))
    held, runs = np.zeros(3), 100
    for _ in range(runs):
        truth = np.arange(4000) < share * 4000
        scores = rng.normal(size=4000) + 1.8 * truth
        at_k = truth[np.argsort(-scores)[:400]]
        plan = audit.plan(scores, 150, goal="recall", k=400, random_state=rng)
        found = audit.estimate(plan, truth[plan.rows])
        known = truth.sum(), at_k.mean(), at_k.sum() / truth.sum()
        limits = found.count.interval, found.precision.interval, found.recall.interval
        held += [low <= value <= high for (low, high), value in zip(limits, known, strict=True)]
    assert np.all(held / runs > 0.81)  # three standard errors below 90 %


# ---- Wrong input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [np.nan, np.nan], "n": 1}, "scores must hold a number for at least one row, got NaN for all 2"),
        ({"scores": [], "n": 1}, "scores must"),
        ({"scores": ["a"], "n": 1}, "scores must"),
        ({"n": 0}, "n must be an integer in"),
        ({"n": 101}, "n must be an integer in .1, 100., got 101"),
        ({"n": 2.0}, "n must be an integer"),
        ({"goal": "f1"}, "goal must be one of 'count', 'precision', 'recall', 'find', got 'f1'"),
        ({"goal": "recall"}, "k must be the number of first rows with goal='recall', got None"),
        ({"goal": "precision", "k": 5}, "n must be at most 5, the number of rows that can be drawn, got 10"),
        ({"k": 101}, "k must be a whole number of unlabelled rows from 1 to 100"),
        ({"k": 30, "n": 1}, "n must be at least 2, one row for each stratum, got 1"),
        ({"prior": 1.0}, "prior must be a number in .0, 1., got 1.0"),
        ({"strata": [5, 5]}, "strata must rise"),
        ({"strata": [0, 5]}, "strata must rise"),
        ({"strata": [5, 101]}, "strata must rise"),
        ({"strata": 5}, "strata must be a sequence of whole numbers"),
        ({"after": 3}, "after must be what fastpu.audit.plan returns, got 3"),
        ({"random_state": -1}, "random_state"),
        ({"seed": 1}, "random_state"),
    ],
)
def test_a_plan_refuses_wrong_input(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        audit.plan(**({"scores": falling(100), "n": 10} | arguments))


def test_a_plan_refuses_to_continue_one_for_another_ranking():
    first = audit.plan(falling(100), 10, random_state=0)
    with pytest.raises(ValueError, match=r"after must be a plan for these 100 scores.*fingerprint"):
        audit.plan(falling(100) + 1, 10, after=first)
    with pytest.raises(ValueError, match="n must be at most 90, .* not in the earlier plan, got 91"):
        audit.plan(falling(100), 91, after=first)


@pytest.mark.parametrize(
    ("answers", "arguments", "message"),
    [
        ([True] * 9, {}, r"answers must hold 10 answers, one for each row of the plan, got 9: \[True, .* \(list\)"),
        (np.zeros((10, 1)), {}, "answers must hold 10 answers"),
        ([2] * 10, {}, "answers must be True or 1 .* got 2.0 at position 0"),
        (["yes"] * 10, {}, "answers must be True .* got words, .*; turn them into booleans"),
        ([np.nan] * 10, {}, "answers must not all be NaN"),
        ([1] * 10, {"level": 1.0}, "level must be a number in .0, 1., got 1.0"),
        ([1] * 10, {"k": 0}, "k must be"),
        ([1] * 10, {"unclear": "drop"}, "unclear must be one of 'bounds', 'missing', got 'drop'"),
    ],
)
def test_an_estimate_refuses_wrong_input(answers, arguments, message):
    plan = audit.plan(falling(100), 10, random_state=0)
    with pytest.raises((TypeError, ValueError), match=message):
        audit.estimate(plan, answers, **arguments)
    with pytest.raises(TypeError, match="plan must be what fastpu.audit.plan returns"):
        audit.estimate(falling(3), answers)


def test_answers_are_brought_into_the_order_of_the_plan():
    plan = audit.plan(falling(100), 10, random_state=0)
    some = plan.rows[[3, 0, 7]]
    answers = plan.align(some, [True, False, None])
    assert answers[3] == 1
    assert answers[0] == 0
    assert np.count_nonzero(np.isnan(answers)) == 8
    other = int(np.setdiff1d(np.arange(100), plan.rows)[0])
    with pytest.raises(ValueError, match=f"rows must be among those of the plan, got {other}, which was not drawn"):
        plan.align([plan.rows[0], other], [1, 0])
    with pytest.raises(ValueError, match=f"rows must hold each row once, got row {plan.rows.min()} 2 times"):
        plan.align([plan.rows.min()] * 2 + [plan.rows.max()] * 3, [1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="answers must hold 2 answers"):
        plan.align(plan.rows[:2], [1])
    with pytest.raises(TypeError, match="rows must hold whole numbers"):
        plan.align([0.5], [1])


@pytest.mark.parametrize("kind", [bool, int, float, object])
def test_answers_of_every_coding_are_read_alike(kind):
    plan = audit.plan(falling(100), 10, random_state=0)
    answers = (np.arange(10) % 3 == 0).astype(kind)
    expected = audit.estimate(plan, answers.astype(float)).count
    assert audit.estimate(plan, answers).count == expected
    assert audit.estimate(plan, np.where(answers.astype(bool), 1, -1)).count == expected


def test_missing_answers_of_pandas_are_read():
    plan = audit.plan(falling(100), 10, random_state=0)
    answers = pd.array([True, None, False, True, False] * 2, dtype="boolean")
    assert audit.estimate(plan, answers).count == audit.estimate(plan, [1, np.nan, 0, 1, 0] * 2).count


def test_intervals_hold_for_rows_that_belong_together():
    """Ten rows of a customer are of one class and have one score: the draw of rows is what is random."""
    rng = np.random.default_rng(11)
    truth = np.repeat(rng.random(500) < 0.2, 10)
    scores = np.repeat(rng.normal(size=500), 10) + truth + 0.1 * rng.normal(size=5000)
    held = []
    for seed in range(200):
        plan = audit.plan(scores, 150, k=800, random_state=seed)
        found = audit.estimate(plan, truth[plan.rows])
        low, high = found.count.interval
        held.append(low <= truth.sum() <= high)
    assert 0.84 < np.mean(held) < 0.98


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    ("size", "positive"), [(40, [40, 20, 0, 0]), (15, [14, 8]), (40, [32, 16, 4]), (15, [15, 8, 0, 0])]
)
def test_two_or_three_draws_of_a_stratum_are_not_trusted_to_be_all_alike(n, size, positive):
    """All answers of a draw alike gave a stratum a variance of 0, and intervals held the truth in down to 73 %."""
    ends = size * np.arange(1, len(positive) + 1)
    plan = audit.plan(falling(int(ends[-1])), n * len(positive), strata=ends, random_state=0)
    assert plan.drawn.min() == 2
    held = 0.0
    for found in product(*(range(drawn + 1) for drawn in plan.drawn)):
        chance = prod(
            hypergeom.pmf(k, size, of, drawn) for k, of, drawn in zip(found, positive, plan.drawn, strict=True)
        )
        if chance == 0:
            continue
        answers = np.zeros(plan.rows.size)
        for stratum, k in enumerate(found):
            answers[np.flatnonzero(plan.stratum == stratum)[:k]] = 1
        low, high = audit.estimate(plan, answers).count.interval
        held += chance * (low <= sum(positive) <= high)
    assert held >= 0.87
