"""The AUC from positive and unlabelled rows: its definition, and what is made of estimates that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.metrics import pn_risk, pu_auc, pu_risk
from helpers import refused, rows_of


def test_the_overall_rate_of_good_scores_is_caught_where_it_gives_more_than_1():
    """The case in which a library in wide use reports 1.1 and more."""
    rng = np.random.default_rng(5)
    n, caught = 12_000, []
    for _ in range(10):
        truth = rng.random(n) < 0.63
        score = rng.standard_normal(n) + 3.0 * truth
        labelled = truth & (rng.random(n) < 0.3)
        pos, unl = score[labelled], score[~labelled]
        value = pu_auc(*rows_of(pos, unl), prior=0.63, scenario="single_set")
        assert abs(value - 0.983) < 0.02
        caught.append(refused(ValueError, "pass scenario='single_set'", pu_auc, *rows_of(pos, unl), prior=0.63))
    assert all("prior does not fit the scores: the AUC" in message and "would be 1." in message for message in caught)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
def test_a_perfect_ranking_with_the_right_prior_is_never_refused():
    """Its estimate is on either side of 1, by less than what is refused."""
    rng = np.random.default_rng(6)
    for n_pos, n_unl in ((2, 3), (10, 40), (300, 2000)):
        for prior in (0.05, 0.3, 0.8):
            values = []
            for _ in range(100):
                truth = rng.random(n_unl) < prior
                unl = rng.random(n_unl) + 2.0 * truth
                values.append(pu_auc(*rows_of(2 + rng.random(n_pos), unl), prior=prior))
            assert max(values) <= 1
            assert min(values) >= 0


def test_estimates_outside_the_range_are_marked():
    pos, unl = [3.0, 4.0], [1.0, 2.0, 0.0]
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match=r"pu_auc: the AUC 1 .* would be 1.214 .* is 0 at most. 1 is"
    ):
        assert pu_auc(*rows_of(pos, unl), prior=0.3) == 1.0
    with pytest.warns(
        fastpu.exceptions.EstimateWarning, match=r"pu_auc: the AUC 0 .* would be -0.2143 .*. 0 is returned"
    ):
        assert pu_auc(*rows_of([-s for s in pos], [-s for s in unl]), prior=0.3) == 0.0
    refused(
        ValueError,
        "unlabelled rows would be 3 between positive and negative ones if",
        pu_auc,
        *rows_of(np.arange(50) + 9, np.zeros(50)),
        prior=0.8,
    )
    # What is positive among the unlabelled rows ties with the labelled ones: no noise, and no warning.
    for n in (3, 7, 11, 70):
        best = pu_auc(*rows_of([1.0] * 5, [1.0] * n + [0.0] * 10), prior=n / (n + 10))
        worst = pu_auc(*rows_of([0.0] * 5, [0.0] * n + [1.0] * 10), prior=n / (n + 10))
        assert 1 - 1e-14 < best <= 1
        assert 0 <= worst < 1e-14


def test_pu_auc_equals_its_definition():
    rng = np.random.default_rng(8)
    pos, unl = np.round(rng.normal(1, 1, 30), 1), np.round(rng.normal(0, 1, 70), 1)
    raw = 1 - pu_risk(*rows_of(pos, unl))
    assert pu_auc(*rows_of(pos, unl), prior=0.2) == pytest.approx((raw - 0.1) / 0.8, abs=1e-15)
    theta = (0.44 * 100 - 30) / 70
    value = pu_auc(*rows_of(pos, unl), prior=0.44, scenario="single_set")
    assert value == pytest.approx((raw - theta / 2) / (1 - theta), abs=1e-15)
    neg = rng.normal(0, 1, 56)
    exact = pu_auc(
        *rows_of(pos, np.concatenate([pos, neg])), prior=30 / 86
    )  # the positives are those that are labelled
    assert exact == pytest.approx(1 - pn_risk(*rows_of(pos, (), neg)), abs=1e-14)
    assert isinstance(value, float)


@pytest.mark.parametrize(("n", "is_refused"), [(49, False), (51, True)])
def test_five_standard_errors_outside_the_range_are_refused(n, is_refused):
    # A perfect ranking at a share of 1/2 is 1/2 above 1, and a standard error is sqrt((5/48 + 1/48) / n) / (1/2).
    pos, unl = np.arange(n) + n, np.arange(n)
    kind = (
        pytest.raises(ValueError, match="prior does not fit")
        if is_refused
        else pytest.warns(fastpu.exceptions.EstimateWarning)
    )
    with kind:
        fastpu.metrics.pu_auc(*rows_of(pos, unl), prior=0.5)
