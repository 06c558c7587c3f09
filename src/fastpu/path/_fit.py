"""The code that both SVM paths share: their arguments, the call of the core, and the warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._progress import on_round
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import check_vector
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._kernels import Kernel, check_kernel, for_core
from fastpu.svm._svm_options import check_cache

_forgives_precision: ContextVar[bool] = ContextVar("fastpu_forgives_precision", default=False)
# With at most so many features a linear path is computed from the rows, not from a kernel: kMostFeatures of the core.
_FEW_FEATURES = 128
_LEAST_COST, _MOST_COST = 1e-100, 1e100  # lam is as large as costs are, and its square must not overflow or vanish


@dataclass(frozen=True)
class PathRound:
    """One breakpoint of a path, as a callback sees it.

    Attributes
    ----------
    n_breakpoints : int
        Breakpoints so far, this one included.
    n_events, max_events : int
        Events so far, those of this breakpoint included, and how many end the path.
    lam : float
        Where it is.
    n_margin : int
        Rows on the margin whose dual variables move from here on.
    objective : float
        Value of what is minimised at `lam`.
    """

    n_breakpoints: int
    n_events: int
    max_events: int
    lam: float
    n_margin: int
    objective: float


@dataclass(frozen=True)
class PathOptions:
    """The checked arguments that the paths share."""

    kernel: Kernel
    lam_min: float
    max_events: int | None
    cache_bytes: int
    n_threads: int

    def params(self) -> dict[str, object]:
        given = {"lam_min": self.lam_min, "max_events": self.max_events, "cache_mb": self.cache_bytes / 2**20}
        return {**self.kernel.params(), **given}


def check_path_options(given: Mapping[str, Any]) -> PathOptions:
    most = given["max_events"]
    return PathOptions(
        kernel=check_kernel(given["kernel"], given["gamma"], given["degree"], given["coef0"]),
        lam_min=check_float("lam_min", given["lam_min"], low=0),
        max_events=None if most is None else check_int("max_events", most, low=1),
        cache_bytes=check_cache(given["cache_mb"]),
        n_threads=resolve_n_threads(given["n_threads"]),
    )


def check_costs(costs: object, labels: NDArray[np.int8], name: str) -> NDArray[np.float64]:
    """Return a cost for each row: >= 0, where infinite ones are in one class only."""
    values = check_vector(name, costs, n=labels.size, allow_inf=True)
    odd = (values != 0) & (values != np.inf) & ((values < _LEAST_COST) | (values > _MOST_COST))
    if odd.any():
        position = int(np.argmax(odd))
        raise ValueError(
            f"{name} must be 0, infinite or between {_LEAST_COST:g} and {_MOST_COST:g}, got {values[position]} at "
            f"position {position}"
        )
    hard = [np.flatnonzero(np.isinf(values) & (labels == sign)) for sign in (1, -1)]
    if all(rows.size for rows in hard):
        raise ValueError(
            f"{name} may be infinite in one class only, or the path has no beginning; got inf for the positive row at "
            f"position {hard[0][0]} and for the other one at position {hard[1][0]}"
        )
    return values


def follow_path(
    matrix: Matrix,
    kernel: Kernel,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    options: PathOptions,
    report: Callable[[PathRound], bool] | None = None,
) -> _core.PathSolution:
    """Follow the path of some rows, each with its label and cost > 0; `kernel` has its gamma as a number."""
    limit = min(50 * rows.size + 1000 if options.max_events is None else options.max_events, MANY)
    if kernel.name == "linear" and matrix.n_features <= _FEW_FEATURES:
        matrix = matrix.convert(np.dtype(np.float64), sparse=False)
    data = matrix.convert(np.dtype(np.float64), sparse=matrix.is_sparse)
    centre = None
    if kernel.name == "linear" and not data.is_sparse:
        with np.errstate(over="ignore", invalid="ignore"):
            centre = data.values[rows].mean(axis=0)
        if not np.isfinite(centre).all():
            raise ValueError("X must be such that sums of kernel values neither overflow nor vanish; scale X")
        data = DenseMatrix(data.values - centre)  # f does not depend on the origin, but its rounding errors do
    given, function = for_core(kernel, data)
    result = _core.svm_path(
        given,
        rows,
        labels,
        costs,
        kernel=kernel.core_params,
        function=function,
        lam_min=options.lam_min,
        max_events=limit,
        cache_bytes=options.cache_bytes,
        n_threads=options.n_threads,
        callback=on_round(report, lambda n, n_events, *rest: PathRound(n, n_events, limit, *rest)),
    )
    n_knots = result["knots"].size
    result["weights"] = result["weights"].reshape(n_knots, result["weights"].size // max(1, n_knots))
    if centre is not None and result["weights"].size:
        result["offsets"] -= np.einsum("ij,j->i", result["weights"], centre)
    elif centre is not None and n_knots:
        start, products = result["start_alpha"], (matrix[rows].table() - centre) @ centre
        changes = knot_changes(start, labels, result["change_start"], result["change_row"], result["change_alpha"])
        result["offsets"] -= np.cumsum(changes @ products) + np.einsum("i,i,i->", start, labels, products)
    return result


def knot_changes(
    start_alpha: NDArray[np.float64],
    labels: NDArray[np.int8],
    change_start: NDArray[np.int64],
    change_row: NDArray[np.int32],
    change_alpha: NDArray[np.float64],
) -> Any:
    """Return the change of y a up to each knot from the one before, as a CSR array (number of knots, n)."""
    order = np.argsort(change_row, kind="stable")
    sorted_rows, values = change_row[order], change_alpha[order]
    before = np.empty_like(values)
    before[1:] = values[:-1]
    first = np.ones(values.size, dtype=np.bool_)
    first[1:] = sorted_rows[1:] != sorted_rows[:-1]
    before[first] = start_alpha[sorted_rows[first]]
    change: NDArray[np.float64] = np.empty_like(values)
    change[order] = (values - before) * labels[sorted_rows]
    shape = (change_start.size - 1, start_alpha.size)
    return sp.csr_array((change, change_row.astype(np.int64), change_start), shape=shape)


@contextmanager
def precision_forgiven() -> Iterator[None]:
    """Suppress, in this thread, the warning of a path that ends because rounding errors hide the margin."""
    token = _forgives_precision.set(True)
    try:
        yield
    finally:
        _forgives_precision.reset(token)


def warn_of_path(function: str, result: _core.PathSolution, heavier: str) -> None:
    status, knots = result["status"], result["knots"]
    if status == "trivial":
        warn(
            f"{function} found that w = 0 is optimal for every lam: the mean of the lighter class lies among the "
            f"{heavier} rows, and all rows are called the same; change the costs or the kernel",
            DegenerateModelWarning,
        )
    reasons = {
        "max_events": "had max_events events; raise max_events or lam_min",
        "stalled": "could not tell which rows are on the margin for rounding; raise lam_min or scale X",
        "precision": "came to a lam so small that float64 does not show the margin; raise lam_min, or scale X",
        "indefinite": "met a direction in which the kernel is not positive semidefinite; use another kernel",
    }
    if status in reasons and not (status == "precision" and _forgives_precision.get()):
        warn(
            f"{function} followed the path from lam = {knots[0]:.6g} to {knots[-1]:.6g} only, where the largest KKT "
            f"violation is {result['violation']:.3g}: it {reasons[status]}",
            ConvergenceWarning,
        )
