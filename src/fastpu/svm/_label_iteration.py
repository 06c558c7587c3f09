"""Algorithm 1: a large-margin classifier, and the labels that it gives to the unlabelled rows, by turns.

Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_bool, check_choice, check_float
from fastpu.common._progress import Report
from fastpu.svm._margin_fit import MarginFit
from fastpu.svm._margin_problem import Loss, MarginClassifier, MarginProblem, MarginSolver
from fastpu.svm._margin_rows import MarginRows
from fastpu.svm._psi_descent import descend, flat_rows, is_collapsed
from fastpu.svm.margin_round import MarginRound

FirstClassifier: TypeAlias = Literal["hinge", "psi", "isvm"]

_FIRST_CLASSIFIERS: tuple[FirstClassifier, ...] = ("hinge", "psi", "isvm")


@dataclass(frozen=True)
class LabelIteration:
    """What Algorithm 1 minimises (`loss`), which of `fit_ipsi`'s three first classifiers it takes, and when it ends."""

    loss: Loss
    init: FirstClassifier
    tol: float
    check_increase: bool
    max_iter: int

    @staticmethod
    def checked(*, loss: Loss, init: object, tol: float, check_increase: bool, max_iter: int) -> LabelIteration:
        """Check what comes from the caller; `max_iter` is checked already."""
        return LabelIteration(
            loss=loss,
            init=check_choice("init", init, _FIRST_CLASSIFIERS),
            check_increase=check_bool("check_increase", check_increase),
            tol=check_float("tol", tol, low=0),
            max_iter=max_iter,
        )

    def params(self) -> dict[str, object]:
        return {"tol": self.tol, "check_increase": self.check_increase}


def iterate_labels(solver: MarginSolver, C: float, iteration: LabelIteration, on_round: Report | None) -> MarginFit:
    """Fit f_0 to the labels y_init, +1 (labelled) and -1 (unlabelled); then relabel and fit by turns.

    y_k is +1 on labelled rows and sgn f_k on the others; f_(k+1) minimises S(., y_k).
    """
    rows, loss, most = solver.rows, iteration.loss, iteration.max_iter
    fit = MarginFit(C, solver, has_labels=True)
    f, fitted, relabelled = _first_classifier(fit, iteration)
    last_value = np.nan  # S(f_(k-1), y_(k-1))
    seen: dict[bytes, int] = {}
    for k in range(most + 1):
        # f is f_k, `fitted` is the problem with the labels y_(k-1) that it was fitted to, `relabelled` that
        # with its own, y_k.
        labels = rows.signs(f.decision > 0) if relabelled is None else relabelled.labels
        n_changed = int(np.count_nonzero(labels != fitted.labels))
        n_negative = int(np.count_nonzero(labels < 0))
        if relabelled is None and n_negative:
            relabelled = cost_each_side(rows, C, labels) if n_changed else fitted
        s_fitted = fitted.value(f, loss)
        s_relabelled = np.nan if relabelled is None else relabelled.value(f, loss)
        is_stopped = on_round is not None and on_round(MarginRound(C, k, most, s_fitted, n_changed, f.gap))

        fit.status = _end_with_fitted_labels(iteration, k, f, relabelled, n_changed, s_relabelled > s_fitted)
        kept, value = (fitted, s_fitted) if fit.status or relabelled is None else (relabelled, s_relabelled)
        fit.record_labels(f, kept, value, n_changed, n_negative, s_fitted, s_relabelled)
        if fit.status or relabelled is None:
            return fit
        if k and abs(s_relabelled - last_value) <= iteration.tol * last_value:
            fit.status = "tol"
        elif is_stopped:
            fit.status = "callback"
        elif k == most:
            fit.status = "max_iter"
        elif not iteration.check_increase:
            # All that the next step depends on.
            state = relabelled.labels.tobytes() + (flat_rows(relabelled, f).tobytes() if loss == "psi" else b"")
            if state in seen:
                fit.status, fit.cycle_length = "max_iter", k - seen[state]
            seen[state] = k
        if fit.status:
            return fit
        f = _minimise(fit, relabelled, f, loss)
        fitted, relabelled, last_value = relabelled, None, s_relabelled
    return fit


def _end_with_fitted_labels(
    iteration: LabelIteration,
    k: int,
    f: MarginClassifier,
    relabelled: MarginProblem | None,
    n_changed: int,
    is_increase: bool,
) -> str:
    """Return the status if the iteration ends with f_k and the labels that it was fitted to, else ""."""
    if iteration.loss == "psi" and is_collapsed(f):
        return "collapsed"
    if relabelled is None:
        return "no_negative"
    if k and iteration.check_increase and is_increase:
        return "increase"
    return "labels" if k and not n_changed else ""


def _first_classifier(
    fit: MarginFit, iteration: LabelIteration
) -> tuple[MarginClassifier, MarginProblem, MarginProblem | None]:
    """Return f_0, the problem that it was fitted to, and that with its labels y_0 if these are not the signs of f_0."""
    if iteration.init == "isvm":
        isvm = iterate_labels(fit.solver, fit.C, replace(iteration, loss="hinge", init="hinge"), None)
        fit.solver_ends += isvm.solver_ends
        return isvm.last, isvm.problem, isvm.problem
    rows = fit.solver.rows
    problem = cost_each_side(rows, fit.C, rows.signs(rows.is_labelled))
    f = fit.solve(problem)
    if iteration.init == "psi":
        f = descend(fit, problem, f)
    return f, problem, None


def cost_each_side(rows: MarginRows, C: float, labels: NDArray[np.int8]) -> MarginProblem:
    """Return S(., y) of the paper's (2.2): each side has the cost C, shared out by the weights of its rows."""
    is_positive = labels > 0
    if rows.weights is None:
        n_positive = int(np.count_nonzero(is_positive))
        return MarginProblem(labels, np.where(is_positive, C / n_positive, C / (labels.size - n_positive)))
    positive, negative = (float(rows.weights[side].sum()) for side in (is_positive, ~is_positive))
    return MarginProblem(labels, rows.weights * np.where(is_positive, C / positive, C / negative))


def _minimise(fit: MarginFit, problem: MarginProblem, f: MarginClassifier, loss: Loss) -> MarginClassifier:
    """Return the minimiser of S, or with the psi loss a fixed point of `descend` from f."""
    if loss == "psi":
        return descend(fit, problem, f)
    if f.labels is problem.labels and f.slopes is None:
        return f
    return fit.solve(problem, None, f)
