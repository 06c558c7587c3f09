"""The code that the squared-loss AUC methods share: rows, the fit of many points, models and warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.auc._moments import (
    CentredRows,
    Moments,
    apply_form,
    group_means,
    group_moments,
    group_shares,
    group_variances,
    groups_of,
)
from fastpu.auc._solvers import Solution, solve_by_steps, solve_directly
from fastpu.auc.rank_machine import RankMachine
from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._params import check_random_state
from fastpu.common._text import where_column
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._validate import check_labels, check_matrix, check_sample_weight, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._gauss_basis import default_bandwidth, gauss_features, open_centers
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._threshold import balanced_accuracy_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastpu.auc._arguments import Basis
    from fastpu.auc._moments import Form
    from fastpu.data._matrix import Matrix


_GROUP_NAMES = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
_MOST_DIRECT = 2000  # weights of the linear basis whose matrix is made and factored


@dataclass(frozen=True)
class Point:
    """One model to fit: the quadratic, its ridge, the groups that its threshold lies between, and what to record.

    `advice` says what helps if the quadratic has no minimum.
    """

    form: Form
    lam: float
    sides: tuple[int, int]
    params: dict[str, object]
    advice: str = ""


# ------------------------------------------------------------------------------------------------------ rows


@dataclass(frozen=True)
class Rows:
    """The rows whose weight is not 0, of the groups that the method reads."""

    function: str
    matrix: Matrix
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    n_threads: int
    generator: np.random.Generator

    def mass(self, group: int) -> float:
        """Return the weight of a group."""
        chosen = self.labels == group
        return float(np.count_nonzero(chosen) if self.weights is None else self.weights[chosen].sum())


def open_rows(
    X: object,
    y: object,
    *,
    function: str,
    groups: tuple[int, ...],
    sample_weight: object,
    random_state: object,
    n_threads: object,
) -> Rows:
    threads = resolve_n_threads(n_threads)
    generator = check_random_state(random_state)
    require_rows(X, function)
    matrix = check_matrix(X)
    labels = check_labels(y, matrix.n_rows)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    used = np.isin(labels, groups)
    if weights is not None:
        used &= weights > 0
    if not used.all():
        kept = np.flatnonzero(used).astype(np.int64)  # the other rows are left out before anything is computed
        matrix = matrix[kept]
        labels, weights = labels[kept], None if weights is None else weights[kept]
    if weights is not None and (weights == 1).all():
        weights = None
    return Rows(function, matrix, labels, weights, threads, generator)


def require_groups(rows: Rows, groups: tuple[int, ...], why: str = "") -> None:
    """Raise ValueError unless there are rows of these groups."""
    counts = dict(zip((1, 0, -1), label_counts(rows.labels), strict=True))
    if all(counts[g] for g in groups):
        return
    needed = " and ".join(f"{_GROUP_NAMES[g]} ({g:+d})" if g else "unlabelled (0)" for g in groups)
    listed = ", ".join(f"{counts[g]} {_GROUP_NAMES[g]}" for g in counts)
    hint = "" if counts[-1] or -1 not in groups else "; if 0 means negative, pass fastpu.as_labels(y, negative=0)"
    raise ValueError(f"y must hold {needed} rows for {rows.function}{why}, got {listed} rows of positive weight{hint}")


@dataclass(frozen=True)
class _Data:
    """The features that f is linear in: those of the rows, or basis functions around centres."""

    rows: Rows
    share: NDArray[np.float64]
    centers: Matrix | None
    bandwidth: float | None
    size: int

    @property
    def is_direct(self) -> bool:
        return self.centers is not None or self.size <= _MOST_DIRECT

    @cached_property
    def centred(self) -> CentredRows:
        """The rows from an origin of their own, for a linear f."""
        return CentredRows(self.rows.matrix)

    def moments(self) -> Moments:
        matrix, labels, share = self.rows.matrix, self.rows.labels, self.share
        groups = groups_of(labels)
        _check_memory(self.size, len(groups))
        means, spreads = {}, {}
        for g in groups:
            chosen = np.flatnonzero(labels == g)
            features = None if self.centers is None else self._features
            rows = CentredRows(matrix[chosen], features)  # a column may be filled in this group alone
            mean, spreads[g] = group_moments(rows, share[chosen])
            means[g] = mean + (rows.origin if self.centers is not None else rows.origin - self.centred.origin)
        return Moments(means, spreads)

    def _features(self, rows: Matrix) -> NDArray[np.float64]:
        if self.centers is None or self.bandwidth is None:
            raise AssertionError("features have centres")
        return gauss_features(rows, self.centers, self.bandwidth, self.rows.n_threads)

    def product(
        self, form: Form, means: dict[int, NDArray[np.float64]], vector: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return A times a vector, computed from the rows; for a linear f."""
        image = apply_form(form, self.centred, self.rows.labels, self.share, means, vector)
        _check_finite(self.rows, [image])
        return image


def _check_memory(size: int, n_groups: int) -> None:
    """Raise MemoryError, before work begins, if there is too little memory for matrices of so many weights."""
    n_bytes = 8 * size * size * (n_groups + 4)
    try:
        np.empty(n_bytes, dtype=np.uint8)
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {n_bytes} bytes, more than there are; use fewer centres"
        ) from None


def _open_data(rows: Rows, basis: Basis) -> _Data:
    share = group_shares(rows.labels, rows.weights)
    if basis.kind == "linear":
        return _Data(rows, share, None, None, rows.matrix.n_features)
    matrix = rows.matrix
    centers = open_centers(matrix, basis.centers, basis.n_centers, rows.weights, rows.generator)
    bandwidth = basis.bandwidth or default_bandwidth(matrix, rows.weights, centers)
    return _Data(rows, share, centers, bandwidth, centers.n_rows)


# ------------------------------------------------------------------------------------------------------- fit


def fit_points(rows: Rows, basis: Basis, points: Sequence[Point]) -> list[RankMachine]:
    """Return a model for each point; moments are computed once for all. Warns the caller of the fit function."""
    if basis.kind != "linear" or any(point.lam > 0 for point in points):  # else the scale of columns does not matter
        warn_of_scales(rows.matrix)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        data = _open_data(rows, basis)
        solutions = _solve_directly(data, points) if data.is_direct else _solve_by_steps(data, basis, points)
    models = []
    for point, solution in zip(points, solutions, strict=True):
        _check_finite(rows, [solution.coef, np.array([*solution.residuals, *solution.objective])])
        model, n_positive = _make_model(data, basis, point, solution)
        _warn(data, basis, point, solution, n_positive)
        models.append(model)
    return models


def _solve_directly(data: _Data, points: Sequence[Point]) -> list[Solution]:
    moments = data.moments()
    _check_finite(data.rows, [*moments.means.values(), *moments.spreads.values()])
    solutions = []
    for point in points:
        # Basis functions are in [0, 1], and their matrix has all digits that they have.
        product = None if data.centers is not None else partial(data.product, point.form, moments.means)
        solutions.append(solve_directly(point.form, point.lam, moments, product))
    return solutions


def _solve_by_steps(data: _Data, basis: Basis, points: Sequence[Point]) -> list[Solution]:
    means = group_means(data.centred, data.rows.labels, data.share)
    variances = group_variances(data.centred, data.rows.labels, data.share, means)
    _check_finite(data.rows, [*means.values(), *variances.values()])
    return [
        solve_by_steps(
            point.form,
            point.lam,
            means,
            variances,
            partial(data.product, point.form, means),
            tol=basis.tol,
            max_iter=basis.max_iter,
        )
        for point in points
    ]


def _check_finite(rows: Rows, arrays: list[NDArray[np.float64]]) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        values = rows.matrix.entries
        at = max(int(values.argmax()), int(values.argmin()), key=lambda k: abs(float(values[k])))
        column = int(rows.matrix.indices[at]) if rows.matrix.is_sparse else at % rows.matrix.n_features
        raise ValueError(
            f"X must hold numbers whose squares can be added up for {rows.function}, got the largest {values[at]:g} in "
            f"{where_column(column, rows.matrix.feature_names)}; scale the features"
        )


def _make_model(data: _Data, basis: Basis, point: Point, solution: Solution) -> tuple[RankMachine, int]:
    """Return the model, and how many of the rows it calls positive."""
    rows = data.rows
    arrays: dict[str, Any] = {} if data.centers is None else data.centers.fields("centers")
    history = {"residual": np.array(solution.residuals)}
    if solution.smallest is not None:
        history["smallest_eigenvalue"] = np.array([solution.smallest])
    model = RankMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        n_iter=len(solution.objective) - 1,
        converged=solution.status in ("closed_form", "singular", "tol"),
        status=solution.status,
        objective=np.array(solution.objective),
        history=history,
        params={"method": rows.function, **point.params, "lam": point.lam, **basis.params()},
        basis=basis.kind,
        coef=solution.coef,
        intercept=0.0,
        bandwidth=data.bandwidth,
        **arrays,
    )
    scores = model._decision_function(rows.matrix, rows.n_threads)
    upper, lower = (rows.labels == g for g in point.sides)
    weights = (None, None) if rows.weights is None else (rows.weights[upper], rows.weights[lower])
    threshold = balanced_accuracy_threshold(scores[upper], scores[lower], *weights)
    names = " and ".join(_GROUP_NAMES[g] for g in point.sides)
    rule = f"best balanced accuracy between {names} training rows"
    return replace(model, threshold=threshold, threshold_rule=rule), int(np.count_nonzero(scores > threshold))


# -------------------------------------------------------------------------------------------------- warnings


def _warn(data: _Data, basis: Basis, point: Point, solution: Solution, n_positive: int) -> None:
    function, n_rows = data.rows.function, data.rows.labels.size
    trouble = _trouble(data, basis, point, solution)
    if trouble:
        warn(f"{function}: {trouble}", ConvergenceWarning)
    if not solution.coef.any() and not trouble:
        warn(
            f"{function}: the model scores every row 0, as the groups that it compares have the same mean features; "
            f"more rows, or basis='gauss', may tell them apart",
            DegenerateModelWarning,
        )
    elif solution.coef.any() and n_positive in (0, n_rows):
        upper, lower = (_GROUP_NAMES[g] for g in point.sides)
        warn(
            f"{function}: the model calls {n_positive} of {n_rows} training rows positive, as its scores order {upper} "
            f"and {lower} rows no better than chance does",
            DegenerateModelWarning,
        )


def _trouble(data: _Data, basis: Basis, point: Point, solution: Solution) -> str:
    """Return what a warning says of a solution that is not the minimum, else an empty string."""
    n_steps = len(solution.residuals) - 1
    if solution.status == "indefinite":
        reason = "its matrix A + lam has no minimum along some direction"
        if solution.smallest is not None:
            reason = (
                f"the smallest eigenvalue of its matrix A + lam is {solution.smallest:.3g}, and lam > "
                f"{point.lam - solution.smallest:.3g} would make it positive"
            )
        ending = (
            "coef is where its gradient is 0, a saddle point"
            if data.is_direct
            else f"coef is where {n_steps} steps of the conjugate gradients ended"
        )
        return f"the objective has no minimum: {reason}. {point.advice}; {ending}"
    if solution.status in ("max_iter", "precision"):
        reason, hint = "rounding errors ended the solution", "raise lam"
        if solution.status == "max_iter":
            reason, hint = f"all max_iter = {basis.max_iter} steps were taken", "raise max_iter or lam"
        limit = f", above tol = {basis.tol:g}" if n_steps else ""
        residual = f"a relative residual of the linear system of {solution.residuals[-1]:.3g}"
        return f"{reason} with {residual}{limit}; {hint}, or scale the features of X"
    return ""
