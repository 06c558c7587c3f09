"""The SVMs slow and obvious: kernels by their formulas, dense duals by an interior-point method, gaps by definition.

All three are min 1/2 a'Qa + p'a over 0 <= a <= c and linear equations, Q_ij = y_i y_j K_ij:

    c_svm      p = -1    y'a = 0
    nu_svm     p =  0    y'a = 0,  1'a = s     s = nu sum(c)
    one_class  p =  0    1'a = s               y = 1

and their primals are, with g = K (y a) and (z)_+ = max(z, 0),

    c_svm      1/2 |w|^2 + sum c_i (1 - y_i (g_i + b))_+                  over w, b
    nu_svm     1/2 |w|^2 + sum c_i (rho - y_i (g_i + b))_+ - s rho        over w, b, rho
    one_class  1/2 |w|^2 + sum c_i (rho - g_i)_+ - s rho                  over w, rho

For the w of any feasible a, the best b and rho are found exactly by sorting, so that primal + dual >= 0 certifies a
whatever method found it: `solve` is right when its `gap` is 0 up to rounding. Fit for some hundred rows.
"""

from __future__ import annotations

import contextlib
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

    def centred_radius(self) -> float:
        """The largest distance of a row from the mean of all in feature space; from 0 for one_class."""
        K = self.K
        if self.kind != "one_class":
            K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        return float(np.sqrt(max(np.diag(K).max(), 0.0)))


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


# -- solvers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """alpha, b and rho of an optimum, not divided by rho; decision = g + b, or g - rho for one_class."""

    alpha: np.ndarray
    intercept: float
    margin: float
    objective: float
    gap: float
    decision: np.ndarray


def solve_qp(Q, p, A, b, c, *, n_iter: int = 100) -> np.ndarray:
    """min 1/2 x'Qx + p'x subject to A x = b and 0 <= x <= c, by an interior-point method (Mehrotra 1992).

    With multipliers f of A x = b, low >= 0 of x >= 0 and top >= 0 of x + r = c, r >= 0, each iteration takes a Newton
    step for Qx + p - A'f - low + top = 0, A x = b, x + r = c, x low = r top = mu, and mu goes to 0.
    """
    n, m = len(p), len(b)
    point = c / 2, c / 2, np.ones(n), np.ones(n), np.zeros(m)

    def newton(point, x_low, r_top):
        """The step that lowers the products x low and r top by these, but for terms of second order."""
        x, r, low, top, f = point
        M = np.block([[Q + np.diag(low / x + top / r), -A.T], [A, np.zeros((m, m))]])
        box = c - x - r
        slope = Q @ x + p - A.T @ f - low + top
        right = np.concatenate([(r_top + top * box) / r - x_low / x - slope, b - A @ x])
        step = np.linalg.solve(M, right)
        step += np.linalg.solve(M, right - M @ step)
        dx, dr = step[:n], box - step[:n]
        return dx, dr, -(x_low + low * dx) / x, -(r_top + top * dr) / r, step[n:]

    def moved(point, step, share):
        """The point after this share of the longest step, at most 1, that makes none of x, r, low and top negative."""
        now, change = (np.concatenate(parts[:4]) for parts in (point, step))
        t = share * float(np.min(now[change < 0] / -change[change < 0], initial=1.0))
        return tuple(old + t * new for old, new in zip(point, step, strict=True))

    def mean_product(point) -> float:
        x, r, low, top, _ = point
        return (x @ low + r @ top) / (2 * n)

    # Until the numbers hold no more, or all of them are solved exactly.
    stops = contextlib.suppress(np.linalg.LinAlgError, FloatingPointError)
    with stops, np.errstate(over="raise", divide="raise", invalid="raise"):
        for _ in range(n_iter):
            x, r, low, top, _ = point
            mu = mean_product(point)
            if mu < 1e-18:
                break
            step = newton(point, x * low, r * top)
            target = mu * (mean_product(moved(point, step, 1.0)) / mu) ** 3
            step = newton(point, x * low + step[0] * step[2] - target, r * top + step[1] * step[3] - target)
            point = moved(point, step, 0.99)
    x, r, low, top, _ = point
    return polished(Q, p, A, b, c, at_zero=x < low, at_top=r < top, x=np.clip(x, 0, c))


def polished(Q, p, A, b, c, *, at_zero, at_top, x) -> np.ndarray:
    """x with the rows that go to an end of their range put there, and the others such that their slopes vanish.

    x itself if that leaves the box: then some row was taken for one of the wrong kind.
    """
    free = ~at_zero & ~at_top
    fixed = np.where(at_top, c, 0.0)
    M = np.block([[Q[np.ix_(free, free)], -A[:, free].T], [A[:, free], np.zeros((len(b), len(b)))]])
    right = np.concatenate([-(p + Q @ fixed)[free], b - A @ fixed])
    exact = fixed.copy()
    # The step from x of least length, since equal rows leave a choice.
    start = np.concatenate([x[free], np.zeros(len(b))])
    exact[free] = (start + np.linalg.lstsq(M, right - M @ start, rcond=None)[0])[: int(free.sum())]
    inside = np.all((exact >= 0) & (exact <= c)) and np.allclose(A @ exact, b, rtol=0, atol=1e-13 * (c.sum() + 1))
    return exact if inside else x


def solve(problem: Problem) -> Solution:
    """The optimum, with its certificate. Solved in units in which K is at most 1 and alpha about 1."""
    Q = problem.K * np.outer(problem.y, problem.y)
    A, b = problem.equations()
    p = np.full(len(Q), -1.0 if problem.kind == "c_svm" else 0.0)
    size = float(np.diag(Q).max()) or 1.0
    unit = min(1 / size, float(problem.c.max())) if problem.kind == "c_svm" else float(problem.c.max())
    alpha = unit * solve_qp(Q * (unit if problem.kind == "c_svm" else 1 / size), p, A, b / unit, problem.c / unit)
    g = problem.scores(alpha)
    intercept, margin = best_intercept(problem, g)
    decision = g - margin if problem.kind == "one_class" else g + intercept
    return Solution(alpha, intercept, margin, problem.dual(alpha), problem.gap(alpha, intercept, margin), decision)
