"""Time whole SVM paths against fits of scikit-learn's SVC over a range of C, and against NumPy, in one run.

python bench/peers/svm_path.py [--threads 1 2] [--repeats 5] [--output DIR] [--quick]

Needs fastpu and scikit-learn in one environment, and nothing else at work on the machine. Every measurement runs in a
process of its own with one BLAS thread; contenders take turns within it, after a small run each to warm up.

Rows: make_classification with 10 informative features, 3 clusters a class, 2 % of the labels flipped. An rbf path
(d = 10, gamma 0.1) has every event from the first one down to lam = 1e-3 (C = 1,000); scikit-learn makes 20 cold fits
with C from 1e-2 to 1e3. A linear path (d = 20) goes down to where float64 does not show the margin; scikit-learn makes
one fit with C = 1. NumPy solves the system of the rows on the margin afresh at every 20th event of the same path and
multiplies by their kernel columns; its time is scaled to all events. Paths are judged by the largest violation of the
optimality conditions at breakpoints and half way between, and beside SVC by what the 20 fits violate, both in float64.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from report_parts import at_least, at_most, machine, median, spread, table
from running import cpus, measure, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_SCRIPT = Path(__file__)
_COSTS = np.logspace(-2, 3, 20)
_EVERY = 20  # events of which NumPy does one
_JUDGED = 60  # points of a path


def _rows(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only in the measuring process)

    X, y = make_classification(
        n, d, n_informative=10, n_redundant=0, n_clusters_per_class=3, class_sep=1.2, flip_y=0.02, random_state=0
    )
    return X, np.where(y > 0, np.int8(1), np.int8(-1))


def _kernel(X: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    products = X @ X.T
    if name == "linear":
        return products
    norms = np.diag(products)
    return np.exp(-0.1 * np.maximum(norms[:, None] + norms - 2 * products, 0))


def _violation(K: NDArray[np.float64], y: NDArray[np.int8], alpha: NDArray[np.float64], b: float, C: float) -> float:
    slack = y * (K @ (y * alpha) + b) - 1
    low = np.where(alpha < C * (1 - 1e-12), -slack, 0)
    high = np.where(alpha > C * 1e-12, slack, 0)
    return float(max(low.max(), high.max()))


def paths(*, n: int, d: int, kernel: str, threads: list[int], repeats: int) -> dict[str, Any]:
    """Seconds of a path and of scikit-learn's fits, and how optimal both are."""
    from sklearn.svm import SVC  # noqa: PLC0415 (the same)

    import fastpu  # noqa: PLC0415 (the same)

    X, y = _rows(n, d)
    lam_min = 1e-3 if kernel == "rbf" else 0.0
    costs = _COSTS if kernel == "rbf" else [1.0]

    def follow(n_threads: int, rows: int | None = None) -> Any:
        return fastpu.fit_svm_path(
            X[:rows], y[:rows], kernel=kernel, gamma=0.1, lam_min=lam_min, cache_mb=500, n_threads=n_threads
        )

    def fit(rows: int | None = None) -> list[Any]:
        return [SVC(C=C, kernel=kernel, gamma=0.1, cache_size=500).fit(X[:rows], y[:rows]) for C in costs]

    works: dict[str, Callable[..., Any]] = {f"fastpu {t}": (lambda rows=None, t=t: follow(t, rows)) for t in threads}
    works["scikit-learn"] = fit
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for work in works.values():
        work(200)
    for _ in range(repeats):
        for name, work in works.items():
            seconds, results[name] = timed(work)
            times[name].append(seconds)
    path, K = results[f"fastpu {threads[0]}"], _kernel(X, kernel)
    worst = 0.0
    for k in np.unique(np.linspace(0, path.lams.size - 2, _JUDGED).astype(int)):
        for lam in (path.lams[k], (path.lams[k] + path.lams[k + 1]) / 2):
            model = path.at(lam)
            alpha = np.zeros(n)
            alpha[model.support] = model.alpha
            worst = max(worst, _violation(K, y, alpha, model.intercept, 1 / lam))
    peer = 0.0
    for C, model in zip(costs, results["scikit-learn"], strict=True):
        alpha = np.zeros(n)
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        peer = max(peer, _violation(K, y, alpha, float(model.intercept_[0]), C))
    return {"seconds": times, "events": int(path.lams.size), "status": path.status,
            "margin": float(path.history["n_margin"].mean()), "violation": worst, "peer": peer,
            "numpy": _numpy_seconds(path, K, y) if kernel == "rbf" else None}  # fmt: skip


def _numpy_seconds(path: Any, K: NDArray[np.float64], y: NDArray[np.int8]) -> float:
    """Return what the linear algebra of all events takes when nothing is kept from one to the next."""
    moving: set[int] = set()
    seconds, n_done = 0.0, 0
    for knot in range(path.lams.size - 1):
        for event in np.flatnonzero(path.event_knot == knot):
            row = int(path.event_row[event])
            (moving.discard if path.event_kind[event] > 2 else moving.add)(row)
        if knot % _EVERY or not moving:
            continue
        rows = np.sort(np.array(list(moving)))
        start = time.perf_counter()
        m = rows.size
        A = np.zeros((m + 1, m + 1))
        A[:m, :m] = K[np.ix_(rows, rows)]
        A[:m, m] = A[m, :m] = 1.0
        u = np.linalg.solve(A, np.append(-y[rows].astype(float), 0.0))
        y * (K[:, rows] @ u[:m] + u[m])
        seconds += time.perf_counter() - start
        n_done += 1
    return seconds * (path.lams.size - 1) / max(1, n_done)


def _report(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    rows, goals = [], []
    for options, result in found:
        peer = median(result["seconds"]["scikit-learn"])
        what = f"{options['kernel']}, n = {options['n']}, d = {options['d']}"
        cells = [what, str(result["events"]), f"{result['margin']:.0f}", result["status"]]
        ratios = [median(times) / peer for name, times in result["seconds"].items() if name.startswith("fastpu")]
        cells += [spread(times) for times in result["seconds"].values()]
        cells += [", ".join(f"1/{1 / ratio:.1f}" for ratio in ratios)]
        cells += [f"{result['violation']:.0e}", f"{result['peer']:.0e}"]
        rows.append(cells)
        limit = 1 / 6 if options["n"] <= 400 else 1 / 3
        goals.append(f"- {what}: time of the path by that of SVC {at_most(ratios[0], round(limit, 3))}")
        if result["numpy"] is not None and options["n"] >= 2000:
            gain = result["numpy"] / median(next(iter(result["seconds"].values())))
            goals.append(f"- {what}: times as fast as NumPy {at_least(gain, 50)}")
    names = [f"{name}, ms" for name in found[0][1]["seconds"]]
    head = ["path", "breakpoints", "rows on the margin", "status", *names, "of SVC", "violation", "of SVC's"]
    parts = [machine("fastpu", "scikit-learn", "numpy"), table("SVM paths", head, rows), "\n".join(goals)]
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser("svm_path", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N", help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="alternating runs (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for svm_path.md and svm_path.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if missing := [name for name in ("fastpu", "sklearn") if find_spec(name) is None]:
        print(f"svm_path: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    sizes = [(150, 10, "rbf"), (300, 20, "linear")] if options.quick else [
        (400, 10, "rbf"), (2000, 10, "rbf"), (5000, 20, "linear")]  # fmt: skip
    found = []
    for n, d, kernel in sizes:
        arguments = {"n": n, "d": d, "kernel": kernel, "threads": options.threads,
                     "repeats": 1 if options.quick else options.repeats}  # fmt: skip
        found.append((arguments, measure(_SCRIPT, "paths", arguments, omp_threads=max(options.threads))))
    text = _report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "svm_path.md").write_text(text + "\n")
        (options.output / "svm_path.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["paths"]:  # in a process of its own
        print(json.dumps(paths(**json.loads(sys.argv[2]))))
    else:
        sys.exit(main())
