"""The answers for a plan, counted by stratum, and what they say of the first rows of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._intervals import Counts
from fastpu.audit._plan import Plan

UNCLEAR = ("bounds", "missing")
_N_SAMPLES = 50


@dataclass(frozen=True)
class Limits:
    """Estimates at several cuts, with their limits."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def interval(self) -> NDArray[np.float64]:
        return np.stack([self.low, self.high], axis=1)


@dataclass(frozen=True)
class Checked:
    """Answers, and estimates from them for the first rows of the ranking, for several cuts at once.

    Where an answer is NaN, `bounds` says that the limits hold whatever it had been; else such rows are left out, as if
    they had not been drawn.
    """

    plan: Plan
    answers: NDArray[np.float64]
    level: float
    bounds: bool

    @property
    def n_seen(self) -> int:
        """How many of the first rows had a chance to be drawn."""
        return int(self.plan.ends[self.plan.stratum.max()])

    def precision(self, cuts: NDArray[np.int64]) -> Limits:
        """Return the share of positives above each cut; what has been seen, and what has not, bounds it too."""
        found = self._estimated(cuts, is_recall=False)
        seen = np.minimum(cuts, self.n_seen)
        above = self.plan.place < cuts[:, None]
        positive, negative = (np.count_nonzero(above & (self.answers == answer), axis=1) for answer in (1, 0))
        low = np.maximum(found.low * seen, positive) / cuts
        high = (cuts - np.maximum((1 - found.high) * seen, negative)) / cuts
        return Limits(np.where(seen < cuts, np.nan, found.value), low, high)

    def recall(self, cuts: NDArray[np.int64]) -> Limits:
        if self.n_seen < self.plan.n_rows:
            return Limits(np.full(cuts.size, np.nan), np.zeros(cuts.size), np.ones(cuts.size))
        return self._estimated(cuts, is_recall=True)

    def samples(self) -> NDArray[np.float64]:
        """Return quantiles of the confidence distribution of the share of positives; none where it is not known."""
        if self.n_seen < self.plan.n_rows:
            return np.zeros(0)
        everything = np.array([self.plan.n_rows])
        probabilities = (np.arange(_N_SAMPLES) + 0.5) / _N_SAMPLES
        return np.concatenate([counts.quantiles(probabilities)[0] for counts in self._possible(everything, False)])

    def _estimated(self, cuts: NDArray[np.int64], *, is_recall: bool) -> Limits:
        tail = (1 - self.level) / 2
        known = self._counts(cuts, ~np.isnan(self.answers), self.answers, is_recall)
        ends = np.stack([counts.quantiles([tail, 1 - tail]) for counts in self._possible(cuts, is_recall)])
        return Limits(known.share(), ends[..., 0].min(axis=0), ends[..., 1].max(axis=0))

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
