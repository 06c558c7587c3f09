"""The classifiers around another one as plain loops over rows and fits.

`fit(rows, labels, weights)` fits the base estimator to a list of rows and returns a function that scores one row.
"""

from __future__ import annotations

import math

import numpy as np


def pu_bagging(fit, X, codes, weights, bags):
    """The mean scores of the rows of X over all bags, and over those that an unlabelled row is not in."""
    labelled = [i for i in range(len(codes)) if codes[i] != 0]
    machines = []
    for bag in bags:
        rows = labelled + list(bag)
        machines.append(fit([X[i] for i in rows], [int(codes[i] == 1) for i in rows], [weights[i] for i in rows]))
    means, outside = [], []
    for i, x in enumerate(X):
        scores = [machine(x) for machine in machines]
        means.append(sum(scores) / len(scores))
        away = [score for score, bag in zip(scores, bags, strict=True) if codes[i] == 0 and i not in bag]
        outside.append(sum(away) / len(away) if away else math.nan)
    return np.array(means), np.array(outside)


def elkan_noto(fit, X, codes, weights, folds):
    """The label frequency, from folds as (kept rows, held rows), and P(s = 1 | x) / c for the rows of X."""
    total = mass = 0.0
    for kept, held in folds:
        machine = fit([X[i] for i in kept], [int(codes[i] == 1) for i in kept], [weights[i] for i in kept])
        for i in held:
            if codes[i] == 1:
                total += weights[i] * machine(X[i])
                mass += weights[i]
    machine = fit(list(X), [int(code == 1) for code in codes], list(weights))
    return total / mass, np.array([machine(x) for x in X]) * mass / total


def spy_limit(scores, weights, quantile):
    """The largest score of a spy below which spies have at most a share of the weight."""
    fitting = [
        t for t in scores
        if sum(w for s, w in zip(scores, weights, strict=True) if s < t) <= quantile * sum(weights) + 1e-9
    ]  # fmt: skip
    return max(fitting)


def two_step(fit, X, codes, spies, quantile, max_iter, border):
    """Which unlabelled rows are negative in the last fit, and its scores of the rows of X."""
    every = range(len(codes))
    first = fit(list(X), [int(codes[i] == 1 and i not in spies) for i in every], [1.0] * len(codes))
    limit = spy_limit([first(X[i]) for i in spies], [1.0] * len(spies), quantile)
    negative = {i for i in every if codes[i] == 0 and first(X[i]) < limit}
    for _ in range(max_iter):
        reliable = set(negative)
        rows = [i for i in every if codes[i] != 0 or i in reliable]
        machine = fit([X[i] for i in rows], [int(codes[i] == 1) for i in rows], [1.0] * len(rows))
        negative |= {i for i in every if codes[i] == 0 and machine(X[i]) <= border}
        if negative == reliable:
            break
    return np.array([i in reliable for i in every]), np.array([machine(x) for x in X])


def weighted_unlabeled(fit, X, codes, weights, shares, prior):
    """The scores of a fit to labelled rows and to unlabelled rows twice; `shares` of the latter are positive."""
    mass = {code: sum(w for w, c in zip(weights, codes, strict=True) if c == code) for code in (1, 0, -1)}
    a = prior * mass[0] / (mass[1] + prior * mass[0])
    b = (1 - prior) * mass[0] / (mass[-1] + (1 - prior) * mass[0])
    rows, labels, factors = [], [], []
    for x, code, weight, share in zip(X, codes, weights, shares, strict=True):
        parts = {1: [(1, a)], -1: [(0, b)], 0: [(1, a * share), (0, b * (1 - share))]}[int(code)]
        for label, factor in parts:
            rows.append(x)
            labels.append(label)
            factors.append(weight * factor)
    machine = fit(rows, labels, factors)
    return np.array([machine(x) for x in X])
