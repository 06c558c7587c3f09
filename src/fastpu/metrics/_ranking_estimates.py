"""What the metrics of a ranking return: a number with its interval, and curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frame import frame_of

if TYPE_CHECKING:
    import pandas as pd


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

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a pandas frame, with a row for each number of flagged rows.

        Precisions are there if a prior was passed, and the ends of intervals, such as "recall_low" and "recall_high",
        if there are samples.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns: dict[str, Any] = {"n_flagged": self.n_flagged, "share": self.share}
        for name, values, interval in (
            ("recall", self.recall, self.recall_interval),
            ("lift", self.lift, self.lift_interval),
            ("precision", self.precision, self.precision_interval),
        ):
            if values is not None:
                columns[name] = values
            if interval is not None:
                columns[f"{name}_low"], columns[f"{name}_high"] = interval.T
        return frame_of(columns)

    def __repr__(self) -> str:
        prior = "" if self.prior is None else f", prior={self.prior:.4g}"
        return f"RankingCurve({self.n_flagged.size} points up to {self.n_flagged[-1]} unlabelled rows{prior})"
