"""The losses that trees are boosted for, their gradients and curvatures, in plain NumPy.

Section 3 of the mathematics, written as the formulas are: with scores of some tens, so that e^F is a number.
"""

from __future__ import annotations

import numpy as np


def log_loss(z: np.ndarray) -> np.ndarray:
    """log(1 + e^-z)."""
    return np.logaddexp(0.0, -z)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -z))


def pairs(y: np.ndarray, w: np.ndarray, gamma: float) -> dict[tuple[int, int], float]:
    """The weights of the products A_first B_second."""
    present = {label for label in (1, 0, -1) if w[y == label].sum() > 0}
    weights = {(1, -1): gamma, (1, 0): (1 - gamma) / 2, (0, -1): (1 - gamma) / 2}
    kept = {pair: weight for pair, weight in weights.items() if set(pair) <= present}
    return kept if len(kept) == 3 else dict.fromkeys(kept, 1.0)


def objective(loss: str, y: np.ndarray, f: np.ndarray, w: np.ndarray, *, gamma: float, prior: float) -> float:
    def mean(label: int, values: np.ndarray) -> float:
        return float(np.average(values[y == label], weights=w[y == label]))

    if loss == "pnu_auc":
        return float(
            np.log(sum(c * mean(a, np.exp(-f)) * mean(b, np.exp(f)) for (a, b), c in pairs(y, w, gamma).items()))
        )
    if loss == "logistic":
        return mean(1, log_loss(f)) + mean(0, log_loss(-f))
    if loss == "upu":
        return prior * mean(1, -f) + mean(0, log_loss(-f))
    raise ValueError(f"the oracle has no loss {loss!r}")


def derivatives(
    loss: str, y: np.ndarray, f: np.ndarray, w: np.ndarray, *, gamma: float, prior: float
) -> tuple[np.ndarray, np.ndarray]:
    """g and h: derivatives of the objective by each score, times the sum of the weights; h >= 0."""
    n = w.sum()
    share = {label: w / w[y == label].sum() * (y == label) for label in (1, 0, -1) if w[y == label].sum() > 0}
    if loss == "pnu_auc":
        risk = np.exp(objective(loss, y, f, w, gamma=gamma, prior=prior))
        up, down = np.zeros_like(f), np.zeros_like(f)
        for (a, b), c in pairs(y, w, gamma).items():
            mean_a, mean_b = share[a] @ np.exp(-f), share[b] @ np.exp(f)
            down += n * c * share[a] * np.exp(-f) * mean_b / risk
            up += n * c * share[b] * np.exp(f) * mean_a / risk
        return up - down, up + down
    p, u = n * share[1], n * share[0]
    curve = sigmoid(f) * sigmoid(-f)  # of the softplus, for "logistic" and "upu"
    if loss == "logistic":
        return u * sigmoid(f) - p * sigmoid(-f), (u + p) * curve
    if loss == "upu":
        return u * sigmoid(f) - prior * p, u * curve
    raise ValueError(f"the oracle has no loss {loss!r}")


def chance_gain(loss: str, y: np.ndarray, f: np.ndarray, w: np.ndarray, *, gamma: float, prior: float) -> float:
    """The sum of g^2, if all rows of a group have the same |g|, over that of h, both as `bounds` has them."""
    n = float(w.sum())
    weights = {label: w[y == label].sum() for label in (1, 0, -1)}
    if loss == "pnu_auc":
        return sum(n / 2 / weight for weight in weights.values() if weight > 0)
    of_group, h = _bounds_of_groups(loss, y, f, w, gamma=gamma, prior=prior)
    return sum(g**2 / weights[label] for label, g in of_group.items()) / h


def bounds(
    loss: str, y: np.ndarray, f: np.ndarray, w: np.ndarray, *, gamma: float, prior: float
) -> tuple[float, float]:
    """What the sums of |g| and of h do not exceed."""
    if loss == "pnu_auc":
        return 2 * float(w.sum()), 2 * float(w.sum())
    of_group, h = _bounds_of_groups(loss, y, f, w, gamma=gamma, prior=prior)
    return sum(of_group.values()), h


def _bounds_of_groups(
    loss: str, y: np.ndarray, f: np.ndarray, w: np.ndarray, *, gamma: float, prior: float
) -> tuple[dict[int, float], float]:
    """The bounds of the sums of |g| over each group, by its label, and of h.

    Those of "logistic" and "upu" come from the means of the losses alone, by Jensen's inequality. Any other loss has
    the sums themselves. They are what a loss of the core with kSumsBounds has, as long as it adds no two functions over
    one group whose derivatives have opposite signs there.
    """
    if loss not in ("logistic", "upu"):
        g, h = derivatives(loss, y, f, w, gamma=gamma, prior=prior)
        return {label: float(np.abs(g[y == label]).sum()) for label in (1, 0, -1) if (y == label).any()}, float(h.sum())
    n = float(w.sum())

    def slope(label: int, z: np.ndarray) -> float:
        return float(-np.expm1(-np.average(log_loss(z[y == label]), weights=w[y == label])))

    def curve(s: float) -> float:
        return s * (1 - s) if s < 0.5 else 0.25

    unlabeled, rising, falling = slope(0, -f), slope(1, -f), slope(1, f)
    curve_pos, curve_unl = curve(min(rising, falling)), curve(unlabeled)
    if loss == "logistic":
        return {1: n * falling, 0: n * unlabeled}, n * (curve_pos + curve_unl)
    return {1: n * prior, 0: n * unlabeled}, n * curve_unl
