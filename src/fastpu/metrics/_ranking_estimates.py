"""What the metrics of a ranking return: a number with its interval, and curves."""

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


@dataclass(frozen=True, repr=False)
class RankingEstimate(Estimate):
    """An estimate with its interval; ``float(estimate)`` is its value.

    Attributes
    ----------
    value : float
    interval : tuple of two floats
        It is made to hold the truth in 90 % of the cases. The notes of each function say which truth that is.
    """


@dataclass(frozen=True, eq=False, repr=False)
class RankingCurve:
    """Recall, lift and precision for several numbers of flagged rows: the result of `ranking_curve`.

    Attributes
    ----------
    n_flagged : ndarray of int64, shape (m,)
        Numbers of unlabelled rows that are flagged, rising to all of them.
    share : ndarray of float64, shape (m,)
        The same as shares of the unlabelled rows.
    recall : ndarray of float64, shape (m,)
    recall_interval : ndarray of float64, shape (m, 2), or None
        The interval of each point, as from `recall_at_k`; None without samples (``n_boot=0``).
    prior : float, or None
        The share of positives among the unlabelled rows; None if no prior was passed.
    precision_interval : ndarray of float64, shape (m, 2), or None
        The interval of each point, as from `precision_at_k`; None without samples or without a prior.
    """

    n_flagged: NDArray[np.int64]
    share: NDArray[np.float64]
    recall: NDArray[np.float64]
    recall_interval: NDArray[np.float64] | None
    prior: float | None
    precision_interval: NDArray[np.float64] | None

    @property
    def lift(self) -> NDArray[np.float64]:
        """Recall divided by the share of rows that is flagged."""
        return self.recall / self.share

    @property
    def lift_interval(self) -> NDArray[np.float64] | None:
        """The interval of the lift at each point, shape (m, 2); None without samples."""
        return None if self.recall_interval is None else self.recall_interval / self.share[:, None]

    @property
    def precision(self) -> NDArray[np.float64] | None:
        """The prior times the lift, at most 1; None without a prior."""
        return None if self.prior is None else np.minimum(1.0, self.prior * self.lift)

    def __repr__(self) -> str:
        prior = "" if self.prior is None else f", prior={self.prior:.4g}"
        return f"RankingCurve({self.n_flagged.size} points up to {self.n_flagged[-1]} unlabelled rows{prior})"
