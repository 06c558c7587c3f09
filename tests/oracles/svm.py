"""The SVMs slow and obvious: kernels by their formulas, best intercepts by sorting, gaps by definition.

All three are min 1/2 a'Qa + p'a over 0 <= a <= c and linear equations, Q_ij = y_i y_j K_ij:

    c_svm      p = -1    y'a = 0
    nu_svm     p =  0    y'a = 0,  1'a = s     s = nu sum(c)
    one_class  p =  0    1'a = s               y = 1

and their primals are, with g = K (y a) and (z)_+ = max(z, 0),

    c_svm      1/2 |w|^2 + sum c_i (1 - y_i (g_i + b))_+                  over w, b
    nu_svm     1/2 |w|^2 + sum c_i (rho - y_i (g_i + b))_+ - s rho        over w, b, rho
    one_class  1/2 |w|^2 + sum c_i (rho - g_i)_+ - s rho                  over w, rho

For the w of any feasible a, the best b and rho are found exactly by sorting, so that primal + dual >= 0 certifies a
whatever method found it. Fit for some hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Sums of costs that differ by no more than this share are equal: a cost such as 0.1 is not exact, nor is its sum.
EQUAL_SUMS = 1e-12


# -- kernels -----------------------------------------------------------------------------------------------------------


def kernel_matrix(X, Z=None, *, kernel="rbf", gamma=1.0, degree=3, coef0=0.0) -> np.ndarray:
    """K(x_i, z_j) in float64, one formula a kernel; Z is X by default."""
    X = np.asarray(X, dtype=np.float64)
    Z = X if Z is None else np.asarray(Z, dtype=np.float64)
    if kernel == "rbf":
        return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))
    products = (X[:, None, :] * Z[None, :, :]).sum(axis=2)
    if kernel == "linear":
        return products
    if kernel == "poly":
        return (gamma * products + coef0) ** degree
    if kernel == "sigmoid":
        return np.tanh(gamma * products + coef0)
    raise ValueError(kernel)


# -- the problem and its certificate -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """One of the three SVMs on a given kernel matrix; y is 1 everywhere for one_class."""

    kind: str
    K: np.ndarray
    y: np.ndarray
    c: np.ndarray
    nu: float = 0.5

    @property
    def mass(self) -> float:
        """What sum(a) must be, but for c_svm."""
        return self.nu * float(self.c.sum())

    def scores(self, alpha: np.ndarray) -> np.ndarray:
        """g = K (y a): decision values before the intercept."""
        return self.K @ (self.y * alpha)

    def dual(self, alpha: np.ndarray) -> float:
        """What is minimised: 1/2 a'Qa - sum(a), or 1/2 a'Qa."""
        half = 0.5 * float((self.y * alpha) @ self.scores(alpha))
        return half - float(alpha.sum()) if self.kind == "c_svm" else half

    def equations(self) -> tuple[np.ndarray, np.ndarray]:
        """A and b of A a = b."""
        balance, ones = np.asarray(self.y, dtype=np.float64), np.ones(len(self.y))
        if self.kind == "c_svm":
            return balance[None], np.zeros(1)
        if self.kind == "one_class":
            return ones[None], np.array([self.mass])
        return np.stack([balance, ones]), np.array([0.0, self.mass])

    def primal(self, alpha: np.ndarray, b: float, rho: float = 1.0) -> float:
        """The primal at w = sum y_i a_i phi(x_i), b and rho; b is 0 for one_class, and rho 1 for c_svm."""
        g = self.scores(alpha)
        half = 0.5 * float((self.y * alpha) @ g)
        loss = float(self.c @ np.maximum(rho - self.y * (g + b), 0))
        return half + loss if self.kind == "c_svm" else half + loss - self.mass * rho

    def gap(self, alpha: np.ndarray, b: float, rho: float = 1.0) -> float:
        """Primal minus the dual to be maximised: at least 0 for every feasible alpha, b and rho."""
        return self.primal(alpha, b, rho) + self.dual(alpha)

    def violation(self, alpha: np.ndarray) -> float:
        """The largest difference of two slopes along which a feasible step goes downhill; 0 at a solution."""
        slopes = -self.y * (self.y * self.scores(alpha) - (self.kind == "c_svm"))
        groups = [self.y > 0, self.y < 0] if self.kind == "nu_svm" else [np.ones(len(self.y), dtype=bool)]
        worst = 0.0
        for group in groups:
            up = group & np.where(self.y > 0, alpha < self.c, alpha > 0)
            low = group & np.where(self.y > 0, alpha > 0, alpha < self.c)
            if up.any() and low.any():
                worst = max(worst, float(slopes[up].max() - slopes[low].min()))
        return worst


# -- the best intercept ------------------------------------------------------------------------------------------------


def quantile_interval(values: np.ndarray, weights: np.ndarray, mass: float) -> tuple[float, float]:
    """Every t that minimises sum weights_i (t - values_i)_+ - mass t, from least to greatest."""
    order = np.argsort(values, kind="stable")
    values, slopes = values[order], np.cumsum(weights[order]) - mass
    slack = EQUAL_SUMS * float(weights.sum())
    first = int(np.argmax(slopes >= -slack))  # the slope to the right of values[first] is no longer negative,
    last = int(np.argmax(slopes > slack)) if slopes[-1] > slack else len(values)  # and here it is positive
    low = values[first] if slopes[0] - weights[order][0] < -slack else -np.inf
    high = values[last] if last < len(values) else np.inf
    return float(low), float(high)


def intercept_interval(g: np.ndarray, y: np.ndarray, c: np.ndarray) -> tuple[float, float]:
    """Every b that minimises sum c_i (1 - y_i (g_i + b))_+: section 2 of the specification of the iteration.

    c (1 + b + g)_+ of a negative row and c (1 - b - g)_+ = c (b + g - 1)_+ - c (b + g - 1) of a positive one.
    """
    return quantile_interval(y - g, c, float(c[y > 0].sum()))


def midpoint(interval: tuple[float, float]) -> float:
    """The middle of the interval; its finite end where the other is infinite."""
    low, high = interval
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) else low
    return 0.5 * low + 0.5 * high


def best_intervals(problem: Problem, g: np.ndarray) -> list[tuple[float, float]]:
    """All that the intercept may be: of b, of rho, or (nu_svm) of rho - b and of rho + b."""
    y, c = problem.y, problem.c
    if problem.kind == "c_svm":
        return [intercept_interval(g, y, c)]
    if problem.kind == "one_class":
        return [quantile_interval(g, c, problem.mass)]
    # rho - y (g + b) is (rho - b) - g for a positive row and (rho + b) + g for a negative one: two problems.
    return [quantile_interval(s * g[y == s], c[y == s], problem.mass / 2) for s in (1, -1)]


def best_intercept(problem: Problem, g: np.ndarray) -> tuple[float, float]:
    """(b, rho) of least primal for these scores; the middle where there is a choice."""
    middles = [midpoint(interval) for interval in best_intervals(problem, g)]
    if problem.kind == "c_svm":
        return middles[0], 1.0
    if problem.kind == "one_class":
        return 0.0, middles[0]
    return 0.5 * (middles[1] - middles[0]), 0.5 * (middles[0] + middles[1])


# -- a solution --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """alpha, b and rho, not divided by rho; decision = g + b, or g - rho for one_class."""

    alpha: np.ndarray
    intercept: float
    margin: float
    objective: float
    gap: float
    decision: np.ndarray
