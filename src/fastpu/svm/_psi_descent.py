"""The difference-of-convex iteration for the psi loss, psi(m) = min(1, max(0, 1 - m)) = (1 - m)_+ + min(m, 0).

Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", Algorithm 2. Each
step solves the problem with the loss (1 - m)_+ + s m, s in {0, 1}, which lies above psi and touches it at the last
classifier.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._progress import Report
from fastpu.svm._margin_fit import MarginFit
from fastpu.svm._margin_problem import MarginClassifier, MarginProblem, MarginSolver
from fastpu.svm.margin_round import MarginRound


def flat_rows(problem: MarginProblem, f: MarginClassifier) -> NDArray[np.uint8]:
    """Return s_i = 1 where m_i = y_i f(x_i) < 0. There psi(m) = (1 - m)_+ + min(m, 0) is at most (1 - m)_+ + s m."""
    return (problem.labels * f.decision < 0).view(np.uint8)


def is_collapsed(f: MarginClassifier) -> bool:
    """Return whether w is 0.

    It is if the solution has w = 0, or if s = 1 on all rows of one label and on no row of the other: then all y_i
    beta_i in w = sum_i beta_i y_i x_i have one sign, while their sum is 0, so that all of them are 0.
    """
    if f.slopes is not None:
        pushes_up = (f.labels > 0) != f.slopes.view(np.bool_)
        if pushes_up.all() or not pushes_up.any():
            return True
    return f.half_norm == 0 and not f.coef.any()


def descend(fit: MarginFit, problem: MarginProblem, f: MarginClassifier) -> MarginClassifier:
    """Return what the iteration for the psi loss ends with, from f on; S never increases.

    The iteration ends when a set of rows with s = 1 occurs again: if it is the last set, f is a fixed point; if it is
    an earlier one, S is the same there. There are finitely many sets.
    """
    slopes, seen = flat_rows(problem, f), set()
    if f.labels is problem.labels:  # f solves the problem with the slopes that it has
        seen.add((np.zeros_like(slopes) if f.slopes is None else f.slopes).tobytes())
    while slopes.tobytes() not in seen:
        seen.add(slopes.tobytes())
        f = fit.solve(problem, slopes, f)
        slopes = flat_rows(problem, f)
    return f


def descend_with_costs(
    solver: MarginSolver, C: float, costs: NDArray[np.float64], max_iter: int, on_round: Report | None
) -> MarginFit:
    """Return the fit of BPSI: the same iteration at these costs, from the hinge solution, each step recorded.

    Unlabelled rows are taken for negative. C is only recorded.
    """
    fit = MarginFit(C, solver, has_labels=False)
    rows = solver.rows
    problem = MarginProblem(rows.signs(rows.is_labelled), costs)
    f = fit.solve(problem)
    slopes, seen = np.zeros(costs.size, dtype=np.uint8), set()
    for step in range(max_iter + 1):
        seen.add(slopes.tobytes())
        last, slopes = slopes, flat_rows(problem, f)
        n_changed = int(np.count_nonzero(slopes != last))
        value = problem.value(f, "psi")
        fit.record(f, problem, value, n_changed)
        is_stopped = on_round is not None and on_round(MarginRound(C, step, max_iter, value, n_changed, f.gap))
        if is_collapsed(f):
            fit.status = "collapsed"
        elif slopes.tobytes() in seen:
            fit.status = "repeat"
        elif is_stopped:
            fit.status = "callback"
        elif step == max_iter:
            fit.status = "max_iter"
        if fit.status:
            break
        f = fit.solve(problem, slopes, f)
    return fit
