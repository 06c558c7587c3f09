"""The answers for a plan, counted by stratum, and what they say of the first rows of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from fastpu.audit._plan import Plan

Limited: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]  # estimates at several cuts, and their limits

UNCLEAR = ("bounds", "missing")
_N_SAMPLES = 50
_BISECTIONS = 40
_SMALLEST = 1e-3  # a + b of a beta distribution
_ENOUGH_DRAWS = 5  # of a stratum, whose answers show how much they vary
_REACHED = 2.0 ** (1 - _BISECTIONS)  # a limit so near to a possible value has reached it
_FEW_UNSEEN = 1000  # unchecked rows of one side; with more, possible values of recall lie too close to matter


@dataclass(frozen=True)
class Counts:
    """Answers for a share of all rows, first / (first + second), by stratum in the last axis.

    `first` and `second` count the answers of either kind among the `drawn` rows of strata of `sizes` rows. `first_in`
    and `second_in` say in which strata rows of either kind can be.
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

        `fastpu.audit.estimate` has the method. Fay and Kim use gamma distributions, as their sum has one side only.
        Here they are beta distributions. For one stratum the limits are nearly those of Clopper and Pearson.
        """
        weight = self.sizes / self.drawn
        left = np.sqrt(1 - self.drawn / self.sizes)  # what the variance of a draw without replacement has less
        first, second = self.totals()
        variance = ((weight * left) ** 2 * self.drawn * self._variances()).sum(-1)
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

    def _variances(self) -> NDArray[np.float64]:
        """Return the variance of the rows of each stratum about the share: of 1 - share, -share and 0.

        A stratum of few draws is put together with its neighbours, as two draws of one kind do not show that all rows
        are of that kind. A neighbour counts as a stratum of few draws at most.
        """
        share = np.nan_to_num(self.share())[..., None]
        squares = self.first * (1 - share) ** 2 + self.second * share**2
        sums = self.first * (1 - share) - self.second * share
        lent = np.minimum(1.0, _ENOUGH_DRAWS / self.drawn)
        is_few = (self.drawn < _ENOUGH_DRAWS) & (self.drawn < self.sizes)
        n = np.asarray(self.drawn, dtype=np.float64)
        n, squares, sums = (of + np.where(is_few, _of_neighbours(lent * of), 0.0) for of in (n, squares, sums))
        variances: NDArray[np.float64] = np.where(n > 1, (squares - sums**2 / n) / np.maximum(n - 1, 1), squares)
        return variances


def _of_neighbours(of: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the strata above and below each one have together, in the last axis."""
    edge = np.zeros((*of.shape[:-1], 1))
    padded = np.concatenate([edge, of, edge], axis=-1)
    both: NDArray[np.float64] = padded[..., :-2] + padded[..., 2:]
    return both


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
    return np.where(probabilities < 0.5, low, high)


def _outwards(interval: list[float], possible: list[int]) -> tuple[float, float]:
    """Return the limits of a recall, moved outwards to the nearest values that are possible.

    `possible` has the least and the largest number of positives above the cut, and those below it.
    """
    low, high = interval
    least, most, least_below, most_below = possible
    if most + most_below == 0:  # there are no positives, and so no recall
        return low, high
    lowest = least / (least + most_below) if least + most_below else 1.0
    highest = most / (most + least_below) if most + least_below else 0.0
    if min(most - least, most_below - least_below) > _FEW_UNSEEN:
        return max(low, lowest), min(high, highest)
    low, high = low + _REACHED, high - _REACHED
    # For each number on the side where fewer are possible, the one on the other side that comes nearest.
    if most - least <= most_below - least_below:
        above = np.arange(least, most + 1)
        at_low = np.maximum(np.ceil(above * ((1 - low) / low)), least_below)
        at_high = np.minimum(np.floor(above * ((1 - high) / high)), most_below) if high > 0 else at_low
        pairs = (above, at_low), (above, at_high)
    else:
        below = np.arange(least_below, most_below + 1)
        at_low = np.minimum(np.floor(below * (low / (1 - low))), most) if low < 1 else below
        at_high = np.maximum(np.ceil(below * (high / (1 - high))), least)
        pairs = (at_low, below), (at_high, below)
    found = []
    for first, second in pairs:
        is_possible = (first >= least) & (first <= most) & (second >= least_below) & (second <= most_below)
        is_possible &= first + second > 0
        found.append(first[is_possible] / (first + second)[is_possible])
    return (
        highest if low >= 1 else float(found[0].max(initial=lowest)),
        lowest if high <= 0 else float(found[1].min(initial=highest)),
    )


@dataclass(frozen=True)
class Checked:
    """Answers, and estimates from them for the first rows of the ranking, for several cuts at once.

    With `bounds` the limits hold whatever the answers that are NaN would have been. Without it such rows are left out,
    as if they had not been drawn.
    """

    plan: Plan
    answers: NDArray[np.float64]
    level: float
    bounds: bool

    @property
    def n_seen(self) -> int:
        """How many of the first rows had a chance to be drawn."""
        return int(self.plan.ends[self.plan.stratum.max()])

    def precision(self, cuts: NDArray[np.int64]) -> Limited:
        """Return the share of positives above each cut, with its limits.

        Limits are rounded outwards to whole numbers of positives, and no limit excludes what unchecked rows leave open.
        """
        value, interval = self._estimated(cuts, is_recall=False)
        seen = np.minimum(cuts, self.n_seen)
        positive, negative = self._known(cuts)
        low = np.maximum(np.floor((interval[:, 0] + _REACHED) * seen), positive) / cuts
        high = (cuts - np.maximum(np.floor((1 - interval[:, 1] + _REACHED) * seen), negative)) / cuts
        return np.where(seen < cuts, np.nan, value), np.stack([low, high], axis=1)

    def recall(self, cuts: NDArray[np.int64]) -> Limited:
        if self.n_seen < self.plan.n_rows:
            return np.full(cuts.size, np.nan), np.tile([0.0, 1.0], (cuts.size, 1))
        value, interval = self._estimated(cuts, is_recall=True)
        (found, refuted), (found_below, refuted_below) = self._known(cuts), self._known(cuts, are_below=True)
        possible = np.stack([found, cuts - refuted, found_below, self.plan.n_rows - cuts - refuted_below], axis=1)
        limits = map(_outwards, interval.tolist(), possible.tolist())
        return value, np.array(list(limits))

    def _known(
        self, cuts: NDArray[np.int64], *, are_below: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many rows above each cut, or below it, have been found positive, and how many negative."""
        above = self.plan.place < cuts[:, None]
        there = ~above if are_below else above
        positive, negative = (np.count_nonzero(there & (self.answers == answer), axis=1) for answer in (1, 0))
        return positive, negative

    def samples(self) -> NDArray[np.float64]:
        """Return quantiles of the confidence distribution of the share of positives; none where it is not known."""
        if self.n_seen < self.plan.n_rows:
            return np.zeros(0)
        everything = np.array([self.plan.n_rows])
        probabilities = (np.arange(_N_SAMPLES) + 0.5) / _N_SAMPLES
        return np.concatenate([counts.quantiles(probabilities)[0] for counts in self._possible(everything, False)])

    def _estimated(self, cuts: NDArray[np.int64], *, is_recall: bool) -> Limited:
        tail = (1 - self.level) / 2
        known = self._counts(cuts, ~np.isnan(self.answers), self.answers, is_recall)
        ends = np.stack([counts.quantiles([tail, 1 - tail]) for counts in self._possible(cuts, is_recall)])
        return known.share(), np.stack([ends[..., 0].min(axis=0), ends[..., 1].max(axis=0)], axis=1)

    def _possible(self, cuts: NDArray[np.int64], is_recall: bool) -> list[Counts]:
        """Return the counts; with bounds, those of the answers by which the share is least and largest."""
        is_clear = ~np.isnan(self.answers)
        if is_clear.all() or not self.bounds:
            return [self._counts(cuts, is_clear, self.answers, is_recall)]
        above = self.plan.place < cuts[:, None]
        worst = ~above if is_recall else np.zeros_like(above)
        filled = (np.where(is_clear, self.answers, unclear) for unclear in (worst, ~worst))
        return [self._counts(cuts, np.ones_like(is_clear), answers, is_recall) for answers in filled]

    def _counts(
        self, cuts: NDArray[np.int64], used: NDArray[np.bool_], answers: NDArray[Any], is_recall: bool
    ) -> Counts:
        """Count answers that are used; a stratum without any is joined to the one above, or the first one below."""
        n_strata = int(self.plan.stratum.max()) + 1
        has_any = np.bincount(self.plan.stratum[used], minlength=n_strata) > 0
        group = np.maximum(np.cumsum(has_any) - 1, 0)
        sizes = np.bincount(group, self.plan.sizes[:n_strata])
        ends = np.cumsum(sizes)
        of_row = group[self.plan.stratum[used]]
        positive = np.broadcast_to(answers, (cuts.size, used.size))[:, used] == 1
        above = self.plan.place[used] < cuts[:, None]
        first, second = (
            np.array([np.bincount(of_row, is_one, sizes.size) for is_one in kind])
            for kind in (positive & above, positive & ~above if is_recall else ~positive & above)
        )
        reach_above = ends - sizes < cuts[:, None]
        drawn = np.bincount(of_row, minlength=sizes.size)
        return Counts(first, second, drawn, sizes, reach_above, ends > cuts[:, None] if is_recall else reach_above)
