"""The model of mapping convergence from what the loop found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.data._kept_rows import RowArrays, row_arrays
from fastpu.data._matrix import Floats
from fastpu.kernels._kernel import Kernel
from fastpu.mapping._mapping_loop import MappingOutcome
from fastpu.mapping._mapping_options import MappingOptions, PURows
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.svm._kernel_solver import KernelSolver


def make_model(
    outcome: MappingOutcome, pu_rows: PURows, training: KernelSolver, options: MappingOptions, params: dict[str, object]
) -> MappingMachine:
    history = outcome.history()
    if options.nu is None:
        del history["nu"]
    left, recall = outcome.column("n_left"), 1.0 - outcome.column("pos_reject")
    history["puf"] = np.where(left > 0, recall**2 * pu_rows.unlabeled.size / np.maximum(left, 1), 0.0)
    is_solved = all(boundary.end.status == "tol" for boundary in outcome.boundaries)
    last = outcome.boundaries[outcome.kept].fit
    found = last.of_support()
    expansion, kernel = training.expansion(found.rows, found.dual_coef, last.coef), training.kernel
    supports = [boundary.fit.rows for boundary in outcome.boundaries]
    others = _other_rows(supports, outcome.kept, kernel)
    vectors: RowArrays[Floats] = RowArrays() if kernel.name == "precomputed" else row_arrays(training.matrix[others])
    return MappingMachine(
        n_features=training.matrix.n_features,
        feature_names=training.matrix.feature_names,
        threshold=0.0,
        threshold_rule="zero",
        n_iter=outcome.kept,
        converged=outcome.status in ("converged", "max_pos_reject") and is_solved,
        status=outcome.status,
        objective=outcome.column("objective")[1 : outcome.kept + 1],
        history=history,
        params=params,
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        function=kernel.function,
        support=expansion.support,
        dual_coef=expansion.dual_coef,
        alpha=expansion.alpha,
        coef=expansion.coef,
        support_dense=expansion.vectors.dense,
        support_data=expansion.vectors.data,
        support_indices=expansion.vectors.indices,
        support_indptr=expansion.vectors.indptr,
        intercept=last.intercept,
        gap=last.end.gap,
        violation=last.end.violation,
        margin=last.margin,
        unlabeled_rows=pu_rows.unlabeled,
        rejected_by=outcome.rejected_by,
        used_fallback=outcome.used_fallback,
        boundary_starts=np.concatenate([[0], np.cumsum([rows.size for rows in supports])]).astype(np.int64),
        boundary_support=np.concatenate(supports),
        boundary_coefs=np.concatenate([boundary.fit.dual_coef for boundary in outcome.boundaries]),
        boundary_intercepts=np.array([boundary.fit.intercept for boundary in outcome.boundaries]),
        other_rows=others,
        other_dense=vectors.dense,
        other_data=vectors.data,
        other_indices=vectors.indices,
        other_indptr=vectors.indptr,
    )


def _other_rows(supports: list[NDArray[np.int64]], kept: int, kernel: Kernel) -> NDArray[np.int64]:
    """Return the support vectors of all boundaries that the model keeps beside those of the last one."""
    if kernel.name == "precomputed":
        return np.empty(0, dtype=np.int64)
    support = np.concatenate(supports)
    # The model keeps the support vectors of the last boundary in any case, except for the linear kernel.
    return np.unique(support) if kernel.name == "linear" else np.setdiff1d(support, supports[kept])
