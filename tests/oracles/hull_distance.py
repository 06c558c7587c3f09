"""The nearest point of a convex hull by non-negative least squares."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

#: Times the longest row: the weights then sum to 1 but for a millionth.
HEAVY = 1e3


def nearest(Z, p):
    """The nearest point to p of the hull of the rows of Z: a heavy equation more asks for weights that sum to 1."""
    heavy = HEAVY * (np.sqrt((Z**2).sum(axis=1).max()) or 1.0)
    weights, _ = nnls(np.vstack([Z.T, np.full(len(Z), heavy)]), np.append(p, heavy), maxiter=100 * len(Z))
    return Z.T @ (weights / weights.sum())


def slack(Z, x, apart):
    """How much further than x the rows are along p - x: 0 if and only if x is the nearest point (or p itself)."""
    length = np.linalg.norm(apart)
    return max(0.0, ((Z - x) @ apart).max() / length) if length > 0 else 0.0
