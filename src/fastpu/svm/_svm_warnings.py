"""Warnings of kernel machines: solvers that stopped early, and models that are of no use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fastpu.common._warn import warn, warn_if_alike
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.svm._kernel_solver import KernelRows, SolverEnd, SvmFit
from fastpu.svm._svm_problem import SvmMethod

# Why rho can be 0, and what to do.
_NO_MARGIN = {
    "nu_svm": "so few errors as nu allows cannot be had with this kernel; raise nu",
    "one_class": "the rows lie all around the origin of the kernel's space; change nu or the kernel",
}


def warn_of_failures(method: SvmMethod, fit: SvmFit, span: tuple[int, int, float, float], training: KernelRows) -> None:
    """Warn of a fit that did not end, or whose model is of no use; `span` is `span_of` the scores of its rows."""
    tol, function = training.options.tol, method.function
    if fit.end.is_unfinished:
        _warn_of_unfinished(function, fit.end, training)
    if fit.end.status in {"tol", "gap", "precision"}:
        if method.kind in _NO_MARGIN and not fit.margin > tol:  # what is left of the scores is rounding
            warn(
                f"{function} found no margin: rho is {fit.margin:.3g}, not above tol = {tol:g}, and the scores "
                f"mean nothing; {_NO_MARGIN[method.kind]}, or lower tol if kernel values are as small as that",
                DegenerateModelWarning,
            )
        if method.kind != "one_class":
            warn_if_alike(function, span, "change the costs or the kernel")
        elif not span[3] > training.threshold(fit):
            warn_if_alike(function, span, "change nu or the kernel")


def warn_of_worst(what: str, each: str, ends: Mapping[int, SolverEnd], n_fits: int, training: KernelRows) -> None:
    """Warn of the worst of `n_fits` fits if some stopped early; `ends` are those of SVMs, by the numbers of the fits.

    `what` names the fits and `each` one of them: "3 of 11 bags of fit_bagging_svm did not converge: the worst, bag 4".
    """
    unfinished = {number: end for number, end in ends.items() if end.is_unfinished}
    if unfinished:
        worst = max(unfinished, key=lambda number: unfinished[number].violation)
        subject = f"{len(unfinished)} of {n_fits} {what} did not converge: the worst, {each} {worst},"
        _warn_of_unfinished(subject, unfinished[worst], training)


def _warn_of_unfinished(subject: str, end: SolverEnd, training: KernelRows) -> None:
    """Say that the solver stopped early: after how many steps, how far from the optimum, and what would help."""
    options = training.options
    state = (
        f"the largest KKT violation is {end.violation:.3g}, above tol = {options.tol:g}, and the duality gap "
        f"{end.gap:.3g} at the objective {end.objective:.6g}"
    )
    if end.status == "max_iter":
        limit = options.max_steps_name
        advice = f"raise {limit}, scale the features of X, or accept a larger tol"
        text = f"{subject} ran all {limit} = {end.n_steps} pair updates: {state}; {advice}"
    else:
        more = " or pass float64 rows" if training.dtype == np.float32 else ""
        text = (
            f"{subject} ended after {end.n_steps} pair updates at the precision of {training.dtype} kernel values: "
            f"{state}; accept a larger tol{more}"
        )
    warn(text, ConvergenceWarning)
