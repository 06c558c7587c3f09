"""The weighted large-margin problem slow and obvious: section 2 of the specification of the iteration, in its notation.

    P(w, b0) = 1/2 |w|^2 + sum c_i [ (1 - m_i)_+ + s_i m_i ],      m_i = y_i (w'x_i + b0),  s_i in {0, 1}
    D(beta)  = sum beta_i + sum c_i s_i - 1/2 |sum beta_i y_i x_i|^2
               subject to  sum beta_i y_i = 0,  -c_i s_i <= beta_i <= c_i (1 - s_i)

`solve` finds beta by a dense interior-point method on the whole dual, and is right when its gap P - D is 0 up to
rounding; `iadmm` is section 4 line by line. Fit for some hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles import svm

# -- the problem and its certificate -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """X, labels +1 or -1, costs above 0, and s in {0, 1}."""

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    s: np.ndarray

    @property
    def low(self) -> np.ndarray:
        return -self.c * self.s

    @property
    def high(self) -> np.ndarray:
        return self.c * (1 - self.s)

    def margins(self, w: np.ndarray, b0: float) -> np.ndarray:
        return self.y * (self.X @ w + b0)

    def primal(self, w: np.ndarray, b0: float) -> float:
        m = self.margins(w, b0)
        return 0.5 * float(w @ w) + float(self.c @ (np.maximum(1 - m, 0) + self.s * m))

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """w = sum beta_i y_i x_i, with rows taken from their mean: the same, as sum beta_i y_i = 0, and exacter."""
        return (beta * self.y) @ (self.X - self.X.mean(axis=0))

    def dual(self, beta: np.ndarray) -> float:
        w = self.weights(beta)
        return float(beta.sum() + self.c @ self.s - 0.5 * (w @ w))

    def best_intercepts(self, w: np.ndarray) -> tuple[float, float]:
        """Every b0 that minimises P for this w, from least to greatest.

        P is convex and piecewise linear in b0, with corners at t_i = y_i - w'x_i: its slopes left and right of every
        corner are compared with 0.
        """
        t = self.y - self.X @ w
        corners = np.unique(t)
        slack = 1e-9 * float(self.c.min())

        def slope(b0: float) -> float:
            """Between two corners."""
            m = self.margins(w, b0)
            return float((self.c * self.y) @ (np.where(m < 1, -1.0, 0.0) + self.s))

        between = np.concatenate([[corners[0] - 1], (corners[1:] + corners[:-1]) / 2, [corners[-1] + 1]])
        slopes = np.array([slope(b0) for b0 in between])
        left, right = slopes[:-1], slopes[1:]
        is_best = (left <= slack) & (right >= -slack)
        low = -np.inf if abs(slopes[0]) <= slack else float(corners[is_best][0])
        high = np.inf if abs(slopes[-1]) <= slack else float(corners[is_best][-1])
        return low, high


# -- solvers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """beta, its w, the middle of the best intercepts, and the certificate."""

    beta: np.ndarray
    w: np.ndarray
    b0: float
    interval: tuple[float, float]
    objective: float
    gap: float


def with_certificate(problem: Problem, beta: np.ndarray) -> Solution:
    w = problem.weights(beta)
    interval = problem.best_intercepts(w)
    b0 = svm.midpoint(interval)
    objective = problem.primal(w, b0)
    return Solution(beta, w, b0, interval, objective, objective - problem.dual(beta))


def solve(problem: Problem) -> Solution:
    """The optimum. alpha = beta + c s is in [0, c], which is the form of `svm.solve_qp`."""
    y, c, s = problem.y, problem.c, problem.s
    X = problem.X - problem.X.mean(axis=0)
    Z = y[:, None] * X
    size = float((X**2).sum(axis=1).max()) or 1.0
    unit = min(1 / size, float(c.max()))  # in which alpha is about 1, or the box is
    Q = Z @ Z.T
    p = -1.0 - Q @ (c * s)
    balance = np.array([float(y @ (c * s))])
    alpha = unit * svm.solve_qp(Q * unit, p, np.asarray(y, dtype=float)[None], balance / unit, c / unit)
    return with_certificate(problem, alpha - c * s)


@dataclass(frozen=True)
class IadmmState:
    """b = (b0, w), xi, eta and the scaled multipliers u."""

    b: np.ndarray
    xi: np.ndarray
    eta: np.ndarray
    u: np.ndarray


def iadmm(problem: Problem, *, rho: float, max_iter: int) -> IadmmState:
    """Section 4 line by line, on X as it is, with the exact step."""
    y, c, s = problem.y, problem.c, problem.s
    n, p = problem.X.shape
    A = y[:, None] * np.hstack([np.ones((n, 1)), problem.X])
    penalty = np.diag(np.concatenate([[0.0], np.ones(p)]))
    b, xi, eta, u = np.zeros(p + 1), np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(max_iter):
        old_z = xi - eta
        b = np.linalg.solve(penalty + rho * A.T @ A, A.T @ (rho * (1 - old_z - u) - c * s))
        Ab = A @ b
        xi = np.maximum(1 - Ab - u - c / rho, 0)
        eta = np.maximum(Ab - 1 + u, 0)
        u = u + Ab - 1 + xi - eta
    return IadmmState(b, xi, eta, u)
