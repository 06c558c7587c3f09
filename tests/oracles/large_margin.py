"""The weighted large-margin problem slow and obvious: section 2 of the specification of the iteration, in its notation.

    P(w, b0) = 1/2 |w|^2 + sum c_i [ (1 - m_i)_+ + s_i m_i ],      m_i = y_i (w'x_i + b0),  s_i in {0, 1}
    D(beta)  = sum beta_i + sum c_i s_i - 1/2 |sum beta_i y_i x_i|^2
               subject to  sum beta_i y_i = 0,  -c_i s_i <= beta_i <= c_i (1 - s_i)

Any w, b0 and beta with a gap P - D of 0 are a solution, whatever found them, which `certify` in margin_engine_cases.py
looks at; `iadmm` is section 4 line by line. Fit for some hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles import svm


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

    def best_intercepts(self, w: np.ndarray) -> tuple[float, float]:
        """Every b0 that minimises P for this w, from least to greatest.

        But for a constant, P is sum c_i (b0 - t_i)_+ with t_i = y_i - w'x_i, less b0 times the costs of the rows whose
        loss falls with f.
        """
        wants_more = (self.y > 0) == (self.s == 0)
        return svm.quantile_interval(self.y - self.X @ w, self.c, float(self.c[wants_more].sum()))


def iadmm(problem: Problem, *, rho: float, max_iter: int) -> np.ndarray:
    """b = (b0, w) by section 4 line by line, on X as it is, with the exact step."""
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
    return b
