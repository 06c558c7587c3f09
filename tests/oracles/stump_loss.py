"""The losses of boosted stumps: the log of a sum of terms, each a weight times one or two means of e^f or e^-f.

A mean is of the rows of one label, (label, sign) for the mean of e^(sign f) by the weights of the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Mean = tuple[int, int]
Term = tuple[float, tuple[Mean, ...]]
_P_FALLS, _U_FALLS, _U_RISES, _N_RISES = (1, -1), (0, -1), (0, 1), (-1, 1)


def _pairs(gamma: float, labels: set[int]) -> list[Term]:
    """The AUC's exponential loss of the pairs of labels; of two labels the one pair that there is."""
    pairs = {
        (1, -1): (gamma, (_P_FALLS, _N_RISES)),
        (1, 0): ((1 - gamma) / 2, (_P_FALLS, _U_RISES)),
        (0, -1): ((1 - gamma) / 2, (_U_FALLS, _N_RISES)),
    }
    there = [term for pair, term in pairs.items() if labels.issuperset(pair)]
    return there if len(there) > 1 else [(1.0, there[0][1])]


def _classes(gamma: float, labels: set[int]) -> list[Term]:
    """The exponential loss of single rows: of P against U, and of U against N."""
    by_mean = {_P_FALLS: (1 - gamma) / 2, _U_RISES: (1 - gamma) / 2, _U_FALLS: gamma / 2, _N_RISES: gamma / 2}
    there = {mean: weight for mean, weight in by_mean.items() if mean[0] in labels}
    return [(weight / sum(there.values()), (mean,)) for mean, weight in there.items()]


#: The terms of each loss by its name, for a gamma and the labels that there are.
TERMS: dict[str, Callable[[float, set[int]], list[Term]]] = {"auc": _pairs, "ada": _classes}


def risk_and_gains(
    loss: str, gamma: float, y: np.ndarray, weights: np.ndarray, f: np.ndarray
) -> tuple[float, np.ndarray]:
    """log R(f), and for each row -d log R / d f."""
    parts: dict[Mean, np.ndarray] = {}
    risk, slopes = 0.0, np.zeros(len(y))
    for weight, means in TERMS[loss](gamma, set(y.tolist())):
        for label, sign in means:
            own = np.where(y == label, weights, 0.0)
            parts[label, sign] = own / own.sum() * np.exp(sign * f)
        value = weight * np.prod([parts[mean].sum() for mean in means])
        risk += value
        for mean in means:
            slopes += value * mean[1] * parts[mean] / parts[mean].sum()
    return float(np.log(risk)), -slopes / risk
