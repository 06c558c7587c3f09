"""One sub-problem of a large-margin iteration, and the classifier that solves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.svm._margin_rows import MarginRows

Loss: TypeAlias = Literal["hinge", "psi"]


@dataclass(slots=True)
class MarginClassifier:
    """A classifier f(x) = w'x + b, with the labels and slopes of the sub-problem that it solves."""

    labels: NDArray[np.int8]
    slopes: NDArray[np.uint8] | None
    solution: _core.MarginSolution
    coef: NDArray[np.float64]
    decision: NDArray[np.float64]  # f of the training rows
    half_norm: float  # |w|^2 / 2
    gap: float


@dataclass(slots=True)
class MarginProblem:
    """S(., y) = |w|^2 / 2 + sum_i c_i L(y_i f(x_i)): labels y and the costs c that go with them."""

    labels: NDArray[np.int8]
    costs: NDArray[np.float64]

    def value(self, f: MarginClassifier, loss: Loss) -> float:
        """Return S(f, y)."""
        losses = np.maximum(1.0 - self.labels * f.decision, 0.0)
        if loss == "psi":
            np.minimum(losses, 1.0, out=losses)
        losses *= self.costs
        return f.half_norm + float(losses.sum())


@dataclass(frozen=True)
class MarginSolver:
    """The engine of the training rows, which solves one sub-problem a call with so many threads."""

    rows: MarginRows
    options: _core.MarginOptions
    n_threads: int

    def solve(
        self, problem: MarginProblem, slopes: NDArray[np.uint8] | None, start: MarginClassifier | None
    ) -> MarginClassifier:
        """Minimise |w|^2 / 2 + sum_i c_i [(1 - m_i)_+ + slopes_i m_i], m_i = y_i f(x_i), from an earlier optimum."""
        solution = self.rows.engine.solve(
            problem.labels,
            problem.costs,
            slopes,
            None if start is None else start.solution,
            self.options,
            None,
            n_threads=self.n_threads,
        )
        if not (math.isfinite(solution.objective) and math.isfinite(solution.intercept)):
            raise ValueError("X and C must be such that sums of squares and costs do not overflow; scale X, or lower C")
        coef = solution.coef
        return MarginClassifier(
            labels=problem.labels,
            slopes=slopes,
            solution=solution,
            coef=coef,
            decision=solution.decision,
            half_norm=0.5 * float((coef * coef).sum()),
            gap=solution.gap,
        )
