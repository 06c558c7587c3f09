"""Squared losses of pairs, summed pair by pair, and their minimum through the normal equations of all pairs."""

from __future__ import annotations

import numpy as np


def gauss(X, centers, bandwidth):
    """The basis functions of each row."""
    return np.array([[np.exp(-np.sum((x - c) ** 2) / (2 * bandwidth**2)) for c in centers] for x in X])


def pair_system(F, high, low, weights):
    """A and b of the weighted mean of (1 - w'(f_i - f_k))^2 over rows i of `high` and k of `low`: 1 - 2 b'w + w'Aw."""
    A, b, total = np.zeros((F.shape[1], F.shape[1])), np.zeros(F.shape[1]), 0.0
    for i in high:
        for k in low:
            d, mass = F[i] - F[k], weights[i] * weights[k]
            A, b, total = A + mass * np.outer(d, d), b + mass * d, total + mass
    return A / total, b / total


def terms(method, y, *, gamma=0.5, eta=0.0, prior=0.5):
    """(factor, high rows, low rows) of every risk in the objective."""
    P, U, N = (np.flatnonzero(y == g) for g in (1, 0, -1))
    if method == "ls_auc":
        return [(1.0, P, N)]
    if method == "samult":
        return [(gamma, P, N), (1 - gamma, P, U), (1 - gamma, U, N)]
    found = [(1 - abs(eta), P, N)] if abs(eta) < 1 else []
    if eta > 0:
        found += [(eta / (1 - prior), P, U), (-eta * prior / (1 - prior), P, P)]
    if eta < 0:
        found += [(-eta / prior, U, N), (eta * (1 - prior) / prior, N, N)]
    return found


def objective(w, method, F, y, lam, weights=None, **options):
    """What is minimised."""
    A, b = system(method, F, y, weights, **options)
    return lam * w @ w + sum(factor for factor, *_ in terms(method, y, **options)) - 2 * b @ w + w @ A @ w


def system(method, F, y, weights=None, **options):
    """A and b of the objective without its ridge."""
    weights = np.ones(len(y)) if weights is None else weights
    A, b = np.zeros((F.shape[1], F.shape[1])), np.zeros(F.shape[1])
    for factor, high, low in terms(method, y, **options):
        of_pairs = pair_system(F, high, low, weights)
        A, b = A + factor * of_pairs[0], b + factor * of_pairs[1]
    return A, b


def fit(method, F, y, lam, weights=None, **options):
    """The point at which the gradient is 0."""
    A, b = system(method, F, y, weights, **options)
    return np.linalg.solve(A + lam * np.eye(len(b)), b)
