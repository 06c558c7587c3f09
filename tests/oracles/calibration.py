"""Calibration with positive and unlabelled rows, slow and obvious: the min-max formula, and a solver for anything."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


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


def beta(pos, unl, share_pos, share_unl, prior, n_labelled):
    """Return the beta calibration at the scores of U: the minimum over slopes >= 0, by a solver for anything."""
    middle = share_unl @ unl
    spread = np.sqrt(share_unl @ (unl - middle) ** 2)

    def terms(scores):
        inside = np.clip(scores, unl.min(), unl.max())
        below = [share_unl[unl < score].sum() + 0.5 * share_unl[unl == score].sum() for score in inside]
        q = np.array(below)
        return np.column_stack([(scores - middle) / spread, np.log(q), -np.log(1 - q)])

    of_unl, of_pos = terms(unl), share_pos @ terms(pos)
    penalty = prior * max(5 / n_labelled, 0.01)

    def loss(point):
        a, b = point[:3], point[3]
        return share_unl @ np.logaddexp(0, of_unl @ a + b) - prior * (of_pos @ a + b) + penalty * a @ a / 2

    start = np.append(np.full(3, 0.1), np.log(prior / (1 - prior)))
    bounds = [(0, None)] * 3 + [(None, None)]
    found = minimize(loss, start, bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
    return 1 / (1 + np.exp(-(of_unl @ found.x[:3] + found.x[3])))
