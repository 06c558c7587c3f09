"""The minimum of a quadratic of w, by a factor of its matrix or by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.linalg

from fastpu.auc._moments import form_matrix
from fastpu.common._eigen import symmetric_eigen

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu.auc._moments import Form, Moments

    #: Returns A times a vector, computed from the rows.
    Product: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]


_CORRECTIONS = 2  # refinements of a direct solution; the second is for matrices that have lost half of their digits
_EXACT = 1e-15  # a solution with a smaller relative residual is not refined
_RESIDUAL = 1e-6  # largest relative residual of a direct solution that counts as solved


@dataclass(frozen=True)
class Solution:
    """The minimum, or the best that could be had, with relative residuals and objectives: of each step, or its own.

    `smallest` is the smallest eigenvalue of A + lam, where that was found to be negative.
    """

    coef: NDArray[np.float64]
    status: str
    residuals: list[float]
    objective: list[float]
    smallest: float | None = None


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


def solve_directly(form: Form, lam: float, moments: Moments, product: Product | None) -> Solution:
    """Solve by a factor of A + lam on scaled features, and refine by residuals.

    Residuals are computed by `product`, or from the matrix if that is None, which then has all digits of the features.
    """
    right = form.right(moments.means)
    matrix = form_matrix(form, moments, lam)
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"X and lam must be such that the sums of squares of X, and lam beside them, do not overflow, "
            f"got lam={lam:g}; scale the features, or lower lam"
        )
    variances = {g: np.diagonal(spread) for g, spread in moments.spreads.items()}
    scales = _scales(form.diagonal(moments.means, variances), lam)
    matrix *= scales
    matrix *= scales[:, None]
    right = right * scales

    def image(coef: NDArray[np.float64]) -> NDArray[np.float64]:
        if product is None:
            scores: NDArray[np.float64] = matrix @ coef
            return scores
        return product(scales * coef) * scales + lam * scales * scales * coef

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
        kept = (np.abs(values) if form.may_be_indefinite else values) > limit
        coef = vectors[:, kept] @ ((right @ vectors[:, kept]) / values[kept])
        free = vectors[:, ~kept] * scales[:, None]
        coef = coef - vectors[:, ~kept] @ np.linalg.lstsq(free, scales * coef)[0]  # the shortest in the caller's units
        status = "indefinite" if form.may_be_indefinite and float(values[0]) < -limit else "singular"
        if status == "indefinite":
            smallest = float(symmetric_eigen(form_matrix(form, moments, lam))[0][0])
        rest = right - image(coef)
    scale = _norm(right)
    residual = _norm(rest) / scale if scale else 0.0
    if status != "indefinite" and residual > _RESIDUAL:
        # b is not in the range of A: either the objective decreases without end along a direction without curvature, or
        # digits are lost.
        status = "indefinite" if status == "singular" and form.may_be_indefinite else "precision"
    return Solution(scales * coef, status, [residual], [_value(form, right, coef, rest)], smallest)


def solve_by_steps(
    form: Form,
    lam: float,
    means: dict[int, NDArray[np.float64]],
    variances: dict[int, NDArray[np.float64]],
    product: Product,
    *,
    tol: float,
    max_iter: int,
) -> Solution:
    """Solve by conjugate gradients on features of one scale, which need products of A with vectors only."""
    scales = _scales(form.diagonal(means, variances), lam)
    right = form.right(means) * scales
    scale = _norm(right)
    coef: NDArray[np.float64] = np.zeros_like(right)
    if scale == 0:
        return Solution(coef, "tol", [0.0], [form.constant])

    def image_of(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return product(scales * vector) * scales + lam * scales * scales * vector

    rest = right.copy()
    direction = rest.copy()
    square = float(rest @ rest)
    residuals, objective, status = [1.0], [form.constant], "max_iter"
    for _ in range(max_iter):
        image = image_of(direction)
        curvature = float(direction @ image)
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
        if residuals[-1] <= tol:
            status = "tol"
            break
        direction = rest + (square / last) * direction
    if status == "tol":  # rounding errors add up over the steps: compute the residual anew from the rows
        residuals[-1] = _norm(right - image_of(coef)) / scale
        if residuals[-1] > max(tol, _RESIDUAL):
            status = "precision"
    return Solution(scales * coef, status, residuals, objective)
