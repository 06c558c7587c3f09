"""What the answers for a plan's rows say of all rows: the number of positives, precision and recall, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._checked import UNCLEAR, Checked, Limited
from fastpu.audit._plan import Plan, check_answers, check_plan
from fastpu.common._frame import frame_of
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_float, check_k
from fastpu.common._types import VectorLike
from fastpu.metrics._ranking_estimates import Estimate
from fastpu.model._prior import PriorEstimate

if TYPE_CHECKING:
    import pandas as pd

_MOST_POINTS = 200  # of a curve


class AuditEstimate(Estimate):
    """An estimate from checked rows; ``float(estimate)`` is its value.

    Attributes
    ----------
    value : float
        The estimate; NaN if it depends on a part of the ranking where the plan drew no row.
    interval : tuple of two floats
        Its interval, with the `level` that was passed to `estimate`.
    """


@dataclass(frozen=True, eq=False, repr=False)
class AuditCurve:
    """Precision and recall for several numbers of first rows.

    Attributes
    ----------
    n_flagged : ndarray of int64, shape (m,)
        Numbers of first rows, rising to all rows.
    precision, recall : ndarray of float64, shape (m,)
        The estimates. The precision is NaN if no checked row is among the first rows, and the recall if no checked row
        is positive.
    precision_interval, recall_interval : ndarray of float64, shape (m, 2)
        The interval of each point.
    """

    n_flagged: NDArray[np.int64]
    precision: NDArray[np.float64]
    precision_interval: NDArray[np.float64]
    recall: NDArray[np.float64]
    recall_interval: NDArray[np.float64]

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a pandas frame, with a row for each number of first rows.

        The ends of intervals are in columns of their own, such as "recall_low" and "recall_high".

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns: dict[str, Any] = {"n_flagged": self.n_flagged}
        for name, values, interval in (
            ("precision", self.precision, self.precision_interval),
            ("recall", self.recall, self.recall_interval),
        ):
            columns |= {name: values, f"{name}_low": interval[:, 0], f"{name}_high": interval[:, 1]}
        return frame_of(columns)

    def __repr__(self) -> str:
        return f"AuditCurve({self.n_flagged.size} points up to {self.n_flagged[-1]} rows)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(PriorEstimate):
    """What checked rows say of all rows: the result of `estimate`.

    It is an estimate of the share of positives among the rows that the plan was made for, the unlabelled ones. It can
    be passed as `prior` to every function that takes one.

    Attributes
    ----------
    count : AuditEstimate
        How many of all rows are positive, including the checked ones.
    value : float
        The share of all rows that is positive.
    interval : tuple of two floats
        The interval of this share.
    samples : ndarray of float64
        Quantiles of the confidence distribution of the share, at even probabilities. Intervals of `fastpu.metrics`
        draw from them.
    allowed : tuple of two floats
        The same as `interval`.
    precision, recall : AuditEstimate, or None without `k`
        Precision and recall of the first k rows.
    k : int, or None
        The number of first rows that precision and recall are about.
    level : float
        The level of all intervals.
    n_checked : int
        How many rows have an answer.
    n_found : int
        How many of these are positive.
    plan : Plan
        The plan that the answers are for.
    answers : ndarray of float64
        1, 0 and NaN, in the order of the rows of the plan.
    unclear : {"bounds", "missing"}
        How NaN is treated, as passed to `estimate`.
    """

    interval: tuple[float, float]
    count: AuditEstimate
    precision: AuditEstimate | None
    recall: AuditEstimate | None
    k: int | None
    level: float
    n_checked: int
    n_found: int
    plan: Plan
    answers: NDArray[np.float64]
    unclear: str

    @property
    def only_upper_bound(self) -> bool:
        """False: an audit has seen both classes."""
        return False

    @property
    def open_range(self) -> None:
        """None: `samples` already cover everything that an audit leaves open."""
        return

    @property
    def share(self) -> AuditEstimate:
        """The share of positives among all rows: `value` and `interval`."""
        return AuditEstimate(self.value, self.interval)

    @cached_property
    def curve(self) -> AuditCurve:
        """Precision and recall for up to 200 numbers of first rows, each with its interval."""
        checked = Checked(self.plan, self.answers, self.level, self.unclear == "bounds")
        n = self.plan.n_rows
        even = np.linspace(1, n, _MOST_POINTS // 2), np.geomspace(1, n, _MOST_POINTS // 2)
        cuts = np.arange(1, n + 1) if n <= _MOST_POINTS else np.unique(np.rint(np.concatenate(even)).astype(np.int64))
        return AuditCurve(cuts, *checked.precision(cuts), *checked.recall(cuts))

    def __repr__(self) -> str:
        parts = [f"count={_text(self.count)}", f"share={_text(self.share)}"]
        if self.precision is not None and self.recall is not None:
            parts += [f"k={self.k}", f"precision={_text(self.precision)}", f"recall={_text(self.recall)}"]
        return f"Audit({', '.join(parts)}, level={self.level:g}, {self.n_found} of {self.n_checked} rows positive)"


@answers_unknown_keywords
def estimate(
    plan: Plan,
    answers: VectorLike,
    *,
    k: float | None = None,
    level: float = 0.9,
    unclear: Literal["bounds", "missing"] = "bounds",
) -> Audit:
    r"""Estimate from the answers for a plan's rows how many of all rows are positive, and precision and recall.

    Nothing is assumed about the labels, the model or its calibration: the classes of the rows are fixed, and only the
    draw is random. So the intervals also hold if rows belong together, such as those of one customer; they are about
    the rows that the plan was made for, not about other customers.

    Parameters
    ----------
    plan : Plan
        The plan whose rows were checked.
    answers : array-like of shape (m,)
        One answer for each of `plan.rows`: True or 1 for a positive row; False, 0 or -1 for a negative one; NaN or None
        if nobody could tell, or nobody has looked. `plan.align` brings answers into this order.
    k : int or float, optional
        How many first rows precision and recall are about: an int from 1 to n_rows, or a float in (0, 1], a share of
        the rows. By default the k of the plan.
    level : float, default 0.9
        The share of cases in which an interval is to hold the truth, in (0, 1).
    unclear : {"bounds", "missing"}, default "bounds"
        How NaN is treated. With "bounds" the intervals hold whatever these answers would have been. With "missing" such
        rows are left out, as if they had not been drawn. That is right if answers are missing at random within each
        stratum, for example because people stopped before the end of the plan. The values are those of "missing" with
        both.

    Returns
    -------
    Audit
        `count`, `share`, `precision` and `recall`, each with `value` and `interval`; `curve`.

    Raises
    ------
    TypeError, ValueError
        If `plan` is not a plan, `answers` has another length than its rows, holds something else or only NaN, or
        another argument is not as described.

    Notes
    -----
    With N_h rows in stratum h, n_h of them checked and k_h of these positive, the count is
    :math:`\sum_h N_h k_h / n_h` (Horvitz and Thompson). Precision and recall are ratios of such sums over the rows
    above k and over all rows.

    Normal intervals fail if few answers are positive, since a stratum without any has a variance of 0. Each interval
    here comes from two beta distributions, after Fay and Kim. One has the mean and the variance of the ratio after one
    more negative row, with the largest weight N_h / n_h that it can have; the other after one more positive row. The
    ends are quantiles of the mean of both distributions. The ends of the count and of the precision are rounded
    outwards to whole rows. Those of the recall are possible values if few rows are unchecked.

    A stratum of fewer than five draws borrows its variance: its answers are put together with those of its neighbours,
    as two draws of one kind do not show that all rows are of that kind.

    In simulations of 200 checks (``bench/audit``) 90 % intervals held the truth in 88 to 97 % of the runs, if at least
    five answers of either kind were to be expected. With fewer they held it in up to all runs, which no interval can
    avoid. In small populations with two to four draws in each stratum, of which all draws were enumerated, they held
    the count in 88 to 100 % of the draws, and without neighbours in 73 to 100 %. With 8 to 20 checks they held it in
    95 % on average over all truths of a small population, and in 87 % for some.

    A plan with the goal "precision" draws nothing below k. Then the count and the recall are NaN, and their intervals
    say only what the first k rows leave possible.

    O(m) time for each of the 200 points of the curve, which is made when it is asked for.

    References
    ----------
    Fay and Kim (2017), Confidence intervals for directly standardized rates using mid-p gamma intervals, Biometrical
    Journal 59; Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology 24.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu import audit
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.1
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = audit.plan(scores, 200, goal="recall", k=2000, random_state=0)
    >>> audit.estimate(plan, truth[plan.rows])
    Audit(...)
    """
    check_plan("plan", plan)
    answered = check_answers(answers, plan.rows.size)
    if np.isnan(answered).all():
        raise ValueError(f"answers must not all be NaN, got {answered.size} of them")
    first = plan.k if k is None else check_k(k, plan.n_rows)
    wanted = check_float("level", level, low=0, high=1, open_low=True, open_high=True)
    way = check_choice("unclear", unclear, UNCLEAR)
    checked = Checked(plan, answered, wanted, way == "bounds")
    everything = np.array([plan.n_rows])
    share = only(checked.precision(everything))
    low, high = share.interval
    cut = None if first is None else np.array([first])
    return Audit(
        value=share.value,
        interval=share.interval,
        samples=checked.samples(),
        allowed=share.interval,
        count=AuditEstimate(
            share.value * plan.n_rows, (float(round(low * plan.n_rows)), float(round(high * plan.n_rows)))
        ),
        precision=None if cut is None else only(checked.precision(cut)),
        recall=None if cut is None else only(checked.recall(cut)),
        k=first,
        level=wanted,
        n_checked=int(np.count_nonzero(~np.isnan(answered))),
        n_found=int(np.nansum(answered)),
        plan=plan,
        answers=answered,
        unclear=way,
    )


def only(found: Limited) -> AuditEstimate:
    (value,), ((low, high),) = found
    return AuditEstimate(float(value), (float(low), float(high)))


def _text(found: AuditEstimate) -> str:
    return f"{found.value:.4g} ({found.interval[0]:.4g} to {found.interval[1]:.4g})"
