"""Err* and PUF equal their definitions, and Err* is the error rate in disguise, in both scenarios."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from fastpu.metrics import err_star, error_rate, f1, puf_score
from fastpu.model._prior import PriorEstimate, prior_among_unlabeled
from helpers import refused, rows_of

SCORES = st.sampled_from([-np.inf, -2.0, -0.0, 0.0, 5e-324, 1.0, 3.0, np.inf])
GROUP = st.lists(SCORES, min_size=1, max_size=12)
SCENARIOS = ("case_control", "single_set")
PRIORS = st.sampled_from([0.01, 0.25, 0.5, 0.95])


def shares(pos, unl, scenario, threshold=0.0):
    """Recall of the labelled rows and the share called positive, as fractions."""
    sample = unl if scenario == "case_control" else pos + unl
    recall, share = (Fraction(sum(s > threshold for s in rows), len(rows)) for rows in (pos, sample))
    return recall, share


def feasible(prior, n_pos, n_unl, scenario):
    return scenario == "case_control" or prior * (n_pos + n_unl) >= n_pos


@given(GROUP, GROUP, st.sampled_from(SCENARIOS), SCORES, PRIORS)
def test_both_equal_their_definitions(pos, unl, scenario, threshold, prior):
    recall, share = shares(pos, unl, scenario, threshold)
    options = {"scenario": scenario, "threshold": threshold}
    expected = float(recall**2 / share) if share else 0.0
    assert puf_score(*rows_of(pos, unl), **options) == pytest.approx(expected, rel=1e-14)
    if feasible(prior, len(pos), len(unl), scenario):
        w = 1 / (1 + 2 * prior)
        expected = w * float(share) + (1 - w) * (1 - float(recall))
        assert err_star(*rows_of(pos, unl), prior=prior, **options) == pytest.approx(expected, abs=1e-15)


@given(GROUP, GROUP, st.sampled_from(SCENARIOS), st.data())
def test_weights_equal_repetition(pos, unl, scenario, data):
    weights = [np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(g), max_size=len(g)))) for g in (pos, unl)]
    if not all(w.sum() for w in weights):
        return
    repeated = [list(np.repeat(g, w)) for g, w in zip((pos, unl), weights, strict=True)]
    prior = 0.99 if scenario == "single_set" else 0.3
    for factor in (1, 2.0**-1030, 1e306):
        options = {"scenario": scenario, "sample_weight": np.concatenate(weights) * factor}
        assert puf_score(*rows_of(pos, unl), **options) == pytest.approx(
            puf_score(*rows_of(*repeated), scenario=scenario), abs=1e-13
        )
        if feasible(prior, len(repeated[0]), len(repeated[1]), scenario):
            expected = err_star(*rows_of(*repeated), prior=prior, scenario=scenario)
            assert err_star(*rows_of(pos, unl), prior=prior, **options) == pytest.approx(expected, abs=1e-14)


def test_weights_of_one_group_count_against_one_for_every_row_of_the_other():
    pos, unl = [1.0, -1.0], [1.0, 1.0, -1.0]
    value = puf_score(*rows_of(pos, unl), scenario="single_set", sample_weight=[2, 2, 1, 1, 1])
    assert value == pytest.approx(0.25 / (4 / 7))


@pytest.mark.parametrize("seed", [9, 14, 18])  # sums with and without the rows of weight 0 are rounded differently
def test_all_rows_of_positive_weight_are_a_share_of_1_and_no_more(seed):
    rng = np.random.default_rng(seed)
    weight = rng.random(30) * (rng.random(30) < 0.7)
    above = np.where(weight > 0, 1.0, -1.0)
    assert err_star(*rows_of(above, [-1.0]), prior=0.5, sample_weight=np.append(weight, 1)) == 0.0
    assert puf_score(*rows_of([1.0], above), sample_weight=np.append(1, weight)) == 1.0


@given(GROUP, GROUP)
def test_err_star_is_the_error_rate_where_the_labelled_rows_are_like_the_positives(pos, neg):
    """Unlabelled rows that are the population, whose positives have the scores of the labelled rows."""
    wrong = sum(s <= 0 for s in pos) + sum(s > 0 for s in neg)
    prior = len(pos) / (len(pos) + len(neg))
    value = err_star(*rows_of(pos, pos + neg), prior=prior)
    assert (1 + 2 * prior) * value - prior == pytest.approx(wrong / (len(pos) + len(neg)), abs=1e-12)


@given(GROUP, GROUP)
def test_err_star_of_a_single_set_is_the_error_rate_over_all_rows(half, neg):
    """All rows are the population: half of its positives are labelled, the others have the same scores."""
    n = 2 * len(half) + len(neg)
    wrong = 2 * sum(s <= 0 for s in half) + sum(s > 0 for s in neg)
    prior = 2 * len(half) / n
    value = err_star(*rows_of(half, half + neg), prior=prior, scenario="single_set")
    assert (1 + 2 * prior) * value - prior == pytest.approx(wrong / n, abs=1e-12)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_error_rate_is_err_star_on_a_plain_scale(scenario, rng):
    pos, unl = rng.normal(1, 1, 30), rng.normal(0, 1, 70)
    options = {"scenario": scenario, "threshold": 0.2, "sample_weight": rng.random(100)}
    expected = 1.8 * err_star(*rows_of(pos, unl), prior=0.4, **options) - 0.4
    assert error_rate(*rows_of(pos, unl), prior=0.4, **options) == pytest.approx(expected, abs=1e-15)
    assert error_rate(*rows_of([1.0], [1.0, -1.0]), prior=0.5) == 0.0
    estimate = PriorEstimate(0.4, None, np.empty(0))
    assert error_rate(*rows_of(pos, unl), prior=estimate, **options) == pytest.approx(
        error_rate(*rows_of(pos, unl), prior=0.4, **(options | {"scenario": "case_control"})), abs=1e-15
    )


def test_a_prior_below_the_share_of_labelled_rows_is_refused_in_a_single_set():
    pos, unl = [1.0, 1.0], [1.0, -1.0, -1.0]
    text = refused(ValueError, "prior must be at least 0.4", err_star, *rows_of(pos, unl), prior=0.3,
                   scenario="single_set")  # fmt: skip
    assert "got 0.3" in text
    assert "scenario='case_control'" in text
    err_star(*rows_of(pos, unl), prior=0.3)
    assert err_star(*rows_of(pos, unl), prior=0.4, scenario="single_set") == pytest.approx(
        (3 / 5) / 1.8
    )  # none is hidden


def test_a_prior_that_is_rounded_means_none_or_all_of_the_unlabelled_rows():
    rows = {"n_pos": 10, "n_unl": 10, "n_neg": 20, "scenario": "single_set"}
    for prior, expected in ((0.25, 0.0), (0.25 - 5e-10, 0.0), (0.375, 0.5), (0.5, 1.0), (0.5 + 5e-10, 1.0)):
        assert prior_among_unlabeled(prior, **rows) == expected
    refused(ValueError, "prior must be at least 0.25", prior_among_unlabeled, 0.25 - 1.5e-9, **rows)
    refused(ValueError, "prior must be at most 0.5", prior_among_unlabeled, 0.5 + 1.5e-9, **rows)


# ---- F1 --------------------------------------------------------------------------------------------------------------


def test_f1_agrees_with_scikit_learn(rng):
    for share in (0.1, 0.5, 0.9):
        truth, called = rng.random(200) < share, rng.random(200) < 0.4
        weight = rng.random(200)
        assert f1(truth, called) == pytest.approx(f1_score(truth, called), abs=1e-15)
        assert f1(truth, called, sample_weight=weight) == pytest.approx(
            f1_score(truth, called, sample_weight=weight), abs=1e-13
        )
        integers = rng.integers(0, 4, 200)
        repeated = f1(np.repeat(truth, integers), np.repeat(called, integers))
        assert f1(truth, called, sample_weight=integers * 1e305) == pytest.approx(repeated, abs=1e-14)


def test_f1_takes_labels_of_any_coding_and_settles_zero_over_zero():
    assert f1([1, 0, 1, 0], [1, -1, 1, -1]) == 1.0
    assert f1([True, False], [0, 1]) == 0.0
    assert f1([-1, -1], [-1, -1]) == f1([0, 0], [False, False]) == 0.0
    assert f1([1, 1, -1], [1, -1, -1], sample_weight=[0, 0, 1]) == 0.0
