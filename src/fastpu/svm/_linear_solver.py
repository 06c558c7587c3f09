"""C-SVMs with the linear kernel, which the engine of large margins solves, and pair updates where it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.kernels._expansion import linear_scores
from fastpu.kernels._shifted_rows import linear_coef
from fastpu.svm._kernel_solver import KernelSolver, SolverEnd, SvmFit, SvmReport, history_of
from fastpu.svm._row_costs import MOST_COST
from fastpu.svm.svm_round import SvmRound

_SAFETY = 0.99  # of tol, so that scores computed in another order meet it as well
_FEW_STEPS = 100_000  # pair updates, plus 10 for each row, that may be tried after the engine


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
    report: SvmReport | None = None,
) -> SvmFit:
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
    if engine is not None and options.max_steps is None and cost.max() <= MOST_COST:
        by_engine = _run_engine(engine, training, rows, labels, cost, report)
    if by_engine is None:
        return _certified(training, training.solve("c_svm", rows, signs, boxes, report=report), signs, boxes)
    is_optimal = by_engine.end.violation <= options.tol
    if is_optimal or by_engine.end.status == "callback":
        return _ended(by_engine, "tol" if is_optimal else "callback")
    has_gap = by_engine.end.status == "gap"
    limit = min(options.steps_for(rows.size), _FEW_STEPS + 10 * rows.size) if has_gap else None
    pairs = training.solve("c_svm", rows, signs, boxes, start=by_engine.alpha, limit=limit, report=report)
    pairs = _certified(training, pairs, signs, boxes)
    if pairs.end.status == "tol" or (not has_gap and pairs.end.gap < by_engine.end.gap):
        return pairs
    status = "callback" if pairs.end.status == "callback" else "gap" if has_gap else "precision"
    return _ended(by_engine, status, pairs.end.n_steps)


def _ended(fit: SvmFit, status: str, n_steps: int | None = None) -> SvmFit:
    """Return a solution with another status, and another number of pair updates if it is given."""
    return replace(fit, end=replace(fit.end, status=status, n_steps=fit.end.n_steps if n_steps is None else n_steps))


def _certified(training: KernelSolver, solved: SvmFit, labels: NDArray[np.int8], cost: NDArray[np.float64]) -> SvmFit:
    """Return a solution by pair updates with its coefficients, and the certificate computed from these."""
    kept = np.flatnonzero(solved.is_support)
    coef = linear_coef(training.matrix, solved.rows[kept], solved.alpha[kept] * labels[kept])
    decision = linear_scores(training.matrix, coef, solved.intercept, training.options.n_threads)[solved.rows]
    with np.errstate(over="ignore", invalid="ignore"):
        gap = float(coef @ coef - solved.alpha.sum() + (cost * np.maximum(0, 1 - labels * decision)).sum())
    if not np.isfinite(gap):
        return solved
    violation = _core.c_svm_violation(labels, cost, solved.alpha, decision)
    is_worse = solved.end.status == "tol" and violation > training.options.tol
    return replace(
        solved,
        coef=coef,
        decision=decision,
        end=replace(
            solved.end,
            gap=max(0.0, gap),
            violation=violation,
            status="precision" if is_worse else solved.end.status,
        ),
        history=solved.history | {"violation": np.append(solved.history["violation"][:-1], violation)},
    )


def _run_engine(
    engine: _core.LargeMarginEngine,
    training: KernelSolver,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    cost: NDArray[np.float64],
    report: SvmReport | None,
) -> SvmFit | None:
    limit = training.options.steps_for(rows.size)
    margin_options = _core.MarginOptions(violation=_SAFETY * training.options.tol)
    callback_errors: list[ValueError] = []  # to tell them from errors of the engine

    def on_step(_: int, objective: float, gap: float) -> bool:
        try:
            return report is not None and report(SvmRound(0, limit, gap - objective, np.inf, rows.size))
        except ValueError as error:
            callback_errors.append(error)
            raise

    try:
        result = engine.solve(
            labels,
            cost,
            None,
            None,
            margin_options,
            None if report is None else on_step,
            n_threads=training.options.n_threads,
        )
    except ValueError:
        if callback_errors:
            raise
        return None  # the engine squares the entries and overflows; pair updates can still solve rows of 1e100
    alpha, coef, signs = result.beta[rows], result.coef, labels[rows]
    # The scores are computed as the model will compute them. The engine's own are those of centred rows, and differ
    # where coefficients and intercept cancel far from the origin.
    scores = linear_scores(training.matrix, coef, result.intercept, training.options.n_threads)[rows]
    with np.errstate(over="ignore", invalid="ignore"):
        losses = [float((cost[rows] * np.maximum(0, 1 - signs * f)).sum()) for f in (scores, result.decision[rows])]
    if not (np.isfinite(alpha).all() and np.isfinite(scores).all() and np.isfinite(coef).all()):
        return None
    primal = result.objective + (losses[0] - losses[1])
    gap = max(0.0, result.gap + (losses[0] - losses[1]))
    violation = _core.c_svm_violation(signs, cost[rows], alpha, scores)
    objective = result.gap - result.objective
    status = "precision" if result.status == "gap" and gap > margin_options.tol * primal else result.status
    end = SolverEnd(status=status, n_steps=0, objective=objective, gap=gap, violation=violation)
    return SvmFit(
        kind="c_svm",
        rows=rows,
        labels=signs,
        alpha=alpha,
        intercept=result.intercept,
        decision=scores,
        margin=1.0,
        end=end,
        history=history_of(end, rows.size),
        coef=coef,
    )
