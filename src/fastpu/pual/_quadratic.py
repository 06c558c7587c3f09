"""The quadratic part of one problem: its factored matrix, its minimum refined on the rows, and the remaining error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from fastpu import _core
from fastpu.pual._arguments import Point
from fastpu.pual._features import Features

_ROWS = 256  # rows of a triangle that are copied at a time
_LEAST_PIVOT = 1e-14  # a pivot below this share of its diagonal entry is rounding
# Where scores are around 1, the gradient has rounding errors of about this times _MISFIT times the weights.
_ROUNDING = 1e-6
_SWEEPS, _STEPS = 4, 20  # most residuals computed anew, and most steps of conjugate gradients after each
# Steps end at this excess, relative to targets'f: scores then have relative errors of some 1e-12.
_EXCESS = 1e-25
_MISFIT = 1e-8  # largest cosine between a column and the residual of the rows: far above rounding
_LOST = 1e-9  # excess over the minimum, relative to the objective, that is accepted whatever tol is
_NOISE = 1e-13  # relative rounding error of the terms of a sum that may cancel


class NeighbourTerm:
    """The neighbours' term for one sigma and these features: R, and Z'RZ; both are None without neighbours."""

    def __init__(self, features: Features, R: Any) -> None:
        self.features, self.R = features, R
        self._gram = None if R is None or not R.nnz else features.quadratic_form(R)
        #: A matrix of the shape of Z'RZ to overwrite: allocating one takes as long as copying.
        self.scratch = np.empty(features.gram_unl.shape)
        self._last: tuple[float, NDArray[np.float64]] | None = None

    def with_unlabeled(self, C_unl: float) -> NDArray[np.float64]:
        """Return 2 C_unl Z_u'Z_u + 2 Z'RZ, which is kept for the next lam."""
        if self._last is None or self._last[0] != C_unl:
            self._last = None  # frees its memory before the new matrix is made
            matrix = 2 * C_unl * self.features.gram_unl
            if self._gram is not None:
                matrix += self._gram
                matrix += self._gram
            self._last = C_unl, matrix
        return self._last[1]

    def times(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | float:
        return 0.0 if self.R is None else np.asarray(self.R @ scores)

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return f'Rf."""
        return 0.0 if self.R is None else max(float(scores @ self.times(scores)), 0.0)


@dataclass(frozen=True)
class Quadratic:
    """The quadratic that remains if the intercept and any losses that are not squared are eliminated.

    ``1/2 sum_i weights_i (f_i - mean)^2 + f'Rf + lam/2 |w|^2 - targets'f``, where f = z'w and mean is that of f by
    the weights.
    """

    neighbour_term: NeighbourTerm
    lam: float
    weights: NDArray[np.float64]
    targets: NDArray[np.float64]  # their sum is 0

    def pull(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient by f of all terms but the ridge and the targets."""
        apart: NDArray[np.float64] = f - self.mean(f)
        apart *= self.weights
        apart += np.multiply(2, self.neighbour_term.times(f))
        return apart

    def mean(self, f: NDArray[np.float64]) -> float:
        return float(self.weights @ f) / float(self.weights.sum())

    def solve(self, system: SystemFactor, start: Residual, enough: float = 0.0) -> Minimum:
        """Return the minimum by conjugate gradients preconditioned by `system`: beta, f, excess and misfit.

        f are its values on the rows, and the excess is twice what its value exceeds the least one by. The misfit is the
        largest cosine between a column and the residual of the rows: at the exact minimum it is 0, apart from the
        ridge.

        The first guess is accurate except for rounding errors in the matrix that `system` factors, whose condition
        number is the square of that of X. Residuals are therefore computed from the training rows. The steps end at an
        excess of at most `enough`.
        """
        features, beta = self.neighbour_term.features, start[0]
        minima = []
        for sweep in range(_SWEEPS):
            _, f, pull, on_rows, rest = start if sweep == 0 else residuals([self], beta[None])[0]
            small = max(_EXCESS * abs(float(self.targets @ f)), enough)
            excess = float(rest @ rest) / self.lam  # a bound, as the matrix is at least lam
            if not excess <= small:
                excess = system.excess(rest)
            weight = float(self.weights.max())
            parts = (self.targets, pull, _ROUNDING * self.weights)
            size = sum(float(np.linalg.norm(part)) for part in parts) / math.sqrt(weight)
            minima.append(Minimum(beta, f, excess, features.misfit(on_rows, beta, self.lam, weight) / size))
            if not excess > small:
                break
            step, first = system.solve(rest), excess
            for _ in range(_STEPS):
                pulled = self.pull(features.scores(step[None])[0])
                image = -features.slopes(-pulled[None], step[None], self.lam)[0]
                curvature = float(step @ image)
                if not curvature > 0:
                    break
                beta = beta + excess / curvature * step
                rest = rest - excess / curvature * image
                ahead = system.solve(rest)
                last, excess = excess, float(rest @ ahead)
                if not _EXCESS * first < excess < np.inf:
                    break
                step = ahead + excess / last * step
        return min(minima, key=lambda minimum: minimum.excess)


class Minimum(NamedTuple):
    """What `Quadratic.solve` returns."""

    beta: NDArray[np.float64]
    f: NDArray[np.float64]
    excess: float
    misfit: float


#: beta, the values f on the rows, `Quadratic.pull` of these, targets less pull, and the gradient by beta that is left.
Residual: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def residuals(quadratics: Sequence[Quadratic], betas: NDArray[np.float64]) -> list[Residual]:
    """Return the residual of each at its row of `betas`, for the same features and lam, which are read once for all."""
    features, lam = quadratics[0].neighbour_term.features, quadratics[0].lam
    f = features.scores(betas)
    pulls = [quadratic.pull(each) for quadratic, each in zip(quadratics, f, strict=True)]
    on_rows = np.array([quadratic.targets - pull for quadratic, pull in zip(quadratics, pulls, strict=True)])
    rests = features.slopes(on_rows, betas, lam)
    return list(zip(betas, f, pulls, on_rows, rests, strict=True))


class SystemFactor:
    """The factor of lam + 2 C_unl Z_u'Z_u + 2 Z'RZ + more; the next one of the same neighbours' term overwrites it.

    `more` is added to the last rows and columns. If float64 cannot tell the matrix from one that is not positive
    definite, a share of each diagonal entry is added, the same share whatever the scale of a column; `Quadratic.solve`
    corrects for it.
    """

    def __init__(self, neighbour_term: NeighbourTerm, point: Point, more: NDArray[np.float64] | None = None) -> None:
        self.features = neighbour_term.features
        matrix = neighbour_term.with_unlabeled(point.C_unl)
        n_last = 0 if more is None else len(more)
        diagonal = np.diagonal(matrix).copy()
        if more is not None:
            diagonal[-n_last:] += np.diagonal(more)
        if not np.isfinite(diagonal).all():
            raise ValueError(
                f"X must have entries so small that their squares do not overflow, with "
                f"C_unl = {point.C_unl:g} and lam = {point.lam:g}; scale X"
            )
        self.factor = neighbour_term.scratch
        for ridge in _ridges(diagonal):
            for first in range(0, len(matrix), _ROWS):  # the upper triangle is not read
                last = first + _ROWS
                self.factor[first:last, :last] = matrix[first:last, :last]
            if more is not None:
                self.factor[-n_last:, -n_last:] += more
            whole = diagonal + np.maximum(point.lam, ridge)
            np.fill_diagonal(self.factor, whole)
            if _core.tiled_cholesky(self.factor, n_threads=self.features.rows.n_threads) == 0:
                pivots = np.diagonal(self.factor) ** 2 / whole
                if ridge.any() or float(pivots.min()) > _LEAST_PIVOT:
                    return
        raise ValueError(
            f"X must have columns of one size with C_unl = {point.C_unl:g} and lam = {point.lam:g}, got columns so "
            f"small that rounding hides their squares beside those of others; scale the features of X"
        )

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        solution: NDArray[np.float64] = scipy.linalg.cho_solve((self.factor.T, False), right, check_finite=False)
        return solution

    def excess(self, rest: NDArray[np.float64]) -> float:
        """Return rest'(matrix)^-1 rest."""
        half = scipy.linalg.solve_triangular(self.factor, rest, lower=True, check_finite=False)
        return float(half @ half)

    def last(self) -> NDArray[np.float64]:
        """Return H with H H' = Z_p (matrix)^-1 Z_p'."""
        n_last = self.features.pos.shape[1]
        H: NDArray[np.float64] = self.features.pos.copy()
        corner = np.ascontiguousarray(self.factor[-n_last:, -n_last:])
        _core.tiled_solve(corner, H, n_threads=self.features.rows.n_threads)
        return H

    def betas(self, last: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the solutions of factor' beta = (0, last), one for each row."""
        right = np.zeros((len(last), len(self.factor)))
        right[:, -last.shape[1] :] = last
        betas: NDArray[np.float64] = scipy.linalg.solve_triangular(self.factor.T, right.T, check_finite=False).T
        return betas


def _ridges(diagonal: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield what to add to a diagonal: nothing, then shares of each entry, and finally shares of the largest entry.

    The last ones are for neighbours' terms that are only rounding errors; `is_right` tells whether the result is good.
    """
    yield np.zeros(diagonal.size)
    for base in (diagonal, np.full(diagonal.size, float(diagonal.max()))):
        yield from (base * 10.0**exponent for exponent in range(-14, 2))


def is_right(gap: float, objective: float, size: float, misfit: float, tol: float) -> bool:
    """Return whether gap and gradient are within `tol` or rounding, for sums whose terms add up to `size`."""
    return gap <= max(tol, _LOST) * objective + _NOISE * size and misfit <= _MISFIT
