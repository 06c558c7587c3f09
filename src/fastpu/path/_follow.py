"""The call of the core for one path, and what its result says of every breakpoint."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import Report, on_round
from fastpu.data._matrix import Matrix
from fastpu.kernels._function_kernel import for_core
from fastpu.kernels._kernel import Kernel
from fastpu.path._points import PathRound


def follow_path(
    matrix: Matrix,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    kernel: Kernel,
    n_threads: int,
    limits: _core.SvmPathOptions,
    *,
    report: Report | None = None,
) -> _core.SvmPathResult:
    """Follow the path of some rows, each with its label and cost > 0."""
    data, function = for_core(kernel, matrix.convert(np.dtype(np.float64), sparse=matrix.is_sparse))

    def record(n_breakpoints: int, n_events: int, lam: float, n_margin: int, objective: float) -> PathRound:
        return PathRound(n_breakpoints, n_events, limits.max_events, lam, n_margin, objective)

    return _core.svm_path(
        data,
        rows,
        labels,
        costs,
        limits,
        kernel=kernel.core_params,
        function=function,
        n_threads=n_threads,
        callback=on_round(report, record),
    )


def is_complete(result: _core.SvmPathResult) -> bool:
    """Return whether the path was followed to where it was to end."""
    return result.status in ("zero", "lam_min", "trivial")


def weights_of(result: _core.SvmPathResult) -> NDArray[np.float64] | None:
    """Return lam w at each knot, if the core has followed w itself."""
    return result.weights.reshape(result.knots.size, -1) if result.weights.size else None


def history_of(result: _core.SvmPathResult) -> dict[str, NDArray[Any]]:
    """Return the history of a path: an entry for each breakpoint above lam = 0."""
    lams = result.knots[result.knots > 0]
    objective, norm = result.objective[: lams.size], result.norm[: lams.size]
    return {
        "lam": lams,
        "objective": objective,
        "norm": norm,
        "loss": objective - lams * norm / 2,
        "n_margin": result.n_margin[: lams.size],
    }
