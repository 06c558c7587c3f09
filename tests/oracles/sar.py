"""Expectation maximisation for labels that are not missing at random, by logistic regressions: slow and obvious."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from meta_cases import exact_regression


def logistic(X, target, weights, C):
    """Where C sum_i weights_i log(1 + exp(-(2 target_i - 1) z_i)) + |b|^2 / 2 is least, z = X b + b_0."""
    machine = exact_regression(C=C).fit(X, target, sample_weight=weights)
    return np.append(machine.coef_[0], machine.intercept_)


def probability(X, b):
    return expit(X @ b[:-1] + b[-1])


def posterior(f, e, code):
    """P(y = 1 | x, s): 1 for labelled positives, 0 for labelled negatives, f (1 - e) / (1 - f e) for the others."""
    return np.select([code == 1, code == -1], [1.0, 0.0], f * (1 - e) / (1 - f * e))


def log_likelihood(f, e, code, weights):
    """The mean of log P(s | x), of labelled negatives log P(y = 0 | x)."""
    of_row = np.select([code == 1, code == -1], [np.log(f * e), np.log(1 - f)], np.log(1 - f * e))
    return np.average(of_row, weights=weights)


def fits(X, Z, code, q, weights, C):
    """The classifier, of each row as positive with weight q and as negative with 1 - q, and the propensity model."""
    target = np.repeat([1.0, 0.0], len(X))
    b = logistic(np.vstack([X, X]), target, np.concatenate([weights * q, weights * (1 - q)]), C)
    c = logistic(Z, np.where(code == 1, 1.0, 0.0), weights * q, C)
    return b, c


def sar_em(X, Z, code, n_iter, C=1.0, weights=None):
    """Yield f, e and q of every iteration; X are the columns of the classifier, Z those of the propensity."""
    weights = np.ones(len(X)) if weights is None else weights
    labeled = np.where(code == 1, 1.0, 0.0)
    share = np.average(labeled, weights=weights)
    f = probability(X, logistic(X, labeled, weights * np.where(code == 1, 0.5 / share, 0.5 / (1 - share)), C))
    q = np.select([code == 1, code == -1], [1.0, 0.0], f)
    e = probability(Z, logistic(Z, labeled, weights * q, C))
    for _ in range(n_iter):
        q = posterior(f, e, code)
        b, c = fits(X, Z, code, q, weights, C)
        f, e = probability(X, b), probability(Z, c)
        yield f, e, q
