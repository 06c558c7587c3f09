"""Estimators of the class prior, slow and from their definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import binom


def km2(Z, n_mixture, from_hull, tol=1e-3):
    """Slopes of the distance from the hull of the rows of Z by differences, over a grid of shares."""
    n = len(Z)
    F, H = np.zeros(n), np.zeros(n)
    F[:n_mixture], H[n_mixture:] = 1 / n_mixture, 1 / (n - n_mixture)

    def distance(lam):
        return np.linalg.norm(from_hull(Z, (lam * F + (1 - lam) * H) @ Z))

    total = np.linalg.norm((F - H) @ Z)
    threshold = 0.8 * distance(1.05) / 0.05 + 0.2 * total
    low, high = 0.0, 0.98
    while high - low > tol:
        share = (low + high) / 2
        lam = 1 / (1 - share)
        slope = (distance(lam + 1e-3) - distance(lam - 1e-3)) / 2e-3 if share else 0.0
        low, high = (low, share) if slope > threshold else (share, high)
    return (low + high) / 2


def best_bin(score_pos, score_unl, tail=0.02):
    """Every score of an unlabelled row as a cut; the ends of Clopper and Pearson by the binomial's own sums."""
    best = (1.0, 1.0)
    for cut in sorted(set(score_unl)):
        k_pos, k_unl = np.sum(score_pos >= cut), np.sum(score_unl >= cut)
        if k_pos > 0:
            low, high = _ends(k_pos, len(score_pos), tail)[0], _ends(k_unl, len(score_unl), tail)[1]
            best = min(best, (high / low, min(1.0, (k_unl / len(score_unl)) / (k_pos / len(score_pos)))))
    return best[1], min(1.0, best[0])


def _ends(k, n, tail):
    def root(miss):
        return brentq(miss, 1e-12, 1 - 1e-12, xtol=1e-14)

    return root(lambda q: binom.sf(k - 1, n, q) - tail), 1.0 if k == n else root(lambda q: binom.cdf(k, n, q) - tail)


def share_deviances(scores, pos, unl, shares):
    """Twice the log likelihood that each share loses, of counts at scores; from several starts."""

    def loss(slope, offset, share):
        with np.errstate(over="ignore"):
            odds = pos.sum() / unl.sum() / (share + np.exp(-(slope * scores + offset)))
        p = odds / (1 + odds)
        return -(pos * np.log(p) + unl * np.log(1 - p)).sum()

    values = []
    for share in shares:
        starts = [(slope, offset) for slope in (0.1, 1.0, 4.0) for offset in (-2.0, 0.0, 2.0)]
        found = [
            minimize(lambda v, s=share: loss(*v, s), start, bounds=[(np.exp(-4), np.exp(5)), (-30, 30)])
            for start in starts
        ]
        values.append(min(f.fun for f in found))
    return 2 * (np.array(values) - min(values))
