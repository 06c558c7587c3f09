"""The code that PUAL, GLLC and the biased LS-SVM share: fits for many parameters, the model, and the warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._progress import make_callback
from fastpu.common._warnings import ConvergenceWarning, DegenerateModelWarning, ScaleWarning, warn
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.graph._arguments import check_parameter
from fastpu.graph._features import Features, open_features
from fastpu.graph._neighbours import open_graph
from fastpu.graph._quadratic import Local
from fastpu.graph._rows import Rows
from fastpu.graph.pual_machine import PualMachine
from fastpu.kernels._kernels import resolve_gamma
from fastpu.kernels._scales import check_training_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu import _core
    from fastpu.graph._arguments import Point, PualOptions, PualRound
    from fastpu.graph._neighbours import Graph
    from fastpu.kernels._kernels import Kernel

__all__ = ["Solved", "closed_form", "fit_points", "make_model", "open_rows", "record_of"]

Hook: TypeAlias = "Callable[[PualRound], bool] | None"

_NO_NEIGHBOURS = 1e-6  # mean weight of an edge below which the neighbours' term is too small to matter in the objective


@dataclass(frozen=True)
class Solved:
    """The solution of one problem: f(x) = z(x)'beta + offset, its values on the training rows, and a record."""

    point: Point
    beta: NDArray[np.float64]
    offset: float
    scores: NDArray[np.float64]
    record: dict[str, Any]


# ------------------------------------------------------------------------------------------------ many points

Solver: TypeAlias = "Callable[[Features, Local, Sequence[Point], Hook], list[Solved]]"


def open_rows(X: object, y: object, options: PualOptions, sample_weight: object = None) -> tuple[Rows, Kernel]:
    """Check rows, labels and weights, leave out rows of weight 0, and resolve the kernel's gamma."""
    matrix = check_training_rows(X, options.kernel, options.function)
    labels = check_labels(y, matrix.n_rows, pu_only=options.function)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    numbers = np.arange(matrix.n_rows, dtype=np.int64)
    if weights is not None:
        for group, name in ((1, "positive"), (0, "unlabelled")):
            check_parameter(f"the sum of sample_weight over {name} rows", float(weights[labels == group].sum()))
    if weights is not None and not weights.all():
        numbers = np.flatnonzero(weights).astype(np.int64)
        labels, weights = labels[numbers], weights[numbers]
        matrix = matrix[numbers]
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
    """Fit the models of all points, sharing factors between them where possible, and warn of failures.

    `solver` is called with points that differ in C_pos alone. `graph` is None for a method without neighbours.
    """
    with (
        make_callback(callback, progress, total=None, description=options.title) as hook,
        one_blas_thread(options.n_threads),
    ):
        rows, kernel = open_rows(X, y, options, sample_weight)
        neighbours = None if graph is None else open_graph(graph, rows, kernel)
        points = [point.with_sigma(neighbours) for point in points]
        features = open_features(rows, kernel, options.n_components, options.generator)
        machines: dict[int, PualMachine] = {}
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
            for part in parts:
                solved = solver(features, local, [points[i] for i in part], hook)
                models, spans = _models(features, kernel, solved, options)
                machines |= dict(zip(part, models, strict=False))
                scores |= dict(zip(part, spans, strict=False))
                is_stopped = models[-1].status == "callback"
                if is_stopped:
                    break
            if is_stopped:
                break
    order = sorted(machines)
    if vanished:
        warn(
            f"{options.function}: with sigma = {vanished[0]:g} neighbours have no influence, as the mean similarity of "
            f"an edge is below {_NO_NEIGHBOURS:g}; sigma is a squared length, and sigma='median' fits the edges (here "
            f"{neighbours.median if neighbours else 1.0:g})",
            ScaleWarning,
        )
    _warn(options, rows, [(points[i], machines[i], scores[i]) for i in order])
    return machines[0] if is_one else [machines[i] for i in order]


def _groups(points: Sequence[Point], rows: Sequence[int], name: str) -> list[tuple[float, list[int]]]:
    """Group the points by the value of a parameter, in the order of the first point of each group."""
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
    """Return the model with `fields` (which define its function) and `record` (how the solver ended)."""
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
        **kernel.params(),
        "function": kernel.function,
        "gap": record["gap"],
        "alpha": record.get("alpha"),
        "mu": record.get("mu"),
        "nystroem_residual": record.get("nystroem_residual"),
    }
    return PualMachine(**{**known, **fields})


def record_of(solution: _core.DualSolution) -> dict[str, Any]:
    """Return the fields that a model keeps of a result of `_core.PualDual`."""
    return {
        "status": solution["status"],
        "n_iter": solution["n_iter"],
        "gap": solution["gap"],
        "alpha": solution["alpha"],
        "history": {
            "n_iter": np.append(solution["iterations"], solution["n_iter"]),
            "objective": np.append(solution["objectives"], solution["objective"]),
            "gap": np.append(solution["gaps"], solution["gap"]),
        },
    }


def closed_form(objective: float, gap: float = 0.0, *, is_right: bool = True) -> dict[str, Any]:
    """Return the fields that a model keeps of a solution in closed form."""
    history = {"n_iter": np.zeros(1, dtype=np.int64), "objective": np.array([objective]), "gap": np.array([gap])}
    return {"status": "closed_form" if is_right else "precision", "n_iter": 0, "gap": gap, "history": history}


# ---------------------------------------------------------------------------------------------------- warnings


def _warn(options: PualOptions, rows: Rows, fitted: Sequence[tuple[Point, PualMachine, tuple[float, float]]]) -> None:
    """Warn the caller of the fit function of failures, once for all points."""
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
    has_graph = "n_neighbors" in options.values
    values = ", ".join(f"{name} = {value:g}" for name, value in vars(point).items() if has_graph or name != "sigma")
    warn(f"{options.function}: for {where}{values}: {text}", category)
