"""One problem's quadratic: its matrix factored, its minimum corrected on the rows, and what the minimum lacks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fastpu import _core
from fastpu.graph._rows import empty, in_fours, row_strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastpu.graph._arguments import Point
    from fastpu.graph._features import Features

__all__ = ["Local", "Quadratic", "Smooth", "is_right"]

_BLOCK = 256  # rows that are copied at a time
_LEAST_PIVOT = 1e-14  # a pivot below this share of its diagonal entry is rounding
_ROUNDING = 1e-6  # times _MISFIT and the weights: what rounding leaves of the pull of scores around 1
_LEAST_ROOT = 1e-15  # a root of the ridge below this share of a column's length is rounding
_SWEEPS, _STEPS = 4, 20  # most fresh residuals, and most steps of conjugate gradients after each of them
_EXCESS = 1e-25  # excess, relative to targets'f, that ends the steps: scores then have relative errors of some 1e-12
_MISFIT = 1e-8  # largest cosine between a column and the residual of the rows: far above rounding
_LOST = 1e-9  # excess over the minimum, relative to the objective, that is tolerated whatever tol is
_NOISE = 1e-13  # relative rounding of the terms of a sum that may cancel


class Local:
    """The neighbours' term for one sigma: R, and Z'RZ; both None where there is none."""

    def __init__(self, R: Any, gram: NDArray[np.float64] | None) -> None:
        self.R, self.gram = R, gram
        self._last: tuple[float, NDArray[np.float64]] | None = None

    def with_unlabeled(self, features: Features, C_unl: float) -> NDArray[np.float64]:
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

    def solve(self, smooth: Smooth, beta: NDArray[np.float64], enough: float = 0.0) -> Minimum:
        """Return the minimum from a first guess, by conjugate gradients preconditioned by `smooth`, and what it lacks.

        The guess is right but for the rounding in the matrix that `smooth` factors, which has the square of the
        condition number of X. The residual here is computed from the training rows. An excess of at most `enough` ends
        the steps.
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
                parts = (self.targets, pull, _ROUNDING * self.weights)
                size = sum(float(np.linalg.norm(part)) for part in parts) / math.sqrt(weight)
                misfit = features.misfit(on_rows, beta, self.lam, weight) / size
                best = Minimum(beta, f, excess, misfit)
            if not excess > max(_EXCESS * abs(float(self.targets @ f)), enough):
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


class Smooth:
    """lam + 2 C_unl Z_u'Z_u + 2 Z'RZ + more, factored; the next one of the same features takes its place.

    Where the digits of float64 do not tell the matrix from one that is not positive definite, a share of each diagonal
    entry is added, which is the same share at every scale of a column; `Quadratic.solve` makes up for it.
    """

    def __init__(self, features: Features, local: Local, point: Point, more: NDArray[np.float64] | None = None) -> None:
        self.features = features
        matrix = local.with_unlabeled(features, point.C_unl)
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
        for ridge in _ridges(diagonal):
            for first in range(0, len(matrix), _BLOCK):  # the lower triangle, at which a factorisation looks
                end = first + _BLOCK
                self.factor[first:end, :end] = matrix[first:end, :end]
            if more is not None:
                corner = self.factor[-n_last:, -n_last:]
                for first in range(0, n_last, _BLOCK):
                    end = first + _BLOCK
                    corner[first:end, :end] += more[first:end, :end]
            whole = diagonal + np.maximum(point.lam, ridge)
            np.fill_diagonal(self.factor, whole)
            if _core.tiled_cholesky(self.factor, n_threads=features.rows.n_threads) == 0:
                pivots = np.diagonal(self.factor) ** 2 / whole
                if ridge.any() or float(pivots.min()) > _LEAST_PIVOT:
                    return
        raise ValueError(
            f"X must have columns of one size with C_unl = {point.C_unl:g} and lam = {point.lam:g}, got columns so "
            f"small that rounding hides their squares beside those of others; scale the features of X"
        )

    def sharpen(self, local: Local, lam: float, weights: NDArray[np.float64]) -> None:
        """Factor the same matrix without making it, by orthogonal transformations of its roots.

        Its roots are the rows times the roots of their `weights`, the edges of the graph, and the root of lam: squares
        lose the digits of a ridge that is 1e16 times smaller than they are, and the roots those of one 1e32 times
        smaller. It takes some ten times as long. `weights` are 0 for the positives, whose mean is not at 0.
        """
        rank = self.features.rank
        # A ridge so small that it is lost in rounding here too is raised, or the factor would be all rounding.
        diagonal = np.diagonal(local.with_unlabeled(self.features, float(weights.max()) / 2))
        upper = np.diag(np.sqrt(np.maximum(lam, _LEAST_ROOT**2 * diagonal)))
        used = np.flatnonzero(weights)
        for first in range(0, used.size, rank):
            rows = used[first : first + rank]
            upper = _with_rows(upper, self.features.block(rows) * np.sqrt(weights[rows])[:, None])
        if local.R is not None:
            edges = sp.triu(local.R, k=1).tocoo()
            roots = np.sqrt(np.maximum(-2 * edges.data, 0))
            for first in range(0, roots.size, rank):
                few = slice(first, first + rank)
                apart = self.features.block(edges.row[few]) - self.features.block(edges.col[few])
                upper = _with_rows(upper, apart * roots[few, None])
        self.factor[...] = upper.T

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


def _ridges(diagonal: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield what to add to a diagonal: nothing, then shares of each entry, and of the largest one at last.

    The last ones are for neighbours' terms that are all rounding, and are worth what the certificate says.
    """
    yield np.zeros(diagonal.size)
    for base in (diagonal, np.full(diagonal.size, float(diagonal.max()))):
        yield from (base * 10.0**exponent for exponent in range(-14, 2))


def _with_rows(upper: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the U with U'U = upper'upper + rows'rows."""
    found: NDArray[np.float64] = np.asarray(np.linalg.qr(np.vstack([upper, rows]), mode="r"))
    return found


def is_right(gap: float, objective: float, size: float, misfit: float, tol: float) -> bool:
    """Tell whether a gap and a gradient are what `tol` and rounding leave, in sums whose terms add up to `size`."""
    return gap <= max(tol, _LOST) * objective + _NOISE * size and misfit <= _MISFIT
