"""How many rows to check at which places of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

_WORKING_AUC = 0.85  # of the scores that a plan is made for; worse than most, so that a plan for it suits better ones
_RARE = 0.01  # share of positives that a plan is made for where no prior is given
# Beside the scores as they should be, a plan is made for reversed and for worthless ones, with these weights. With
# them the error of the count stays below 1.15 times that of rows drawn at random in all cells of bench/audit.
_REVERSED, _WORTHLESS = 0.06, 0.3
_DRAWS = 5  # in a stratum, about: fewer make variances hard to estimate, more leave precision unused
_GRID = 4096  # places at which a density of draws is known
_ROUNDING = 1e-9
_RECALLS = (0.25, 0.75)  # between which the recall is taken to lie when draws are divided between both sides of k


@lru_cache(maxsize=32)
def _positives(prior: float) -> NDArray[np.float64]:
    """Return the share of positives at places of a ranking (from the top) by scores with two normal distributions."""
    distance = np.sqrt(2) * ndtri(_WORKING_AUC)
    scores = np.linspace(-9, 9 + distance, 8 * _GRID)
    above = (1 - prior) * ndtr(-scores) + prior * ndtr(distance - scores)
    at = np.interp((np.arange(_GRID) + 0.5) / _GRID, above[::-1], scores[::-1])
    odds = prior / (1 - prior) * np.exp(distance * at - distance**2 / 2)
    share: NDArray[np.float64] = odds / (1 + odds)
    return share


@dataclass(frozen=True)
class Draws:
    """How many of `n` draws are expected down to each place of a ranking of `n_rows` rows, for what is asked for.

    `fastpu.audit.plan` says what their density is for "count". For the recall of the first k rows, T_k / T, it is that
    times the weight which the place has there: 1 - recall above k, and the recall below.
    """

    goal: str
    prior: float | None
    k: int | None
    top: int
    n_rows: int
    n: int

    @cached_property
    def _reached(self) -> NDArray[np.float64]:
        """Return the integral of the density over the places of a grid, from 0."""
        share = _positives(_RARE if self.prior is None else self.prior)
        variance = share * (1 - share)
        draws = np.sqrt(variance + _REVERSED * variance[::-1] + _WORTHLESS * variance.mean())
        above = 0.0 if self.k is None else np.clip(self.k * _GRID / self.n_rows - np.arange(_GRID), 0, 1)
        if self.goal == "recall":
            recall = float(np.clip((share * above).sum() / share.sum(), *_RECALLS))
            draws = draws * (above * (1 - recall) + (1 - above) * recall)
        return np.concatenate([[0.0], np.cumsum(draws)])

    def down_to(self, places: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many draws are expected above each place."""
        grid = np.linspace(0, self.n_rows, _GRID + 1)
        if self.goal == "precision" and self.k is not None:
            return np.asarray(self.n * np.minimum(places, self.k) / self.k)
        top = np.interp(self.top, grid, self._reached)
        below = np.maximum(np.interp(places, grid, self._reached) - top, 0) / (self._reached[-1] - top)
        found: NDArray[np.float64] = np.minimum(places, self.top) + (self.n - self.top) * below
        return found

    def ends(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ends of strata that expect about `_DRAWS` draws each; all `cuts` are among them."""
        found = []
        for start, end in zip([0, *cuts[:-1].tolist()], cuts.tolist(), strict=True):
            at = np.arange(start, end + 1) if end - start < _GRID else np.linspace(start, end, _GRID + 1)
            reached = self.down_to(at)
            count = 1 if end <= self.top else max(1, int((reached[-1] - reached[0]) / _DRAWS))
            wanted = reached[0] + (reached[-1] - reached[0]) * np.arange(1, count) / count
            inner = np.rint(np.interp(wanted, reached, at)).astype(np.int64)
            found += [inner[(inner > start) & (inner < end)], np.array([end])]
        return np.unique(np.concatenate(found))


def allocate(
    expected: NDArray[np.float64], sizes: NDArray[np.int64], n: int, least: NDArray[np.int64], more: int
) -> NDArray[np.int64]:
    """Return how many rows of each stratum are to be checked in all, `n` together, at least `least` of each.

    In proportion to `expected`, where that is possible: at most all rows of a stratum, and where one expects any, at
    least two, or one if `n` does not suffice. `more` is what the user calls n.
    """
    is_wanted = expected > 0
    most = np.where(is_wanted, sizes, least)
    if most.sum() < n:
        raise ValueError(
            f"n must be at most {more - n + int(most.sum())}, the number of rows that can be drawn, got {more}"
        )
    for fewest in (2, 1):
        low = np.maximum(least, np.minimum(np.where(is_wanted, fewest, 0), sizes))
        if low.sum() <= n:
            break
    else:
        raise ValueError(f"n must be at least {more - n + int(low.sum())}, one row for each stratum, got {more}")
    few, many = 0.0, float(n + 1) / float(expected[is_wanted].min())
    for _ in range(60):
        factor = (few + many) / 2
        few, many = (factor, many) if np.clip(factor * expected, low, most).sum() < n else (few, factor)
    real = np.clip(many * expected, low, most)
    counts = np.floor(real + _ROUNDING).astype(np.int64)
    order = np.argsort(counts - real, kind="stable")
    counts[order[counts[order] < most[order]][: n - int(counts.sum())]] += 1
    return counts
