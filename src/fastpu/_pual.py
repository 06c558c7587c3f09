"""What PUAL, GLLC and the biased LS-SVM share: one problem's matrices for many parameters, the model, the warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu import _core
from fastpu._blas_threads import one_blas_thread
from fastpu._kernels import check_kernel_matrix, resolve_gamma, take_rows
from fastpu._progress import make_callback
from fastpu._pual_features import Features, open_features
from fastpu._pual_graph import open_graph
from fastpu._pual_rows import Rows, empty, in_fours, row_strips
from fastpu._side_by_side import side_by_side
from fastpu._validate import check_labels, check_sample_weight
from fastpu._warnings import ConvergenceWarning, DegenerateModelWarning, warn
from fastpu.binned_features import BinnedFeatures
from fastpu.pual_machine import PualMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu._kernels import Kernel
    from fastpu._pual_arguments import Point, PualOptions, PualRound
    from fastpu._pual_graph import Graph

__all__ = ["Local", "Quadratic", "Smooth", "Solved", "fit_points", "is_right", "open_rows"]

Hook: TypeAlias = "Callable[[PualRound], bool] | None"
Fitted: TypeAlias = "tuple[list[PualMachine], list[tuple[float, float]]]"

_SHORT = 1.5e10  # multiplications of a part, some 0.1 s, that Ctrl-C has to wait for where several are worked on
_BLOCK = 256  # rows that are copied at a time
_LEAST_PIVOT = 1e-14  # of its diagonal entry: a smaller one is rounding
_SWEEPS, _STEPS = 4, 20  # most residuals of rows that are computed afresh, and steps of conjugate gradients after each
_EXCESS = 1e-25  # of the right side's product with f: relative errors of scores of some 1e-12
_MISFIT = 1e-8  # cosine of a column and what is left of the rows: far above rounding
_LOST = 1e-9  # of the objective: an excess that is told
_NO_NEIGHBOURS = 1e-6  # mean weight of an edge: what it adds to a sum of losses cannot be seen
_NOISE = 1e-13  # of the terms of a sum that may cancel


@dataclass(frozen=True)
class Solved:
    """What one problem's solver found: f(x) = z(x)'beta + offset, its values on the training rows, and how."""

    point: Point
    beta: NDArray[np.float64]
    offset: float
    scores: NDArray[np.float64]
    record: dict[str, Any]


@dataclass(frozen=True)
class Quadratic:
    """What is minimised where a dual variable or a squared loss stands for each row's loss, the intercept gone.

    ``1/2 sum_i weights_i (f_i - mean)^2 + f'Rf + lam/2 |w|^2 - targets'f`` for f = z'w, and the mean by the weights.
    """

    features: Features
    local: Local
    lam: float
    weights: NDArray[np.float64]
    targets: NDArray[np.float64]  # of a sum of 0

    def pull(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivative by f of all but the ridge and the targets."""
        apart: NDArray[np.float64] = f - self.mean(f)
        apart *= self.weights
        apart += np.multiply(2, self.local.times(f))
        return apart

    def mean(self, f: NDArray[np.float64]) -> float:
        return float(self.weights @ f) / float(self.weights.sum())

    def solve(self, smooth: Smooth, beta: NDArray[np.float64]) -> Minimum:
        """Return the minimum from a first guess, by conjugate gradients that `smooth` prepares, and what it lacks.

        The guess is right but for the rounding in the matrix that `smooth` factors, a matter of the squares of the
        condition of X; the residual here is that of the training rows.
        """
        features = self.features
        best: Minimum | None = None
        for _ in range(_SWEEPS):
            f = features.scores(beta)
            pull = self.pull(f)
            on_rows = self.targets - pull
            rest = features.slope(on_rows, beta, self.lam)
            step = smooth.solve(rest)
            excess = float(rest @ step)
            if best is None or excess < best.excess:
                weight = float(self.weights.max())
                size = (float(np.linalg.norm(self.targets)) + float(np.linalg.norm(pull))) / math.sqrt(weight)
                misfit = features.misfit(on_rows, beta, self.lam, weight) / max(size, 1e-300)
                best = Minimum(beta, f, excess, misfit)
            if not excess > _EXCESS * abs(float(self.targets @ f)):
                break
            first = excess
            for _ in range(_STEPS):
                image = -features.slope(-self.pull(features.scores(step)), step, self.lam)
                curvature = float(step @ image)
                if not curvature > 0:
                    break
                beta = beta + excess / curvature * step
                rest = rest - excess / curvature * image
                ahead = smooth.solve(rest)
                last, excess = excess, float(rest @ ahead)
                if not _EXCESS * first < excess < np.inf:
                    break
                step = ahead + excess / last * step
        if best is None:
            raise AssertionError("there is a first sweep")
        return best


@dataclass(frozen=True)
class Minimum:
    """A minimum, its f on the rows, twice the excess of its value, and how much of the rows one column could still fit.

    The latter is a cosine: what is left of the rows has to be orthogonal to every column, but for the ridge.
    """

    beta: NDArray[np.float64]
    f: NDArray[np.float64]
    excess: float
    misfit: float


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
        return 0.0 if self.R is None else np.asarray(self.R @ scores)

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return f'Rf."""
        return 0.0 if self.R is None else max(float(scores @ self.times(scores)), 0.0)


class Smooth:
    """lam + 2 C_unl Z_u'Z_u + 2 Z'RZ + more, factored; the next one of the same features takes its place.

    Where the digits of float64 do not tell the matrix from one that is not positive definite, a share of each diagonal
    entry is added, which knows no scale; `Quadratic.solve` makes up for it.
    """

    def __init__(self, features: Features, local: Local, point: Point, more: NDArray[np.float64] | None = None) -> None:
        self.features = features
        matrix = local.with_unlabelled(features, point.C_unl)
        n_last = 0 if more is None else len(more)
        diagonal = np.diagonal(matrix).copy()
        if more is not None:
            diagonal[-n_last:] += np.diagonal(more)
        if not np.isfinite(diagonal).all():
            raise ValueError(
                f"X must have entries so small that their squares do not overflow, with "
                f"C_unl = {point.C_unl:g} and lam = {point.lam:g}; scale X"
            )
        self.factor = features.scratch
        share = 0.0
        while True:
            for first in range(0, len(matrix), _BLOCK):  # the lower triangle, at which a factorisation looks
                end = first + _BLOCK
                self.factor[first:end, :end] = matrix[first:end, :end]
            if more is not None:
                corner = self.factor[-n_last:, -n_last:]
                for first in range(0, n_last, _BLOCK):
                    end = first + _BLOCK
                    corner[first:end, :end] += more[first:end, :end]
            whole = diagonal + np.maximum(point.lam, share * diagonal)
            np.fill_diagonal(self.factor, whole)
            if _core.tiled_cholesky(self.factor, n_threads=features.rows.n_threads) == 0:
                pivots = np.diagonal(self.factor) ** 2 / whole
                if share > 0 or float(pivots.min()) > _LEAST_PIVOT:
                    break
            share = max(10 * share, _LEAST_PIVOT)
            if share > 1:
                raise AssertionError("a matrix with so large a diagonal is positive definite")

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse of the factored matrix times a vector."""
        found: NDArray[np.float64] = right.copy()
        rows = found[None, :]
        for transpose in (True, False):
            _core.tiled_solve(self.factor, rows, transpose=transpose, n_threads=self.features.rows.n_threads)
        return found

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


def open_rows(X: object, y: object, options: PualOptions, sample_weight: object = None) -> tuple[Rows, Kernel]:
    """Check rows, labels and weights, leave out rows of weight 0, and resolve the kernel's gamma."""
    if isinstance(X, BinnedFeatures):
        raise TypeError(
            f"X must be the rows themselves for {options.function}, got BinnedFeatures, which are for boosting only"
        )
    matrix = check_kernel_matrix(X, options.kernel)
    labels = check_labels(y, matrix.n_rows, pu_only=options.function)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    numbers = np.arange(matrix.n_rows, dtype=np.int64)
    if weights is not None and not weights.all():
        numbers = np.flatnonzero(weights).astype(np.int64)
        labels, weights = labels[numbers], weights[numbers]
        for group, name in ((1, "positive"), (0, "unlabelled")):
            if not (labels == group).any():
                raise ValueError(f"sample_weight must be > 0 for some {name} row, got zeros for all of them")
        native: Any = take_rows(matrix.native, numbers)
        if options.kernel.name == "precomputed":
            native = np.ascontiguousarray(native[:, numbers])
        matrix = replace(matrix, native=native, n_rows=numbers.size)
    if weights is not None and (weights == 1).all():
        weights = None
    rows = Rows(matrix, labels, options.n_threads, weights=weights, numbers=numbers)
    return rows, resolve_gamma(options.kernel, matrix, weights)


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
    sample_weight: object = None,
) -> PualMachine | list[PualMachine]:
    """Fit the models of all points, those that share factors together, and warn of what went wrong.

    `solver` gets points that differ in C_pos alone. `graph` is None for a method without one.
    """
    with (
        make_callback(callback, progress, total=None, description=options.title) as hook,
        one_blas_thread(options.n_threads),
    ):
        rows, kernel = open_rows(X, y, options, sample_weight)
        neighbours = None if graph is None else open_graph(graph, rows, kernel)
        points = [point.with_sigma(neighbours) for point in points]
        features = open_features(rows, kernel, options.n_components, options.generator)
        found: dict[int, PualMachine] = {}
        scores: dict[int, tuple[float, float]] = {}
        vanished: list[float] = []
        is_stopped = False
        for sigma, of_sigma in _groups(points, range(len(points)), "sigma"):
            R = None if neighbours is None else neighbours.laplacian(sigma)
            if neighbours is not None and neighbours.strength(R) < _NO_NEIGHBOURS:
                vanished.append(sigma)
            local = Local(R, None if R is None or not R.nnz else features.local(R))
            parts = [
                part for _, of_unl in _groups(points, of_sigma, "C_unl") for _, part in _groups(points, of_unl, "lam")
            ]

            def work(features: Features, local: Local, part: list[int]) -> Fitted:
                solved = solver(features, local, [points[i] for i in part], hook)
                return _models(features, kernel, solved, options)

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
    if vanished:
        warn(
            f"{options.function}: with sigma = {vanished[0]:g} neighbours have no influence, as the mean similarity of "
            f"an edge is below {_NO_NEIGHBOURS:g}; sigma is a squared length, and sigma='median' fits the edges (here "
            f"{neighbours.median if neighbours else 1.0:g})",
            DegenerateModelWarning,
        )
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
    features: Features, kernel: Kernel, solved: Sequence[Solved], options: PualOptions
) -> tuple[list[PualMachine], list[tuple[float, float]]]:
    models = [
        make_model(
            features.rows,
            kernel,
            options,
            one.point,
            {**one.record, "nystroem_residual": features.residual},
            features.fields(one.beta, one.offset),
        )
        for one in solved
    ]
    return models, [(float(one.scores.min()), float(one.scores.max())) for one in solved]


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


def closed_form(objective: float, gap: float = 0.0, *, is_right: bool = True) -> dict[str, Any]:
    """Return what a model keeps where there was nothing to iterate."""
    history = {"n_iter": np.zeros(1, dtype=np.int64), "objective": np.array([objective]), "gap": np.array([gap])}
    return {"status": "closed_form" if is_right else "precision", "n_iter": 0, "gap": gap, "history": history}


def is_right(gap: float, objective: float, size: float, misfit: float, tol: float) -> bool:
    """Tell whether a gap and a gradient are what `tol` and rounding leave, in sums whose terms add up to `size`."""
    return gap <= max(tol, _LOST) * objective + _NOISE * size and misfit <= _MISFIT


# ---------------------------------------------------------------------------------------------------- warnings


def _warn(options: PualOptions, rows: Rows, fitted: Sequence[tuple[Point, PualMachine, tuple[float, float]]]) -> None:
    """Warn the caller of the fit function of what went wrong, once for all points."""
    unsolved = [(point, model) for point, model, _ in fitted if model.status in {"max_iter", "precision"}]
    if unsolved:
        point, model = max(unsolved, key=lambda pair: pair[1].gap / max(pair[1].objective[-1], 1e-300))
        objective, tol = float(model.objective[-1]), float(str(options.values.get("tol", np.inf)))
        reason = (
            "raise max_iter, or accept a larger tol"
            if model.status == "max_iter"
            else "where the precision of float64 ends; lower C_pos, scale the features of X, or accept a larger tol"
        )
        text = (
            f"the duality gap is {model.gap:.3g} at the objective {objective:.6g}, a share of "
            f"{model.gap / max(objective, 1e-300):.3g}, above tol = {tol:g}, "
            f"after {model.n_iter} steps; {reason}"
        )
        if model.gap <= tol * objective:
            text = (
                f"on the rows of X the model is not the minimum, as the columns differ so much in size that float64 "
                f"has no digits left for some of them: the objective is {objective:.6g}, and {model.gap:.3g} above the "
                f"least as far as can be told; scale the features of X, or raise lam"
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
