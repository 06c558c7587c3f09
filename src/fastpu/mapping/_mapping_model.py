"""The model of mapping convergence from what the loop found."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastpu.mapping._boundaries import Boundary
from fastpu.mapping._mapping_loop import Outcome
from fastpu.mapping._mapping_options import Groups, MappingOptions
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.svm._kernel_solver import KernelSolver


def make_model(
    outcome: Outcome, groups: Groups, training: KernelSolver, options: MappingOptions, params: dict[str, object]
) -> MappingMachine:
    history = outcome.history()
    if options.nu is None:
        del history["nu"]
    left, recall = outcome.column("n_left"), 1.0 - outcome.column("pos_reject")
    history["puf"] = np.where(left > 0, recall**2 * groups.unlabeled.size / np.maximum(left, 1), 0.0)
    is_solved = all(boundary.end.status == "tol" for boundary in outcome.boundaries)
    fields = training.machine_fields(outcome.boundaries[outcome.kept].fit, params)
    fields |= _boundary_fields(outcome.boundaries, outcome.kept, training)
    fields |= {
        "threshold": 0.0,
        "threshold_rule": "zero",
        "n_iter": outcome.kept,
        "converged": outcome.status in ("converged", "max_pos_reject") and is_solved,
        "status": outcome.status,
        "objective": outcome.column("objective")[1 : outcome.kept + 1],
        "history": history,
        "unlabeled_rows": groups.unlabeled,
        "rejected_by": outcome.rejected_by,
        "used_fallback": outcome.used_fallback,
    }
    return MappingMachine(**fields)


def _boundary_fields(boundaries: list[Boundary], kept: int, training: KernelSolver) -> dict[str, Any]:
    """Return the fields of a `MappingMachine` from which the boundary of each iteration can be drawn."""
    supports = [boundary.fit.rows for boundary in boundaries]
    support = np.concatenate(supports)
    fields: dict[str, Any] = {
        "boundary_starts": np.concatenate([[0], np.cumsum([rows.size for rows in supports])]).astype(np.int64),
        "boundary_support": support,
        "boundary_coefs": np.concatenate([boundary.fit.dual_coef for boundary in boundaries]),
        "boundary_intercepts": np.array([boundary.fit.intercept for boundary in boundaries]),
        "other_rows": np.empty(0, dtype=np.int64),
    }
    kernel = training.kernel.name
    if kernel == "precomputed":
        return fields
    # The model keeps the support vectors of the last boundary in any case, except for the linear kernel.
    others = np.unique(support) if kernel == "linear" else np.setdiff1d(support, supports[kept])
    return {**fields, "other_rows": others, **training.matrix[others].fields("other")}
