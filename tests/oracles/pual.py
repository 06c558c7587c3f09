"""PUAL and its relatives by their formulas: dense matrices, one equation after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def laplacian(X: np.ndarray, n_neighbors: int = 5, sigma: float = 1.0) -> np.ndarray:
    """R of (5), (6): mutual neighbours, ties by the number of the row, no row its own neighbour."""
    n = len(X)
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        near[i, np.argsort(squared[i], kind="stable")[: min(n_neighbors, n - 1)]] = True
    W = np.where(near & near.T, np.exp(-squared / sigma), 0.0)
    return (np.diag(W.sum(axis=0)) - W) / n


@dataclass(frozen=True)
class Problem:
    """Training data as matrices: features Z (K = Z Z'), which rows are positive, R, and the parameters."""

    Z: np.ndarray
    is_pos: np.ndarray
    R: np.ndarray
    C_pos: float
    C_unl: float
    lam: float

    def smooth(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """(7) without the hinge, and its gradient, at theta = (beta, beta0)."""
        f = self.Z @ theta[:-1] + theta[-1]
        lack = np.where(self.is_pos, 0.0, 1 + f)
        value = self.lam / 2 * theta[:-1] @ theta[:-1] + self.C_unl * lack @ lack + f @ self.R @ f
        by_f = 2 * self.C_unl * lack + 2 * self.R @ f
        return value, np.append(self.lam * theta[:-1] + self.Z.T @ by_f, by_f.sum())

    def pual(self, theta: np.ndarray) -> float:
        """(7)."""
        f = self.Z @ theta[:-1] + theta[-1]
        return self.smooth(theta)[0] + self.C_pos * np.maximum(0, 1 - f[self.is_pos]).sum()

    def squared(self, theta: np.ndarray) -> float:
        """(4); (3) where R is 0."""
        lack = 1 - self.Z[self.is_pos] @ theta[:-1] - theta[-1]
        return self.smooth(theta)[0] + self.C_pos * lack @ lack

    def hessian(self) -> tuple[np.ndarray, np.ndarray]:
        """H and b of smooth(theta) = 1/2 theta'H theta - b'theta + constant."""
        A = np.column_stack([self.Z, np.ones(len(self.Z))])
        unl = np.where(self.is_pos, 0.0, 1.0)
        H = 2 * self.C_unl * (A.T * unl) @ A + 2 * A.T @ self.R @ A
        H[np.arange(A.shape[1] - 1), np.arange(A.shape[1] - 1)] += self.lam
        return H, -2 * self.C_unl * A.T @ unl

    def theta_of(self, alpha: np.ndarray) -> np.ndarray:
        """The minimiser of smooth(theta) - alpha'f_p."""
        H, b = self.hessian()
        A = np.column_stack([self.Z, np.ones(len(self.Z))])[self.is_pos]
        return np.linalg.solve(H, b + A.T @ alpha)

    def solve_gllc(self) -> np.ndarray:
        """theta of GLLC by its normal equations."""
        H, b = self.hessian()
        A = np.column_stack([self.Z, np.ones(len(self.Z))])[self.is_pos]
        return np.linalg.solve(H + 2 * self.C_pos * A.T @ A, b + 2 * self.C_pos * A.sum(axis=0))

    def dual(self, alpha: np.ndarray) -> float:
        """The dual value of PUAL, which no value of (7) is below."""
        assert ((alpha >= 0) & (alpha <= self.C_pos)).all()
        theta = self.theta_of(alpha)
        f = self.Z[self.is_pos] @ theta[:-1] + theta[-1]
        return self.smooth(theta)[0] + alpha.sum() - alpha @ f

    def minimum(self, alpha: np.ndarray, tol: float = 1e-8) -> np.ndarray:
        """theta of PUAL by dual variables, whose value certifies it."""
        theta = self.theta_of(alpha)
        assert self.pual(theta) <= self.dual(alpha) * (1 + tol)
        return theta
