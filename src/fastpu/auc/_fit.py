"""The code that the squared-loss AUC methods share: rows, the linear system, and the models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from fastpu.auc._moments import (
    CentredRows,
    Moments,
    apply_form,
    form_matrix,
    group_means,
    group_moments,
    group_shares,
    group_variances,
    groups_of,
)
from fastpu.auc.rank_machine import RankMachine
from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._eigen import symmetric_eigen
from fastpu.common._text import where_column
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warnings import ConvergenceWarning, DegenerateModelWarning, warn
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_labels, check_matrix, check_random_state, check_sample_weight, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.kernels._gauss_basis import default_bandwidth, gauss_features, open_centers
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._threshold import balanced_accuracy_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastpu.auc._arguments import Basis
    from fastpu.auc._moments import Form
    from fastpu.data._matrix import Matrix

__all__ = ["Point", "Rows", "fit_points", "open_rows", "require_groups"]

_GROUP_NAMES = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
_MOST_DIRECT = 2000  # weights of the linear basis whose matrix is made and factored
_CORRECTIONS = 2  # refinements of a direct solution; the second is for matrices that have lost half of their digits
_EXACT = 1e-15  # a solution with a smaller relative residual is not refined
_RESIDUAL = 1e-6  # largest relative residual of a direct solution that counts as solved


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

    def apply(
        self, form: Form, means: dict[int, NDArray[np.float64]], vector: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return A times a vector, computed from the rows; for a linear f."""
        return apply_form(form, self.centred, self.rows.labels, self.share, means, vector)


def _check_memory(size: int, n_groups: int) -> None:
    """Raise MemoryError, before work begins, if matrices of so many weights cannot be had."""
    n_bytes = 8 * size * size * (n_groups + 4)
    try:
        np.empty(n_bytes, dtype=np.uint8)
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {n_bytes} bytes, which cannot be had; use fewer centres"
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


@dataclass(frozen=True)
class _Solution:
    coef: NDArray[np.float64]
    status: str
    residuals: list[float]
    objective: list[float]
    smallest: float | None = None


def fit_points(rows: Rows, basis: Basis, points: Sequence[Point]) -> list[RankMachine]:
    """Return a model for each point; moments are computed once for all. Warns the caller of the fit function."""
    if basis.kind != "linear" or any(point.lam > 0 for point in points):  # else the scale of columns does not matter
        warn_of_scales(rows.matrix)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        data = _open_data(rows, basis)
        if data.is_direct:
            moments = data.moments()
            _check_finite(rows, [*moments.means.values(), *moments.spreads.values()])
            solutions = [_solve_directly(point, moments, data) for point in points]
        else:
            means = group_means(data.centred, rows.labels, data.share)
            variances = group_variances(data.centred, rows.labels, data.share, means)
            _check_finite(rows, [*means.values(), *variances.values()])
            solutions = [_solve_by_steps(point, data, means, variances, basis) for point in points]
    models = []
    for point, solution in zip(points, solutions, strict=True):
        _check_finite(rows, [solution.coef, np.array([*solution.residuals, *solution.objective])])
        model, n_positive = _make_model(data, basis, point, solution)
        _warn(rows, basis, point, solution, n_positive)
        models.append(model)
    return models


def _check_finite(rows: Rows, arrays: list[NDArray[np.float64]]) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        values = rows.matrix.entries
        at = max(int(values.argmax()), int(values.argmin()), key=lambda k: abs(float(values[k])))
        column = int(rows.matrix.indices[at]) if rows.matrix.is_sparse else at % rows.matrix.n_features
        raise ValueError(
            f"X must hold numbers whose squares can be added up for {rows.function}, got the largest {values[at]:g} in "
            f"{where_column(column, rows.matrix.feature_names)}; scale the features"
        )


def _norm(vector: NDArray[np.float64]) -> float:
    """Return the length of a vector, although the squares of its entries may underflow or overflow."""
    largest = float(np.abs(vector).max())
    return largest * float(np.linalg.norm(vector / largest)) if 0 < largest < np.inf else largest


def _value(form: Form, right: NDArray[np.float64], coef: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    """Return the objective at `coef`, where `rest` is b - (A + lam) coef."""
    return form.constant - float(right @ coef) - float(rest @ coef)


def _scales(diagonal: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
    """Return powers of two that scale the diagonal of A + lam to about 1, without rounding errors."""
    units: NDArray[np.float64] = np.ldexp(1.0, -(np.frexp(diagonal + lam)[1] // 2))
    return units


def _solve_directly(point: Point, moments: Moments, data: _Data) -> _Solution:
    """Solve by a factor of A + lam on scaled features, and refine by residuals computed from the rows."""
    right = point.form.right(moments.means)
    matrix = form_matrix(point.form, moments, point.lam)
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"X and lam must be such that the sums of squares of X, and lam beside them, do not overflow, "
            f"got lam={point.lam:g}; scale the features, or lower lam"
        )
    variances = {g: np.diagonal(spread) for g, spread in moments.spreads.items()}
    scales = _scales(point.form.diagonal(moments.means, variances), point.lam)
    matrix *= scales
    matrix *= scales[:, None]
    right = right * scales

    def image(coef: NDArray[np.float64]) -> NDArray[np.float64]:
        if data.centers is not None:  # features in [0, 1], whose matrix has the digits that they have
            scores: NDArray[np.float64] = matrix @ coef
            return scores
        product = data.apply(point.form, moments.means, scales * coef) * scales
        product += point.lam * scales * scales * coef
        return product

    size = right.size
    factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    pivots = np.diagonal(factor)
    status, smallest = "closed_form", None
    if info == 0 and float(pivots.min()) ** 2 > size * np.finfo(float).eps * float(pivots.max()) ** 2:
        coef = scipy.linalg.cho_solve((factor, True), right, check_finite=False)
        rest = right - image(coef)
        for _ in range(_CORRECTIONS):
            if not _norm(rest) > _EXACT * _norm(right):
                break
            coef = coef + scipy.linalg.cho_solve((factor, True), rest, check_finite=False)
            rest = right - image(coef)
    else:
        values, vectors = symmetric_eigen(matrix)
        limit = size * np.finfo(float).eps * float(np.abs(values).max())
        # If the matrix cannot be indefinite, its negative eigenvalues are rounding errors.
        kept = (np.abs(values) if point.form.may_be_indefinite else values) > limit
        coef = vectors[:, kept] @ ((right @ vectors[:, kept]) / values[kept])
        free = vectors[:, ~kept] * scales[:, None]
        coef = coef - vectors[:, ~kept] @ np.linalg.lstsq(free, scales * coef)[0]  # the shortest in the caller's units
        status = "indefinite" if point.form.may_be_indefinite and float(values[0]) < -limit else "singular"
        if status == "indefinite":
            smallest = float(symmetric_eigen(form_matrix(point.form, moments, point.lam))[0][0])
        rest = right - image(coef)
    scale = _norm(right)
    residual = _norm(rest) / scale if scale else 0.0
    if status != "indefinite" and residual > _RESIDUAL:
        # b is not in the range of A: either the objective falls for ever along a direction without curvature, or
        # digits are lost.
        status = "indefinite" if status == "singular" and point.form.may_be_indefinite else "precision"
    return _Solution(scales * coef, status, [residual], [_value(point.form, right, coef, rest)], smallest)


def _solve_by_steps(
    point: Point,
    data: _Data,
    means: dict[int, NDArray[np.float64]],
    variances: dict[int, NDArray[np.float64]],
    basis: Basis,
) -> _Solution:
    """Solve by conjugate gradients on features of one scale, which need products of A with vectors only."""
    form = point.form
    scales = _scales(form.diagonal(means, variances), point.lam)
    right = form.right(means) * scales
    scale = _norm(right)
    coef: NDArray[np.float64] = np.zeros_like(right)
    if scale == 0:
        return _Solution(coef, "tol", [0.0], [form.constant])

    def apply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        image = data.apply(form, means, scales * vector) * scales
        return image + point.lam * scales * scales * vector

    rest = right.copy()
    direction = rest.copy()
    square = float(rest @ rest)
    residuals, objective, status = [1.0], [form.constant], "max_iter"
    for _ in range(basis.max_iter):
        image = apply(direction)
        curvature = float(direction @ image)
        if not np.isfinite(curvature):
            _check_finite(data.rows, [image])
        if not curvature > 0:
            status = "indefinite" if form.may_be_indefinite else "precision"
            if len(objective) == 1 and form.may_be_indefinite:  # take b itself: scores along b still rank the rows
                coef, rest = right, right - image
                residuals, objective = [_norm(rest) / scale], [_value(form, right, coef, rest)]
            break
        step = square / curvature
        coef = coef + step * direction
        rest = rest - step * image
        last, square = square, float(rest @ rest)
        residuals.append(float(np.sqrt(square)) / scale)
        objective.append(_value(form, right, coef, rest))
        if residuals[-1] <= basis.tol:
            status = "tol"
            break
        direction = rest + (square / last) * direction
    if status == "tol":  # rounding errors add up over the steps: compute the residual anew from the rows
        residuals[-1] = _norm(right - apply(coef)) / scale
        if residuals[-1] > max(basis.tol, _RESIDUAL):
            status = "precision"
    return _Solution(scales * coef, status, residuals, objective)


def _make_model(data: _Data, basis: Basis, point: Point, solution: _Solution) -> tuple[RankMachine, int]:
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


def _warn(rows: Rows, basis: Basis, point: Point, solution: _Solution, n_positive: int) -> None:
    trouble = _trouble(rows, basis, point, solution)
    if trouble:
        warn(f"{rows.function}: {trouble}", ConvergenceWarning)
    if not solution.coef.any() and not trouble:
        warn(
            f"{rows.function}: the model scores every row 0, as the groups that it compares have the same mean "
            f"features; more rows, or basis='gauss', may tell them apart",
            DegenerateModelWarning,
        )
    elif solution.coef.any() and n_positive in (0, rows.labels.size):
        warn(
            f"{rows.function}: the model calls {n_positive} of {rows.labels.size} training rows positive, as its "
            f"scores order {_GROUP_NAMES[point.sides[0]]} and {_GROUP_NAMES[point.sides[1]]} rows no better than "
            f"chance does",
            DegenerateModelWarning,
        )


def _trouble(rows: Rows, basis: Basis, point: Point, solution: _Solution) -> str:
    residual, steps = solution.residuals[-1], len(solution.residuals) > 1
    if solution.status == "indefinite":
        reason = "its matrix A + lam has no minimum along some direction"
        if solution.smallest is not None:
            reason = (
                f"the smallest eigenvalue of its matrix A + lam is {solution.smallest:.3g}, and lam > "
                f"{point.lam - solution.smallest:.3g} would make it positive"
            )
        ending = (
            "coef is where its gradient is 0, a saddle point"
            if rows.matrix.n_features <= _MOST_DIRECT or basis.kind == "gauss"
            else f"coef is where {len(solution.residuals) - 1} steps of the conjugate gradients met it"
        )
        return f"the objective has no minimum: {reason}. {point.advice}; {ending}"
    if solution.status in ("max_iter", "precision"):
        reason = "rounding ended it"
        if solution.status == "max_iter":
            reason = f"all max_iter = {basis.max_iter} steps were taken"
        wanted = f", which tol = {basis.tol:g} wants smaller; raise max_iter or lam" if steps else "; raise lam"
        return f"{reason} at the relative residual {residual:.3g}{wanted}, or scale the features of X"
    return ""
