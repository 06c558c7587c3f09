"""The fields of an SVM path: made from the core's result, and checked, since a file may hold anything."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastpu.common._text import short
from fastpu.data._kept_rows import check_kept_rows
from fastpu.data._validate import is_rising
from fastpu.kernels._kernels import Kernel, check_kernel_fields
from fastpu.model._model import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu._core import PathSolution


EVENT_KINDS = ("start", "from_right", "from_left", "to_right", "to_left")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PathFields(Model, is_base=True):
    """The fields of an SVM path: its knots as differences. See `SVMPath` for what each means."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int8]
    costs: NDArray[np.float64]
    heavier: int
    start_alpha: NDArray[np.float64]
    knots: NDArray[np.float64]
    offsets: NDArray[np.float64]
    change_start: NDArray[np.int64]
    change_row: NDArray[np.int32]
    change_alpha: NDArray[np.float64]
    event_knot: NDArray[np.int64]
    event_kind: NDArray[np.uint8]
    event_row: NDArray[np.int32]
    kernel: str
    gamma: float | None
    degree: int
    coef0: float
    weights: NDArray[np.float64] | None = None
    train_dense: NDArray[np.float64] | None = None
    train_data: NDArray[np.float64] | None = None
    train_indices: NDArray[np.int32] | None = None
    train_indptr: NDArray[np.int64] | None = None
    function: Callable[..., Any] | None = None
    violation: float

    _ndim: ClassVar[Mapping[str, int]] = {"weights": 2, "train_dense": 2}

    def _check_fields(self) -> None:
        _check_path(self)

    @property
    def lams(self) -> NDArray[np.float64]:
        """The breakpoints, falling."""
        return self.knots[:-1] if self.knots.size and self.knots[-1] == 0 else self.knots


def _check_path(path: PathFields) -> None:
    """Raise ValueError if the arrays of a path do not fit each other."""
    n, n_knots = path.rows.size, path.knots.size
    if n < 2 or not is_rising(path.rows, strictly=True) or path.rows[0] < 0:
        raise ValueError("rows must hold ascending row numbers")
    if any(array.size != n for array in (path.labels, path.costs, path.start_alpha)):
        raise ValueError(f"a path of {n} rows must have as many labels, costs and start_alpha")
    if not np.isin(path.labels, (-1, 1)).all() or path.heavier not in (-1, 0, 1):
        raise ValueError("labels must be 1 or -1, and heavier 1, 0 or -1")
    if not (path.costs > 0).all() or not ((path.start_alpha >= 0) & (path.start_alpha <= path.costs)).all():
        raise ValueError("costs must be > 0 and start_alpha between 0 and them")
    if path.offsets.size != n_knots or path.change_start.size != n_knots + (n_knots > 0):
        raise ValueError("offsets and change_start must have an entry for each knot")
    arrays = (path.knots, path.offsets, path.change_alpha, *(() if path.weights is None else (path.weights,)))
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("knots, offsets, weights and change_alpha must be finite")
    if path.weights is not None and (path.kernel != "linear" or path.weights.shape != (n_knots, path.n_features)):
        raise ValueError(f"weights must be those of a linear kernel, of shape {(n_knots, path.n_features)}")
    if n_knots and (not is_rising(-path.knots, strictly=True) or path.knots[-1] < 0 or path.knots[0] <= 0):
        raise ValueError("knots must fall, and none be below 0")
    if (n_knots == 0) != (path.status == "trivial") or (n_knots and path.status == "zero") != (
        n_knots > 0 and path.knots[-1] == 0
    ):
        raise ValueError("knots must be there, down to 0, as status says")
    _check_log(path)
    _check_positions(path)
    check_kernel_fields(Kernel(path.kernel, path.gamma, path.degree, path.coef0, path.function))
    _check_train(path)


def _check_log(path: PathFields) -> None:
    norm = path.history.get("norm")
    if norm is None or norm.shape != path.lams.shape:
        raise ValueError(f"history must have an entry of 'norm' for each of {path.lams.size} breakpoints")
    lam_min = path.params.get("lam_min")
    if isinstance(lam_min, bool) or not isinstance(lam_min, float | int) or not 0 <= lam_min <= sys.float_info.max:
        raise ValueError(f"params must have a finite lam_min >= 0, got {short(lam_min)}")


def _check_positions(path: PathFields) -> None:
    starts, n, n_knots = path.change_start, path.rows.size, path.knots.size
    if n_knots and (starts[0] != 0 or not is_rising(starts) or starts[-1] != path.change_row.size):
        raise ValueError("change_start must rise from 0 to the number of changes")
    if path.change_alpha.size != path.change_row.size:
        raise ValueError("change_row and change_alpha must have as many entries")
    sizes = {path.event_knot.size, path.event_kind.size, path.event_row.size}
    if len(sizes) != 1:
        raise ValueError("event_knot, event_kind and event_row must have as many entries")
    bounds = (
        ("change_row", path.change_row, n),
        ("event_row", path.event_row, n),
        ("event_knot", path.event_knot, n_knots),
        ("event_kind", path.event_kind, len(EVENT_KINDS)),
    )
    for name, values, bound in bounds:
        if values.size and not (int(values.min()) >= 0 and int(values.max()) < bound):
            raise ValueError(f"{name} must be in [0, {bound})")


def _check_train(path: PathFields) -> None:
    check_kept_rows(
        path,
        "train",
        (path.rows.size, path.n_features),
        wanted=path.kernel != "precomputed",
        otherwise="training rows must be there in one form, but for the precomputed kernel",
    )
    if path.kernel == "precomputed" and path.rows[-1] >= path.n_features:
        raise ValueError(f"rows must be < {path.n_features}, the number of training rows")


def path_fields(result: PathSolution) -> dict[str, Any]:
    """Return the fields of a path from the core's result."""
    lams = result["knots"][result["knots"] > 0]
    n_lams = lams.size
    objective, norm = result["objective"][:n_lams], result["norm"][:n_lams]
    fields: dict[str, Any] = dict(result)
    del fields["norm"], fields["n_margin"]
    return fields | {
        "weights": result["weights"] if result["weights"].size else None,
        "n_iter": n_lams,
        "converged": result["status"] in ("zero", "lam_min", "trivial"),
        "objective": objective,
        "history": {
            "lam": lams,
            "objective": objective,
            "norm": norm,
            "loss": objective - lams * norm / 2,
            "n_margin": result["n_margin"][:n_lams],
        },
    }
