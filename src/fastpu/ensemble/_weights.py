r"""Weights of candidates by the AUC of their held-out scores.

With labels at random the AUC of positive against unlabelled rows is :math:`(1 - \theta) \mathrm{AUC} + \theta / 2`, an
increasing function of the AUC, where :math:`\theta` is the share of positives among the unlabelled rows: so it tells
good candidates from bad ones without a negative row. Its noise is that of few labelled rows, which all candidates
share. The placement of a labelled row is the share of the other group with lower scores; the means of the placements
are the AUCs, and their covariance, together with that of the other group's placements, is that of the AUCs [1]. In
tables whose classes are known the errors are larger, and most so for few labels: folds and models vary, too.

A candidate's weight is that by which it starts times :math:`e^{d_k / T}`. There d is the mean, given what was seen, of
the candidates' differences from their own mean, which are normal with a standard deviation that is usual for tables.

[1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
characteristic curves: a nonparametric approach", Biometrics 1988.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Chosen on the 65 tables of docs/does_it_help.md, in splits that its figures do not have; both halves of them agree.
_SPREAD = 0.05  # standard deviation of AUCs of candidates of one table
_NOISE, _NOISE_OF_ONE = 2.0, 30.0  # the variance of errors is DeLong's times the first + the second / n_pos
_TEMPERATURE = 0.015  # a difference in AUC by which weights differ by a factor of e
_EPS = 1e-12  # one row has all the weight but for such a share: its spread is not known


def placements(
    upper: NDArray[np.float64], lower: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the share of `lower` that lies below each of `upper`, ties counted one half."""
    order = np.argsort(lower, kind="stable")
    mass = np.ones(lower.size) if weight is None else weight[order]
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    ordered = lower[order]
    low, high = (below[np.searchsorted(ordered, upper, side)] for side in ("left", "right"))
    found: NDArray[np.float64] = 0.5 * (low + high)
    return found


def auc_and_covariance(
    scores: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    is_other: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the AUC of each row of `scores`, shape (m,), and their covariance, shape (m, m).

    NaN where a group has a single row, of which no spread is known.
    """
    upper, lower = scores[:, is_positive], scores[:, is_other]
    w_upper, w_lower = (None, None) if weights is None else (weights[is_positive], weights[is_other])
    of_upper = np.array([placements(p, u, w_lower) for p, u in zip(upper, lower, strict=True)])
    of_lower = np.array([placements(-u, -p, w_upper) for p, u in zip(upper, lower, strict=True)])
    auc, covariance = _mean_and_its_covariance(of_upper, w_upper)
    return auc, covariance + _mean_and_its_covariance(of_lower, w_lower)[1]


def _mean_and_its_covariance(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each row, and the covariance of these means; sums by NumPy have the same bits always."""
    n = values.shape[1]
    share = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    mean = (values * share).sum(axis=1)
    apart = (values - mean[:, None]) * share
    unbiased = 1.0 - float((share**2).sum())
    products = np.array([[float((a * b).sum()) for b in apart] for a in apart])
    return mean, products / unbiased if unbiased > _EPS else np.full_like(products, np.nan)


def weights_of(
    auc: NDArray[np.float64], covariance: NDArray[np.float64], n_pos: int, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights of candidates that have the weights `start` before anything is seen; their sum is 1.

    `n_pos` is the number of positive rows that the AUCs are of.
    """
    m = auc.size
    if m == 1 or not np.isfinite(covariance).all():
        return normed(start)
    centre = np.eye(m) - 1.0 / m
    noise = (_NOISE + _NOISE_OF_ONE / n_pos) * centre @ covariance @ centre + 1e-10 * np.eye(m)
    apart = _SPREAD**2 * np.linalg.solve(_SPREAD**2 * np.eye(m) + noise, auc - auc.mean())
    return normed(start * np.exp((apart - apart.max()) / _TEMPERATURE))


def normed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights with the sum 1."""
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
