"""fastpu's large-margin engine and ISVM against scikit-learn, at equal accuracy.

hinge: an SVM with hinge loss, 20,000 x 50 rows, to a relative duality gap of 1e-6, the engine's construction included;
liblinear (LinearSVC) and libsvm (SVC) with the loosest tol, 1e-1 to 1e-8, that takes their own objective as close to
its optimum. A run that would take longer than `limit` seconds is capped, by max_iter: it has not reached its optimum.
spam: Algorithm 1 over 81 values of C on SPAM of --data (spambase.csv.gz), 200 rows and all, against the same loop over
SVC(kernel="linear", tol=1e-3); with all rows the loop gets every tenth C only, and its time is scaled up. For small
C that tol is coarse, and statuses differ.
text: CSR, 10,000 x 50,000, and the pages of students of --data (webkb7.jsonl.gz); time, and memory a nonzero.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from isvm_problems import liblinear_optimum, load_set, pages, primal, solve, sparse_rows
from running import Case, Row, Timed, alternate, peak_bytes, timed
from workload import classes

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("sklearn",)
SETTINGS = {
    "n": 20_000,  # rows of the hinge problem
    "limit": 60.0,  # seconds of a peer's run, about
    "spam_rows": [200, None],
    "every": 1,  # of the 81 values of C, take each so-many-th
    "text_n": 10_000,
    "words": 50_000,
    "documents": [100_000, 200_000],  # rows and words of fits as shipped
    "repeats": 5,  # the loop over SVC on all of SPAM has one
}
QUICK = {"n": 300, "limit": 0.5, "spam_rows": [60, 100], "every": 20, "text_n": 300, "words": 1000,
         "documents": [300, 1000], "repeats": 1}  # fmt: skip


def cases(run: SimpleNamespace) -> Iterator[Case]:
    shared = {"threads": run.threads, "repeats": run.repeats}
    for cost in (0.01, 1.0, 100.0):
        yield Case(hinge, n=run.n, d=50, C=cost, accuracy=1e-6, limit=run.limit, **shared)
    for rows, part in zip(run.spam_rows, (1, 10), strict=True) if run.data else ():
        yield Case(spam, data=run.data, rows=rows, every=run.every, peer_every=part, threads=run.threads,
                   repeats=run.repeats if part == 1 else 1)  # fmt: skip
    size = {"n": run.text_n, "n_words": run.words}
    for rows, data in (("drawn", None), ("student", run.data)) if run.data else (("drawn", None),):
        for accuracy in (1e-3, 1e-6):
            yield Case(text, rows=rows, **size, C=1.0, accuracy=accuracy, limit=run.limit, data=data, **shared)
        for cost in (0.01, 1.0, 100.0):
            yield Case(shipped, rows=rows, shape=run.documents, C=cost, data=data, **shared)
    for name in ("fastpu", "LinearSVC"):
        for n in (run.text_n, 4 * run.text_n):
            yield Case(text_memory, n=n, n_words=run.words, C=1.0, accuracy=1e-3, name=name, n_threads=max(run.threads))


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
        self.found: dict[str, Row] = {}

    def add_fastpu(self, n_threads: int) -> None:
        work = partial(solve, self.X, self.y, self.C, self.accuracy, n_threads)
        found = work()
        name = f"fastpu {n_threads}"
        self.found[name] = {"": name, "excess": found.gap / found.objective, "reached": found.status == "gap"}
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
            self.found[name] = {"": name, "seconds": [seconds], "excess": excess, "reached": reached, "tol": tol}
            if reached:
                self.works[name] = work
                return
            if _n_iter(model) >= most:
                return

    def run(self, repeats: int) -> list[Row]:
        """Return what was found, with the times of those that are accurate, which take turns."""
        timed_rows = {row[""]: row for row in alternate(self.works, repeats, warm_up={})}
        return [{**row, **timed_rows.get(name, {})} for name, row in self.found.items()]

    def _few(self) -> NDArray[np.intp]:
        return np.concatenate([np.flatnonzero(self.y == label)[:_WARM_UP] for label in (1, -1)])

    def _optimum(self, name: str) -> float:
        tol = min(1e-9, 1e-3 * self.accuracy)
        if name == "LinearSVC":
            return liblinear_optimum(self.X, self.y, self.C, tol)
        return solve(self.X, self.y, self.C, tol, n_threads=1).objective

    def _excess(self, name: str, model: Any, optimum: float) -> float:
        if name == "SVC":
            return (optimum - _svc_dual(self.X, model)) / optimum
        value = primal(self.X, self.y, self.C, model.coef_[0], float(model.intercept_[0]))
        return (value - optimum) / optimum


def hinge(
    *, n: int, d: int, C: float, accuracy: float, threads: Sequence[int], repeats: int, limit: float
) -> list[Row]:
    """An SVM with hinge loss on dense rows, to a relative accuracy.

    Each by its own objective: LinearSVC by the primal one, with the intercept penalised, SVC by the dual one.
    """
    contest = _Contest(*classes(n, d), C, accuracy, limit)
    for n_threads in threads:
        contest.add_fastpu(n_threads)
    for name in _PEERS:
        contest.add_peer(name)
    return contest.run(repeats)


def text(
    *, rows: str, n: int, n_words: int, C: float, accuracy: float, threads: Sequence[int], repeats: int, limit: float,
    data: str | None,
) -> list[Row]:  # fmt: skip
    """An SVM with hinge loss on CSR rows, drawn or pages of the web, to a relative accuracy."""
    contest = _Contest(*(sparse_rows(n, n_words) if rows == "drawn" else pages(str(data))), C, accuracy, limit)
    for n_threads in threads:
        contest.add_fastpu(n_threads)
    contest.add_peer("LinearSVC")
    return contest.run(repeats)


def shipped(
    *, rows: str, shape: tuple[int, int], C: float, threads: Sequence[int], repeats: int, data: str | None
) -> list[Row]:
    """Linear SVMs with hinge loss on CSR rows at each library's own tol, judged by fastpu's objective.

    LinearSVC penalises its intercept.
    """
    from sklearn.svm import LinearSVC  # noqa: PLC0415 (only where it is measured)

    X, y = sparse_rows(*shape) if rows == "drawn" else pages(str(data))

    def judge(_: str, model: Any) -> Row:
        b = float(np.ravel(model.intercept if hasattr(model, "intercept") else model.intercept_)[0])
        w = np.ravel(model.coef if hasattr(model, "coef") else model.coef_)
        return {"objective": primal(X, y, C, w, b) - 0.5 * b * b}

    works: dict[str, Callable[[], Any]] = {
        f"fastpu {n_threads}": partial(fastpu.baselines.fit_svm, X, y, C=C, kernel="linear", n_threads=n_threads)
        for n_threads in threads
    }
    works["LinearSVC"] = partial(LinearSVC(loss="hinge", C=C, random_state=0).fit, X, y)
    return alternate(works, repeats, warm_up={}, judge=judge)


def text_memory(*, n: int, n_words: int, C: float, accuracy: float, name: str, n_threads: int) -> list[Row]:
    """Peak memory of a fit of CSR rows above that of the interpreter with the rows."""

    def fit(X: Any, y: Any) -> None:
        if name == "fastpu":
            solve(X, y, C, accuracy, n_threads=1)
        else:
            _linear_svc(X, y, C, 1e-3, 1000)

    fit(*sparse_rows(_WARM_UP, n_words))
    X, y = sparse_rows(n, n_words)
    with_rows = peak_bytes()
    fit(X, y)
    spent = peak_bytes() - with_rows
    return [{"nonzeros": int(X.nnz), "fit, MB of 2^20 bytes": spent / 2**20, "fit, bytes a nonzero": spent / X.nnz}]


# ---- Algorithm 1 -----------------------------------------------------------------------------------------------------


def iterate(X: Any, y: Any, C: float, machine: Any, *, tol: float = 1e-3, max_iter: int = 100) -> str:
    """Run Algorithm 1 with a linear SVM of scikit-learn, and return how it ended, in fastpu's words."""
    labelled = y > 0

    def costs(positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        n_positive = np.count_nonzero(positive)
        return np.where(positive, C / n_positive, C / (y.size - n_positive))

    def fit(positive: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
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
    *, data: str, rows: int | None, threads: Sequence[int], every: int, peer_every: int, repeats: int
) -> list[Row]:
    """Algorithm 1 (ISVM) on SPAM over the paper's 81 values of C, and where its status is that of the loop over SVC."""
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    X, y = load_set(data, rows)
    grid = (10.0 ** np.arange(-4, 4.05, 0.1))[::every]
    part = grid[::peer_every]
    svc = SVC(kernel="linear", C=1, tol=1e-3, cache_size=500, max_iter=10_000_000)

    def ours(n_threads: int) -> list[str]:
        return [model.status for model in fastpu.fit_isvm(X, y, C=grid, n_threads=n_threads)][::peer_every]

    def loop() -> Timed:
        seconds, found = timed(lambda: [iterate(X, y, C, svc) for C in part])
        return Timed(seconds * grid.size / part.size, found)

    expected = ours(threads[0])
    return alternate(
        {**{f"fastpu {n_threads}": partial(ours, n_threads) for n_threads in threads}, "loop over SVC": loop},
        repeats,
        warm_up={"loop over SVC": partial(iterate, X, y, 1.0, svc)},
        judge=lambda _, found: {
            "equal statuses": sum(a == b for a, b in zip(expected, found, strict=True)), "of": part.size,
        },
    )  # fmt: skip
