"""What PUAL, GLLC and the biased LS-SVM share: one problem's matrices for many parameters, the model, the warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu import _core
from fastpu._blas_threads import one_blas_thread
from fastpu._kernels import check_kernel_matrix, resolve_gamma
from fastpu._progress import make_callback
from fastpu._pual_features import Features, Rows, empty, in_fours, open_features, row_strips
from fastpu._pual_graph import open_graph
from fastpu._scales import warn_of_scales
from fastpu._side_by_side import side_by_side
from fastpu._validate import check_labels
from fastpu._warnings import ConvergenceWarning, DegenerateModelWarning, warn
from fastpu.binned_features import BinnedFeatures
from fastpu.pual_machine import PualMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu._kernels import Kernel
    from fastpu._pual_arguments import Point, PualOptions, PualRound
    from fastpu._pual_graph import Graph

__all__ = ["Local", "Smooth", "Solved", "fit_points", "open_rows"]

Hook: TypeAlias = "Callable[[PualRound], bool] | None"
Fitted: TypeAlias = "tuple[list[PualMachine], list[tuple[float, float]]]"

_SHORT = 1.5e10  # multiplications of a part, some 0.1 s, that Ctrl-C has to wait for where several are worked on
_BLOCK = 256  # rows that are copied at a time
_RIDGE = 1e-15  # of the largest diagonal entry of the matrix to be factored: less of a ridge is lost in rounding


@dataclass(frozen=True)
class Solved:
    """What one problem's solver found: f(x) = z(x)'beta + offset, and for kernels f = K coef + an intercept."""

    point: Point
    beta: NDArray[np.float64]
    offset: float
    on_rows: NDArray[np.float64]  # Omega: lam coef = Omega - (D - s s' / 1's + 2 R) f
    weights: NDArray[np.float64]  # d, the diagonal of D
    record: dict[str, Any]


class Local:
    """The neighbours' term for one sigma: R, and Z'RZ; both None where there is none."""

    def __init__(self, R: Any, gram: NDArray[np.float64] | None) -> None:
        self.R, self.gram = R, gram
        self._last: tuple[float, NDArray[np.float64]] | None = None

    def with_unlabelled(self, features: Features, C_unl: float) -> NDArray[np.float64]:
        """Return 2 C_unl Z_u'Z_u + 2 Z'RZ, kept for the next lam."""
        if self._last is None or self._last[0] != C_unl:
            self._last = None  # its memory is wanted
            matrix = empty(features.gram_unl.shape, "the matrix of the unlabelled rows")
            for rows in row_strips(*matrix.shape):
                np.multiply(features.gram_unl[rows], 2 * C_unl, out=matrix[rows])
                if self.gram is not None:
                    matrix[rows] += self.gram[rows]
                    matrix[rows] += self.gram[rows]
            self._last = C_unl, matrix
        return self._last[1]

    def times(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | float:
        return 0.0 if self.R is None else np.asarray(self.R @ scores.T).T


class Smooth:
    """lam + 2 C_unl Z_u'Z_u + 2 Z'RZ + more, factored; the next one of the same features takes its place."""

    def __init__(self, features: Features, local: Local, point: Point, more: NDArray[np.float64] | None = None) -> None:
        self.features = features
        matrix = local.with_unlabelled(features, point.C_unl)
        n_last = 0 if more is None else len(more)
        diagonal = np.diagonal(matrix).copy()
        if more is not None:
            diagonal[-n_last:] += np.diagonal(more)
        lower = point.lam
        self.factor = features.scratch
        while True:
            for first in range(0, len(matrix), _BLOCK):  # the lower triangle, at which a factorisation looks
                end = first + _BLOCK
                self.factor[first:end, :end] = matrix[first:end, :end]
            if more is not None:
                corner = self.factor[-n_last:, -n_last:]
                for first in range(0, n_last, _BLOCK):
                    end = first + _BLOCK
                    corner[first:end, :end] += more[first:end, :end]
            np.fill_diagonal(self.factor, diagonal + lower)
            if _core.tiled_cholesky(self.factor, n_threads=features.rows.n_threads) == 0:
                break
            lower = max(10 * lower, _RIDGE * float(diagonal.max()))
            if not np.isfinite(lower):
                raise ValueError(
                    f"X must have entries so small that their squares do not overflow, with "
                    f"C_unl = {point.C_unl:g} and lam = {point.lam:g}; scale X"
                )

    def last(self) -> NDArray[np.float64]:
        """Return H, of which H H' = Z_p (matrix)^-1 Z_p'."""
        n_last = self.features.pos.shape[1]
        H: NDArray[np.float64] = self.features.pos.copy()
        corner = np.ascontiguousarray(self.factor[-n_last:, -n_last:])
        _core.tiled_solve(corner, H, transpose=True, n_threads=self.features.rows.n_threads)
        return H

    def betas(self, last: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the solutions of factor' beta = (0, last), in rows."""
        right = np.zeros((len(last), self.features.rank))
        right[:, -last.shape[1] :] = last

        def solve(few: NDArray[np.float64]) -> NDArray[np.float64]:
            _core.tiled_solve(self.factor, few, transpose=False, n_threads=self.features.rows.n_threads)
            return few

        return in_fours(right, solve)


# ------------------------------------------------------------------------------------------------ many points

Solver: TypeAlias = "Callable[[Features, Local, Sequence[Point], Hook], list[Solved]]"


def open_rows(X: object, y: object, options: PualOptions) -> tuple[Rows, Kernel]:
    """Check rows and labels, and resolve the kernel's gamma."""
    if isinstance(X, BinnedFeatures):
        raise TypeError(
            f"X must be the rows themselves for {options.function}, got BinnedFeatures, which are for boosting only"
        )
    matrix = warn_of_scales(check_kernel_matrix(X, options.kernel), options.kernel)
    labels = check_labels(y, matrix.n_rows, pu_only=options.function)
    return Rows(matrix, labels, options.n_threads), resolve_gamma(options.kernel, matrix, None)


def fit_points(
    X: object,
    y: object,
    points: Sequence[Point],
    *,
    is_one: bool,
    options: PualOptions,
    graph: Graph | None,
    solver: Solver,
    callback: object,
    progress: object,
) -> PualMachine | list[PualMachine]:
    """Fit the models of all points, those that share factors together, and warn of what went wrong.

    `solver` gets points that differ in C_pos alone. `graph` is None for a method without one.
    """
    with (
        make_callback(callback, progress, total=None, description=options.title) as hook,
        one_blas_thread(options.n_threads),
    ):
        rows, kernel = open_rows(X, y, options)
        weigh = None if graph is None else open_graph(graph, rows, kernel)
        features = open_features(rows, kernel, options.n_components, options.generator)
        found: dict[int, PualMachine] = {}
        scores: dict[int, tuple[float, float]] = {}
        is_stopped = False
        for sigma, of_sigma in _groups(points, range(len(points)), "sigma"):
            R = None if weigh is None else weigh(sigma)
            local = Local(R, None if R is None or not R.nnz else features.local(R))
            parts = [
                part for _, of_unl in _groups(points, of_sigma, "C_unl") for _, part in _groups(points, of_unl, "lam")
            ]

            def work(features: Features, local: Local, part: list[int]) -> Fitted:
                solved = solver(features, local, [points[i] for i in part], hook)
                return _models(features, local, kernel, solved, options)

            is_short = features.rank**3 + 40 * rows.pos.size**3 < _SHORT
            n_workers = min(len(parts), rows.n_threads) if is_short and hook is None else 1
            ahead = _side_by_side(work, features, local, parts, n_workers) if n_workers > 1 else None
            for k, part in enumerate(parts):
                models, spans = work(features, local, part) if ahead is None else ahead[k]
                found |= dict(zip(part, models, strict=False))
                scores |= dict(zip(part, spans, strict=False))
                is_stopped = models[-1].status == "callback"
                if is_stopped:
                    break
            if is_stopped:
                break
    order = sorted(found)
    _warn(options, rows, [(points[i], found[i], scores[i]) for i in order])
    return found[0] if is_one else [found[i] for i in order]


def _side_by_side(
    work: Callable[[Features, Local, list[int]], Fitted],
    features: Features,
    local: Local,
    parts: Sequence[list[int]],
    n_workers: int,
) -> list[Fitted]:
    """Work on several of the parts at once, each with one thread."""
    features.share()
    own = [(features.with_one_thread(), Local(local.R, local.gram)) for _ in range(n_workers)]

    def work_on(part: list[int]) -> Fitted:
        mine = own.pop()  # there are as many as there are workers
        try:
            return work(*mine, part)
        finally:
            own.append(mine)

    return side_by_side(work_on, parts, n_workers)


def _groups(points: Sequence[Point], rows: Sequence[int], name: str) -> list[tuple[float, list[int]]]:
    """Return points with equal values of a parameter together, in the order of the first of each."""
    groups: dict[float, list[int]] = {}
    for i in rows:
        groups.setdefault(getattr(points[i], name), []).append(i)
    return list(groups.items())


def _models(
    features: Features, local: Local, kernel: Kernel, solved: Sequence[Solved], options: PualOptions
) -> tuple[list[PualMachine], list[tuple[float, float]]]:
    betas = np.array([one.beta for one in solved])
    offsets = np.array([one.offset for one in solved])
    scores = features.scores(betas)
    coefs = _coefs(local, solved, scores) if features.needs_coefs else betas
    fields = features.expansions(betas, coefs, offsets)
    models = [
        make_model(
            features.rows, kernel, options, one.point, {**one.record, "nystroem_residual": features.residual}, more
        )
        for one, more in zip(solved, fields, strict=True)
    ]
    ends = [(float(row.min() + offset), float(row.max() + offset)) for row, offset in zip(scores, offsets, strict=True)]
    return models, ends


def _coefs(local: Local, solved: Sequence[Solved], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the a with f = K a: from beta by the conditions of optimality, lam a = Omega - (...) f."""
    weights = np.array([one.weights for one in solved])
    on_rows = np.array([one.on_rows for one in solved])
    lams = np.array([[one.point.lam] for one in solved])
    means = (weights * scores).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    coefs: NDArray[np.float64] = (on_rows - weights * (scores - means) - 2 * local.times(scores)) / lams
    return coefs


# --------------------------------------------------------------------------------------------------- the model


def make_model(
    rows: Rows, kernel: Kernel, options: PualOptions, point: Point, record: dict[str, Any], fields: dict[str, Any]
) -> PualMachine:
    """Return the model of `fields` (what its function is) and `record` (how it was found)."""
    status = record["status"]
    names = ("n_iter", "objective", "gap")
    history = {name: np.asarray(record["history"][name]) for name in names}
    known: dict[str, Any] = {
        "n_features": rows.matrix.n_features,
        "feature_names": rows.matrix.feature_names,
        "threshold": 0.0,
        "n_iter": record["n_iter"],
        "converged": status in {"gap", "closed_form", "residual"},
        "status": status,
        "objective": history["objective"],
        "history": history,
        "params": {"method": options.function, **vars(point), **options.values},
        "support": np.empty(0, dtype=np.int64),
        "dual_coef": np.empty(0),
        "kernel": kernel.name,
        "gamma": kernel.gamma,
        "degree": kernel.degree,
        "coef0": kernel.coef0,
        "function": kernel.function,
        "gap": record["gap"],
        "alpha": record.get("alpha"),
        "mu": record.get("mu"),
        "nystroem_residual": record.get("nystroem_residual"),
    }
    return PualMachine(**{**known, **fields})


def record_of(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a model keeps of a result of `_core.PualDual`."""
    return {
        "status": found["status"],
        "n_iter": found["n_iter"],
        "gap": found["gap"],
        "alpha": found["alpha"],
        "mu": found["mu"] if found["method"] == "admm" else None,
        "history": {
            "n_iter": np.append(found["iterations"], found["n_iter"]),
            "objective": np.append(found["objectives"], found["objective"]),
            "gap": np.append(found["gaps"], found["gap"]),
        },
    }


def closed_form(objective: float) -> dict[str, Any]:
    """Return what a model keeps where there was nothing to iterate."""
    history = {"n_iter": np.zeros(1, dtype=np.int64), "objective": np.array([objective]), "gap": np.zeros(1)}
    return {"status": "closed_form", "n_iter": 0, "gap": 0.0, "history": history}


# ---------------------------------------------------------------------------------------------------- warnings


def _warn(options: PualOptions, rows: Rows, fitted: Sequence[tuple[Point, PualMachine, tuple[float, float]]]) -> None:
    """Warn the caller of the fit function of what went wrong, once for all points."""
    unsolved = [(point, model) for point, model, _ in fitted if model.status in {"max_iter", "precision"}]
    if unsolved:
        point, model = max(unsolved, key=lambda pair: pair[1].gap / max(pair[1].objective[-1], 1e-300))
        objective = float(model.objective[-1])
        reason = (
            "raise max_iter, or accept a larger tol"
            if model.status == "max_iter"
            else "where the precision of float64 ends; lower C_pos, scale the features of X, or accept a larger tol"
        )
        text = (
            f"the duality gap is {model.gap:.3g} at the objective {objective:.6g}, a share of "
            f"{model.gap / max(objective, 1e-300):.3g}, above tol = {options.values['tol']:g}, "
            f"after {model.n_iter} steps; {reason}"
        )
        _tell(options, len(fitted), len(unsolved), point, text, ConvergenceWarning)
    same = [
        (point, model, span)
        for point, model, span in fitted
        if model.status != "callback" and (span[0] > 0 or span[1] <= 0)
    ]
    if same:
        point, _, (low, high) = same[0]
        text = (
            f"the model calls all {rows.n} training rows {'positive' if low > 0 else 'negative'}: their scores are "
            f"between {low:.3g} and {high:.3g}; change C_pos, C_unl or lam, or rank by the scores (with_threshold)"
        )
        _tell(options, len(fitted), len(same), point, text, DegenerateModelWarning)


def _tell(options: PualOptions, n_models: int, n_flawed: int, point: Point, text: str, category: type[Warning]) -> None:
    where = "" if n_models == 1 else f"{n_flawed} of {n_models} models, the first with "
    values = ", ".join(f"{name} = {value:g}" for name, value in vars(point).items())
    warn(f"{options.function}: for {where}{values}: {text}", category)
