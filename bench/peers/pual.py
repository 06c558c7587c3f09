"""fastpu's PUAL against NumPy, LAPACK and SciPy, at equal or better accuracy; their BLAS has as many threads.

kernel: PUAL with an rbf kernel, 2,000 x 20 rows, 500 of them labelled, over 9 values of lam, 5 of C_unl and 3 of C_pos,
in one call of fit_pual, against a loop that solves each point by the formulas of the derivation in NumPy: the kernel
matrix and R are computed once, then for every point (lam + S K) a = Omega by LAPACK (numpy.linalg.solve), Q, its
eigendecomposition, and the alternating direction method with a step that follows the residuals, to a relative duality
gap of 1e-6; fastpu goes to 1e-9. The loop gets each so-many-th point (`every`), and its time is scaled up.
linear: PUAL, 100,000 x 50 rows, 10,000 of them labelled, the graph given, against one product X'X in NumPy and one
product R X in SciPy.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, Timed, alternate, timed

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEEDS = ()
SETTINGS = {"n": 2000, "every": 8, "linear_n": 100_000, "repeats": 3}
QUICK = {"n": 120, "every": 45, "linear_n": 2000, "repeats": 1}
_LAMS = tuple(10.0**k for k in range(-4, 5))
_C_UNLS = (0.5, 0.3, 0.1, 0.05, 0.01)
_C_POSS = (0.1, 1.0, 10.0)
_SIGMA = 10.0
_PEER_TOL = 1e-6
_PEER_ITERATIONS = 20_000


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n_threads in run.threads:
        shared = {"n_threads": n_threads, "blas_threads": n_threads, "repeats": run.repeats}
        yield Case(kernel, n=run.n, d=20, every=run.every, **shared)
        yield Case(linear, n=run.linear_n, d=50, **shared)


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


def kernel(n: int, d: int, every: int, n_threads: int, repeats: int) -> list[Row]:
    """A grid of 135 kernel PUAL, a fourth of the rows labelled: the largest gap, and how far objectives are apart."""
    X, y = _rows(n, d, n // 4)
    gamma = 1 / (d * float(X.var()))
    points = list(product(_LAMS, _C_UNLS, _C_POSS))
    lams, C_unls, C_poss = (list(column) for column in zip(*points, strict=True))
    part = points[::every]
    options = {"kernel": "rbf", "gamma": gamma, "sigma": _SIGMA, "n_threads": n_threads}

    def ours() -> list[tuple[float, float]]:
        models = fastpu.fit_pual(X, y, C_pos=C_poss, C_unl=C_unls, lam=lams, **options)
        return [(float(model.objective[-1]), model.gap / float(model.objective[-1])) for model in models]

    def loop() -> Timed:
        once, shared = timed(lambda: _Loop(X, y, gamma))
        seconds, found = timed(partial(shared.over, part))
        return Timed(once + seconds * len(points) / len(part), found)

    exact = [objective for objective, _ in ours()[::every]]

    def judge(name: str, found: list[tuple[float, float]]) -> Row:
        objectives = [objective for objective, _ in (found[::every] if name == "fastpu" else found)]
        apart = max(abs(a - b) / b for a, b in zip(exact, objectives, strict=True))
        n_timed = len(points) if name == "fastpu" else len(part)
        return {"points timed": n_timed, "largest gap": max(gap for _, gap in found), "objectives apart": apart}

    return alternate(
        {"fastpu": ours, "NumPy": loop},
        repeats,
        warm_up={"NumPy": partial(_Loop, X[::20], y[::20], gamma)},
        judge=judge,
    )


def linear(n: int, d: int, n_threads: int, repeats: int) -> list[Row]:
    """Linear PUAL, a tenth of the rows labelled, the graph given."""
    X, y = _rows(n, d, n // 10)
    # Neighbours in three of the features: the search is not what is measured, and the graph is as sparse.
    graph = fastpu.knn_similarity(np.ascontiguousarray(X[:, :3]))

    works: dict[str, Callable[[], Any]] = {
        f"fastpu, C_pos = {cost:g}": partial(fastpu.fit_pual, X, y, graph=graph, C_pos=cost, n_threads=n_threads)
        for cost in (0.1, 1.0, 100.0)
    }
    works["X'X in NumPy and R X in SciPy"] = lambda: (X.T @ X, graph[1] @ X)

    def gap(name: str, model: Any) -> Row:
        return {"gap": model.gap / float(model.objective[-1])} if name.startswith("fastpu") else {}

    return alternate(works, repeats, judge=gap)
