"""Calibration with positive and unlabelled rows, slow and obvious: a search over (a, b), and the min-max formula."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def sigmoid(pos, unl, share_pos, share_unl, prior, ridge):
    """Return a >= 0 and b of the least mean_U log(1 + e^z) - prior mean_P z + ridge a^2 / 2, z = a s + b."""

    def risk(ab):
        a, b = ab
        value = share_unl @ np.logaddexp(0, a * unl + b) - prior * share_pos @ (a * pos + b) + 0.5 * ridge * a * a
        p = expit(a * unl + b)
        slope = (share_unl * p) @ unl - prior * share_pos @ pos + ridge * a
        return value, np.array([slope, share_unl @ p - prior])

    start = np.array([0.0, np.log(prior / (1 - prior))])
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000}
    return minimize(risk, start, jac=True, bounds=[(0, None), (None, None)], method="L-BFGS-B", options=options).x


def isotonic(pos, unl, share_pos, share_unl, prior):
    """Return the distinct scores and the increasing g in [0, 1] of the least mean_U g^2 - 2 prior mean_P g.

    Of a block of neighbouring scores the best constant is prior P / U; g_k is the largest, over all blocks that end
    in k or above and begin at i <= k, of the least of these.
    """
    levels = np.unique(np.concatenate([pos, unl]))
    p = np.array([share_pos[pos == level].sum() for level in levels])
    u = np.array([share_unl[unl == level].sum() for level in levels])

    def height(first, last):
        mass = u[first : last + 1].sum()
        return prior * p[first : last + 1].sum() / mass if mass else np.inf

    n = levels.size
    best = [max(min(height(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]
    return levels, np.clip(best, 0, 1)
