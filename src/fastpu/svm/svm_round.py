"""What callbacks of the kernel machines are given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SvmRound:
    """One working set of the solver, some hundred rows whose dual variables it optimised, as a callback sees it.

    Attributes
    ----------
    n_steps, max_iter : int
        Steps so far, each of which updates a pair of dual variables, and the most there may be. 0 where the solvers of
        the linear kernel are at work.
    objective : float
        Value of the dual problem, which is minimised, after it.
    violation : float
        Largest violation of the optimality (KKT) conditions before it, among the active rows; inf where the solvers of
        the linear kernel are at work.
    n_active : int
        Rows whose dual variables are not shrunk. A variable is shrunk while the solver holds it at a bound.
    """

    n_steps: int
    max_iter: int
    objective: float
    violation: float
    n_active: int
