"""What makes a point of the weighted SVM path right, by its formulas: every score is a full product with K.

    min_a  1/2 a'Qa - lam 1'a,   y'a = 0,   0 <= a_i <= c_i <= inf,   Q_ij = y_i y_j K_ij

is convex, so that a and a0 = lam b0 which meet the conditions of optimality at lam are the solution there, whatever
found them. Between breakpoints they are linear in lam: a path is right if the conditions hold at all of them and half
way between, and if other rows are on the margin before each than after it.
"""

from __future__ import annotations

import numpy as np


def violation(K, y, c, a, a0, lam) -> float:
    """The largest violation of the optimality conditions, in units of y f(x)."""
    slack = y * (K @ (y * a) + a0) / lam - 1
    top = np.isfinite(c) & (a >= c)
    low = np.where(top, 0.0, np.maximum(-slack, 0))
    high = np.where(a > 0, np.maximum(slack, 0), 0.0)
    box = max(float((-a).max()), float(np.where(np.isfinite(c), a - c, -np.inf).max()), 0.0)
    return max(float(low.max()), float(high.max()), box, abs(float(y @ a)) / max(float(a.sum()), 1e-300))
