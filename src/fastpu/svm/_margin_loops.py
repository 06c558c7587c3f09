"""The loops over large-margin sub-problems: Algorithm 1, and the difference-of-convex iteration for the psi loss.

Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.svm._margin_engine import Ended, MarginRound, MarginRows, MarginSolved, Steps

Loss: TypeAlias = Literal["hinge", "psi"]


@dataclass(slots=True)
class Problem:
    """S(., y) = |w|^2 / 2 + sum_i c_i L(y_i f(x_i)): labels y and the costs c that go with them."""

    labels: NDArray[np.int8]
    costs: NDArray[np.float64]

    def value(self, f: MarginSolved, loss: Loss) -> float:
        """Return S(f, y)."""
        losses = np.maximum(1.0 - self.labels * f.decision, 0.0)
        if loss == "psi":
            np.minimum(losses, 1.0, out=losses)
        losses *= self.costs
        return f.half_norm + float(losses.sum())


@dataclass(slots=True)
class Run:
    """The fit for one C: the record of its classifiers f_0, f_1, ..., the last of them, and the problem it belongs to.

    `log` has the columns of the history, `ended` says how each of its sub-problems ended, and `cycle` is the number of
    steps after which the labels repeated, or 0.
    """

    C: float
    has_labels: bool = True
    last: MarginSolved = field(init=False)
    problem: Problem = field(init=False)
    ended: list[Ended] = field(default_factory=list)
    n_counted: int = 0
    log: dict[str, list[float]] = field(default_factory=dict)
    objective: list[float] = field(default_factory=list)
    status: str = ""
    cycle: int = 0

    def solve(
        self, problem: Problem, slopes: NDArray[np.uint8] | None = None, start: MarginSolved | None = None
    ) -> Steps[MarginSolved]:
        """Minimise |w|^2 / 2 + sum_i c_i [(1 - m_i)_+ + slopes_i m_i], from an earlier optimum if there is one."""
        labels = problem.labels
        solution: _core.MarginSolution = yield labels, problem.costs, slopes, None if start is None else start.solution
        coef, objective, gap = solution["coef"], solution["objective"], solution["gap"]
        if not (math.isfinite(objective) and math.isfinite(solution["intercept"])):
            raise ValueError("X and C must be such that sums of squares and costs do not overflow; scale X, or lower C")
        self.ended.append(Ended(solution["status"], solution["method"], solution["n_iter"], gap, objective))
        return MarginSolved(labels, slopes, solution, solution["decision"], 0.5 * float((coef * coef).sum()), gap)

    def add(self, f: MarginSolved, problem: Problem, value: float, n_changed: int, **more: float) -> None:
        """Record a classifier, its objective with the labels of `problem`, and a line of the history."""
        self.last, self.problem = f, problem
        self.objective.append(value)
        new, self.n_counted = self.ended[self.n_counted :], len(self.ended)
        line = {
            "n_changed": n_changed,
            "intercept_low": f.solution["intercept_low"],
            "intercept_high": f.solution["intercept_high"],
            "gap": f.gap,
            "n_problems": len(new),
            "n_steps": sum(each.n_steps for each in new),
            **more,
        }
        for name, number in line.items():
            self.log.setdefault(name, []).append(number)


# ------------------------------------------------------------------------------------------------ Algorithm 1


@dataclass(frozen=True)
class Rule:
    """What Algorithm 1 minimises, where it starts, and when it ends; `init` is "hinge", "psi" or "isvm"."""

    loss: Loss
    init: str
    tol: float
    check_increase: bool


def algorithm_1(rows: MarginRows, C: float, rule: Rule, *, is_heard: bool = True) -> Steps[Run]:
    """Fit f_0 to the labels y_init, +1 (labelled) and -1 (unlabelled); then relabel and fit by turns.

    y_k is +1 on labelled rows and sgn f_k on the others; f_(k+1) minimises S(., y_k). Rounds are yielded for a callback
    only if `is_heard`.
    """
    loss, most = rule.loss, rows.options.max_iter
    run = Run(C)
    f, fitted, relabelled = yield from _first(rows, run, rule)
    before = np.nan  # S(f_(k-1), y_(k-1))
    seen: dict[bytes, int] = {}
    for k in range(most + 1):
        # f is f_k, `fitted` is the problem with the labels y_(k-1) that it was fitted to, `relabelled` that
        # with its own, y_k.
        labels = rows.signs(f.decision > 0) if relabelled is None else relabelled.labels
        n_changed = int(np.count_nonzero(labels != fitted.labels))
        n_negative = int(np.count_nonzero(labels < 0))
        if relabelled is None and n_negative:
            relabelled = make_problem(rows, C, labels) if n_changed else fitted
        s_fitted = fitted.value(f, loss)
        s_relabelled = np.nan if relabelled is None else relabelled.value(f, loss)
        record = {"n_negative": n_negative, "objective_fitted": s_fitted, "objective_relabeled": s_relabelled}
        is_stopped = is_heard and (yield MarginRound(C, k, most, s_fitted, n_changed, f.gap))

        run.status = _end_before(rule, k, f, relabelled, n_changed, s_relabelled > s_fitted)
        if run.status or relabelled is None:
            run.add(f, fitted, s_fitted, n_changed, **record)
            return run
        run.add(f, relabelled, s_relabelled, n_changed, **record)
        if k and abs(s_relabelled - before) <= rule.tol * before:
            run.status = "tol"
        elif is_stopped:
            run.status = "callback"
        elif k == most:
            run.status = "max_iter"
        elif not rule.check_increase:
            # All that the next step depends on.
            state = relabelled.labels.tobytes() + (flat_rows(relabelled, f).tobytes() if loss == "psi" else b"")
            if state in seen:
                run.status, run.cycle = "max_iter", k - seen[state]
            seen[state] = k
        if run.status:
            return run
        f = yield from minimise(run, relabelled, f, loss)
        fitted, relabelled, before = relabelled, None, s_relabelled
    return run


def _end_before(
    rule: Rule, k: int, f: MarginSolved, relabelled: Problem | None, n_changed: int, is_increase: bool
) -> str:
    """Return the status if the iteration ends with f_k and the labels that it was fitted to, else ""."""
    if rule.loss == "psi" and is_collapsed(f):
        return "collapsed"
    if relabelled is None:
        return "no_negative"
    if k and rule.check_increase and is_increase:
        return "increase"
    return "labels" if k and not n_changed else ""


def _first(rows: MarginRows, run: Run, rule: Rule) -> Steps[tuple[MarginSolved, Problem, Problem | None]]:
    """Return f_0, the problem that it was fitted to, and that with its labels y_0 if these are not the signs of f_0."""
    if rule.init == "isvm":
        alike = Rule("hinge", "hinge", rule.tol, rule.check_increase)
        isvm = yield from algorithm_1(rows, run.C, alike, is_heard=False)
        run.ended += isvm.ended
        return isvm.last, isvm.problem, isvm.problem
    problem = make_problem(rows, run.C, rows.signs(rows.is_labelled))
    f = yield from run.solve(problem)
    if rule.init == "psi":
        f = yield from minimise(run, problem, f, "psi")
    return f, problem, None


def make_problem(rows: MarginRows, C: float, labels: NDArray[np.int8]) -> Problem:
    """Return S(., y) of the paper's (2.2): each side has the cost C, shared out by the weights of its rows."""
    is_positive = labels > 0
    if rows.weights is None:
        n_positive = int(np.count_nonzero(is_positive))
        return Problem(labels, np.where(is_positive, C / n_positive, C / (labels.size - n_positive)))
    positive, negative = (float(rows.weights[side].sum()) for side in (is_positive, ~is_positive))
    return Problem(labels, rows.weights * np.where(is_positive, C / positive, C / negative))


def minimise(run: Run, problem: Problem, f: MarginSolved, loss: Loss) -> Steps[MarginSolved]:
    """Return the minimiser of S, or with the psi loss a fixed point of `descend` from f."""
    if loss == "psi":
        return (yield from descend(run, problem, f))
    if f.labels is problem.labels and f.slopes is None:
        return f
    return (yield from run.solve(problem, None, f))


# --------------------------------------------------------------------------------------------------- psi loss


def flat_rows(problem: Problem, f: MarginSolved) -> NDArray[np.uint8]:
    """Return s_i = 1 where m_i = y_i f(x_i) < 0. There psi(m) = (1 - m)_+ + min(m, 0) is at most (1 - m)_+ + s m."""
    return (problem.labels * f.decision < 0).view(np.uint8)


def is_collapsed(f: MarginSolved) -> bool:
    """Return whether w is 0.

    It is if the solution has w = 0, or if s = 1 on all rows of one label and on no row of the other: then all y_i
    beta_i in w = sum_i beta_i y_i x_i have one sign, while their sum is 0, so that all of them are 0.
    """
    if f.slopes is not None:
        pushes_up = (f.labels > 0) != f.slopes.view(np.bool_)
        if pushes_up.all() or not pushes_up.any():
            return True
    return f.half_norm == 0 and not f.solution["coef"].any()


def descend(run: Run, problem: Problem, f: MarginSolved) -> Steps[MarginSolved]:
    """Return what the difference-of-convex iteration for the psi loss ends with, from f on; S never increases.

    Each step solves the problem with the loss (1 - m)_+ + s m, which lies above psi and touches it at the last f. The
    iteration ends when a set of rows with s = 1 occurs again: if it is the last set, f is a fixed point; if it is an
    earlier one, S is the same there. There are finitely many sets.
    """
    slopes, seen = flat_rows(problem, f), set()
    if f.labels is problem.labels:  # f solves the problem with the slopes that it has
        seen.add((np.zeros_like(slopes) if f.slopes is None else f.slopes).tobytes())
    while slopes.tobytes() not in seen:
        seen.add(slopes.tobytes())
        f = yield from run.solve(problem, slopes, f)
        slopes = flat_rows(problem, f)
    return f


def biased_psi(rows: MarginRows, C: float, costs: NDArray[np.float64]) -> Steps[Run]:
    """As `descend` at these costs, from the hinge solution, with a record of each step; C is only recorded.

    Unlabelled rows are taken for negative.
    """
    run, most = Run(C, has_labels=False), rows.options.max_iter
    problem = Problem(rows.signs(rows.is_labelled), costs)
    f = yield from run.solve(problem)
    slopes, seen = np.zeros(costs.size, dtype=np.uint8), set()
    for step in range(most + 1):
        seen.add(slopes.tobytes())
        last, slopes = slopes, flat_rows(problem, f)
        n_changed = int(np.count_nonzero(slopes != last))
        value = problem.value(f, "psi")
        run.add(f, problem, value, n_changed)
        is_stopped = yield MarginRound(C, step, most, value, n_changed, f.gap)
        if is_collapsed(f):
            run.status = "collapsed"
        elif slopes.tobytes() in seen:
            run.status = "repeat"
        elif is_stopped:
            run.status = "callback"
        elif step == most:
            run.status = "max_iter"
        else:
            f = yield from run.solve(problem, slopes, f)
        if run.status:
            break
    return run
