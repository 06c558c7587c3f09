"""Limits of a share of two weighted sums of counts, from a stratified draw without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

_BISECTIONS = 40
_SMALLEST = 1e-3  # a + b of a beta distribution


@dataclass(frozen=True)
class Counts:
    """Answers by stratum, in the last axis: `first` and `second` of `drawn` rows, which were drawn of `sizes`.

    The share that is asked for is first / (first + second) among all rows. `first_in` and `second_in` say in which
    strata rows of either kind can be.
    """

    first: NDArray[Any]
    second: NDArray[Any]
    drawn: NDArray[Any]
    sizes: NDArray[Any]
    first_in: NDArray[Any]
    second_in: NDArray[Any]

    def totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the estimated numbers of rows of either kind (Horvitz and Thompson)."""
        weight = self.sizes / self.drawn
        return (weight * self.first).sum(-1), (weight * self.second).sum(-1)

    def share(self) -> NDArray[np.float64]:
        """Return the estimated share; NaN where no row counts."""
        first, second = self.totals()
        with np.errstate(invalid="ignore"):
            share: NDArray[np.float64] = first / (first + second)
        return share

    def quantiles(self, probabilities: object) -> NDArray[np.float64]:
        """Return quantiles of the confidence distribution of the share, in the last axis: limits of an interval.

        `fastpu.audit.estimate` says what they are made of. Fay and Kim have gamma distributions in place of beta ones,
        as their sum has one side. For one stratum they are, nearly, those of Clopper and Pearson.
        """
        weight = self.sizes / self.drawn
        left = np.sqrt(1 - self.drawn / self.sizes)  # what the variance of a draw without replacement has less
        first, second = self.totals()
        share = np.nan_to_num(self.share())[..., None]
        spread = self.first * (1 - share) ** 2 + self.second * share**2
        mean = (self.first * (1 - share) - self.second * share) / self.drawn
        several = self.drawn > 1
        spread = np.where(several, (spread - self.drawn * mean**2) * self.drawn / np.maximum(self.drawn - 1, 1), spread)
        variance = ((weight * left) ** 2 * spread).sum(-1)
        one_first, one_second = (
            np.where(place, weight * left, 0.0).max(-1) for place in (self.first_in, self.second_in)
        )
        # The lower distribution of a pair has one more row of the second kind, the upper one of the first kind.
        more_first, more_second = np.stack([0 * one_first, one_first]), np.stack([one_second, 0 * one_second])
        total = first + second + more_first + more_second
        nothing = np.indices(total.shape)[0]  # a share of no rows is between 0 and 1, the first and second of each pair
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(total > 0, (first + more_first) / total, nothing)
            added = ((1 - mean) * more_first) ** 2 + (mean * more_second) ** 2
            size = mean * (1 - mean) * total**2 / (variance + added) - 1
        # What varies as much as a coin has no beta distribution: it is nearly 0 or nearly 1.
        size = np.where(np.isfinite(size), np.maximum(size, _SMALLEST), 0.0)
        return _mean_quantiles(mean, size, np.asarray(probabilities))


def _mean_quantiles(
    mean: NDArray[np.float64], size: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return where the mean of two distribution functions reaches each probability, by bisection.

    They are beta distributions with these means and a + b, one after the other in the first axis, and points where
    either of a and b is 0. Halves are rounded outwards, so that an interval holds an end that it reaches, as 0 or 1.
    """
    mean, a, b = mean[..., None], (mean * size)[..., None], ((1 - mean) * size)[..., None]
    proper = (a > 0) & (b > 0)
    a, b = np.where(proper, a, 1.0), np.where(proper, b, 1.0)
    low = np.zeros((*mean.shape[1:-1], probabilities.size))
    high = np.ones_like(low)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        below = np.where(proper, betainc(a, b, middle), middle >= mean).mean(axis=0)
        low, high = np.where(below < probabilities, middle, low), np.where(below < probabilities, high, middle)
    found: NDArray[np.float64] = np.where(probabilities < 0.5, low, high)
    return found
