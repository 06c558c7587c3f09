"""Exact bounds of a share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, binom, binomtest

from fastpu.common._binomial import largest_shares, least_shares, share_interval, shares_to_expect


@pytest.mark.parametrize("n", [1, 7, 400])
@pytest.mark.parametrize("tail", [0.02, 0.3])
def test_beyond_the_bounds_counts_so_extreme_are_rarer_than_the_tail(n, tail):
    counts = np.arange(n + 1)
    largest, least = largest_shares(counts, n, tail), least_shares(counts[1:], n, tail)
    np.testing.assert_allclose(binom.cdf(counts[:-1], n, largest[:-1]), tail, rtol=1e-8)
    np.testing.assert_allclose(binom.sf(counts[1:] - 1, n, least), tail, rtol=1e-8)
    assert largest[-1] == 1.0
    assert (least < counts[1:] / n).all()
    assert (largest[:-1] > counts[:-1] / n).all()


@pytest.mark.parametrize("count", [0, 1, 30, 40])
def test_the_interval_of_a_share_is_the_exact_one(count):
    exact = binomtest(count, 40).proportion_ci(0.9)
    assert share_interval(count, 40, 0.05) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("count", [0, 7, 100, 2000])
@pytest.mark.parametrize("n", [1, 50, 3000])
def test_shares_to_expect_are_quantiles_of_the_beta_binomial_distribution(count, n):
    of_other = betabinom(n, count + 0.5, 2000 - count + 0.5)
    assert shares_to_expect(count, 2000, n, 0.05) == (of_other.ppf(0.05) / n, of_other.ppf(0.95) / n)


def test_the_share_of_very_many_rows_is_that_of_the_population():
    low, high = shares_to_expect(100, 2000, 10**9, 0.05)
    assert (low, high) == pytest.approx(share_interval(100, 2000, 0.05), abs=3e-4)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("n", [200, 5000])
def test_nine_of_ten_batches_have_a_share_to_expect(share, n):
    rng = np.random.default_rng(0)
    before, now = rng.binomial(2000, share, 2000), rng.binomial(n, share, 2000) / n
    ranges = np.array([shares_to_expect(count, 2000, n, 0.05) for count in before.tolist()])
    held = np.mean((ranges[:, 0] <= now) & (now <= ranges[:, 1]))
    assert 0.88 < held < 0.98  # more than .9 where shares are few
