"""The call of the core for one path, and what its result means for a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import Report, on_round
from fastpu.data._matrix import Matrix
from fastpu.kernels._function_kernel import for_core
from fastpu.path._options import PathOptions
from fastpu.path._points import PathRound


def follow_path(
    matrix: Matrix,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    options: PathOptions,
    report: Report | None = None,
) -> _core.SvmPathResult:
    """Follow the path of some rows, each with its label and cost > 0; the kernel has its gamma as a number."""
    data, function = for_core(options.kernel, matrix.convert(np.dtype(np.float64), sparse=matrix.is_sparse))
    limits = options.of_core(rows.size)

    def record(n_breakpoints: int, n_events: int, lam: float, n_margin: int, objective: float) -> PathRound:
        return PathRound(n_breakpoints, n_events, limits.max_events, lam, n_margin, objective)

    return _core.svm_path(
        data,
        rows,
        labels,
        costs,
        limits,
        kernel=options.kernel.core_params,
        function=function,
        n_threads=options.n_threads,
        callback=on_round(report, record),
    )


def path_fields(result: _core.SvmPathResult) -> dict[str, Any]:
    """Return the fields of a path that the core has found."""
    knots, weights, norm = result.knots, result.weights, result.norm
    lams = knots[knots > 0]
    n_lams = lams.size
    objective = result.objective[:n_lams]
    return {
        "status": result.status,
        "heavier": result.heavier,
        "start_alpha": result.start_alpha,
        "knots": knots,
        "offsets": result.offsets,
        "weights": weights.reshape(knots.size, -1) if weights.size else None,
        "change_start": result.change_start,
        "change_row": result.change_row,
        "change_alpha": result.change_alpha,
        "event_knot": result.event_knot,
        "event_kind": result.event_kind,
        "event_row": result.event_row,
        "violation": result.violation,
        "n_iter": n_lams,
        "converged": result.status in ("zero", "lam_min", "trivial"),
        "objective": objective,
        "history": {
            "lam": lams,
            "objective": objective,
            "norm": norm[:n_lams],
            "loss": objective - lams * norm[:n_lams] / 2,
            "n_margin": result.n_margin[:n_lams],
        },
    }
