"""Estimators of the class prior, slow and from their definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import binom


def hull_distance(K, u):
    """min over weights v >= 0 with sum 1 of the distance of sum u_i phi_i from sum v_i phi_i."""
    n = len(K)
    found = minimize(
        lambda v: (u - v) @ K @ (u - v),
        np.full(n, 1 / n),
        jac=lambda v: 2 * K @ (v - u),
        bounds=[(0, None)] * n,
        constraints=[{"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda v: np.ones(n)}],
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return np.sqrt(max(found.fun, 0.0))


def km2(K, n_mixture, tol=1e-3):
    """Slopes of the distance by differences, over a grid of shares."""
    n = len(K)
    F, H = np.zeros(n), np.zeros(n)
    F[:n_mixture], H[n_mixture:] = 1 / n_mixture, 1 / (n - n_mixture)

    def distance(lam):
        return hull_distance(K, lam * F + (1 - lam) * H)

    total = np.sqrt((F - H) @ K @ (F - H))
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


def penalized_distance(of_pos, of_unl, ridge, share):
    """The distance of one share: its multipliers are found one by one."""
    total = 1 - share
    for column in range(of_pos.shape[1]):
        excess = share * of_pos[:, column].mean() - of_unl[:, column].mean()
        multiplier = max(0.0, excess) / ridge
        total += multiplier * excess
    return total


def penalized_share(widths, folds, n_folds):
    """The share with the least distance, each with the width and the ridge that the held-out rows prefer."""
    chosen, distances = [], []
    for share in np.arange(1, 100) / 100:
        tried = {}
        for width, (pos, unl) in enumerate(widths):
            for ridge in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0):
                gains = []
                for fold in range(n_folds):
                    on, off = (
                        (pos[folds[0] == fold], unl[folds[1] == fold]),
                        (pos[folds[0] != fold], unl[folds[1] != fold]),
                    )
                    other, seen = (share * p.mean(axis=0) - u.mean(axis=0) for p, u in (on, off))
                    gains.append(np.sum(np.maximum(seen, 0) * other) / ridge)
                tried[width, ridge] = -np.mean(gains)
        width, ridge = min(tried, key=tried.__getitem__)
        chosen.append((width, ridge))
        distances.append(penalized_distance(*widths[width], ridge, share))
    return (np.argmin(distances) + 1) / 100, set(chosen)


def label_frequency(quarter, labeled, folds, most_splits=500):
    """TIcE with sets of rows: a list of nodes, of which the most promising one (the oldest of equal ones) is split."""
    c = 0.5
    for _ in range(2):
        bounds = []
        for fold in sorted(set(folds)):
            tree = {i for i in range(len(folds)) if folds[i] == fold}
            rest = set(range(len(folds))) - tree
            of_all = {i for i in range(len(folds)) if labeled[i]}
            bounds.append(_best_bound(quarter, of_all, tree, rest, c, most_splits))
        c = np.mean(bounds)
        if not 0 < c < 1:
            break
    return c


def _best_bound(quarter, labeled, tree, rest, c, most_splits):
    delta = max(0.025, 1 / (1 + 0.004 * len(rest)))

    def bound(rows, fewest):
        if len(rows) < max(fewest, 1):
            return 0.0
        return len(rows & labeled) / len(rows) - np.sqrt(c * (1 - c) * (1 - delta) / (delta * len(rows)))

    best = len(rest & labeled) / len(rest) if len(rest) >= 10 else 0.0
    nodes = [(0.0, 0, tree, rest, list(range(len(quarter[0]))))]
    needed = 1
    for _ in range(most_splits):
        if not nodes:
            break
        node = max(nodes, key=lambda n: n[:2])
        nodes.remove(node)
        _, _, tree, rest, features = node
        parts, scores = {}, {}
        for f in features:
            parts[f] = [[{i for i in rows if quarter[i][f] == q} for q in range(4)] for rows in (tree, rest)]
            if max(len(part & labeled) for part in parts[f][1]) >= needed:
                scores[f] = max(len(part & labeled) / (len(part) + 5) for part in parts[f][0])
        if not scores or max(scores.values()) <= 0:
            continue
        chosen = max(scores, key=scores.get)
        if sum(len(part) > 0 for part in parts[chosen][1]) == 1:
            continue
        best = max(best, *(bound(part, 10) for part in parts[chosen][1]))
        needed = c * (1 - c) * (1 - delta) / (delta * (1 - best) ** 2) if best < 1 else np.inf
        left = [f for f in scores if f != chosen]
        for of_tree, of_rest in zip(*parts[chosen], strict=True):
            n_labeled = len(of_tree & labeled)
            if len(of_rest & labeled) > needed and len(of_tree) > 10 and 0 < n_labeled < len(of_tree):
                nodes.append((bound(of_tree, 0), n_labeled, of_tree, of_rest, left))
    return best
