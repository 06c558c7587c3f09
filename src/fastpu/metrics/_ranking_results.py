"""What the estimates of the top of a ranking return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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


@dataclass(frozen=True, eq=False, repr=False)
class RankingEstimate(Estimate):
    """An estimate with its bootstrap interval; ``float(estimate)`` is its value.

    Attributes
    ----------
    value : float
    interval : tuple of two floats
        The middle 90 % of `samples`; that of `average_precision` is wider, and its notes say how.
    samples : ndarray of float64, shape (n_boot,)
        Estimates from as many rows as there are, drawn with replacement from the positive and, apart from them, from
        the unlabelled rows.
    """

    samples: NDArray[np.float64]


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
        For each point by itself the middle 90 % of the estimates of the bootstrap; None without one.
    prior : float, or None
        The share of positives among the unlabelled rows, as it was given or follows from what was given.
    precision_interval : ndarray of float64, shape (m, 2), or None
        As `recall_interval`; None without a prior.
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
