"""The measurements of large-margin iterations, each run in a process of its own.

python isvm_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from isvm_problems import (
    clusters,
    engine,
    liblinear_optimum,
    load_set,
    pages,
    primal,
    quiet,
    solve,
    sparse_rows,
)
from running import peak_bytes, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_TOLS = tuple(10.0**-k for k in range(1, 9))
_PILOT = {"LinearSVC": 20, "SVC": 2000}  # iterations that tell how many fit into the limit
_WARM_UP = 300  # rows of the fit that is not timed


# ---- Peers at equal accuracy -----------------------------------------------------------------------------------------


def _linear_svc(X: Any, y: Any, C: float, tol: float, max_iter: int) -> Any:
    from sklearn.svm import LinearSVC  # noqa: PLC0415 (only where it is measured)

    machine = LinearSVC(loss="hinge", dual=True, C=C, intercept_scaling=1, tol=tol, max_iter=max_iter, random_state=0)
    return machine.fit(X, y)


def _svc(X: Any, y: Any, C: float, tol: float, max_iter: int) -> Any:
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    return SVC(kernel="linear", C=C, tol=tol, max_iter=max_iter, cache_size=500).fit(X, y)


_PEERS = {"LinearSVC": _linear_svc, "SVC": _svc}


def _svc_dual(X: Any, model: Any) -> float:
    """Return the dual objective of an SVC, as a maximum."""
    coef = np.asarray(model.dual_coef_).ravel()
    w = coef @ X[model.support_]
    return float(np.abs(coef).sum() - 0.5 * (w @ w))


def _n_iter(model: Any) -> int:
    return int(np.max(model.n_iter_))


class _Contest:
    """The times of fastpu and of its peers on one problem, each to the same relative accuracy of its own objective."""

    def __init__(self, X: Any, y: Any, C: float, accuracy: float, limit: float) -> None:
        self.X, self.y, self.C, self.accuracy, self.limit = X, y, C, accuracy, limit
        self.works: dict[str, Callable[[], Any]] = {}
        self.found: dict[str, dict[str, Any]] = {}

    def add_fastpu(self, n_threads: int) -> None:
        def work() -> dict[str, Any]:
            return solve(engine(self.X, n_threads), self.y, self.C, self.accuracy)

        found = work()
        excess = found["gap"] / found["objective"]
        reached = found["status"] == "gap"
        name = f"fastpu {n_threads}"
        self.found[name] = {"excess": excess, "n_iter": found["n_iter"], "reached": reached, "times": []}
        self.works[name] = work

    def add_peer(self, name: str) -> None:
        """Find the loosest tolerance that is as accurate, by fits that are no longer than the limit."""
        peer, few = _PEERS[name], self._few()
        peer(self.X[few], self.y[few], self.C, 1e-2, 1000)
        seconds, model = timed(partial(peer, self.X, self.y, self.C, _TOLS[-1], _PILOT[name]))
        most = max(_PILOT[name], int(self.limit / seconds * max(1, _n_iter(model))))
        optimum = self._optimum(name)
        for tol in _TOLS:
            work = partial(peer, self.X, self.y, self.C, tol, most)
            seconds, model = timed(work)
            if _n_iter(model) >= most and seconds < self.limit / 2:  # later iterations are cheaper than the first
                most = int(most * self.limit / seconds)
                work = partial(peer, self.X, self.y, self.C, tol, most)
                seconds, model = timed(work)
            excess = self._excess(name, model, optimum)
            reached = excess <= self.accuracy
            found = {"excess": excess, "n_iter": _n_iter(model), "reached": reached, "tol": tol, "times": []}
            self.found[name] = found
            if reached:
                self.works[name] = work
                return
            found["times"] = [seconds]
            if _n_iter(model) >= most:
                return

    def run(self, repeats: int) -> dict[str, Any]:
        """Return what was found, with the times of works that take turns."""
        for _ in range(repeats):
            for name, work in self.works.items():
                self.found[name]["times"].append(timed(work)[0])
        return {"contenders": self.found, "shape": list(self.X.shape)}

    def _few(self) -> NDArray[np.intp]:
        return np.concatenate([np.flatnonzero(self.y == label)[:_WARM_UP] for label in (1, -1)])

    def _optimum(self, name: str) -> float:
        tol = min(1e-9, 1e-3 * self.accuracy)
        if name == "LinearSVC":
            return liblinear_optimum(self.X, self.y, self.C, tol)
        found = solve(engine(self.X, 1), self.y, self.C, tol)
        return float(found["objective"])

    def _excess(self, name: str, model: Any, optimum: float) -> float:
        if name == "SVC":
            return (optimum - _svc_dual(self.X, model)) / optimum
        value = primal(self.X, self.y, self.C, model.coef_[0], float(model.intercept_[0]))
        return (value - optimum) / optimum


def hinge(*, n: int, d: int, C: float, threads: Sequence[int], repeats: int, limit: float) -> dict[str, Any]:
    """Seconds to a relative accuracy of 1e-6, dense rows."""
    X, y = clusters(n, d)
    contest = _Contest(X, y, C, 1e-6, limit)
    for n_threads in threads:
        contest.add_fastpu(n_threads)
    for name in _PEERS:
        contest.add_peer(name)
    return contest.run(repeats)


def text(
    *, n: int, n_words: int, C: float, accuracy: float, threads: Sequence[int], repeats: int, limit: float,
    data: str | None,
) -> dict[str, Any]:  # fmt: skip
    """Seconds to a relative accuracy, CSR rows: drawn, or pages of the web."""
    X, y = sparse_rows(n, n_words) if data is None else pages(data)
    contest = _Contest(X, y, C, accuracy, limit)
    for n_threads in threads:
        contest.add_fastpu(n_threads)
    contest.add_peer("LinearSVC")
    return {**contest.run(repeats), "nonzeros": int(X.nnz)}


def text_memory(*, n: int, n_words: int, C: float, accuracy: float, name: str) -> dict[str, Any]:
    """Peak memory of a fit of CSR rows above that of the interpreter with the library and the rows."""

    def fit(X: Any, y: Any) -> None:
        if name == "fastpu":
            solve(engine(X, 1), y, C, accuracy)
        else:
            _linear_svc(X, y, C, 1e-3, 1000)

    fit(*sparse_rows(_WARM_UP, n_words))
    baseline = peak_bytes()
    X, y = sparse_rows(n, n_words)
    with_rows = peak_bytes()
    fit(X, y)
    return {"rows": with_rows - baseline, "fit": peak_bytes() - with_rows, "nonzeros": int(X.nnz)}


# ---- Algorithm 1 -----------------------------------------------------------------------------------------------------


def _grid(every: int) -> NDArray[np.float64]:
    values: NDArray[np.float64] = 10.0 ** np.arange(-4, 4.05, 0.1)
    return values[::every]


def _iterate(X: Any, y: Any, C: float, solver_max_iter: int, *, tol: float = 1e-3, max_iter: int = 100) -> str:
    """Run Algorithm 1 with scikit-learn's SVC, and return how it ended, in fastpu's words."""
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    labelled = y > 0

    def costs(positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        n_positive = np.count_nonzero(positive)
        return np.where(positive, C / n_positive, C / (y.size - n_positive))

    def fit(positive: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        machine = SVC(kernel="linear", C=1, tol=1e-3, cache_size=500, max_iter=solver_max_iter)
        machine.fit(X, positive, sample_weight=costs(positive))
        return machine.decision_function(X), 0.5 * float(np.square(machine.coef_).sum())

    def value(scores: NDArray[np.float64], half_norm: float, positive: NDArray[np.bool_]) -> float:
        losses = np.maximum(1 - np.where(positive, scores, -scores), 0)
        return half_norm + float(costs(positive) @ losses)

    fitted, before = labelled, np.nan
    for k in range(max_iter + 1):
        scores, half_norm = fit(fitted)
        positive = labelled | (scores > 0)
        if positive.all():
            return "no_negative"
        after = value(scores, half_norm, positive)
        if k and after > value(scores, half_norm, fitted):
            return "increase"
        if k and np.array_equal(positive, fitted):
            return "labels"
        if k and abs(after - before) <= tol * before:
            return "tol"
        fitted, before = positive, after
    return "max_iter"


def spam(
    *, data: str, rows: int | None, threads: Sequence[int], every: int, peer_every: int, max_iter: int, repeats: int
) -> dict[str, Any]:
    """Seconds of Algorithm 1 for the costs of the paper's grid; the peer's for a part of it, scaled up."""
    import fastpu  # noqa: PLC0415 (only where it is measured)

    X, y = load_set(data, rows)
    grid = _grid(every)
    part = grid[::peer_every]
    fastpu.fit_isvm(X, y, C=1.0)
    _iterate(X, y, 1.0, max_iter)
    works: dict[str, Callable[[], Any]] = {
        f"fastpu {n_threads}": partial(fastpu.fit_isvm, X, y, C=grid, n_threads=n_threads) for n_threads in threads
    }
    works["SVC"] = lambda: [_iterate(X, y, C, max_iter) for C in part]
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, work in works.items():
            seconds, results[name] = timed(work)
            times[name].append(seconds)
    times["SVC"] = [seconds * grid.size / part.size for seconds in times["SVC"]]
    ours = [model.status for model in results[f"fastpu {threads[0]}"]][::peer_every]
    equal = sum(own == theirs for own, theirs in zip(ours, results["SVC"], strict=True))
    return {"seconds": times, "n_costs": grid.size, "n_part": part.size, "equal": equal, "shape": list(X.shape)}


# ---- IADMM -----------------------------------------------------------------------------------------------------------


def _copy_seconds(source: Any, target: Any, n_threads: int) -> float:
    bounds = np.linspace(0, len(source), n_threads + 1).astype(int)
    with ThreadPoolExecutor(n_threads) as pool:
        parts = [(target[a:b], source[a:b]) for a, b in pairwise(bounds)]

        def work() -> None:
            list(pool.map(lambda part: np.copyto(*part), parts))

        return timed(work)[0]


def iadmm(
    *, n: int, d: int, threads: Sequence[int], iterations: Sequence[int], repeats: int
) -> dict[str, Mapping[str, Any]]:
    """Seconds of an iteration, from the difference of a short and a long run, and of a copy of the same rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(n) > 0, np.int8(1), np.int8(-1))
    short, long = iterations
    engines = {n_threads: engine(X, n_threads) for n_threads in threads}
    target = np.zeros_like(X)
    steps: dict[str, list[float]] = {f"{n_threads}": [] for n_threads in threads}
    copies: dict[str, list[float]] = {f"{n_threads}": [] for n_threads in threads}
    for repeat in range(repeats + 1):  # the first warms up
        for n_threads, made in engines.items():
            seconds = {}
            for most in (short, long):
                run = partial(solve, made, y, 10.0 / n, 1e-15, solver="iadmm", max_iter=most)
                seconds[most], found = timed(run)
                if found["n_iter"] != most:
                    raise RuntimeError(f"IADMM ended after {found['n_iter']} iterations, not {most}")
            copied = _copy_seconds(X, target, n_threads)
            if repeat:
                steps[f"{n_threads}"].append((seconds[long] - seconds[short]) / (long - short))
                copies[f"{n_threads}"].append(copied)
    rates = {"iteration": {key: [X.nbytes / s for s in found] for key, found in steps.items()},
             "copy": {key: [2 * X.nbytes / s for s in found] for key, found in copies.items()}}  # fmt: skip
    return {"seconds": steps, **rates}


_MEASURES: dict[str, Callable[..., Mapping[str, Any]]] = {
    measure.__name__: measure for measure in (hinge, spam, text, text_memory, iadmm)
}


if __name__ == "__main__":
    quiet()
    print(json.dumps(_MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
