"""fastpu's SVMs and mapping convergence against scikit-learn and pulearn.

Rows: n x 20 of make_classification (10 informative features, 3 clusters a class, 2 % of the labels flipped), rbf kernel
with gamma 0.05, tol 1e-3, cache 500 MB. With the folder of --data (letter.csv.gz, webkb7.jsonl.gz) also a letter of
Letter recognition in [0, 1], for mapping convergence with gamma 1 and C = 100, half of the positives labelled, and the
pages of students as TF-IDF in CSR, each against the rest. scikit-learn has no threads to give an SVM; if
scikit-learn-intelex is installed, whose C-SVMs have, it takes part in fits and scores.
Solutions are judged by the dual objective and the KKT violation, both computed in float64 from alpha alone.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, alternate, is_there, peak_bytes
from svm_machines import machine
from svm_problems import judge, make_problem, plain_problem, tuned_set
from workload import classes

import fastpu

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))  # the loop over scikit-learn is an oracle there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("sklearn",)
SETTINGS = {
    "n": [2000, 8000, 20_000],  # rows of the fits; the last but one also for scores
    "cache_mb": 500.0,
    "test_n": 20_000,  # rows to score
    "bagging_n": 5000,  # rows of the bagging SVM, a tenth of them labelled
    "bags": 35,
    "memory_n": 20_000,
    "data_rows": None,  # of the sets of --data; all by default
    "repeats": 5,
}
QUICK = {"n": [200], "repeats": 1, "cache_mb": 2.0, "test_n": 100, "bagging_n": 300, "bags": 3, "memory_n": 500,
         "data_rows": 600}  # fmt: skip
_PEER = "scikit-learn"
_RBF = {"kernel": "rbf", "gamma": 0.05}
_LETTER = {"kernel": "rbf", "gamma": 1.0}
_WARM_UP = 300  # rows of the fit that is not timed


def cases(run: SimpleNamespace) -> Iterator[Case]:
    names = [f"fastpu {dtype} {n}" for n in run.threads for dtype in ("float64", "float32")] + [_PEER]
    if find_spec("sklearnex") is not None:
        names += [f"{_PEER}-intelex {n}" for n in run.threads]
    shared = {"tol": 1e-3, "cache_mb": run.cache_mb, "threads": run.threads}
    timed = {**shared, "repeats": run.repeats, "names": names}
    libsvm = {**timed, "names": [name for name in names if "intelex" not in name]}
    real = {"data": run.data, "n_rows": run.data_rows}
    for n in run.n:
        for cost in (1.0, 100.0):
            yield Case(fits, kind="c_svm", rows=n, parameter=cost, kernel=_RBF, **timed)
        yield Case(fits, kind="one_class", rows=n, parameter=0.1, kernel=_RBF, **libsvm)
        yield Case(fits, kind="nu_svm", rows=n, parameter=0.2, kernel=_RBF, **libsvm)
    n, scored = run.n[-2:][0], {"n_test": run.test_n}
    yield Case(scores, kind="c_svm", rows=n, parameter=1.0, kernel=_RBF, **timed, **scored)
    if run.data:
        yield Case(fits, kind="c_svm", rows="student", parameter=1.0, kernel={"kernel": "linear"}, **real, **timed)
        yield Case(mapping, rows="letter-A", C=100.0, **_LETTER, **real, **shared, repeats=run.repeats)
    n = run.bagging_n  # bags as large as the labelled rows are many, and pulearn's default, as all unlabelled rows
    for bag_size in (n // 10, n - n // 10) if is_there("pulearn", "svm", "bagging") else ():
        yield Case(bagging, n=n, n_pos=n // 10, n_bags=run.bags, bag_size=bag_size, C=1.0, n_test=run.test_n,
                   repeats=run.repeats, **_RBF, **shared)  # fmt: skip
    for name in (*(f"fastpu float64 {n_threads}" for n_threads in run.threads), _PEER):
        # a cache that the kernel rows of the support vectors overflow
        yield Case(memory, n=run.memory_n, name=name, cache_mb=min(100.0, run.cache_mb), n_threads=max(run.threads))


# ---- Fits and scores -------------------------------------------------------------------------------------------------


def fits(*, names: Sequence[str], threads: Sequence[int], repeats: int, **options: Any) -> list[Row]:
    """A fit: dual objective, KKT violation, support vectors."""
    problem = make_problem(**options)
    libraries = {name: machine(name) for name in names}
    start = problem.start(_WARM_UP)

    def quality(name: str, model: Any) -> Row:
        solution = libraries[name].solution(problem, model)
        return {**judge(problem, solution), "support vectors": solution.n_support}

    rows = alternate(
        {name: partial(library.fit, library.prepare(problem)) for name, library in libraries.items()},
        repeats,
        warm_up={name: partial(library.fit, library.prepare(start)) for name, library in libraries.items()},
        judge=quality,
    )
    best = min(row["objective"] for row in rows)
    return [{**row, "relative excess": (row["objective"] - best) / max(abs(best), 1e-300)} for row in rows]


def scores(*, names: Sequence[str], threads: Sequence[int], repeats: int, **options: Any) -> list[Row]:
    """Scores of other rows, each library by its own model."""
    problem = make_problem(**options)
    works, warm_up, n_support = {}, {}, {}
    for name in names:
        library = machine(name)
        own = library.prepare(problem)
        model = library.fit(own)
        n_support[name] = library.solution(problem, model).n_support
        works[name] = partial(library.scores, model, own.test)
        warm_up[name] = partial(library.scores, model, own.test[:_WARM_UP])
    reference = works[_PEER]()
    return alternate(
        works,
        repeats,
        warm_up=warm_up,
        judge=lambda name, found: {
            "support vectors": n_support[name],
            "largest difference from scikit-learn": float(np.abs(found - reference).max()),
        },
    )


# ---- Mapping convergence ---------------------------------------------------------------------------------------------


def _half_hidden(rows: str, data: str, n_rows: int | None) -> tuple[Any, NDArray[np.int8], NDArray[np.int8]]:
    """Return rows, labels +1 of a random half of the positives and 0 of all others, and all labels."""
    X, truth = tuned_set(rows, data, n_rows)
    positives = np.flatnonzero(truth > 0)
    y = np.zeros(truth.size, dtype=np.int8)
    y[np.random.default_rng(0).permutation(positives)[: positives.size // 2]] = 1
    return X, y, truth


def _for_scikit_learn(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"cache_size" if key == "cache_mb" else key: value for key, value in options.items()}


def _mapping_works(
    X: Any, y: NDArray[np.int8], truth: NDArray[np.int8], shared: Mapping[str, Any], threads: Sequence[int]
) -> dict[str, Callable[[], Any]]:
    """Return what is timed: SVMC with and without its repair, SMC, and one SVM that is told the negatives."""
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    from oracles.mapping_convergence import mapping_convergence  # noqa: PLC0415 (imports scikit-learn)

    told = (y > 0) | (truth < 0)
    works: dict[str, Callable[[], Any]] = {}
    for n_threads in threads:
        own = {**shared, "n_threads": n_threads}
        works[f"fastpu {n_threads}: SVMC"] = partial(fastpu.fit_svmc, X, y, **own)
        works[f"fastpu {n_threads}: SVMC, no repair"] = partial(fastpu.fit_svmc, X, y, repair=False, **own)
        works[f"fastpu {n_threads}: SMC"] = partial(fastpu.fit_smc, X, y, **own)
        works[f"fastpu {n_threads}: one SVM"] = partial(fastpu.baselines.fit_svm, X[told], truth[told], **own)
    loop = _for_scikit_learn(shared)
    works["scikit-learn: SVMC"] = partial(mapping_convergence, X, y, reset=True, repair=True, **loop)
    works["scikit-learn: SVMC, no repair"] = partial(mapping_convergence, X, y, reset=True, **loop)
    works["scikit-learn: SMC"] = partial(mapping_convergence, X, y, reset=False, **loop)
    works["scikit-learn: one SVM"] = lambda: SVC(**loop).fit(X[told], truth[told])
    return works


def mapping(
    *, rows: str, data: str, n_rows: int | None, threads: Sequence[int], repeats: int, **shared: Any
) -> list[Row]:
    """Mapping convergence, and one SVM that is told the negatives: fits, and F1 of the last boundary on all of U."""
    X, y, truth = _half_hidden(rows, data, n_rows)
    few = np.sort(np.concatenate([np.flatnonzero(y > 0)[:50], np.flatnonzero(y == 0)[:_WARM_UP]]))
    unl = y == 0

    def quality(name: str, model: Any) -> Row:
        n_fits = 1 if name.endswith("one SVM") else model.n_iter
        positive = model.decision_function(X[unl]) >= 0
        return {"fits": n_fits, "F1": fastpu.metrics.f1(truth[unl], positive)}

    return alternate(
        _mapping_works(X, y, truth, shared, threads),
        repeats,
        warm_up=_mapping_works(X[few], y[few], truth[few], shared, threads),
        judge=quality,
    )


# ---- Bagging and memory ----------------------------------------------------------------------------------------------


def bagging(
    *, n: int, n_pos: int, n_bags: int, bag_size: int, threads: Sequence[int], repeats: int, n_test: int, C: float,
    tol: float, cache_mb: float, **kernel: Any,
) -> list[Row]:  # fmt: skip
    """A bagging SVM, out-of-bag scores included, with so many threads or jobs, and its AUC on other rows."""
    from pulearn import BaggingPuClassifier  # noqa: PLC0415 (only where it is measured)
    from sklearn.svm import SVC  # noqa: PLC0415

    X, truth = classes(n + n_test, 20)
    X, test, truth, test_truth = X[:n], X[n:], truth[:n], truth[n:]
    y = np.zeros(n, dtype=np.int8)
    y[np.flatnonzero(truth > 0)[:n_pos]] = 1
    costs = {1: 1.0, 0: n_pos / bag_size}  # what Mordelet and Vert choose: both groups weigh the same

    def ours(rows: NDArray[np.intp], n_threads: int, n_estimators: int, size: int) -> Any:
        own = {"cache_mb": cache_mb, "tol": tol, "n_threads": n_threads, "random_state": 0}
        ratio = size / np.count_nonzero(y[rows] == 1)
        return fastpu.fit_bagging_svm(X[rows], y[rows], C=C, n_bags=n_estimators, bag_ratio=ratio, **kernel, **own)

    def theirs(rows: NDArray[np.intp], n_jobs: int, n_estimators: int, size: int) -> Any:
        estimator = SVC(C=C, class_weight=costs, cache_size=cache_mb, tol=tol, **kernel)
        ensemble = BaggingPuClassifier(
            estimator, n_estimators=n_estimators, max_samples=size, n_jobs=n_jobs, random_state=0
        )
        return ensemble.fit(X[rows], y[rows])

    few = np.concatenate([np.flatnonzero(y > 0)[:30], np.flatnonzero(y == 0)[:100]])
    named = {f"{name} {n}": (work, n) for name, work in (("fastpu", ours), ("pulearn", theirs)) for n in threads}
    return alternate(
        {name: partial(work, np.arange(n), workers, n_bags, bag_size) for name, (work, workers) in named.items()},
        repeats,
        warm_up={name: partial(work, few, workers, 2, 30) for name, (work, workers) in named.items()},
        judge=lambda _, model: {"AUC": fastpu.metrics.auc(test_truth, model.decision_function(test))},
    )


def memory(*, n: int, name: str, cache_mb: float, n_threads: int) -> list[Row]:
    """Peak memory of a fit, in MB of 2^20 bytes above the interpreter's, the rows included."""
    library = machine(name)
    library.fit(library.prepare(plain_problem(300, cache_mb)))
    baseline = peak_bytes()
    problem = plain_problem(n, cache_mb)
    model = library.fit(problem)
    peak, matrix = peak_bytes() - baseline, problem.X.nbytes
    allowed = cache_mb * 2**20 + 3 * matrix
    return [{"rows, MB": matrix / 2**20, "peak": peak / 2**20, "peak / (cache limit + 3 x rows)": peak / allowed,
             "support vectors": int(library.coefficients(model)[0].size)}]  # fmt: skip
