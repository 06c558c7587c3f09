"""The quadratic part of one problem: its minimum refined on the rows, and the error that remains.

The core solves with a matrix whose condition number is the square of that of X, so that its solution is accurate except
for rounding errors in that matrix. Residuals are therefore computed from the training rows, and conjugate gradients
preconditioned by the factor of the matrix remove them.

This is Python and not C++, as each of its steps is two products with the rows and one with R, in whatever form these
are (dense, CSR, a factor of the kernel matrix, landmarks), which NumPy and SciPy have. It takes 1 to 10 % of a fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from fastpu.pual._systems import NeighbourTerm

# Where scores are around 1, the gradient has rounding errors of about this times _MISFIT times the weights.
_ROUNDING = 1e-6
_SWEEPS, _STEPS = 4, 20  # most residuals computed anew, and most steps of conjugate gradients after each
# Steps end at this excess, relative to targets'f: scores then have relative errors of some 1e-12.
_EXCESS = 1e-25
_MISFIT = 1e-8  # largest cosine between a column and the residual of the rows: far above rounding
_LOST = 1e-9  # excess over the minimum, relative to the objective, that is accepted whatever tol is
_NOISE = 1e-13  # relative rounding error of the terms of a sum that may cancel


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

    def minimum(self, start: Residual, enough: float = 0.0) -> Minimum:
        """Return the minimum by conjugate gradients, whose steps end at an excess of at most `enough`."""
        features, factor = self.neighbour_term.features, self.neighbour_term.factor
        beta, minima = start.beta, []
        for sweep in range(_SWEEPS):
            now = start if sweep == 0 else residuals([self], beta[None])[0]
            rest, small = now.rest, max(_EXCESS * abs(float(self.targets @ now.f)), enough)
            excess = float(rest @ rest) / self.lam  # a bound, as the matrix is at least lam
            if not excess <= small:
                excess = _excess(factor, rest)
            weight = float(self.weights.max())
            parts = (self.targets, now.pull, _ROUNDING * self.weights)
            size = sum(float(np.linalg.norm(part)) for part in parts) / math.sqrt(weight)
            misfit = features.misfit(now.on_rows, beta, self.lam, weight) / size
            minima.append(Minimum(beta, now.f, excess, misfit))
            if not excess > small:
                break
            step, first = _solve(factor, rest), excess
            for _ in range(_STEPS):
                pulled = self.pull(features.scores(step[None])[0])
                image = -features.slopes(-pulled[None], step[None], self.lam)[0]
                curvature = float(step @ image)
                if not curvature > 0:
                    break
                beta = beta + excess / curvature * step
                rest = rest - excess / curvature * image
                ahead = _solve(factor, rest)
                last, excess = excess, float(rest @ ahead)
                if not _EXCESS * first < excess < np.inf:
                    break
                step = ahead + excess / last * step
        return min(minima, key=lambda minimum: minimum.excess)


class Minimum(NamedTuple):
    """The minimum of a `Quadratic`, and its error.

    `f` are its values on the rows, and the `excess` is twice what its value exceeds the least one by. The `misfit` is
    the largest cosine between a column and the residual of the rows: at the exact minimum it is 0, apart from the
    ridge.
    """

    beta: NDArray[np.float64]
    f: NDArray[np.float64]
    excess: float
    misfit: float


class Residual(NamedTuple):
    """What is left of the gradient at `beta`: `f` on the rows, its pull, targets less pull, and the rest by beta."""

    beta: NDArray[np.float64]
    f: NDArray[np.float64]
    pull: NDArray[np.float64]
    on_rows: NDArray[np.float64]
    rest: NDArray[np.float64]


def residuals(quadratics: Sequence[Quadratic], betas: NDArray[np.float64]) -> list[Residual]:
    """Return the residual of each at its row of `betas`, for the same features and lam, which are read once for all."""
    features, lam = quadratics[0].neighbour_term.features, quadratics[0].lam
    f = features.scores(betas)
    pulls = [quadratic.pull(each) for quadratic, each in zip(quadratics, f, strict=True)]
    on_rows = np.array([quadratic.targets - pull for quadratic, pull in zip(quadratics, pulls, strict=True)])
    rests = features.slopes(on_rows, betas, lam)
    return [Residual(*parts) for parts in zip(betas, f, pulls, on_rows, rests, strict=True)]


def betas_of(factor: NDArray[np.float64], halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return beta with L'beta = (0, half) for the factor L and each row `half`."""
    right = np.zeros((len(halves), len(factor)))
    right[:, -halves.shape[1] :] = halves
    betas: NDArray[np.float64] = scipy.linalg.solve_triangular(factor.T, right.T, check_finite=False).T
    return betas


def _solve(factor: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return A^-1 right, for the factor of A that the core has written."""
    solution: NDArray[np.float64] = scipy.linalg.cho_solve((factor.T, False), right, check_finite=False)
    return solution


def _excess(factor: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    """Return rest'A^-1 rest."""
    half = scipy.linalg.solve_triangular(factor, rest, lower=True, check_finite=False)
    return float(half @ half)


def is_right(gap: float, objective: float, size: float, misfit: float, tol: float) -> bool:
    """Return whether gap and gradient are within `tol` or rounding, for sums whose terms add up to `size`."""
    return gap <= max(tol, _LOST) * objective + _NOISE * size and misfit <= _MISFIT
