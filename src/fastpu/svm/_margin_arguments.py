"""The arguments that the large-margin iterations share, and what their callbacks are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._threads import resolve_n_threads

if TYPE_CHECKING:
    from collections.abc import Mapping


_SOLVERS = ("auto", "exact", "iadmm")


@dataclass(frozen=True)
class MarginRound:
    """One classifier f_0, f_1, ... of a large-margin iteration, as a callback sees it.

    Attributes
    ----------
    C : float
        The cost that is being fitted.
    step, max_iter : int
        The number of the classifier, from 0, and the most there may be after the first.
    objective : float
        What is minimised, with the labels that the classifier was fitted to.
    n_changed : int
        Rows whose pseudo-labels it changes; for `fit_bpsi` rows whose loss it makes flat, or no longer flat.
    gap : float
        Duality gap of its sub-problem.
    """

    C: float
    step: int
    max_iter: int
    objective: float
    n_changed: int
    gap: float


@dataclass(frozen=True)
class MarginOptions:
    """The checked arguments that all functions of this room share."""

    max_iter: int
    solver: str
    solver_tol: float
    solver_max_iter: int | None
    n_threads: int

    def params(self) -> dict[str, object]:
        """Return the arguments that influence the model, as they were given."""
        names = ("max_iter", "solver_tol", "solver_max_iter", "solver")
        return {name: getattr(self, name) for name in names}


def check_margin_options(given: Mapping[str, Any]) -> MarginOptions:
    """Check those of a function's arguments, by their names, that all of them share."""
    limit = given["solver_max_iter"]
    return MarginOptions(
        max_iter=check_int("max_iter", given["max_iter"], low=1),
        solver=check_choice("solver", given["solver"], _SOLVERS),
        solver_tol=check_float("solver_tol", given["solver_tol"], low=0, high=1, open_low=True, open_high=True),
        solver_max_iter=None if limit is None else min(check_int("solver_max_iter", limit, low=1), MANY),
        n_threads=resolve_n_threads(given["n_threads"]),
    )
