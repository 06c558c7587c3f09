"""The fit for one value of C: the record of its classifiers, and the model that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from fastpu.svm._margin_problem import MarginClassifier, MarginProblem, MarginSolver
from fastpu.svm._margin_rows import MarginRows
from fastpu.svm.linear_machine import LinearMachine


@dataclass(frozen=True)
class SubproblemEnd:
    """How the solver ended one sub-problem; it is solved to `solver_tol` if the status is "gap"."""

    status: str
    method: str
    n_steps: int
    gap: float
    objective: float


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """What the history says of one classifier; the fields are the columns of the model's history."""

    n_changed: int
    intercept_low: float
    intercept_high: float
    gap: float
    n_problems: int
    n_steps: int


@dataclass(frozen=True, slots=True)
class LabelsHistoryLine(HistoryLine):
    """The same for Algorithm 1."""

    n_negative: int
    objective_fitted: float
    objective_relabeled: float


@dataclass(slots=True)
class MarginFit:
    """The fit for one C: its classifiers f_0, f_1, ..., the last of them, and the problem that it belongs to.

    `history` has a line for each classifier, `solver_ends` says how each sub-problem ended, and `cycle_length` is the
    number of steps after which the labels repeated, or 0. `has_labels` says whether the iteration changes labels.
    """

    C: float
    solver: MarginSolver
    has_labels: bool
    last: MarginClassifier = field(init=False)
    problem: MarginProblem = field(init=False)
    solver_ends: list[SubproblemEnd] = field(default_factory=list)
    n_recorded_ends: int = 0
    history: list[HistoryLine] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    status: str = ""
    cycle_length: int = 0

    def solve(
        self,
        problem: MarginProblem,
        slopes: NDArray[np.uint8] | None = None,
        start: MarginClassifier | None = None,
    ) -> MarginClassifier:
        """Solve a sub-problem, and note how the solver ended."""
        f = self.solver.solve(problem, slopes, start)
        end = f.solution
        self.solver_ends.append(SubproblemEnd(end.status, end.method, end.n_iter, f.gap, end.objective))
        return f

    def record(self, f: MarginClassifier, problem: MarginProblem, value: float, n_changed: int) -> None:
        """Keep a classifier, its objective with the labels of `problem`, and a line of the history."""
        new = self._keep(f, problem, value)
        self.history.append(
            HistoryLine(
                n_changed=n_changed,
                intercept_low=f.solution.intercept_low,
                intercept_high=f.solution.intercept_high,
                gap=f.gap,
                n_problems=len(new),
                n_steps=sum(end.n_steps for end in new),
            )
        )

    def record_labels(
        self,
        f: MarginClassifier,
        problem: MarginProblem,
        value: float,
        n_changed: int,
        n_negative: int,
        objective_fitted: float,
        objective_relabeled: float,
    ) -> None:
        """Do the same in Algorithm 1."""
        new = self._keep(f, problem, value)
        self.history.append(
            LabelsHistoryLine(
                n_changed=n_changed,
                intercept_low=f.solution.intercept_low,
                intercept_high=f.solution.intercept_high,
                gap=f.gap,
                n_problems=len(new),
                n_steps=sum(end.n_steps for end in new),
                n_negative=n_negative,
                objective_fitted=objective_fitted,
                objective_relabeled=objective_relabeled,
            )
        )

    def _keep(self, f: MarginClassifier, problem: MarginProblem, value: float) -> list[SubproblemEnd]:
        """Keep a classifier, and return how the sub-problems ended that were solved since the last one was kept."""
        self.last, self.problem = f, problem
        self.objective.append(value)
        new, self.n_recorded_ends = self.solver_ends[self.n_recorded_ends :], len(self.solver_ends)
        return new

    def model(self, rows: MarginRows, params: Mapping[str, object]) -> LinearMachine:
        solution = self.last.solution
        # coef of a collapsed loop may hold rounding errors
        coef = self.last.coef if self.status != "collapsed" else np.zeros_like(self.last.coef)
        is_solved = all(end.status == "gap" for end in self.solver_ends)
        return LinearMachine(
            n_features=rows.matrix.n_features,
            feature_names=rows.matrix.feature_names,
            threshold=0.0,
            n_iter=len(self.objective) - 1,
            converged=self.status not in {"max_iter", "callback"} and is_solved,
            status=self.status,
            objective=np.array(self.objective),
            history={
                each.name: np.array([getattr(line, each.name) for line in self.history])
                for each in fields(self.history[0])
            },
            params=params,
            coef=coef,
            intercept=solution.intercept,
            intercept_low=solution.intercept_low,
            intercept_high=solution.intercept_high,
            pseudo_labels=rows.of_all_rows(self.problem.labels) if self.has_labels else None,
            gap=solution.gap,
        )
