"""A fit of one SVM, and C-SVMs with the linear kernel, which the engine of large margins solves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import make_report
from fastpu.common._warn import span_of, warn, warn_if_alike
from fastpu.data._matrix import Matrix
from fastpu.exceptions import DegenerateModelWarning
from fastpu.kernels._expansion import linear_scores
from fastpu.kernels._kernels import linear_coef
from fastpu.svm._arguments import MOST_COST, Options
from fastpu.svm._solver import (
    UNFINISHED,
    KernelRows,
    KernelSolver,
    Solved,
    SvmRound,
    Task,
    open_solver,
    warn_of_unfinished,
)
from fastpu.svm.kernel_machine import KernelMachine

_GAP = 1e-9  # duality gap at which the linear engine stops, relative to the primal objective
_SAFETY = 0.99  # of tol, so that scores computed in another order meet it as well
_FEW_STEPS = 100_000  # pair updates, plus 10 for each row, that may be tried after the engine
# Why rho can be 0, and what to do.
_NO_MARGIN = {
    "nu_svm": "so few errors as nu allows cannot be had with this kernel; raise nu",
    "one_class": "the rows lie all around the origin of the kernel's space; change nu or the kernel",
}


@dataclass(frozen=True)
class Posed:
    """The problem of a fit with the arguments that belong to rows, checked.

    `cost` is the box of each row; `weights` say how often a row counts where gamma follows the variance of X, if its
    cost is not 0.
    """

    task: Task
    labels: NDArray[np.int8] | None
    cost: NDArray[np.float64]
    weights: NDArray[np.float64] | None

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows whose cost is not 0, which alone are fitted to."""
        return np.flatnonzero(self.cost > 0).astype(np.int64)

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How often each row counts, or None if each does once."""
        if (self.cost > 0).all():
            return self.weights
        return np.where(self.cost > 0, 1.0 if self.weights is None else self.weights, 0.0)


def fit_machine(posed: Posed, matrix: Matrix, options: Options, given: Mapping[str, Any]) -> KernelMachine:
    """Fit one SVM to the rows whose cost is not 0, and warn the caller of the fit function of failures."""
    task, labels, rows = posed.task, posed.labels, posed.rows
    with make_report(given["callback"], given["progress"], total=None, description=task.title) as report:
        training = open_solver(matrix, options, posed.counts)
        if labels is not None and task.problem == "c_svm" and training.kernel.name == "linear":
            solved = solve_linear(training, linear_engine(training), labels, posed.cost, report)
        else:
            of_rows = None if labels is None else labels[rows]
            solved = training.solve(task.problem, rows, of_rows, posed.cost[rows], nu=task.nu, report=report)
    model = training.machine(solved, model_params(task, options))
    warn_of_failures(task, solved, span_of(solved.decision), training)
    return model


def model_params(task: Task, options: Options) -> dict[str, object]:
    return {"method": task.function, **task.arguments, **options.params()}


def warn_of_failures(task: Task, solved: Solved, span: tuple[int, int, float, float], training: KernelRows) -> None:
    """Warn of a fit that did not end, or whose model is of no use; `span` is `span_of` the scores of its rows."""
    tol = training.options.tol
    if solved.status in UNFINISHED:
        warn_of_unfinished(task.function, solved.status, vars(solved), training)
    if solved.status in {"tol", "gap", "precision"}:
        if task.problem in _NO_MARGIN and not solved.margin > tol:  # what is left of the scores is rounding
            warn(
                f"{task.function} found no margin: rho is {solved.margin:.3g}, not above tol = {tol:g}, and the scores "
                f"mean nothing; {_NO_MARGIN[task.problem]}, or lower tol if kernel values are as small as that",
                DegenerateModelWarning,
            )
        if task.problem != "one_class":
            warn_if_alike(task.function, span, "change the costs or the kernel")
        elif not span[3] > training.border(solved)["threshold"]:
            warn_if_alike(task.function, span, "change nu or the kernel")


# --------------------------------------------------------------------------------------------------- linear kernel


def linear_engine(training: KernelSolver) -> _core.LargeMarginEngine | None:
    """Make the engine of the large-margin methods, or return None if it overflows, as it squares the entries of X."""
    options = training.options
    try:
        return _core.LargeMarginEngine(training.matrix, n_threads=options.n_threads)
    except ValueError:
        return None


def solve_linear(
    training: KernelSolver,
    engine: _core.LargeMarginEngine | None,
    labels: NDArray[np.int8],
    cost: NDArray[np.float64],
    report: Callable[[SvmRound], bool] | None = None,
) -> Solved:
    """Solve a C-SVM with the linear kernel: by the engine of the large-margin methods, by pair updates, or by both.

    Descents over sparse or many columns end where no condition is violated by more than tol; all else is exact.
    Labels and costs are those of all rows; rows without a cost are not fitted to.
    The engine's coefficients and intercept are kept as they are, and the certificate is computed from them: where
    columns differ very much in scale, sums over the support vectors would not have enough digits. If a condition is
    still violated by more than tol, pair updates follow, and their solution is taken if it meets tol. With a
    `max_iter`, which counts pair updates, they work alone.
    """
    rows = np.flatnonzero(cost > 0).astype(np.int64)
    options, signs, boxes = training.options, labels[rows], cost[rows]
    by_engine = None
    if engine is not None and options.max_iter is None and cost.max() <= MOST_COST:
        by_engine = _run_engine(engine, training, rows, labels, cost, report)
    if by_engine is None:
        return _certified(training, training.solve("c_svm", rows, signs, boxes, report=report), signs, boxes)
    is_optimal = by_engine.violation <= options.tol
    if is_optimal or by_engine.status == "callback":
        return replace(by_engine, status="tol" if is_optimal else "callback")
    has_gap = by_engine.status == "gap"
    limit = min(options.steps(rows.size), _FEW_STEPS + 10 * rows.size) if has_gap else None
    pairs = training.solve("c_svm", rows, signs, boxes, start=by_engine.alpha, limit=limit, report=report)
    pairs = _certified(training, pairs, signs, boxes)
    if pairs.status == "tol" or (not has_gap and pairs.gap < by_engine.gap):
        return pairs
    status = "callback" if pairs.status == "callback" else "gap" if has_gap else "precision"
    return replace(by_engine, n_steps=pairs.n_steps, status=status)


def _certified(training: KernelSolver, solved: Solved, labels: NDArray[np.int8], cost: NDArray[np.float64]) -> Solved:
    """Return a solution by pair updates with its coefficients, and the certificate computed from these."""
    kept = np.flatnonzero(solved.is_support)
    coef = linear_coef(training.matrix, solved.rows[kept], solved.alpha[kept] * labels[kept])
    decision = linear_scores(training.matrix, coef, solved.intercept, training.options.n_threads)[solved.rows]
    with np.errstate(over="ignore", invalid="ignore"):
        gap = float(coef @ coef - solved.alpha.sum() + (cost * np.maximum(0, 1 - labels * decision)).sum())
    if not np.isfinite(gap):
        return solved
    violation = _violation(labels, cost, solved.alpha, decision)
    is_worse = solved.status == "tol" and violation > training.options.tol
    history = solved.history | {"violation": np.append(solved.history["violation"][:-1], violation)}
    return replace(
        solved,
        coef=coef,
        decision=decision,
        gap=max(0.0, gap),
        violation=violation,
        status="precision" if is_worse else solved.status,
        history=history,
    )


def _violation(
    labels: NDArray[np.int8],
    cost: NDArray[np.float64],
    alpha: NDArray[np.float64],
    decision: NDArray[np.float64],
) -> float:
    gradient = decision - labels
    may_shrink, may_grow = alpha > 0, alpha < cost
    rising, falling = np.where(labels > 0, may_grow, may_shrink), np.where(labels > 0, may_shrink, may_grow)
    return max(0.0, float(gradient[falling].max(initial=-np.inf) - gradient[rising].min(initial=np.inf)))


def _run_engine(
    engine: _core.LargeMarginEngine,
    training: KernelSolver,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    cost: NDArray[np.float64],
    report: Callable[[SvmRound], bool] | None,
) -> Solved | None:
    limit = training.options.steps(rows.size)
    callback_errors: list[ValueError] = []  # to tell them from errors of the engine

    def on_step(_: int, objective: float, gap: float) -> bool:
        try:
            return report is not None and report(SvmRound(0, limit, gap - objective, np.inf, rows.size))
        except ValueError as error:
            callback_errors.append(error)
            raise

    try:
        [result] = engine.solve_each(
            [(labels, cost, None, None)],
            _core.MarginOptions(tol=_GAP, violation=_SAFETY * training.options.tol),
            None if report is None else on_step,
        )
    except ValueError:
        if callback_errors:
            raise
        return None  # the engine squares the entries and overflows; pair updates can still solve rows of 1e100
    alpha, coef, signs = result["beta"][rows], result["coef"], labels[rows]
    # The scores are computed as the model will compute them. The engine's own are those of centred rows, and differ
    # where coefficients and intercept cancel far from the origin.
    scores = linear_scores(training.matrix, coef, result["intercept"], training.options.n_threads)[rows]
    with np.errstate(over="ignore", invalid="ignore"):
        losses = [float((cost[rows] * np.maximum(0, 1 - signs * f)).sum()) for f in (scores, result["decision"][rows])]
    if not (np.isfinite(alpha).all() and np.isfinite(scores).all() and np.isfinite(coef).all()):
        return None
    primal = result["objective"] + (losses[0] - losses[1])
    gap = max(0.0, result["gap"] + (losses[0] - losses[1]))
    violation = _violation(signs, cost[rows], alpha, scores)
    objective = result["gap"] - result["objective"]
    status = "precision" if result["status"] == "gap" and gap > _GAP * primal else result["status"]
    last = {"objective": objective, "violation": violation, "n_active": rows.size, "n_steps": 0}
    return Solved(
        rows=rows,
        labels=signs,
        alpha=alpha,
        intercept=result["intercept"],
        decision=scores,
        objective=objective,
        gap=gap,
        violation=violation,
        margin=1.0,
        n_steps=0,
        status=status,
        history={name: np.array([value]) for name, value in last.items()},
        coef=coef,
    )
