"""uPU and nnPU by NumPy in float64: losses, risks, gradients and Adam, as cpp/include/fastpu/risk/nnpu.hpp states them.

A net is a dict of "hidden_coef" (d, h), "hidden_intercept" (h,), "coef" (h,) and "intercept"; with h = 0 it is linear
and "coef" has d entries. Sources: du Plessis et al. 2015; Kiryo et al. 2017, algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

from oracles.forest import Stream, shuffled

Net: TypeAlias = dict[str, Any]

#: l(z) and its derivative.
LOSSES = {
    "sigmoid": (lambda z: expit(-z), lambda z: -expit(z) * expit(-z)),
    "logistic": (lambda z: np.logaddexp(0, -z), lambda z: -expit(-z)),
    "squared": (lambda z: (1 - z) ** 2 / 4, lambda z: -(1 - z) / 2),
}


@dataclass(frozen=True)
class Risk:
    """What is minimised; uPU where `beta` is larger than what R- falls to."""

    loss: str = "sigmoid"
    prior: float = 0.5
    beta: float = 0.0
    gamma_nn: float = 1.0


def scores(net: Net, X: np.ndarray) -> np.ndarray:
    """f of each row."""
    if not net["hidden_intercept"].size:
        return X @ net["coef"] + net["intercept"]
    return np.maximum(X @ net["hidden_coef"] + net["hidden_intercept"], 0) @ net["coef"] + net["intercept"]


def parts(risk: Risk, f: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """R+ and R- of scores; a mean over no row is 0."""
    loss = LOSSES[risk.loss][0]

    def mean(values: np.ndarray, rows: np.ndarray) -> float:
        return float(np.average(values[rows], weights=weights[rows])) if rows.any() else 0.0

    positive = risk.prior * mean(loss(f), y == 1)
    return positive, mean(loss(-f), y == 0) - risk.prior * mean(loss(-f), y == 1)


def value(risk: Risk, f: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """The value that is reported."""
    positive, negative = parts(risk, f, y, weights)
    return positive + max(negative, -risk.beta)


def is_reversed(risk: Risk, f: np.ndarray, y: np.ndarray, weights: np.ndarray) -> bool:
    """Whether a step takes f back."""
    return parts(risk, f, y, weights)[1] < -risk.beta


def gradient(risk: Risk, net: Net, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Net:
    """The gradient in all parameters of what a step follows: R+ + R-, or -gamma_nn R- where it takes f back."""
    f = scores(net, X)
    slope = LOSSES[risk.loss][1]
    share = np.where(y == 1, risk.prior / max(weights[y == 1].sum(), 1e-300), 0) * weights
    share_unl = np.where(y == 0, 1 / max(weights[y == 0].sum(), 1e-300), 0) * weights
    of_negative = (share - share_unl) * slope(-f)
    g = -risk.gamma_nn * of_negative if is_reversed(risk, f, y, weights) else share * slope(f) + of_negative
    if not net["hidden_intercept"].size:
        return {**net, "coef": X.T @ g, "intercept": g.sum()}
    hidden = X @ net["hidden_coef"] + net["hidden_intercept"]
    G = g[:, None] * (hidden > 0) * net["coef"]
    return {
        "hidden_coef": X.T @ G,
        "hidden_intercept": G.sum(axis=0),
        "coef": np.maximum(hidden, 0).T @ g,
        "intercept": g.sum(),
    }


def adam(
    risk: Risk,
    net: Net,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    n_epochs: int,
    learning_rate: float = 1e-3,
    lam: float = 0.0,
    batch_size: int | None = None,
    seed: int = 0,
) -> tuple[list[Net], list[float]]:
    """The net after each epoch, and the mean over its batches of the risk before their steps."""
    weights = np.ones(len(y)) if weights is None else weights
    net = {key: np.array(part, dtype=float) for key, part in net.items()}
    mean = {key: np.zeros_like(part) for key, part in net.items()}
    square = {key: np.zeros_like(part) for key, part in net.items()}
    order, stream, step = list(range(len(y))), Stream(seed), 0
    nets, risks = [], []
    for _ in range(n_epochs):
        if batch_size is not None:
            order = shuffled(order, stream)
        size = len(y) if batch_size is None else batch_size
        values = []
        for start in range(0, len(y), size):
            rows = order[start : start + size]
            batch = X[rows], y[rows], weights[rows]
            values.append(value(risk, scores(net, batch[0]), *batch[1:]))
            found = gradient(risk, net, *batch)
            step += 1
            for key, g in found.items():
                is_penalised = key == "coef" or net["hidden_intercept"].size > 0
                total = g + (lam if is_penalised else 0.0) * net[key]
                mean[key] = 0.9 * mean[key] + 0.1 * total
                square[key] = 0.999 * square[key] + 0.001 * total**2
                root = np.sqrt(square[key] / (1 - 0.999**step))
                net[key] = net[key] - learning_rate * mean[key] / (1 - 0.9**step) / (root + 1e-8)
        nets.append({key: part.copy() for key, part in net.items()})
        risks.append(float(np.mean(values)))
    return nets, risks


def convex_risk(
    loss: str, prior: float, lam: float, theta: np.ndarray, X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> float:
    """-prior mean_p f + mean_u phi(f) + lam/2 |w|^2 at theta = (w, b)."""
    f = X @ theta[:-1] + theta[-1]
    phi = np.logaddexp(0, f) if loss == "logistic" else (1 + f) ** 2 / 4
    p, u = y == 1, y == 0
    linear = prior * np.average(f[p], weights=weights[p])
    return float(np.average(phi[u], weights=weights[u]) - linear + lam / 2 * theta[:-1] @ theta[:-1])
