"""Exact confidence bounds of a share from counts (Clopper and Pearson), and where the share of other rows will be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, betaln

_MOST_COUNTED = 100_000  # rows; the share of more of them varies hardly less


def share_interval(count: float, n: float, tail: float) -> tuple[float, float]:
    """Return the bounds of a share from a count of n rows, each with the error probability `tail`."""
    counts = np.array([count])
    low = float(least_shares(counts, n, tail)[0]) if count > 0 else 0.0
    return low, float(largest_shares(counts, n, tail)[0])


def shares_to_expect(count: int, n_before: int, n: int, tail: float) -> tuple[float, float]:
    """Return the ends of a range for the share of n rows, if `count` of `n_before` rows of their population are such.

    The share is beyond either end with a probability of about `tail`. The ends are quantiles of the beta-binomial
    distribution, where the share of the population is Beta(count + 1/2, n_before - count + 1/2).
    """
    rows = min(n, _MOST_COUNTED)
    of_rows, a, b = np.arange(rows + 1.0), count + 0.5, n_before - count + 0.5
    chances = betaln(of_rows + a, rows - of_rows + b) - betaln(of_rows + 1, rows - of_rows + 1)
    up_to = np.cumsum(np.exp(chances - betaln(a, b)) / (rows + 1))
    low, high = np.searchsorted(up_to, [tail, 1 - tail])
    return float(low) / rows, float(min(high, rows)) / rows


def largest_shares(counts: NDArray[Any], n: float, tail: float) -> NDArray[np.float64]:
    """Return for each count of n rows the share by which at most that many rows have the probability `tail`."""
    largest: NDArray[np.float64] = np.ones(counts.size)
    part = counts < n
    largest[part] = betaincinv(counts[part] + 1.0, n - counts[part], 1 - tail)
    return largest


def least_shares(counts: NDArray[Any], n: float, tail: float) -> NDArray[np.float64]:
    """Return for each count > 0 of n rows the share by which at least that many rows have the probability `tail`."""
    least: NDArray[np.float64] = betaincinv(counts, n - counts + 1.0, tail)
    return least
