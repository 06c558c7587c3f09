"""Time a grid of costs, kernel widths and folds by `fastpu.select` against GridSearchCV over SVC, in one run.

python bench/peers/svm_grid.py [--n 1000 5000] [--threads 1 2] [--sample 10] [--output DIR] [--quick]

Needs fastpu and scikit-learn in one environment, and nothing else at work on the machine. Every size runs in a process
of its own with one BLAS thread.

Rows: make_classification with 10 informative features, 3 clusters a class, 5 % of the labels flipped. Grid: C from 0.01
to 1000 and gamma from 1e-3 to 3, 10 values of each, 5 folds, judged by the error rate. GridSearchCV fits each point and
fold from nothing; so does `select` where it does not know the fit function ("one by one"). Both are timed on the first
fold of a sample of the points, one for each width and each cost, and their time is scaled to all points and folds.
Times are of the CPU, so that other work on the machine counts little; the model of all rows is not part of them. What
the sample's SVMs say of the held-out rows is compared with what the whole grid found.
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
from report_parts import at_most, machine, table
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SCRIPT = Path(__file__)
_N_FOLDS = 5
_CACHE_MB = 200


def _grid(size: int) -> dict[str, list[float]]:
    return {"C": np.geomspace(1e-2, 1e3, size).tolist(), "gamma": np.geomspace(1e-3, 3, size).tolist()}


def _timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds of the CPU and of the clock, and the result."""
    cpu, start = time.process_time(), time.perf_counter()
    result = work()
    return time.process_time() - cpu, time.perf_counter() - start, result


def whole(*, n: int, d: int, size: int, threads: list[int], sample: int) -> dict[str, Any]:
    """Seconds of a whole grid by fastpu, and of a sample of its points from nothing."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only in the measuring process)
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 (the same)
    from sklearn.svm import SVC  # noqa: PLC0415 (the same)

    import fastpu  # noqa: PLC0415 (the same)

    X, y = make_classification(n, d, n_informative=min(d, 10), n_redundant=0, n_clusters_per_class=3, class_sep=1.2,
                               flip_y=0.05, random_state=0)  # fmt: skip
    y = np.where(y > 0, 1, -1).astype(np.int8)
    folds = list(StratifiedKFold(_N_FOLDS, shuffle=True, random_state=0).split(X, y))
    grid = _grid(size)

    def select(n_threads: int) -> Any:
        return fastpu.select(fastpu.fit_svm, X, y, grid, scoring="error", cv=folds, n_threads=n_threads,
                             cache_mb=_CACHE_MB, admit=("degenerate",))  # fmt: skip

    found: dict[str, Any] = {"fastpu": {}}
    for n_threads in threads:
        cpu, wall, chosen = _timed(lambda n_threads=n_threads: select(n_threads))
        found["fastpu"][n_threads] = {"cpu": cpu, "wall": wall}
    found["best"] = dict(chosen.best_params) | {"error": chosen.best_score}

    points = [(i, (3 * i + 1) % size) for i in np.unique(np.linspace(0, size - 1, sample).astype(int)).tolist()]
    (train, held), differ = folds[0], []
    spent = {"one by one": 0.0, "SVC": 0.0}
    for i, j in points:
        C, gamma = grid["C"][i], grid["gamma"][j]
        models = {
            "one by one": lambda C=C, gamma=gamma: fastpu.fit_svm(X[train], y[train], C=C, gamma=gamma, n_threads=1,
                                                                   cache_mb=_CACHE_MB),
            "SVC": lambda C=C, gamma=gamma: SVC(C=C, gamma=gamma, cache_size=_CACHE_MB).fit(X[train], y[train]),
        }  # fmt: skip
        for name, fit in models.items():
            cpu, _, error = _timed(lambda fit=fit: float(np.mean(fit().predict(X[held]) != y[held])))
            spent[name] += cpu
            differ.append(abs(error - float(chosen.table["fold_0"][i * size + j])))
    scale = size * size * _N_FOLDS / len(points)
    return found | {"scaled": {name: seconds * scale for name, seconds in spent.items()}, "differ": max(differ)}


def _report(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    rows, goals = [], []
    for options, result in found:
        first = next(iter(result["fastpu"].values()))
        scaled, best = result["scaled"], result["best"]
        rows.append([
            f"{options['n']}",
            f"{options['size']} x {options['size']} x {_N_FOLDS}",
            *(f"{times['cpu']:.2f} ({times['wall']:.2f})" for times in result["fastpu"].values()),
            f"{scaled['one by one']:.1f}",
            f"{scaled['SVC']:.1f}",
            f"1/{scaled['SVC'] / first['cpu']:.1f}",
            f"C = {best['C']:.3g}, gamma = {best['gamma']:.3g}: {best['error']:.4f}",
            f"{result['differ']:.4f}",
        ])  # fmt: skip
        goals.append(
            f"- n = {options['n']}: CPU time of the grid by that of SVC {at_most(first['cpu'] / scaled['SVC'], 0.05)}"
        )
        if options["n"] == 5000:
            goals.append(f"- n = 5000: CPU seconds of the grid {at_most(first['cpu'], 60)}")
    names = [f"fastpu, {n} threads: CPU s (s)" for n in found[0][1]["fastpu"]]
    head = ["n", "grid", *names, "one by one, CPU s", "SVC, CPU s", "of SVC", "chosen", "errors differ by"]
    return "\n\n".join(
        [machine("fastpu", "scikit-learn", "numpy"), table("Grids of SVMs", head, rows), "\n".join(goals)]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser("svm_grid", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 5000], metavar="N", help="default: %(default)s")
    parser.add_argument("--d", type=int, default=10, metavar="N", help="features (default: %(default)s)")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--sample", type=int, default=10, metavar="N", help="points from nothing (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, help="folder for svm_grid.md and svm_grid.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if missing := [name for name in ("fastpu", "sklearn") if find_spec(name) is None]:
        print(f"svm_grid: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    found = []
    for n in [200] if options.quick else options.n:
        arguments = {"n": n, "d": options.d, "size": 3 if options.quick else 10, "threads": options.threads,
                     "sample": options.sample}  # fmt: skip
        found.append((arguments, measure(_SCRIPT, "whole", arguments, omp_threads=1)))
    text = _report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "svm_grid.md").write_text(text + "\n")
        (options.output / "svm_grid.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["whole"]:  # in a process of its own
        print(json.dumps(whole(**json.loads(sys.argv[2]))))
    else:
        sys.exit(main())
