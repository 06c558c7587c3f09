"""Thresholds are the best cut there is, found by trying every cut."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._threshold import balanced_accuracy_threshold, matched_threshold, prior_threshold

LEVELS = [-np.inf, -1.7e308, -3.0, -5e-324, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2), 2.5, 1.7e308, np.inf]
SCORES = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=12)


def balanced_accuracy(pos, other, threshold):
    hit = Fraction(sum(s > threshold for s in pos), len(pos))
    rejected = Fraction(sum(not s > threshold for s in other), len(other))
    return (hit + rejected) / 2


def gaps(scores):
    """Neighbouring scores that differ by more than rounding: a threshold lies between two of these."""
    pairs = pairwise(sorted(set(map(float, scores))))
    return [(a, b) for a, b in pairs if math.isinf(b - a) or b - a > 1e-12 * max(abs(a), abs(b))]


@given(SCORES, SCORES)
def test_balanced_accuracy_is_the_best_of_all_cuts_and_the_cut_the_lowest(pos, other):
    threshold = balanced_accuracy_threshold(np.array(pos), np.array(other))
    assert not math.isnan(threshold)
    # Thresholds at the scores themselves give every division there is.
    cuts = {gap: balanced_accuracy(pos, other, gap[0]) for gap in gaps([*pos, *other])}
    best = max(cuts.values(), default=Fraction(0))
    if best < Fraction(1, 2):
        assert threshold == max([*pos, *other])
        return
    assert balanced_accuracy(pos, other, threshold) == best
    low, high = next(gap for gap, accuracy in cuts.items() if accuracy == best)
    assert low <= threshold < high
    if math.isfinite(low) and math.isfinite(high):
        middle = 0.5 * low + 0.5 * high
        assert threshold == (middle if low <= middle < high else low)
    elif (low, high) != (-np.inf, np.nextafter(-np.inf, 0)):
        assert math.isfinite(threshold)


@given(SCORES, SCORES, st.data())
def test_weights_equal_repetition(pos, other, data):
    wp = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(pos), max_size=len(pos))))
    wo = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(other), max_size=len(other))))
    expected = balanced_accuracy_threshold(np.repeat(pos, wp), np.repeat(other, wo))
    assert balanced_accuracy_threshold(np.array(pos), np.array(other), wp, wo) == expected
    assert balanced_accuracy_threshold(np.array(pos), np.array(other), wp * 0.1, wo * 1e-5) == expected


def test_plain_cases():
    # Two cuts, at 1.5 and at 3.5, are equally good.
    assert balanced_accuracy_threshold(np.array([2.0, 4.0]), np.array([1.0, 3.0])) == 1.5
    one = np.array([1.0], dtype=np.float32)
    assert type(balanced_accuracy_threshold(one, one)) is float


def test_rounding_does_not_move_the_lowest_of_ties(rng):
    # Cuts between i and i + 1 all have balanced accuracy 1/2 within rounding.
    scores = np.arange(3000.0)
    weight = np.full(3000, 0.1)
    assert balanced_accuracy_threshold(scores, scores, weight, weight) == 0.5


def test_scores_that_differ_by_rounding_are_equal():
    """Means of equal numbers over 2, 3, ... bags differ in the last bit, and no threshold may lie between them."""
    means = np.array([np.full(n, 0.1).cumsum()[-1] / n for n in range(1, 40)])
    assert np.unique(means).size > 5
    others = np.zeros(100)
    for high in (means[:6], means[[means.argmax()]], means[[means.argmin()]]):
        assert balanced_accuracy_threshold(high, np.concatenate([others, means])) == pytest.approx(0.05)
        assert balanced_accuracy_threshold(-high, np.concatenate([others - 1, -means])) == pytest.approx(-0.55)
        assert balanced_accuracy_threshold(high, means) == means.max()
    assert prior_threshold(np.concatenate([others, means]), 0.25) == pytest.approx(0.05)
    assert prior_threshold(means, 0.3) == means.max()
    assert prior_threshold(means, 0.7) < means.min()


@given(SCORES, st.floats(1e-9, 1 - 1e-9))
def test_the_prior_is_met_as_nearly_as_the_scores_allow(scores, prior):
    threshold = prior_threshold(np.array(scores), prior)
    above = sum(s > threshold for s in scores)
    possible = [0, *(sum(s > low for s in scores) for low, _ in gaps(scores))]
    if min(scores) > -np.inf:
        possible.append(len(scores))
    miss = min(abs(count - prior * len(scores)) for count in possible)
    assert abs(above - prior * len(scores)) == pytest.approx(miss, abs=1e-9)
    # The lowest of equally near cuts calls most rows positive.
    assert above == max(c for c in possible if abs(c - prior * len(scores)) <= miss + 1e-12 * len(scores))
    assert not math.isnan(threshold)


@given(SCORES, st.floats(0.01, 0.99), st.data())
def test_weights_of_a_prior_equal_repetition(scores, prior, data):
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(scores), max_size=len(scores))))
    expected = prior_threshold(np.repeat(scores, weights), prior)
    assert prior_threshold(np.array(scores), prior, weights.astype(float)) == expected


def test_whole_numbers_are_shares_as_others_are():
    """An estimate that a user makes may allow shares from 0 to 1."""
    scores = np.arange(4.0)
    for share in (0, 1):
        assert prior_threshold(scores, share) == prior_threshold(scores, float(share))


def test_prior_cuts_at_midpoints_and_beyond_the_ends():
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    assert prior_threshold(scores, 0.5) == 2.5
    assert prior_threshold(scores, 0.25) == 3.5
    assert prior_threshold(scores, 0.375) == 2.5  # 1 and 2 rows are equally near to 1.5
    assert prior_threshold(scores, 0.1) == 4.0
    assert prior_threshold(scores, 0.99) == np.nextafter(1.0, 0)
    assert prior_threshold(np.ones(5), 0.3) == 1.0
    assert prior_threshold(np.ones(5), 0.7) < 1.0


@pytest.mark.parametrize(
    ("scores", "prior", "reason"),
    [
        (
            np.arange(100.0),
            0.001,
            "calls 0 of 100 unlabelled rows positive: by that prior only 0.1 of these rows would be",
        ),
        (np.arange(100.0), 0.998, "calls 100 of 100 unlabelled rows positive: by that prior all but 0.2 of these rows"),
        (np.zeros(100), 0.3, "calls 0 of 100 unlabelled rows positive: the scores have too few distinct values"),
        (np.append(np.zeros(99), -1.0), 0.004, "by that prior only 0.4 of these rows would be positive, rounded to 0"),
        (np.repeat([2.0, 1.0, 0.0], [4, 30, 66]), 0.1, "calls 4 of 100 unlabelled rows positive, and not 10: so many"),
        (np.repeat([2.0, 1.0, 0.0], [4, 8, 88]), 0.1, "calls 12 of 100 unlabelled rows positive, and not 10: so many"),
    ],
)
def test_a_threshold_that_misses_what_was_asked_says_why(scores, prior, reason):
    with pytest.warns(DegenerateModelWarning, match=reason):
        matched_threshold(scores, prior, f"prior {prior}")


@pytest.mark.parametrize(("sizes", "share"), [((9, 30, 61), 0.1), ((95, 50, 855), 0.1), ((3, 97), 0.02)])
def test_a_threshold_that_misses_by_a_row_or_a_tenth_says_nothing(sizes, share):
    scores = np.repeat(np.arange(len(sizes))[::-1].astype(float), sizes)
    assert matched_threshold(scores, share, "prior")[1] == sizes[0]
