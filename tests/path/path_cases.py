"""Training sets and certificates that the tests of the SVM paths share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import fastpu
from oracles import svm as svm_oracle
from oracles import svm_path as oracle

#: Above the precision floor y f is certain to this much, the rounding of K a / lam being 1e-16 / 1e-8 of it at most.
KKT_TOL = 1e-8

#: Where lam is not near the floor.
CLOSE = 1e-9

KERNELS = {"linear": {"kernel": "linear"}, "rbf": {"kernel": "rbf", "gamma": 0.5}}


def normal_rows(seed: int, n: int = 40, d: int = 2, *, share: float = 0.4, apart: float = 1.0):
    """Two overlapping normal classes; rows and labels."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, -1).astype(np.int8)
    y[:4] = 1, -1, 1, -1
    return rng.normal(size=(n, d)) + apart * (y[:, None] > 0), y


def costs_of(kind: str, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Equal costs, random ones, or positives that must be right."""
    if kind == "equal":
        return np.ones(len(y))
    if kind == "random":
        return np.random.default_rng(seed).uniform(0.2, 3.0, len(y))
    return np.where(y > 0, np.inf, 1.0)


def kernel_of(path: fastpu.models.SVMPath, X: np.ndarray) -> np.ndarray:
    """K of the rows of the path by its formula."""
    X = np.asarray(X, dtype=np.float64)[path.rows]
    return svm_oracle.kernel_matrix(
        X, kernel=path.kernel, gamma=path.gamma or 1.0, degree=path.degree, coef0=path.coef0
    )


def floor_of(path: fastpu.models.SVMPath, K: np.ndarray) -> float:
    """Below this lam the rounding of scores is no longer small beside the margin."""
    return 1e-6 * float((np.abs(K) @ path.start_alpha).max())


def points(path: fastpu.models.SVMPath, above: float) -> Iterator[tuple[float, np.ndarray, float]]:
    """lam, a and a0 at the breakpoints above a lam, half way between, and above the first one."""
    alphas = [path.alpha_at(k) for k in range(path.knots.size)]
    knots, offsets = path.knots, path.offsets
    if knots[0] >= above:
        yield 2 * knots[0], path.start_alpha, offsets[0] + path.heavier * knots[0]
    for k in range(path.lams.size):
        if knots[k] >= above:
            yield knots[k], alphas[k], offsets[k]
        if k + 1 < knots.size and (knots[k] + knots[k + 1]) / 2 >= above:
            yield (knots[k] + knots[k + 1]) / 2, (alphas[k] + alphas[k + 1]) / 2, (offsets[k] + offsets[k + 1]) / 2


def worst_violation(path: fastpu.models.SVMPath, X: np.ndarray, *, every: int = 1) -> float:
    """The largest violation of the optimality conditions along the path, above the floor, at every so many points."""
    K, y = kernel_of(path, X), path.labels.astype(np.float64)
    chosen = list(points(path, floor_of(path, K)))
    chosen = chosen[::every] + chosen[-2:]
    return max((oracle.violation(K, y, path.costs, a, a0, lam) for lam, a, a0 in chosen), default=0.0)
