"""The measurements of SVMs, each run in a process of its own.

python svm_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import peak_bytes, timed
from svm_machines import machine
from svm_problems import Problem, classification, judge, make_problem, tuned_set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_WARM_UP = 300  # rows of the fit that is not timed


def _alternate(works: Mapping[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Return the seconds of all works, which take turns, and the first result of each."""
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, work in works.items():
            seconds, result = timed(work)
            times[name].append(seconds)
            results.setdefault(name, result)
    return times, results


def fits(*, names: Sequence[str], repeats: int, **options: Any) -> dict[str, Any]:
    """Seconds of a fit, and how good its solution is."""
    problem = make_problem(**options)
    works = {}
    for name in names:
        library = machine(name)
        library.fit(library.prepare(problem.start(_WARM_UP)))
        works[name] = partial(library.fit, library.prepare(problem))
    times, models = _alternate(works, repeats)
    solutions = {name: machine(name).solution(problem, model) for name, model in models.items()}
    quality = {name: judge(problem, solution) for name, solution in solutions.items()}
    n_support = {name: solution.n_support for name, solution in solutions.items()}
    return {"seconds": times, "quality": quality, "n_support": n_support, "shape": problem.X.shape}


def scoring(*, names: Sequence[str], repeats: int, **options: Any) -> dict[str, Any]:
    """Seconds to score rows, each library by the model that it has fitted itself."""
    problem = make_problem(**options)
    works, n_support = {}, {}
    for name in names:
        library = machine(name)
        own = library.prepare(problem)
        model = library.fit(own)
        n_support[name] = library.solution(problem, model).n_support
        library.scores(model, own.test[:_WARM_UP])
        works[name] = partial(library.scores, model, own.test)
    times, scores = _alternate(works, repeats)
    reference = scores[names[-1]]
    difference = {name: float(np.abs(found - reference).max()) for name, found in scores.items()}
    return {"seconds": times, "n_support": n_support, "difference": difference, "shape": problem.test.shape}


# ---- Mapping convergence ---------------------------------------------------------------------------------------------


def _f1(truth: NDArray[np.int8], positive: NDArray[np.bool_]) -> float:
    hits = np.count_nonzero(positive & (truth > 0))
    return float(2 * hits / max(1, np.count_nonzero(positive) + np.count_nonzero(truth > 0)))


def _mapping_works(
    X: Any, y: NDArray[np.int8], truth: NDArray[np.int8], shared: Mapping[str, Any], threads: Sequence[int]
) -> dict[str, Callable[[], Any]]:
    """Return what is timed: SVMC with and without its repair, SMC, and one SVM that is told the negatives."""
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)
    from svm_mapping import map_and_converge  # noqa: PLC0415 (only where it is measured)

    import fastpu  # noqa: PLC0415 (only where it is measured)

    told = (y > 0) | (truth < 0)
    works: dict[str, Callable[[], Any]] = {}
    for n_threads in threads:
        own = {**shared, "n_threads": n_threads}
        works[f"fastpu {n_threads}: SVMC"] = partial(fastpu.fit_svmc, X, y, **own)
        works[f"fastpu {n_threads}: SVMC, no repair"] = partial(fastpu.fit_svmc, X, y, repair=False, **own)
        works[f"fastpu {n_threads}: SMC"] = partial(fastpu.fit_smc, X, y, **own)
        works[f"fastpu {n_threads}: one SVM"] = partial(fastpu.fit_svm, X[told], truth[told], **own)
    loop = {key: value for key, value in shared.items() if key != "cache_mb"} | {"cache_size": shared["cache_mb"]}
    works["scikit-learn: SVMC"] = partial(map_and_converge, X, y, reset=True, repair=True, **loop)
    works["scikit-learn: SVMC, no repair"] = partial(map_and_converge, X, y, reset=True, **loop)
    works["scikit-learn: SMC"] = partial(map_and_converge, X, y, reset=False, **loop)
    works["scikit-learn: one SVM"] = lambda: SVC(**loop).fit(X[told], truth[told])
    return works


def _half_hidden(rows: str, data: str, n_rows: int | None, seed: int) -> tuple[Any, NDArray[np.int8], NDArray[np.int8]]:
    """Return rows, labels of half of the positives, and all labels."""
    from svm_mapping import split_half  # noqa: PLC0415 (only where it is measured)

    X, truth = tuned_set(rows, data, n_rows)
    return X, split_half(truth, seed), truth


def mapping(
    *, rows: str, data: str, n_rows: int | None, threads: Sequence[int], repeats: int, **shared: Any
) -> dict[str, Any]:
    """Seconds of mapping convergence and of what it is compared with, and F1 of the last boundary on all of U."""
    X, y, truth = _half_hidden(rows, data, n_rows, seed=0)
    few = np.sort(np.concatenate([np.flatnonzero(y > 0)[:50], np.flatnonzero(y == 0)[:_WARM_UP]]))
    for work in _mapping_works(X[few], y[few], truth[few], shared, threads).values():
        work()
    times, models = _alternate(_mapping_works(X, y, truth, shared, threads), repeats)
    unl = y == 0
    quality, n_fits = {}, {}
    for name, model in models.items():
        judged = getattr(model, "model", model)  # of the loop with scikit-learn
        quality[name] = _f1(truth[unl], judged.decision_function(X[unl]) >= 0)
        n_fits[name] = _n_fits(name, model)
    shape = {"n_pos": int(np.count_nonzero(y > 0)), "n_unl": int(np.count_nonzero(unl))}
    return {"seconds": times, "f1": quality, "n_fits": n_fits, **shape}


def _n_fits(name: str, model: Any) -> int:
    return 1 if name.endswith("one SVM") else int(getattr(model, "n_fits", getattr(model, "n_iter", 0)))


def agreement(
    *, rows: Sequence[str], data: str, n_rows: int | None, n_threads: int, tols: Sequence[float], **shared: Any
) -> dict[str, Any]:
    """Share of U on which the rows that SVMC never rejects agree with those of the loop with scikit-learn.

    Without repair, both with the same tolerance of the solver; and with scikit-learn's own at the first and last one.
    """
    from svm_mapping import map_and_converge  # noqa: PLC0415 (only where it is measured)

    import fastpu  # noqa: PLC0415 (only where it is measured)

    own = {**shared, "n_threads": n_threads}
    loop = {key: value for key, value in shared.items() if key != "cache_mb"} | {"cache_size": shared["cache_mb"]}
    between: dict[str, dict[str, float]] = {}
    itself: dict[str, float] = {}
    for name in rows:
        X, y, _ = _half_hidden(name, data, n_rows, seed=0)
        theirs = {tol: map_and_converge(X, y, reset=True, tol=tol, **loop).unlabeled_set for tol in tols}
        ours = {tol: fastpu.fit_svmc(X, y, repair=False, tol=tol, **own).unlabeled_set for tol in tols}
        between[name] = {f"{tol:g}": float(np.mean(ours[tol] == theirs[tol])) for tol in tols}
        itself[name] = float(np.mean(theirs[tols[0]] == theirs[tols[-1]]))
    return {"between": between, "itself": itself}


# ---- Bagging ---------------------------------------------------------------------------------------------------------


def bagging(
    *, n: int, n_pos: int, n_bags: int, bag_size: int, threads: Sequence[int], repeats: int, n_test: int, **shared: Any
) -> dict[str, Any]:
    """Seconds of a bagging SVM, out-of-bag scores included, and its AUC on other rows."""
    from pulearn import BaggingPuClassifier  # noqa: PLC0415 (only where it is measured)
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    import fastpu  # noqa: PLC0415 (only where it is measured)

    X, truth = classification(n + n_test)
    X, test, truth, test_truth = X[:n], X[n:], truth[:n], truth[n:]
    y = np.zeros(n, dtype=np.int8)
    y[np.flatnonzero(truth > 0)[:n_pos]] = 1
    kernel = shared["kernel"]
    costs = {1: 1.0, 0: n_pos / bag_size}  # what Mordelet and Vert choose: both groups weigh the same

    def ours(rows: NDArray[np.intp], n_threads: int, n_estimators: int, size: int) -> Any:
        own = {"cache_mb": shared["cache_mb"], "tol": shared["tol"], "n_threads": n_threads, "random_state": 0}
        return fastpu.fit_bagging_svm(
            X[rows], y[rows], C=shared["C"], n_estimators=n_estimators, bag_size=size, **kernel, **own
        )

    def theirs(rows: NDArray[np.intp], n_jobs: int, n_estimators: int, size: int) -> Any:
        estimator = SVC(C=shared["C"], class_weight=costs, cache_size=shared["cache_mb"], tol=shared["tol"], **kernel)
        ensemble = BaggingPuClassifier(
            estimator, n_estimators=n_estimators, max_samples=size, n_jobs=n_jobs, random_state=0
        )
        return ensemble.fit(X[rows], y[rows])

    works: dict[str, Callable[[], Any]] = {}
    few = np.concatenate([np.flatnonzero(y > 0)[:30], np.flatnonzero(y == 0)[:100]])
    for name, work in (("fastpu", ours), ("pulearn", theirs)):
        for n_workers in threads:
            work(few, n_workers, 2, 30)
            works[f"{name} {n_workers}"] = partial(work, np.arange(n), n_workers, n_bags, bag_size)
    times, models = _alternate(works, repeats)
    quality = {name: fastpu.metrics.auc(test_truth, model.decision_function(test)) for name, model in models.items()}
    return {"seconds": times, "auc": quality}


# ---- Memory ----------------------------------------------------------------------------------------------------------


def memory(*, n: int, name: str, form: str, cache_mb: float) -> dict[str, Any]:
    """Peak memory of a fit above that of the interpreter with the library; the rows are part of it."""
    library = machine(name)
    library.fit(library.prepare(_plain_problem(300, form, cache_mb)))
    baseline = peak_bytes()
    problem = _plain_problem(n, form, cache_mb)
    with_rows = peak_bytes()
    model = library.fit(problem)
    found = {"rows": with_rows - baseline, "peak": peak_bytes() - baseline, "matrix": _bytes(problem.X)}
    return {**found, "n_support": int(library.coefficients(model)[0].size)}


def _plain_problem(n: int, form: str, cache_mb: float) -> Problem:
    """Return rows that are drawn in place, so that they cost no more than what they are."""
    import scipy.sparse as sp  # noqa: PLC0415 (only where it is measured)

    rng = np.random.default_rng(0)
    X: Any
    if form == "csr":
        n_words, per_row = 5000, 40
        indices = rng.integers(0, n_words // per_row, (n, per_row), dtype=np.int32)
        indices += np.arange(0, n_words, n_words // per_row, dtype=np.int32)
        data = rng.random(n * per_row)
        X = sp.csr_array((data, indices.ravel(), np.arange(0, data.size + 1, per_row, dtype=np.int32)),
                         shape=(n, n_words))  # fmt: skip
        y = np.where(rng.random(n) < 0.5, np.int8(1), np.int8(-1))
        kernel: dict[str, Any] = {"kernel": "rbf", "gamma": 0.1}
    else:
        X = rng.standard_normal((n, 20))
        y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0, np.int8(1), np.int8(-1))
        kernel = {"kernel": "rbf", "gamma": 0.05}
    return Problem("c_svm", X, y, X[:0], 1.0, kernel, 1e-3, cache_mb)


def _bytes(X: Any) -> int:
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


_MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    measure.__name__: measure for measure in (fits, scoring, mapping, agreement, bagging, memory)
}


if __name__ == "__main__":
    print(json.dumps(_MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
