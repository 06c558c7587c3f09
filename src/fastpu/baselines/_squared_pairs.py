"""Sums of squared losses over pairs of rows as one quadratic of w, and its minimum.

No pair is formed: the mean of (1 - w'(x_g - x_h))^2 over the rows of two groups g, h is, with their covariances S and
the difference D of their means,

    1 - 2 D'w + w'(S_g + S_h + D D')w,    or 1 + 2 w'S_g w if g = h.

BLAS is called on blocks of a fixed size with one thread (the caller has to hold `one_blas_thread`), so that sums have
the same order on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._eigen import symmetric_eigen
from fastpu.data._matrix import CsrMatrix, Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._shifted_rows import shifted_csr


class PairTerm(NamedTuple):
    """A mean loss of pairs in the objective: its factor, and the labels of the rows that should be above and below."""

    factor: float
    above: int
    below: int


_FIRST = 256  # rows whose mean is the origin
_CORRECTIONS = 2  # refinements of a direct solution; the second is for matrices that have lost half of their digits
_EXACT = 1e-15  # a solution with a smaller relative residual is not refined
_RESIDUAL = 1e-6  # largest relative residual of a direct solution that counts as solved
_TINY = float(np.finfo(float).tiny)


class PairLoss:
    """The quadratic constant - 2 right'w + w'Aw of a sum of squared losses of pairs, to which lam |w|^2 is added.

    It is computed from rows less an origin near their middle, in float64: differences of rows do not change, and sums
    of squares lose no digits where they lie far from 0. Dense rows are shifted block by block; of CSR rows only the
    columns with many entries are (`shifted_csr`).
    """

    def __init__(self, matrix: Matrix, rows: TrainingRows, terms: Sequence[PairTerm]) -> None:
        self._rows, self._origin = matrix, np.zeros(matrix.n_features)
        if matrix.is_sparse:
            self._rows = CsrMatrix.of(shifted_csr(matrix.table(), np.arange(matrix.n_rows))[0])
        else:
            first = matrix.values[:_FIRST]
            # A rounded mean may lie outside the range: a constant column has to become 0.
            self._origin = np.clip(first.mean(axis=0, dtype=np.float64), first.min(axis=0), first.max(axis=0))
        self._place = 1 - rows.labels.astype(np.intp)  # positive, unlabelled, negative rows
        self.constant = sum(factor for factor, _, _ in terms)
        self._spread = np.zeros(3)
        for factor, g, h in terms:
            self._spread[1 - g] += factor
            self._spread[1 - h] += factor
        self.may_be_indefinite = bool((self._spread < 0).any())
        shares = np.zeros((rows.labels.size, 3))  # of each row in the weight of its group
        shares[np.arange(rows.labels.size), self._place] = 1.0 if rows.weights is None else rows.weights
        for whole in (np.max, np.sum):  # sums of the smallest weights would lose their digits
            shares /= np.maximum(whole(shares, axis=0), _TINY)
        self._factors = shares @ self._spread
        self._means = np.zeros((3, matrix.n_features))
        sizes = np.zeros(matrix.n_features)
        for part, block in self.blocks():
            self._means += (block.T @ shares[part]).T
            sizes += (block * block).T @ np.abs(self._factors[part])
        self._apart = [(factor, self._means[1 - g] - self._means[1 - h]) for factor, g, h in terms if factor and g != h]
        #: About the diagonal of A, with all its terms taken as positive.
        self.sizes = sizes + sum(abs(factor) * apart * apart for factor, apart in self._apart)
        self.right: NDArray[np.float64] = np.sum([factor * apart for factor, apart in self._apart], axis=0)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield the shifted rows, ndarrays or CSR arrays, in blocks."""
        # Small ones, that stay in the caches; sparse rows have few entries, however many columns there are.
        for part in self._rows.blocks(0 if self._rows.is_sparse else 4 * self._rows.n_features):
            block = self._rows[part].table()
            if self._rows.is_sparse:
                yield part, block.astype(np.float64, copy=False)
            else:
                yield part, np.subtract(block, self._origin, dtype=np.float64)

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A times a vector in a pass over the rows, without A."""
        centres, result = self._means @ vector, np.zeros_like(vector)
        for part, block in self.blocks():
            result += block.T @ (self._factors[part] * (block @ vector - centres[self._place[part]]))
        for factor, apart in self._apart:
            result += (factor * float(apart @ vector)) * apart
        return result

    def matrix(self) -> NDArray[np.float64]:
        """Return A: O(sum of the squared numbers of entries of a row)."""
        total: Any = 0.0
        for sign in (1.0, -1.0):  # of the rows' factors
            roots = np.sqrt(np.maximum(sign * self._factors, 0.0))[:, None]
            for part, block in self.blocks() if roots.any() else ():
                scaled = block * roots[part]
                total = total + sign * (scaled.T @ scaled)
        square: NDArray[np.float64] = total.toarray() if sp.issparse(total) else total
        square = square - (self._means.T * self._spread) @ self._means
        for factor, apart in self._apart:
            square += factor * np.multiply.outer(apart, apart)
        return square

    def image(self, vector: NDArray[np.float64], scales: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        """Return A + lam times a vector, on features that are multiplied by `scales`."""
        return self.times(scales * vector) * scales + lam * scales * scales * vector

    def value(self, right: NDArray[np.float64], coef: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
        """Return the objective at `coef`, where `rest` is right - (A + lam) coef."""
        return self.constant - float(right @ coef) - float(rest @ coef)

    def scales(self, lam: float) -> NDArray[np.float64]:
        """Return powers of two that scale the diagonal of A + lam to about 1, without rounding errors."""
        units: NDArray[np.float64] = np.ldexp(1.0, -(np.frexp(self.sizes + lam)[1] // 2))
        return units


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


def solve_directly(loss: PairLoss, A: NDArray[np.float64], lam: float, *, on_rows: bool) -> Solution:
    """Solve by a factor of A + lam on scaled features, and refine by residuals, computed from the rows if `on_rows`."""
    scales = loss.scales(lam)
    matrix = (A + lam * np.eye(len(A))) * scales * scales[:, None]
    right = loss.right * scales

    def left(coef: NDArray[np.float64]) -> NDArray[np.float64]:
        return right - (loss.image(coef, scales, lam) if on_rows else matrix @ coef)

    limit = right.size * np.finfo(float).eps
    factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    pivots = np.diagonal(factor)
    status, smallest = "closed_form", None
    if info == 0 and float(pivots.min()) ** 2 > limit * float(pivots.max()) ** 2:
        coef = scipy.linalg.cho_solve((factor, True), right, check_finite=False)
        rest = left(coef)
        for _ in range(_CORRECTIONS):
            if not _norm(rest) > _EXACT * _norm(right):
                break
            coef = coef + scipy.linalg.cho_solve((factor, True), rest, check_finite=False)
            rest = left(coef)
    else:
        values, vectors = symmetric_eigen(matrix)
        limit *= float(np.abs(values).max())
        # If the matrix cannot be indefinite, its negative eigenvalues are rounding errors.
        kept = (np.abs(values) if loss.may_be_indefinite else values) > limit
        coef = vectors[:, kept] @ ((right @ vectors[:, kept]) / values[kept])
        free = vectors[:, ~kept] * scales[:, None]
        coef = coef - vectors[:, ~kept] @ np.linalg.lstsq(free, scales * coef)[0]  # the shortest in the caller's units
        status = "indefinite" if loss.may_be_indefinite and float(values[0]) < -limit else "singular"
        if status == "indefinite":
            smallest = float(symmetric_eigen(A + lam * np.eye(len(A)))[0][0])
        rest = left(coef)
    scale = _norm(right)
    residual = _norm(rest) / scale if scale else 0.0
    if status != "indefinite" and residual > _RESIDUAL:
        # The right side is not in the range of A: either the objective decreases without end along a direction without
        # curvature, or digits are lost.
        status = "indefinite" if status == "singular" and loss.may_be_indefinite else "precision"
    return Solution(scales * coef, status, [residual], [loss.value(right, coef, rest)], smallest)


def solve_by_steps(loss: PairLoss, lam: float, tol: float, max_iter: int) -> Solution:
    """Solve by conjugate gradients on features of one scale, which need products of A with vectors only."""
    scales = loss.scales(lam)
    right = loss.right * scales
    scale = _norm(right)
    coef: NDArray[np.float64] = np.zeros_like(right)
    if scale == 0:
        return Solution(coef, "tol", [0.0], [loss.constant])

    rest = direction = right
    square = float(rest @ rest)
    residuals, objective, status = [1.0], [loss.constant], "max_iter"
    for _ in range(max_iter):
        image = loss.image(direction, scales, lam)
        curvature = float(direction @ image)
        if not curvature > 0:
            status = "indefinite" if loss.may_be_indefinite else "precision"
            if len(objective) == 1 and loss.may_be_indefinite:  # scores along the right side still rank the rows
                coef, rest = right, right - image
                residuals, objective = [_norm(rest) / scale], [loss.value(right, coef, rest)]
            break
        step = square / curvature
        coef = coef + step * direction
        rest = rest - step * image
        last, square = square, float(rest @ rest)
        residuals.append(float(np.sqrt(square)) / scale)
        objective.append(loss.value(right, coef, rest))
        if residuals[-1] <= tol:
            status = "tol"
            break
        direction = rest + (square / last) * direction
    if status == "tol":  # rounding errors add up over the steps: compute the residual anew from the rows
        residuals[-1] = _norm(right - loss.image(coef, scales, lam)) / scale
        if residuals[-1] > max(tol, _RESIDUAL):
            status = "precision"
    return Solution(scales * coef, status, residuals, objective)
