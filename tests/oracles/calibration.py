"""Isotonic calibration with positive and unlabelled rows, slow and obvious: the min-max formula."""

from __future__ import annotations

import numpy as np


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
