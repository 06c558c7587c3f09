"""Exact confidence bounds of a share from counts (Clopper and Pearson)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv


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
