"""The measurements of PUAL, each run in a process of its own.

python pual_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from running import timed
from threadpoolctl import threadpool_limits

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LAMS = tuple(10.0**k for k in range(-4, 5))
_C_UNLS = (0.5, 0.3, 0.1, 0.05, 0.01)
_C_POSS = (0.1, 1.0, 10.0)
_SIGMA = 10.0
_PEER_TOL = 1e-6
_PEER_ITERATIONS = 20_000


def _rows(n: int, d: int, n_pos: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return rows of two groups, and labels 1 of n_pos rows of the first of them; the positives come first."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    X[: n_pos + (n - n_pos) // 3, 0] += 1.5
    return X, (np.arange(n) < n_pos).astype(np.int64)


# ---- The formulas in NumPy -------------------------------------------------------------------------------------------


class _Loop:
    """Each point by itself: only what depends on the rows alone is kept."""

    def __init__(self, X: Floats, y: NDArray[np.int64], gamma: float) -> None:
        squares = (X * X).sum(axis=1)
        self.K = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
        self.R = fastpu.knn_similarity(X, sigma=_SIGMA)[1]
        self.RK = self.R @ self.K
        self.is_unl = y == 0
        self.pos = np.flatnonzero(y == 1)

    def over(self, points: Sequence[tuple[float, float, float]]) -> list[tuple[float, float]]:
        """Fit every (lam, C_unl, C_pos)."""
        return [self.fit(C_pos, C_unl, lam) for lam, C_unl, C_pos in points]

    def fit(self, C_pos: float, C_unl: float, lam: float) -> tuple[float, float]:
        """Return the objective and the relative gap, after computing the coefficients of the scores too."""
        n, n_unl = len(self.K), int(self.is_unl.sum())
        s = np.where(self.is_unl, 2 * C_unl, 0.0)
        A = 2 * self.RK + s[:, None] * self.K
        A -= np.outer(s / s.sum(), s @ self.K)
        A[np.arange(n), np.arange(n)] += lam
        omega = np.zeros((n, self.pos.size))
        omega[self.pos, np.arange(self.pos.size)] = 1
        omega[self.is_unl] = -1 / n_unl
        a = np.linalg.solve(A, omega)
        scores = self.K @ a
        Q = scores[self.pos] - scores[self.is_unl].mean(axis=0) + 1 / (2 * C_unl * n_unl)
        alpha, objective, gap = _admm(0.5 * (Q + Q.T), C_pos)
        self.coef = a @ alpha
        return objective, gap / objective


def _admm(Q: Floats, C: float) -> tuple[Floats, float, float]:
    """Return alpha, the objective and the gap of min 1/2 a'Qa - 2 1'a over [0, C]."""
    n = len(Q)
    w, U = np.linalg.eigh(Q)
    w = np.maximum(w, 0)
    mu, over = n / w.sum(), 1.6
    h, u = np.zeros(n), np.zeros(n)
    objective = gap = np.inf
    for step in range(1, _PEER_ITERATIONS + 1):
        x = U.T @ (2 - h + u / mu)
        f = U @ (mu * w * x / (1 + mu * w)) - 1
        d = over * (1 - f) + (1 - over) * h + u / mu
        u, last_h = np.clip(mu * d, 0, C), h
        h = d - u / mu
        if step % 10:
            continue
        q_u = Q @ u
        objective = C * np.maximum(2 - q_u, 0).sum() + u @ q_u / 2
        gap = C * np.maximum(2 - q_u, 0).sum() - u @ (2 - q_u)
        if gap <= _PEER_TOL * objective:
            break
        primal = np.linalg.norm(1 - f - h) / max(np.linalg.norm(f), np.linalg.norm(h))
        dual = mu * np.linalg.norm(Q @ (h - last_h)) / np.linalg.norm(q_u)
        balance = np.sqrt(primal / dual)
        if step <= 2000 and np.isfinite(balance) and not 1 / 1.5 < balance < 1.5:
            mu *= np.clip(balance, 0.2, 5)
    return u, float(objective), float(gap)


# ---- Measures --------------------------------------------------------------------------------------------------------


def kernel(n: int, d: int, every: int, n_threads: int, repeats: int) -> dict[str, Any]:
    """Time a grid in one call, and some of its points by the loop."""
    n_pos = n // 4
    X, y = _rows(n, d, n_pos)
    gamma = 1 / (d * float(X.var()))
    points = list(product(_LAMS, _C_UNLS, _C_POSS))
    lams, C_unls, C_poss = (list(column) for column in zip(*points, strict=True))
    timed_points = points[::every]
    found: dict[str, Any] = {"n_pos": n_pos, "n_points": len(points), "n_timed": len(timed_points)}
    found |= {"ours": [], "peer": []}
    options = {"kernel": "rbf", "gamma": gamma, "sigma": _SIGMA, "n_threads": n_threads}
    fastpu.fit_pual(X[::20], y[::20], **options)
    for _ in range(repeats):
        seconds, models = timed(lambda: fastpu.fit_pual(X, y, C_pos=C_poss, C_unl=C_unls, lam=lams, **options))
        found["ours"].append(seconds)
        with threadpool_limits(n_threads, user_api="blas"):
            once, loop = timed(lambda: _Loop(X, y, gamma))
            seconds, values = timed(partial(loop.over, timed_points))
        found["peer"].append(once + seconds * len(points) / len(timed_points))
    found["our_gap"] = max(model.gap / float(model.objective[-1]) for model in models)
    found["peer_gap"] = max(gap for _, gap in values)
    found["apart"] = max(
        abs(float(model.objective[-1]) - objective) / objective
        for model, (objective, _) in zip(models[::every], values, strict=True)
    )
    return found


def linear(n: int, d: int, n_threads: int, repeats: int) -> dict[str, Any]:
    """Time fits of three costs, and the two products."""
    n_pos = n // 10
    X, y = _rows(n, d, n_pos)
    # Neighbours in three of the features: the search is not what is measured, and the graph is as sparse.
    graph = fastpu.knn_similarity(np.ascontiguousarray(X[:, :3]))
    costs = (0.1, 1.0, 100.0)
    found: dict[str, Any] = {"n_pos": n_pos, "gram": [], "sparse": [], "ours": {}, "gaps": {}}
    fastpu.fit_pual(X[:100], (np.arange(100) < 20).astype(int), n_threads=n_threads)
    for repeat in range(repeats + 1):  # the first warms up
        with threadpool_limits(n_threads, user_api="blas"):
            gram, _ = timed(lambda: X.T @ X)
        sparse, _ = timed(lambda: graph[1] @ X)
        if repeat:
            found["gram"].append(gram)
            found["sparse"].append(sparse)
        for cost in costs:
            seconds, model = timed(
                lambda cost=cost: fastpu.fit_pual(X, y, graph=graph, C_pos=cost, n_threads=n_threads)
            )
            if repeat:
                found["ours"].setdefault(f"{cost:g}", []).append(seconds)
            found["gaps"][f"{cost:g}"] = model.gap / float(model.objective[-1])
    return found


_MEASURES: dict[str, Callable[..., Mapping[str, Any]]] = {measure.__name__: measure for measure in (kernel, linear)}


if __name__ == "__main__":
    warnings.simplefilter("ignore", fastpu.DegenerateModelWarning)
    print(json.dumps(_MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
