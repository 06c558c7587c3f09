"""Sums of squared losses over pairs of rows as one quadratic of w, and its minimum.

No pair is formed: the mean of (1 - w'(x_g - x_h))^2 over the rows of two groups g, h is, with their covariances S and
the difference D of their means,

    1 - 2 D'w + w'(S_g + S_h + D D')w,    or 1 + 2 w'S_g w if g = h.

BLAS is called on blocks of a fixed size with one thread (the caller has to hold `one_blas_thread`), so that sums have
the same order on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._eigen import symmetric_eigen
from fastpu.common._params import check_random_state
from fastpu.common._text import where_column
from fastpu.common._threads import resolve_n_threads
from fastpu.data._matrix import CsrMatrix, Matrix
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.kernels._gauss_basis import gauss_features
from fastpu.kernels._kernels import shifted_csr
from fastpu.model._scored_rows import GROUP

#: The factor of a mean loss of pairs in the objective, and the two groups of rows.
Term: TypeAlias = tuple[float, int, int]

_FIRST = 256  # rows whose mean is the origin
_CORRECTIONS = 2  # refinements of a direct solution; the second is for matrices that have lost half of their digits
_EXACT = 1e-15  # a solution with a smaller relative residual is not refined
_RESIDUAL = 1e-6  # largest relative residual of a direct solution that counts as solved


@dataclass(frozen=True)
class GroupedRows(TrainingRows):
    """The rows of the groups that the method reads."""

    function: str
    generator: np.random.Generator
    n_threads: int

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each row in the weight of its group."""
        share: NDArray[np.float64] = np.ones(self.labels.size) if self.weights is None else self.weights.copy()
        for group in np.unique(self.labels):
            chosen = self.labels == group
            share[chosen] /= share[chosen].max()  # sums of the smallest weights would lose their digits
            share[chosen] /= share[chosen].sum()
        return share


def open_grouped_rows(function: str, groups: tuple[int, ...], given: Mapping[str, Any]) -> GroupedRows:
    """Check the rows of a function's arguments, and keep those of these groups."""
    threads, generator = resolve_n_threads(given["n_threads"]), check_random_state(given["random_state"])
    require_rows(given["X"], function)
    matrix = check_matrix(given["X"])
    rows = open_training_rows(matrix, given["y"], given["sample_weight"], function, groups=groups, is_relative=False)
    return GroupedRows(**vars(rows), function=function, generator=generator, n_threads=threads)


def require_groups(rows: GroupedRows, groups: tuple[int, ...], why: str = "") -> None:
    """Raise ValueError unless there are rows of these groups."""
    counts = dict(zip((1, 0, -1), label_counts(rows.labels), strict=True))
    if all(counts[g] for g in groups):
        return
    needed = " and ".join(f"{GROUP[g]} ({g:+d})" if g else "unlabelled (0)" for g in groups)
    listed = ", ".join(f"{counts[g]} {GROUP[g]}" for g in counts)
    hint = "" if counts[-1] or -1 not in groups else "; if 0 means negative, pass fastpu.as_labels(y, negative=0)"
    raise ValueError(f"y must hold {needed} rows for {rows.function}{why}, got {listed} rows of positive weight{hint}")


def check_finite(rows: GroupedRows, lam: float, arrays: list[NDArray[np.float64]]) -> None:
    if all(np.isfinite(array).all() for array in arrays):
        return
    values = rows.matrix.entries
    at = max(int(values.argmax()), int(values.argmin()), key=lambda k: abs(float(values[k])))
    column = int(rows.matrix.indices[at]) if rows.matrix.is_sparse else at % rows.matrix.n_features
    raise ValueError(
        f"X must hold numbers whose squares can be added up for {rows.function}, with lam = {lam:g} beside them, got "
        f"the largest {values[at]:g} in {where_column(column, rows.matrix.feature_names)}; scale the features, or "
        f"lower lam"
    )


def check_room(size: int) -> None:
    """Raise MemoryError if there is no memory for the matrices of so many centres."""
    try:
        np.empty(48 * size * size, dtype=np.uint8)  # fails before the work begins
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {48 * size * size} bytes, more than there are; use fewer centres"
        ) from None


class ShiftedRows:
    """Rows of X, or Gaussian basis functions of them, less an origin near their middle, in float64.

    Differences of rows do not change, and sums of squares lose no digits where X lies far from 0. Dense rows are
    shifted block by block; of CSR rows only the columns with many entries are (`shifted_csr`).
    """

    def __init__(self, matrix: Matrix, centers: Matrix | None, bandwidth: float | None, n_threads: int) -> None:
        self.matrix, self.centers, self.bandwidth, self._n_threads = matrix, centers, bandwidth, n_threads
        self.size = matrix.n_features if centers is None else centers.n_rows
        self._origin: NDArray[np.float64] | float = 0.0
        if matrix.is_sparse and centers is None:
            self.matrix = CsrMatrix.of(shifted_csr(matrix.table(), np.arange(matrix.n_rows))[0])
        else:
            first = self._of(slice(0, _FIRST))
            # A rounded mean may lie outside the range: a constant column has to become 0.
            self._origin = np.clip(first.mean(axis=0, dtype=np.float64), first.min(axis=0), first.max(axis=0))

    def _of(self, rows: slice) -> Any:
        part = self.matrix[rows]
        if self.centers is None or self.bandwidth is None:
            return part.table()
        return gauss_features(part, self.centers, self.bandwidth, self._n_threads)

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        # Small ones, that stay in the caches; sparse rows have few entries, however many columns there are.
        is_dense = self.centers is not None or not self.matrix.is_sparse
        for rows in self.matrix.blocks(4 * self.size if is_dense else 0):
            part = self._of(rows)
            if sp.issparse(part):
                yield rows, part.astype(np.float64, copy=False)
            else:
                yield rows, np.subtract(part, self._origin, dtype=np.float64)


class PairLoss:
    """The quadratic constant - 2 right'w + w'Aw of a sum of squared losses of pairs.

    `place` is the place of the group of each row, and `share` the row's share in the weight of its group.
    """

    def __init__(
        self, rows: ShiftedRows, labels: NDArray[np.int8], share: NDArray[np.float64], terms: Sequence[Term]
    ) -> None:
        self.rows, self._place = rows, 1 - labels.astype(np.intp)  # positive, unlabelled, negative rows
        self.constant = sum(factor for factor, _, _ in terms)
        self._spread = np.zeros(3)
        for factor, g, h in terms:
            self._spread[1 - g] += factor
            self._spread[1 - h] += factor
        self.may_be_indefinite = bool((self._spread < 0).any())
        self._factors = self._spread[self._place] * share
        by_group = np.zeros((labels.size, 3))
        by_group[np.arange(labels.size), self._place] = share
        self._means = np.zeros((3, rows.size))
        sizes = np.zeros(rows.size)
        for part, block in rows:
            self._means += (block.T @ by_group[part]).T
            squares = block.multiply(block) if sp.issparse(block) else block * block
            sizes += squares.T @ np.abs(self._factors[part])
        self._apart = [(factor, self._means[1 - g] - self._means[1 - h]) for factor, g, h in terms if factor and g != h]
        #: About the diagonal of A, with all its terms taken as positive.
        self.sizes = sizes + sum(abs(factor) * apart * apart for factor, apart in self._apart)
        self.right: NDArray[np.float64] = np.sum([factor * apart for factor, apart in self._apart], axis=0)

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A times a vector in a pass over the rows, without A."""
        centres, result = self._means @ vector, np.zeros_like(vector)
        for part, block in self.rows:
            result += block.T @ (self._factors[part] * (block @ vector - centres[self._place[part]]))
        for factor, apart in self._apart:
            result += (factor * float(apart @ vector)) * apart
        return result

    def matrix(self) -> NDArray[np.float64]:
        """Return A: O(sum of the squared numbers of entries of a row)."""
        parts: dict[float, Any] = {1.0: 0.0, -1.0: 0.0}  # by the sign of the rows' factors
        roots = {sign: np.sqrt(np.maximum(sign * self._factors, 0.0))[:, None] for sign in parts}
        used = [sign for sign in parts if roots[sign].any()]
        for part, block in self.rows:
            for sign in used:
                root = roots[sign][part]
                scaled = block.multiply(root) if sp.issparse(block) else block * root
                parts[sign] = parts[sign] + scaled.T @ scaled
        total = parts[1.0] - parts[-1.0]
        square: NDArray[np.float64] = total.toarray() if sp.issparse(total) else total
        square = square - (self._means.T * self._spread) @ self._means
        for factor, apart in self._apart:
            square += factor * np.multiply.outer(apart, apart)
        return square

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

    def image(coef: NDArray[np.float64]) -> NDArray[np.float64]:
        return loss.times(scales * coef) * scales + lam * scales * scales * coef if on_rows else matrix @ coef

    limit = right.size * np.finfo(float).eps
    factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    pivots = np.diagonal(factor)
    status, smallest = "closed_form", None
    if info == 0 and float(pivots.min()) ** 2 > limit * float(pivots.max()) ** 2:
        coef = scipy.linalg.cho_solve((factor, True), right, check_finite=False)
        rest = right - image(coef)
        for _ in range(_CORRECTIONS):
            if not _norm(rest) > _EXACT * _norm(right):
                break
            coef = coef + scipy.linalg.cho_solve((factor, True), rest, check_finite=False)
            rest = right - image(coef)
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
        rest = right - image(coef)
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

    def image_of(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return loss.times(scales * vector) * scales + lam * scales * scales * vector

    rest = right.copy()
    direction = rest.copy()
    square = float(rest @ rest)
    residuals, objective, status = [1.0], [loss.constant], "max_iter"
    for _ in range(max_iter):
        image = image_of(direction)
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
        residuals[-1] = _norm(right - image_of(coef)) / scale
        if residuals[-1] > max(tol, _RESIDUAL):
            status = "precision"
    return Solution(scales * coef, status, residuals, objective)
