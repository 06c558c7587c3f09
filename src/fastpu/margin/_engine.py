"""What the large-margin iterations solve: the training rows with their engine, and the sub-problems of a loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu import _core
from fastpu.common._params import forced_isa
from fastpu.common._text import columns_named
from fastpu.data._validate import Matrix, check_labels, check_matrix, check_sample_weight, well_scaled
from fastpu.data.binned_features import BinnedFeatures
from fastpu.kernels._kernels import take_rows
from fastpu.kernels._scales import warn_of_scales
from fastpu.svm._arguments import require_both

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu.margin._arguments import MarginOptions, MarginRound

__all__ = [
    "Hook",
    "MarginRows",
    "Solved",
    "Solver",
    "Task",
    "Unsolved",
    "open_rows",
]

Hook: TypeAlias = "Callable[[MarginRound], bool] | None"

_SHORT_FIT = 16 * 10**6  # n d^2 of a fit that takes a fifth of a second or less
_PLUS, _MINUS = np.int8(1), np.int8(-1)

# ------------------------------------------------------------------------------------------- rows and engine


@dataclass(frozen=True)
class MarginRows:
    """The training rows whose weight is not 0, with an engine that holds what all fits to them share.

    `rows` are their numbers among the `n_given` rows of the caller, or None for all; `weights` is None where all are 1.
    """

    matrix: Matrix
    n_given: int
    rows: NDArray[np.int64] | None
    is_labelled: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    engine: _core.LargeMarginEngine
    n_workers: int
    options: MarginOptions

    def signs(self, is_positive: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return +1 and -1; labelled rows are +1."""
        signs: NDArray[np.int8] = np.where(is_positive | self.is_labelled, _PLUS, _MINUS)
        return signs

    def given(self, labels: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return labels of the caller's rows, 0 for those of weight 0."""
        if self.rows is None:
            return labels
        every: NDArray[np.int8] = np.zeros(self.n_given, dtype=np.int8)
        every[self.rows] = labels
        return every


@dataclass(frozen=True)
class Task:
    """What was asked for: the public function, what a progress bar calls it, its own arguments, and the shared ones."""

    function: str
    title: str
    arguments: Mapping[str, object]
    options: MarginOptions
    is_relative: bool = True  # only ratios of sample weights matter


def open_rows(X: object, y: object, sample_weight: object, task: Task, n_fits: int) -> MarginRows:
    """Check the rows, labels and weights, and make an engine for so many fits that may be done at once."""
    function, n_threads = task.function, task.options.n_threads
    if isinstance(X, BinnedFeatures):
        raise TypeError(
            f"X must be the rows themselves for {function}, got BinnedFeatures, which are for boosting only"
        )
    matrix = check_matrix(X)
    labels = check_labels(y, matrix.n_rows, pu_only=function)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    if weights is not None and task.is_relative:
        weights = well_scaled(weights)
    n_given, rows = matrix.n_rows, None
    if weights is not None and not weights.all():
        signs = np.where(labels == 1, _PLUS, _MINUS)
        require_both(signs, weights, function, ("positive", "unlabelled"))
        # Left out altogether: what such rows hold may not even touch the rounding.
        rows = np.flatnonzero(weights).astype(np.int64)
        taken = take_rows(matrix.native, rows)
        matrix = Matrix(taken, rows.size, matrix.n_features, matrix.feature_names, matrix.is_sparse, matrix.dtype)
        labels, weights = labels[rows], weights[rows]
    if weights is not None and (weights == 1).all():
        weights = None
    warn_of_scales(matrix)
    # Threads are best used for fits that have nothing to tell each other, as long as these are short: only the caller's
    # thread hears of Ctrl-C.
    is_small = not matrix.is_sparse and matrix.n_rows * matrix.n_features**2 <= _SHORT_FIT
    is_short = is_small and task.options.solver != "iadmm"
    n_workers = min(n_fits, n_threads) if is_short else 1
    with columns_named(matrix.feature_names):
        engine = _core.LargeMarginEngine(
            matrix.native, n_threads=1 if n_workers > 1 else n_threads, isa=forced_isa(_core.isa_levels())
        )
    return MarginRows(matrix, n_given, rows, labels == 1, weights, engine, n_workers, task.options)


# --------------------------------------------------------------------------------------------- sub-problems


@dataclass(slots=True)
class Solved:
    """The optimum of a sub-problem: labels, costs and slopes, and what the engine found for them."""

    labels: NDArray[np.int8]
    slopes: NDArray[np.uint8] | None
    found: dict[str, Any]
    decision: NDArray[np.float64]
    half_norm: float  # |w|^2 / 2
    objective: float
    gap: float

    @property
    def interval(self) -> tuple[float, float]:
        """The best intercepts."""
        return self.found["intercept_low"], self.found["intercept_high"]


@dataclass(frozen=True)
class Unsolved:
    """A sub-problem that was not solved to `solver_tol`."""

    status: str
    method: str
    n_steps: int
    gap: float
    objective: float


class Solver:
    """Solves the sub-problems of one fit and counts them."""

    def __init__(self, rows: MarginRows) -> None:
        options = rows.options
        self._solve = rows.engine.solve
        self._options: dict[str, Any] = {
            "solver": options.solver,
            "tol": options.solver_tol,
            "max_iter": options.solver_max_iter or 0,
            "rho": 0.0,
            "eps": 0.0,
            "callback": None,
        }
        self._n_problems = 0
        self._n_steps = 0
        self.unsolved: list[Unsolved] = []

    def solve(
        self,
        labels: NDArray[np.int8],
        costs: NDArray[np.float64],
        slopes: NDArray[np.uint8] | None = None,
        start: Solved | None = None,
    ) -> Solved:
        """Minimise |w|^2 / 2 + sum_i costs_i [(1 - m_i)_+ + slopes_i m_i], from an earlier optimum if there is one."""
        found = self._solve(labels, costs, slopes, start=None if start is None else start.found, **self._options)
        coef, objective, gap = found["coef"], found["objective"], found["gap"]
        if not (math.isfinite(objective) and math.isfinite(found["intercept"])):
            raise ValueError("X and C must be such that sums of squares and costs do not overflow; scale X, or lower C")
        self._n_problems += 1
        self._n_steps += found["n_iter"]
        if found["status"] != "gap":
            self.unsolved.append(Unsolved(found["status"], found["method"], found["n_iter"], gap, objective))
        return Solved(labels, slopes, found, found["decision"], 0.5 * float((coef * coef).sum()), objective, gap)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of sub-problems, and of the engine's steps in them, since this was last asked."""
        counted = self._n_problems, self._n_steps
        self._n_problems = self._n_steps = 0
        return counted

    def add(self, other: Solver, n_problems: int, n_steps: int) -> None:
        """Count what another one has solved as well."""
        self._n_problems += n_problems
        self._n_steps += n_steps
        self.unsolved += other.unsolved
