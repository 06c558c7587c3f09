"""Exact bounds of a share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from fastpu.common._binomial import largest_shares, least_shares


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
