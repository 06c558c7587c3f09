"""The code that PUAL, GLLC and the biased LS-SVM share: fits for many parameters, the model, and the warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._progress import make_report
from fastpu.common._text import describe
from fastpu.common._warn import one_verdict, span_of, warn
from fastpu.data._sparse import read_sparse
from fastpu.data._training_rows import open_training_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning, ScaleWarning
from fastpu.kernels._kernels import Kernel, resolve_gamma
from fastpu.kernels._scales import check_training_rows
from fastpu.knn.knn_graph import KNNGraph, search
from fastpu.pual._arguments import Point, PualOptions, PualRound, check_parameter, check_points
from fastpu.pual._features import Features, open_features
from fastpu.pual._quadratic import NeighbourTerm
from fastpu.pual._rows import PualRows
from fastpu.pual.pual_machine import PualMachine

Report: TypeAlias = "Callable[[PualRound], bool] | None"
Fitted: TypeAlias = tuple[PualMachine, str]  # and what is said of it if it calls all rows the same, else ""

_SYMMETRY = 1e-9  # largest rounding error of R - R' and of R 1, relative to the largest entry
_NO_NEIGHBOURS = 1e-6  # mean weight of an edge below which the neighbours' term has no influence on the objective


@dataclass(frozen=True)
class PualSolution:
    """The solution of one problem: f(x) = z(x)'beta + offset, its values on the training rows, and a record.

    `history` has "n_iter", "objective" and "gap" after each recorded step, those of the solution last; `alpha` are dual
    variables, if there are any.
    """

    point: Point
    beta: NDArray[np.float64]
    offset: float
    scores: NDArray[np.float64]
    status: str
    history: dict[str, NDArray[Any]]
    alpha: NDArray[np.float64] | None = None


# ------------------------------------------------------------------------------------------------ many points

Solver: TypeAlias = "Callable[[NeighbourTerm, Sequence[Point], Report], list[PualSolution]]"


def fit_points(options: PualOptions, given: Mapping[str, Any], solver: Solver) -> PualMachine | list[PualMachine]:
    """Fit the models of all points, and warn of failures; `solver` is called with points that differ in C_pos alone."""
    points, is_one = check_points(given)
    with (
        make_report(given["callback"], given["progress"], total=None, description=options.title) as report,
        one_blas_thread(options.n_threads),
    ):
        matrix = check_training_rows(given["X"], options.kernel, options.function)
        kept = open_training_rows(matrix, given["y"], given.get("sample_weight"), options.function, is_relative=False)
        if kept.weights is not None:
            for group, name in ((1, "positive"), (0, "unlabelled")):
                check_parameter(f"the sum of sample_weight over {name} rows", kept.mass(group))
        rows = PualRows(kept, options.n_threads)
        kernel = resolve_gamma(options.kernel, kept.matrix, kept.weights)
        graph, R = _open_graph(given, rows, kernel) if "graph" in given else (None, None)
        median = 1.0 if graph is None else graph.median()
        points = [replace(point, sigma=median) if point.sigma is None else point for point in points]
        features = open_features(rows, kernel, options.n_components, options.generator)
        fitted: dict[int, Fitted] = {}
        vanished: list[float] = []
        for sigma, of_sigma in _groups(points, range(len(points)), "sigma"):
            if graph is not None:
                R = graph.similarity(sigma)[1]
                if graph._mean_similarity(sigma) < _NO_NEIGHBOURS:
                    vanished.append(sigma)
            neighbour_term = NeighbourTerm(features, R)
            by_unl = _groups(points, of_sigma, "C_unl")
            for numbers in [of_lam for _, of_unl in by_unl for _, of_lam in _groups(points, of_unl, "lam")]:
                solved = solver(neighbour_term, [points[i] for i in numbers], report)
                made = (_make_model(features, kernel, options, each) for each in solved)  # keeps the scores of few
                fitted |= zip(numbers, made, strict=False)
                if solved[-1].status == "callback":
                    break
            if any(machine.status == "callback" for machine, _ in fitted.values()):
                break
    if vanished:
        warn(
            f"{options.function}: with sigma = {vanished[0]:g} neighbours have no influence, as the mean similarity of "
            f"an edge is below {_NO_NEIGHBOURS:g}; sigma is a squared length, and sigma='median' fits the edges (here "
            f"{median:g})",
            ScaleWarning,
        )
    in_order = [fitted[i] for i in sorted(fitted)]
    _warn(options, in_order)
    machines = [machine for machine, _ in in_order]
    return machines[0] if is_one else machines


def _groups(points: Sequence[Point], numbers: Sequence[int], name: str) -> list[tuple[float, list[int]]]:
    """Group the points of these numbers by the value of a parameter, in the order of the first point of each group."""
    groups: dict[float, list[int]] = {}
    for i in numbers:
        groups.setdefault(getattr(points[i], name), []).append(i)
    return list(groups.items())


# ------------------------------------------------------------------------------------------------ neighbours


def _open_graph(given: Mapping[str, Any], rows: PualRows, kernel: Kernel) -> tuple[KNNGraph | None, Any]:
    """Return the neighbours, which give R for any sigma, or else the R that holds for all, None without neighbours."""
    graph = given["graph"]
    if isinstance(graph, tuple) and len(graph) == 2:
        return None, _check_laplacian(graph[1], rows.n)
    if isinstance(graph, KNNGraph):
        if graph.n_rows != rows.n:
            raise ValueError(f"graph must be that of the {rows.n} rows of X, got one of {graph.n_rows}")
        return graph, None
    if graph is not None:
        raise TypeError(
            f"graph must be None, a pair (W, R) as knn_similarity gives it, or what knn_graph gives, got "
            f"{describe(graph)}"
        )
    if given["n_neighbors"] == 0:
        return None, None
    if kernel.name == "precomputed":
        raise ValueError(
            "graph must be given with kernel='precomputed', as there are no rows to find neighbours of, got None; "
            "n_neighbors=0 does without neighbours"
        )
    return search(rows.matrix, int(given["n_neighbors"]), rows.n_threads), None


def _check_laplacian(R: Any, n: int) -> Any:
    """Return R as CSR of float64 after checking that f'Rf can be a sum of squares of differences."""
    if not sp.issparse(R):
        raise TypeError(f"graph must be (W, R) of SciPy sparse matrices, got {describe(R)} for R")
    if R.shape != (n, n):
        raise ValueError(f"graph must be that of the {n} rows of X, got R of shape {tuple(R.shape)}")
    # Indices are checked here: SciPy's own routines trust them, and read outside of R's memory if they are wrong.
    values = read_sparse(R, "R of graph").convert(np.dtype(np.float64), sparse=True).table()
    if values.nnz == 0:
        return values
    if not np.isfinite(values.data).all():
        raise ValueError("graph must be finite, got NaN or inf in R")
    limit = _SYMMETRY * float(np.abs(values.data).max())
    apart = abs(values - values.T)
    if apart.nnz and float(apart.data.max()) > limit:
        raise ValueError(f"graph must be symmetric, got R that differs from its transpose by {apart.data.max():g}")
    is_diagonal = values.indices == np.repeat(np.arange(n), np.diff(values.indptr))
    highest = float(values.data[~is_diagonal].max(initial=0.0))
    if highest > limit:
        raise ValueError(f"graph must have weights >= 0, and so no entry > 0 beside R's diagonal, got {highest:g}")
    sums = np.abs(np.asarray(values.sum(axis=1)).reshape(-1))
    if float(sums.max()) > limit * max(1, int(np.diff(values.indptr).max())):
        row = int(np.argmax(sums))
        raise ValueError(f"graph must be a Laplacian, R 1 = 0, got a sum of {sums[row]:g} in row {row} of R")
    return values


# ------------------------------------------------------------------------------------------------ the models


def _make_model(features: Features, kernel: Kernel, options: PualOptions, solved: PualSolution) -> Fitted:
    status = solved.status
    machine = PualMachine(
        **kernel.fields(features.rows.matrix),
        threshold=0.0,
        n_iter=int(solved.history["n_iter"][-1]),
        converged=status in {"gap", "closed_form"},
        status=status,
        objective=solved.history["objective"],
        history=solved.history,
        params={"method": options.function, **vars(solved.point), **options.values},
        gap=float(solved.history["gap"][-1]),
        alpha=solved.alpha,
        nystroem_residual=features.residual,
        **features.fields(solved.beta, solved.offset),
    )
    return machine, "" if status == "callback" else one_verdict(*span_of(solved.scores))


# ---------------------------------------------------------------------------------------------------- warnings


def _warn(options: PualOptions, fitted: Sequence[Fitted]) -> None:
    """Warn the caller of the fit function of failures, once for all points."""
    unsolved = [machine for machine, _ in fitted if machine.status in {"max_iter", "precision"}]
    if unsolved:
        worst = max(unsolved, key=lambda machine: machine.gap / max(machine.objective[-1], 1e-300))
        text = _unsolved_text(worst, options.values.get("tol", np.inf))
        which = f"{len(unsolved)} of {len(fitted)} models, the worst with " if len(fitted) > 1 else ""
        _tell(options, which, worst, text, ConvergenceWarning)
    same = [(machine, verdict) for machine, verdict in fitted if verdict]
    if same:
        first, verdict = same[0]
        text = f"the model {verdict}; change C_pos, C_unl or lam, or rank by the scores (with_threshold)"
        which = f"{len(same)} of {len(fitted)} models, the first with " if len(fitted) > 1 else ""
        _tell(options, which, first, text, DegenerateModelWarning)


def _unsolved_text(model: PualMachine, tol: Any) -> str:
    objective = float(model.objective[-1])
    if model.gap <= tol * objective:
        return (
            f"on the rows of X the model is not the minimum, as the columns differ so much in size that float64 has no "
            f"digits left for some of them: its objective is {objective:.6g}, an estimated {model.gap:.3g} above the "
            f"minimum; scale the features of X, or raise lam"
        )
    reason = (
        "raise max_iter, or accept a larger tol"
        if model.status == "max_iter"
        else "float64 has no digits left for more; lower C_pos, scale the features of X, or accept a larger tol"
    )
    return (
        f"the duality gap is {model.gap:.3g} at the objective {objective:.6g}, a share of "
        f"{model.gap / max(objective, 1e-300):.3g}, above tol = {tol:g}, after {model.n_iter} steps; {reason}"
    )


def _tell(options: PualOptions, which: str, model: PualMachine, text: str, category: type[Warning]) -> None:
    names = ("C_pos", "C_unl", "lam", *(("sigma",) if "n_neighbors" in options.values else ()))
    values = ", ".join(f"{name} = {model.params[name]:g}" for name in names)
    warn(f"{options.function}: for {which}{values}: {text}", category)
