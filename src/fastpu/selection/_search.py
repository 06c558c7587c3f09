"""The search over a grid and from its best point, and the table of what was tried."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import value_key
from fastpu.common._text import short
from fastpu.common._warn import warn
from fastpu.exceptions import ConvergenceWarning, FailedFitWarning
from fastpu.selection._grid import FitSignature, Grid, MovedPoint
from fastpu.selection._kernel_grid import fit_kernel_grid
from fastpu.selection._splits import FoldSplits, Split
from fastpu.selection._trials import FLAWS, Outcome, TrialSetup, make_lines, run_all

_TIE = 1e-12  # scores that differ by less count as equal, since means over folds are rounded
_MOST_ROUNDS = 1000  # most moves by ten per cent


@dataclass
class Search:
    """The points tried so far, in order, with their scores on each split."""

    setup: TrialSetup
    source: FoldSplits | list[Split]
    grid: Grid
    shares: Sequence[str]
    together: bool
    jobs: int
    n_threads: int | None
    points: list[dict[str, Any]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    outcomes: list[list[Outcome]] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)

    def try_all(self) -> int:
        """Try all points of the grid and return the best one's position."""
        self._try([point for point, _ in self.grid.points()], "grid")
        best = self._first_best(range(len(self.points)))
        if self.scores[best] == self.setup.criterion.worst:
            raise ValueError(self._why_none())
        self._warn_of_failures()
        return best

    def refine(self, best: int, arguments: FitSignature) -> int:
        """Move from the best point of the grid by ten per cent as long as that helps; return the last point."""
        here = MovedPoint.at(*list(self.grid.points())[best], arguments)
        known = {here.key: best}
        for _ in range(_MOST_ROUNDS):
            moves = list(here.neighbors())
            if not moves:
                return best
            fresh = [move for move in moves if move.key not in known]
            known |= {move.key: len(self.points) + i for i, move in enumerate(fresh)}
            self._try([move.params() for move in fresh], "greedy")
            around = {known[move.key]: move for move in moves}
            nearby = self._first_best(around)
            if not self.setup.criterion.sign * (self.scores[nearby] - self.scores[best]) > _TIE:
                return best
            best, here = nearby, around[nearby]
        warn(
            f"greedy search was still finding better points after {_MOST_ROUNDS} rounds, the last with the score "
            f"{self.scores[best]:g}; the grid lies far from the optimum, or there is none",
            ConvergenceWarning,
        )
        return best

    def _first_best(self, positions: Iterable[int]) -> int:
        """Return the first of the positions with the best score."""
        scores = {i: self.setup.criterion.sign * self.scores[i] for i in positions}
        best = max(scores.values())
        return next(i for i, score in scores.items() if score >= best - _TIE)

    def tied_with(self, best: int) -> NDArray[np.int64]:
        """Return the positions of all points whose score is that of the best, itself included."""
        sign = self.setup.criterion.sign
        tied: NDArray[np.int64] = np.flatnonzero(sign * np.array(self.scores) >= sign * self.scores[best] - _TIE)
        tied.flags.writeable = False
        return tied

    def _try(self, points: list[dict[str, Any]], stage: str) -> None:
        outcomes = None
        if isinstance(self.source, FoldSplits):
            outcomes = fit_kernel_grid(self.setup, self.source, self.grid.names, points, self.n_threads)
        if outcomes is None:
            outcomes = self._by_lines(points)
        self.points += points
        self.outcomes += outcomes
        self.stages += [stage] * len(points)
        self.scores += [float(np.mean([outcome.score for outcome in of_point])) for of_point in outcomes]
        others = dict.fromkeys(other for of_point in outcomes for outcome in of_point for other in outcome.others)
        for category, text in others:
            warn(text, category)

    def _by_lines(self, points: list[dict[str, Any]]) -> list[list[Outcome]]:
        lines = make_lines(points, self.shares, together=self.together)
        tasks = (
            (self.setup, split, [points[i] for i in positions], shared)
            for split in self.source
            for positions, shared in lines
        )
        results = iter(run_all(tasks, self.jobs))
        outcomes: list[list[Outcome]] = [[] for _ in points]
        for _ in range(len(self.source)):
            for positions, _ in lines:
                for position, outcome in zip(positions, next(results), strict=True):
                    outcomes[position].append(outcome)
        return outcomes

    def _worst(self) -> list[Outcome]:
        """Return of each point the outcome with the worst status."""
        order = ("ok", *FLAWS)
        return [max(of_point, key=lambda outcome: order.index(outcome.status)) for of_point in self.outcomes]

    def _why_none(self) -> str:
        worst = self._worst()
        counts = {flaw: sum(outcome.status == flaw for outcome in worst) for flaw in FLAWS}
        listed = ", ".join(f"{count} {flaw}" for flaw, count in counts.items() if count)
        message = next((outcome.message for outcome in worst if outcome.message), "")
        return f"no point of grid gave an admissible model: {listed} of {len(worst)}; the first says: {message}"

    def _warn_of_failures(self) -> None:
        """Warn of points that failed, with the values of parameters at which all points did, and the first reason."""
        worst = self._worst()
        failed = [outcome.status == "failed" for outcome in worst]
        if not any(failed):
            return
        listed = []
        for name in self.grid.names:
            values = [short(point[name]) if name in point else "" for point in self.points]
            well = {value for value, has_failed in zip(values, failed, strict=True) if not has_failed}
            listed += [f"{name}={value}" for value in dict.fromkeys(values) if value and value not in well]
        everywhere = f" (all with {', '.join(listed)})" if listed else ""
        first = failed.index(True)
        point = ", ".join(f"{name}={short(value)}" for name, value in self.points[first].items())
        warn(
            f"{sum(failed)} of {len(failed)} points of grid failed and cannot be chosen{everywhere}; the first, "
            f"{point}, says: {worst[first].message}",
            FailedFitWarning,
        )

    def table(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        for name in self.grid.names:
            columns[f"param_{name}"] = _column([point.get(name) for point in self.points])
        columns["score"] = np.array(self.scores)
        for k in range(len(self.source)):
            columns[f"fold_{k}"] = np.array([of_point[k].score for of_point in self.outcomes])
        worst = self._worst()
        columns["status"] = np.array([outcome.status for outcome in worst])
        columns["message"] = np.array([outcome.message for outcome in worst], dtype=object)
        columns["seconds"] = np.array([sum(outcome.seconds for outcome in of_point) for of_point in self.outcomes])
        columns["stage"] = np.array(self.stages)
        for column in columns.values():
            column.flags.writeable = False
        return columns


def _column(values: list[Any]) -> NDArray[Any]:
    are_numbers = all(isinstance(value, numbers.Real) for value in values)
    if are_numbers and len(set(map(value_key, values))) == len(set(values)):  # else an array would make 1.0 of 1
        return np.array(values)
    column: NDArray[Any] = np.empty(len(values), dtype=object)
    column[:] = values
    return column
