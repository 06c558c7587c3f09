"""The kernel forms as the paper prints them, (21) to (30): the kernel matrix stands where another matrix belongs.

lam, sigma and the neighbours have no influence in these forms, and PUAL's result depends on its step mu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOL, _MAX_ITER = 1e-4, 1000  # signs are settled long before the last digit of the iteration is


def _rbf(A: NDArray[np.float64], B: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.exp(-np.maximum(squares, 0) / (2 * width**2))


@dataclass(frozen=True)
class PrintedForm:
    """f(x) = sum_i omega_i K(x_i, x) + intercept over the training rows."""

    X: NDArray[np.float64]
    width: float
    omega: NDArray[np.float64]
    intercept: float
    converged: bool = True

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return _rbf(np.asarray(X), self.X, self.width) @ self.omega + self.intercept

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int8]:
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.int8)


def fit_printed_gllc(
    X: NDArray[np.float64], y: NDArray[np.int8], *, width: float = 1.0, C_unl: float = 0.1
) -> PrintedForm:
    """GLLC with C_pos = 1: one update, whose scores are a scaled difference of mean kernel values."""
    K, is_pos = _rbf(X, X, width), y == 1
    s, g = np.where(is_pos, 2.0, 2 * C_unl), np.where(is_pos, 2.0, -2 * C_unl)
    c = g.sum() / s.sum()
    omega = g - s * c
    return PrintedForm(X, width, omega, float(c - s @ (K @ omega) / s.sum()))


def fit_printed_pual(
    X: NDArray[np.float64], y: NDArray[np.int8], *, width: float = 1.0, C_unl: float = 0.1
) -> PrintedForm:
    """PUAL with C_pos = 1 and half of the largest step for which the iteration is sure to converge."""
    K, is_pos = _rbf(X, X, width), y == 1
    mu = _safe_step(K, is_pos, C_unl)
    s = np.where(is_pos, mu, 2 * C_unl)
    total = s.sum()
    u = h = np.zeros(int(is_pos.sum()))
    converged = False
    for _ in range(_MAX_ITER):
        g = np.full(len(K), -2 * C_unl)
        g[is_pos] = u + mu * (1 - h)
        c = g.sum() / total
        omega = g - s * c
        smooth = K @ omega
        intercept = c - s @ smooth / total
        f = smooth[is_pos] + intercept
        d = 1 + u / mu - f
        u, last = np.clip(mu * d, 0, 1.0), h
        h = d - u / mu
        size = max(np.linalg.norm(f), np.linalg.norm(h), np.sqrt(f.size))
        converged = max(np.linalg.norm(1 - f - h), np.linalg.norm(h - last)) <= _TOL * size
        if converged:
            break
    return PrintedForm(X, width, omega, float(intercept), bool(converged))


def _safe_step(K: NDArray[np.float64], is_pos: NDArray[np.bool_], C_unl: float) -> float:
    """Return a mu at which mu times the largest eigenvalue of the map from one iterate to the next is 1/2."""
    mu = 0.5 / max(_eigenvalue(K, is_pos, C_unl, 1e-12), 1e-300)
    for _ in range(50):
        gain = mu * _eigenvalue(K, is_pos, C_unl, mu)
        if gain <= 0.5 * (1 + 1e-6):
            break
        mu *= 0.999 * 0.5 / gain
    return mu


def _eigenvalue(K: NDArray[np.float64], is_pos: NDArray[np.bool_], C_unl: float, mu: float) -> float:
    s = np.where(is_pos, mu, 2 * C_unl) / (mu * is_pos.sum() + 2 * C_unl * (~is_pos).sum())
    means = K @ s
    block = K[np.ix_(is_pos, is_pos)] - means[is_pos][:, None] - means[is_pos] + s @ means
    block += 1 / (mu * is_pos.sum() + 2 * C_unl * (~is_pos).sum())
    return float(np.linalg.eigvalsh(block)[-1])
