"""AUCs of several scores, their covariance by placements, and the weights of an ensemble: pair after pair."""

from __future__ import annotations

import numpy as np


def placements(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The share of the lower scores that each upper one exceeds, ties counted one half."""
    return np.array([np.mean([(u > v) + 0.5 * (u == v) for v in lower]) for u in upper])


def auc_and_covariance(upper: np.ndarray, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """AUC of each row of the scores of both groups, and DeLong's covariance."""
    of_upper = np.array([placements(u, v) for u, v in zip(upper, lower, strict=True)])
    of_lower = np.array([1 - placements(v, u) for u, v in zip(upper, lower, strict=True)])
    covariance = np.cov(of_upper) / upper.shape[1] + np.cov(of_lower) / lower.shape[1]
    return of_upper.mean(axis=1), np.atleast_2d(covariance)


def weights(auc: np.ndarray, covariance: np.ndarray, n_pos: int, start: np.ndarray) -> np.ndarray:
    """The weights, by the mean of a normal distribution given what was seen of all differences but the last.

    The differences from the mean have the sum 0, so the last one follows from the others.
    """
    m = auc.size
    differences = (np.eye(m) - 1 / m)[: m - 1]
    prior = 0.05**2 * differences @ differences.T
    noise = (2 + 30 / n_pos) * differences @ covariance @ differences.T
    seen = prior @ np.linalg.inv(prior + noise) @ (differences @ auc)
    expected = np.append(seen, -seen.sum())
    found = start * np.exp(expected / 0.015)
    return found / found.sum()
