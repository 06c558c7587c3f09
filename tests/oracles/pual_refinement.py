"""The refinement of a minimum of the PUAL family on its rows: dense matrices, one step after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

_SWEEPS, _STEPS = 4, 20
_EXCESS = 1e-25


@dataclass(frozen=True)
class Minimum:
    """Values z'beta of the rows, what their objective exceeds the least one by (twice), and that of the start."""

    f: np.ndarray
    beta: np.ndarray
    excess: float
    first_excess: float


@dataclass(frozen=True)
class Quadratic:
    """``1/2 sum_i weights_i (f_i - mean)^2 + f'Rf + lam/2 |beta|^2 - targets'f``, f = Z beta, with the mean of f."""

    Z: np.ndarray
    R: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    lam: float

    def mean(self, f: np.ndarray) -> float:
        return float(self.weights @ f / self.weights.sum())

    def pull(self, f: np.ndarray) -> np.ndarray:
        return self.weights * (f - self.mean(f)) + 2 * self.R @ f

    def rest(self, beta: np.ndarray) -> np.ndarray:
        """The negative gradient, computed from the rows."""
        return self.Z.T @ (self.targets - self.pull(self.Z @ beta)) - self.lam * beta

    def factor(self) -> tuple[np.ndarray, bool]:
        centred = self.Z - (self.weights @ self.Z) / self.weights.sum()
        A = (centred.T * self.weights) @ centred + 2 * self.Z.T @ self.R @ self.Z
        return scipy.linalg.cho_factor(A + self.lam * np.eye(len(A)), lower=True)

    def minimum(self, enough: float = 0.0) -> Minimum:
        """Conjugate gradients, preconditioned by the factor of the matrix, from what the factor alone gives."""
        factor = self.factor()
        beta, minima = scipy.linalg.cho_solve(factor, self.Z.T @ self.targets), []
        for _ in range(_SWEEPS):
            f, rest = self.Z @ beta, self.rest(beta)
            ahead = scipy.linalg.cho_solve(factor, rest)
            excess = float(rest @ ahead)
            minima.append((excess, f, beta))
            if not excess > max(_EXCESS * abs(float(self.targets @ f)), enough):
                break
            step, first = ahead, excess
            for _ in range(_STEPS):
                image = self.Z.T @ self.pull(self.Z @ step) + self.lam * step
                curvature = float(step @ image)
                if not curvature > 0:
                    break
                beta = beta + excess / curvature * step
                rest = rest - excess / curvature * image
                ahead = scipy.linalg.cho_solve(factor, rest)
                last, excess = excess, float(rest @ ahead)
                if not _EXCESS * first < excess < np.inf:
                    break
                step = ahead + excess / last * step
        excess, f, beta = min(minima, key=lambda minimum: minimum[0])
        return Minimum(f, beta, excess, minima[0][0])


@dataclass(frozen=True)
class Refined:
    """A model on its training rows: scores, objective, duality gap, and how far from the minimum it began."""

    scores: np.ndarray
    objective: float
    gap: float
    first_excess: float


def pual(
    Z: np.ndarray, R: np.ndarray, is_pos: np.ndarray, alpha: np.ndarray, *, C_pos: float, C_unl: float, lam: float,
    enough: float = 0.0,
) -> Refined:  # fmt: skip
    """PUAL for dual variables `alpha`; the unlabelled rows of `Z` have the mean 0."""
    n_unl, total = int((~is_pos).sum()), float(alpha.sum())
    targets = np.where(is_pos, 0.0, -total / n_unl)
    targets[is_pos] = alpha
    quadratic = Quadratic(Z, R, np.where(is_pos, 0.0, 2 * C_unl), targets, lam)
    best = quadratic.minimum(enough)
    scores = best.f + total / (2 * C_unl * n_unl) - 1 - quadratic.mean(best.f)
    lacks = 1 - scores[is_pos]
    hinge = C_pos * np.maximum(lacks, 0)
    objective = lam / 2 * best.beta @ best.beta + hinge.sum() + C_unl * ((1 + scores[~is_pos]) ** 2).sum()
    gap = max(float((hinge - alpha * lacks).sum()), 0.0) + best.excess / 2
    return Refined(scores, float(objective + best.f @ R @ best.f), gap, best.first_excess)


def least_squares(
    Z: np.ndarray, R: np.ndarray, is_pos: np.ndarray, weights: np.ndarray, *, C_pos: float, C_unl: float, lam: float
) -> Refined:
    """GLLC, and the biased LS-SVM where R is 0; `weights` are those of the rows."""
    costs = 2 * np.where(is_pos, C_pos, C_unl) * weights
    of_pos, of_unl = costs[is_pos].sum(), costs[~is_pos].sum()
    k = of_pos * of_unl / (of_pos + of_unl)
    targets = 2 * k * np.where(is_pos, costs / of_pos, -costs / of_unl)
    quadratic = Quadratic(Z, R, costs, targets, lam)
    best = quadratic.minimum()
    scores = best.f + (of_pos - of_unl) / (of_pos + of_unl) - quadratic.mean(best.f)
    lacks = np.where(is_pos, 1.0, -1.0) - scores
    objective = 0.5 * (lam * best.beta @ best.beta + costs @ (lacks * lacks)) + best.f @ R @ best.f
    return Refined(scores, float(objective), best.excess / 2, best.first_excess)
