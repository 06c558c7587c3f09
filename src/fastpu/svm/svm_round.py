"""What callbacks of the kernel machines are given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SvmRound:
    """One working set of the solver, some hundred rows whose dual variables it optimised, as a callback sees it.

    Attributes
    ----------
    n_steps, max_iter : int
        Updates of a pair of dual variables so far, and the most there may be. 0 in the steps of the engine that
        solves C-SVMs with the linear kernel.
    objective : float
        Value of the dual problem, which is minimised, after it.
    violation : float
        Largest violation of the optimality (KKT) conditions before it, among the active rows; inf in the
        steps of the linear engine.
    n_active : int
        Rows whose dual variables are not shrunk. A variable is shrunk while the solver holds it at a bound.
    """

    n_steps: int
    max_iter: int
    objective: float
    violation: float
    n_active: int
