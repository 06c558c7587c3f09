"""One measure of all learners as a matrix, and comparisons of learners over tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from learners import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from problems import Task
    from results import Outcomes, Place

TIE = 0.005  # of AUC


class Figures:
    """One measure, a row for each task and number of labels (means over splits), a column for each learner.

    NaN is where a learner refused the rows or was not run.
    """

    def __init__(self, outcomes: Outcomes, measure: str) -> None:
        each: dict[tuple[str, float], list[list[float]]] = {}
        self.names = [name for name in LEARNERS if any(name in found for found in outcomes.values())]
        for place, found in outcomes.items():
            row = [getattr(found[name], measure) if name in found else np.nan for name in self.names]
            each.setdefault((place.task, place.labels), []).append(row)
        self.problems = list(each)
        self.values: NDArray[np.float64] = np.array([np.mean(rows, axis=0) for rows in each.values()])

    def of(self, name: str) -> NDArray[np.float64]:
        """Return the column of a learner."""
        return self.values[:, self.names.index(name)] if name in self.names else np.full(len(self.problems), np.nan)

    def mean(self, name: str) -> str:
        """Return the mean of a learner as text, with a star where it refused some of the rows."""
        column = self.of(name)
        known = column[~np.isnan(column)]
        if not known.size:
            return "-"
        return f"{known.mean():.3f}{'*' if known.size < column.size else ''}"

    def by_table(self, tasks: Mapping[str, Task]) -> NDArray[np.float64]:
        """Return means over the problems of each table."""
        tables = np.array([tasks[task].table for task, _ in self.problems])
        return np.array([self.values[tables == name].mean(axis=0) for name in dict.fromkeys(tables.tolist())])


@dataclass(frozen=True)
class Paired:
    """How far a reference is ahead of another learner, table by table, and p of Wilcoxon's signed rank test."""

    wins: int
    ties: int
    losses: int
    median: float
    p: float


def paired(reference: NDArray[np.float64], other: NDArray[np.float64]) -> Paired:
    """Compare two learners over the tables that both of them took."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 (only in reports)

    gain = reference - other
    gain = gain[~np.isnan(gain)]
    p = float(wilcoxon(gain).pvalue) if gain.size and gain.any() else 1.0
    median = float(np.median(gain)) if gain.size else np.nan
    return Paired(int((gain > TIE).sum()), int((abs(gain) <= TIE).sum()), int((gain < -TIE).sum()), median, p)


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm for as many tests as there are."""
    raw = np.asarray(p)
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty(raw.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1)), 1.0)
    return [float(value) for value in adjusted]


def p_value(p: float) -> str:
    """Return p as text, and whether it is significant."""
    return "< .001" if p < 0.001 else f"{p:.3f}" + ("" if p < 0.05 else ", not significant")


def those(outcomes: Outcomes, keep: Callable[[Place], bool]) -> Outcomes:
    """Return the outcomes of some problems."""
    return {place: found for place, found in outcomes.items() if keep(place)}


def labels_text(labels: float) -> str:
    """Return what is labelled in words."""
    if labels == 1:
        return "1 label"
    return f"{labels:,.0f} labels" if labels > 1 else f"{100 * labels:g} %"
