"""Intervals of what is read off a ranking: they hold with two labelled rows, and as far as the prior is known.

Each sample draws a weight for every labelled row, and for one row more: the lengths between the places of as many
points on a line. The lower end of an interval comes from samples with this further row below all others, the upper end
from samples with it above them. For a share of the labelled rows these are the exact limits of Clopper and Pearson. For
the mean of any other number between two limits they are those of Gaffke. A bootstrap of the rows cannot show what has
not been seen: if all of five labelled rows are below the cut, it says that nothing is ever found above.

Where rows belong together, all rows of a group have one weight, the further row is a further group, and unlabelled rows
are drawn by groups. So groups are counted, not rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_int, check_random_state
from fastpu.common._types import RandomState
from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._ranked_rows import Ranked, recall_of
from fastpu.metrics._row_draws import RowsInGroups, SingleRows
from fastpu.model._prior import PriorEstimate

ENDS = (0.05, 0.95)  # of an interval, as quantiles
_MOST_SAMPLES = 10**9  # more than there is time for
_STANDARD_ERRORS = 2  # from an average precision without its bias to the ends of its interval
_MOST_APART = 0.05  # the function is warned if the shares that an estimate allows give values further apart than this


def check_boot(n_boot: int, random_state: RandomState) -> tuple[int, np.random.Generator]:
    return check_int("n_boot", n_boot, low=0, high=_MOST_SAMPLES), check_random_state(random_state)


def quantile(samples: NDArray[np.float64], tail: float) -> NDArray[np.float64]:
    """Return a quantile along the first axis, beyond which one more sample is with just this probability.

    NumPy's own rule is nearer to the middle: of 60 samples, intervals of 90 % would be of 87 %.
    """
    ends: NDArray[np.float64] = np.quantile(samples, tail, axis=0, method="weibull")
    return ends


@dataclass(frozen=True)
class Shares:
    """The share of positives among the unlabelled rows.

    `ends` are its least and its largest value; `low` and `high` have both for each sample.
    """

    ends: tuple[float, float]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def drawn(
        cls, prior: float | PriorEstimate | None, value: float, n_samples: int, generator: np.random.Generator
    ) -> Shares:
        """Draw the share from the samples of an estimate, if it has some, and widen it to all that the data allow."""
        shares = np.full(n_samples, value)
        if not isinstance(prior, PriorEstimate):
            return cls((value, value), shares, shares)
        if prior.samples.size:
            shares = generator.choice(prior.samples, n_samples)
        if prior.open_range is None:
            return cls((value, value), shares, shares)
        low, high = prior.open_range
        return cls((min(value, low), max(value, high)), np.minimum(shares, low), np.maximum(shares, high))


@dataclass(frozen=True)
class Recalls:
    """Recalls for numbers of flagged rows, drawn for the lower and for the upper ends: shape (n_samples, m).

    `low` and `high` are of the population, whose cut is drawn with the unlabelled rows. `low_here` and `high_here` are
    of the cut that these unlabelled rows have.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    low_here: NDArray[np.float64]
    high_here: NDArray[np.float64]

    @classmethod
    def drawn(
        cls, ranked: Ranked, flagged: NDArray[np.int64], n_samples: int, generator: np.random.Generator
    ) -> Recalls:
        n_pos, (p, u) = ranked.n_pos, ranked.counts()
        ends = np.empty((4, n_samples, flagged.size))
        above_here = n_pos * recall_of(p, u, flagged)  # labelled rows above the cut, those of equal scores in part
        rows = np.arange(n_pos + 1)
        for i in range(n_samples):
            weights, further = ranked.pos.weighted(generator)
            up_to = np.concatenate([[0.0], np.cumsum(weights)])
            redrawn = ranked.redrawn_unl(generator)
            above = n_pos * recall_of(p, redrawn, _of_as_many(flagged, ranked.n_unl, int(redrawn.sum())))
            for first, number in ((0, above), (2, above_here)):
                mass = np.interp(number, rows, up_to)
                ends[first, i] = mass / (up_to[-1] + further)
                ends[first + 1, i] = (mass + further) / (up_to[-1] + further)
        return cls(*ends)

    def interval(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ends for each number of flagged rows, around the values: shape (m, 2)."""
        low, high = quantile(self.low, ENDS[0]), quantile(self.high, ENDS[1])
        return np.column_stack([np.minimum(low, value), np.maximum(high, value)])

    def precision_interval(
        self,
        value: NDArray[np.float64],
        flagged: NDArray[np.int64],
        unl: SingleRows | RowsInGroups,
        shares: Shares,
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return the ends of the precisions, of these rows and of others like them: shape (m, 2).

        How many of these rows are positive and above the cut is drawn, for all cuts together. The rows of a group are
        taken to be alike: then there are as many draws as independent rows.
        """
        ends = []
        n_unl, n_draws = unl.places.size, max(1, round(unl.effective_number))
        for recall, share, tail in ((self.low_here, shares.low, ENDS[0]), (self.high_here, shares.high, ENDS[1])):
            expected = share[:, None] * recall  # of all unlabelled rows are positive and above the cut
            between = np.maximum(0.0, np.diff(expected, axis=1, prepend=0.0))
            below = np.maximum(0.0, 1.0 - expected[:, -1:])
            counts = np.cumsum(generator.multinomial(n_draws, np.hstack([between, below]))[:, :-1], axis=1)
            here = quantile(np.minimum(counts * (n_unl / n_draws) / flagged, 1.0), tail)
            others = np.minimum(quantile(expected * (n_unl / flagged), tail), 1.0)
            ends.append((here, others))
        low, high = np.minimum(*ends[0]), np.maximum(*ends[1])
        return np.column_stack([np.minimum(low, value), np.maximum(high, value)])


def _of_as_many(flagged: NDArray[np.int64], n: int, n_redrawn: int) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return numbers of flagged rows that are the same shares of the redrawn rows; groups need not give as many."""
    return flagged if n_redrawn == n else np.minimum(flagged * n_redrawn / n, float(n_redrawn))


def drawn_interval(
    ranked: Ranked,
    criterion: Callable[[NDArray[Any], NDArray[np.intp], float], float],
    value: float,
    shares: Shares,
    generator: np.random.Generator,
    *,
    is_biased: bool,
) -> tuple[float, float]:
    """Return the interval of a criterion of the whole ranking, which rises with the scores of the positive rows.

    The criterion takes weights of positive rows and numbers of unlabelled ones, both by place, and the share of
    positives among the latter. If few rows bias it (`is_biased`), samples without a further weight have that bias
    twice. Then the interval also covers the estimate less its bias, with two standard deviations to either side.
    """
    low, high, middle = np.empty(shares.low.size), np.empty(shares.low.size), np.empty((2, shares.low.size))
    for i, ends in enumerate(zip(shares.low, shares.high, strict=True)):
        weights, further = ranked.pos.weighted(generator)
        p = np.bincount(ranked.pos.places, weights, ranked.n_places)
        u = np.pad(ranked.redrawn_unl(generator), 1)
        below, above = np.concatenate([[0.0], p, [further]]), np.concatenate([[further], p, [0.0]])
        low[i] = min(criterion(below, u, share) for share in set(ends))
        high[i] = max(criterion(above, u, share) for share in set(ends))
        if is_biased:
            middle[:, i] = [criterion(p, u[1:-1], share) for share in ends]
    least, most = float(quantile(low, ENDS[0])), float(quantile(high, ENDS[1]))
    if is_biased:
        without_bias = [2 * criterion(*ranked.counts(), share) for share in shares.ends] - middle.mean(axis=1)
        reach = _STANDARD_ERRORS * middle.std(axis=1)
        least = min(least, max(0.0, float(np.min(without_bias - reach))))
        most = max(most, min(1.0, float(np.max(without_bias + reach))))
    return min(least, value), max(most, value)


def warn_of_open_range(
    function: str, quantity: str, prior: float | PriorEstimate | None, value: float, at: Callable[[float], float]
) -> None:
    """Warn if an estimated prior allows shares for which the quantity is far from its value.

    `at` gives the quantity for a share.
    """
    if not isinstance(prior, PriorEstimate) or prior.open_range is None:
        return
    low, high = prior.open_range
    ends = sorted((at(low), at(high), value))
    if ends[-1] - ends[0] > _MOST_APART or prior.only_upper_bound:
        least, most = (f"{end:.3g}" for end in (ends[0], ends[-1]))
        found = (
            f"the {quantity} lies between {least} and {most}"
            if least != most
            else f"by all of them the {quantity} is {most}"
        )
        warn(
            f"{function} used the estimated prior {prior.value:.2g}, but the data allow priors from {low:.2g} to "
            f"{high:.2g}: {found}",
            EstimateWarning,
        )
