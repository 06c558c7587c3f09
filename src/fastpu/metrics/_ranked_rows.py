"""Positive and unlabelled rows in the order of their scores, and what is counted at the top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import NO_SCORE
from fastpu.data._validate import check_vector

_EXACT = 2.0**53  # below it float64 has every integer


def check_scores(*given: tuple[str, object], n: int | None = None) -> list[NDArray[np.float64]]:
    """Return checked scores, each given as (name, values), whose order is that of the given ones.

    Where integers are so large that float64 may make different ones equal, the scores returned are their ranks.
    """
    scores = [check_vector(name, value, n=n, allow_inf=True, of_nan=NO_SCORE) for name, value in given]
    if max(max(float(part.max()), -float(part.min())) for part in scores) < _EXACT:
        return scores
    whole = [np.asarray(value) for _, value in given]
    together = np.concatenate(whole)
    if together.dtype.kind not in "iu":
        return scores
    ranks = np.unique(together, return_inverse=True)[1].astype(np.float64)
    return np.split(ranks, np.cumsum([part.size for part in whole[:-1]]))


@dataclass(frozen=True)
class Ranked:
    """The place of each row in the order of all scores, the largest first; equal scores are one place."""

    pos: NDArray[np.intp]
    unl: NDArray[np.intp]
    n_places: int

    @classmethod
    def of(cls, pos: NDArray[np.float64], unl: NDArray[np.float64]) -> Ranked:
        values, rising = np.unique(np.concatenate([pos, unl]), return_inverse=True)
        # Rows in the order of their places, so that what is drawn of them is read and counted in fast memory.
        places = values.size - 1 - rising
        return cls(np.sort(places[: pos.size]), np.sort(places[pos.size :]), values.size)

    def counts(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.bincount(self.pos, minlength=self.n_places), np.bincount(self.unl, minlength=self.n_places)

    def redrawn_unl(self, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the counts of as many unlabelled rows, drawn with replacement."""
        rows = self.unl
        return np.bincount(rows[generator.integers(0, rows.size, rows.size)], minlength=self.n_places)


def recall_of(p: NDArray[np.intp], u: NDArray[np.intp], flagged: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of the positive rows above the cut that flags so many unlabelled rows; p, u: counts by place."""
    sum_unl, sum_pos = np.cumsum(u), np.cumsum(p)
    last = np.searchsorted(sum_unl, flagged)  # the place of the last row that is flagged
    left_out = sum_unl[last] - flagged  # of the u[last] rows there
    recall: NDArray[np.float64] = (sum_pos[last] * u[last] - left_out * p[last]) / (sum_pos[-1] * u[last])
    return recall


def mean_precision(p: NDArray[Any], u: NDArray[np.intp], prior: float) -> float:
    """Return the mean, over the positive rows, of the precision if the rows down to each are flagged.

    p and u are numbers by place; those of positive rows may be weights.
    """
    if prior == 0:
        return 0.0
    places = np.flatnonzero(p)
    hits = prior * np.cumsum(p)[places] / p.sum()
    share = np.cumsum(u)[places] / u.sum()
    return min(1.0, float(p[places] @ (hits / np.maximum(share, hits))) / float(p.sum()))


def win_share(p: NDArray[Any], u: NDArray[np.intp]) -> float:
    """Return the share of pairs in which the positive row is above, ties one half; p, u: weights by place."""
    total = np.cumsum(u)
    return float(p @ (total[-1] - total + u / 2)) / (float(p.sum()) * float(total[-1]))


# ---- What the estimates of the top of a ranking return ----


@dataclass(frozen=True)
class Estimate:
    """A number with an interval."""

    value: float
    interval: tuple[float, float]

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{type(self).__name__}(value={self.value:.4g}, interval=({low:.4g}, {high:.4g}))"


@dataclass(frozen=True, repr=False)
class RankingEstimate(Estimate):
    """An estimate with its interval; ``float(estimate)`` is its value.

    Attributes
    ----------
    value : float
    interval : tuple of two floats
        Is meant to hold the truth in 90 % of the cases. The notes of the functions say of which truth and how.
    """


@dataclass(frozen=True, eq=False, repr=False)
class RankingCurve:
    """Recall, lift and precision for numbers of flagged rows, from `ranking_curve`.

    Attributes
    ----------
    n_flagged : ndarray of int64, shape (m,)
        Numbers of unlabelled rows that are flagged, rising to all of them.
    share : ndarray of float64, shape (m,)
        The same as shares of the unlabelled rows.
    recall : ndarray of float64, shape (m,)
    recall_interval : ndarray of float64, shape (m, 2), or None
        For each point by itself, as the interval of `recall_at_k`; None without samples.
    prior : float, or None
        The share of positives among the unlabelled rows, as it was given or follows from what was given.
    precision_interval : ndarray of float64, shape (m, 2), or None
        For each point by itself, as the interval of `precision_at_k`; None without samples or a prior.
    """

    n_flagged: NDArray[np.int64]
    share: NDArray[np.float64]
    recall: NDArray[np.float64]
    recall_interval: NDArray[np.float64] | None
    prior: float | None
    precision_interval: NDArray[np.float64] | None

    @property
    def lift(self) -> NDArray[np.float64]:
        """Recall over the share that is flagged."""
        return self.recall / self.share

    @property
    def lift_interval(self) -> NDArray[np.float64] | None:
        """As `recall_interval`."""
        return None if self.recall_interval is None else self.recall_interval / self.share[:, None]

    @property
    def precision(self) -> NDArray[np.float64] | None:
        """The prior times the lift, at most 1; None without a prior."""
        return None if self.prior is None else np.minimum(1.0, self.prior * self.lift)

    def __repr__(self) -> str:
        prior = "" if self.prior is None else f", prior={self.prior:.4g}"
        return f"RankingCurve({self.n_flagged.size} points up to {self.n_flagged[-1]} unlabelled rows{prior})"
