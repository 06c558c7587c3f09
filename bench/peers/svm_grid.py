"""Time a grid of costs, kernel widths and folds by `fastpu.select` against GridSearchCV over SVC, in one run.

python bench/peers/svm_grid.py [--n 1000 5000] [--threads 1 2] [--output DIR] [--quick]

Needs fastpu and scikit-learn in one environment, and nothing else at work on the machine. Every measurement runs in a
process of its own with one BLAS thread.

Rows: make_classification with 10 informative features and 3 clusters a class, once with 5 % of the labels flipped and
classes apart ("clear"), once with 20 % and classes that overlap ("noisy"). Grid: C from 0.01 to 1000 and gamma from
1e-3 to 3, 10 values of each, 5 folds, judged by the error rate. GridSearchCV fits each point and fold from nothing; so
does `select` where it does not know the fit function ("one by one"). Both are timed on the first fold, every point of
it up to 5,000 rows and every third cost and width above, and their time is scaled to all. Times are of the CPU, so that
other work on the machine counts little; the model of all rows is not among them but for `select`. The errors of these
SVMs on the first fold are compared with what the whole grid found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
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
_CACHE_MB = 500
_DATA = {"clear": {"class_sep": 1.2, "flip_y": 0.05}, "noisy": {"class_sep": 0.8, "flip_y": 0.2}}
_ALL = 5000  # rows up to which other libraries fit every point


def _timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds of the CPU and of the clock, and the result."""
    cpu, start = time.process_time(), time.perf_counter()
    result = work()
    return time.process_time() - cpu, time.perf_counter() - start, result


def whole(*, data: str, n: int, d: int, size: int, threads: list[int]) -> dict[str, Any]:
    """Seconds of a whole grid by fastpu, and of the points of the first fold from nothing."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only in the measuring process)
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 (the same)
    from sklearn.svm import SVC  # noqa: PLC0415 (the same)

    import fastpu  # noqa: PLC0415 (the same)

    warnings.simplefilter("ignore", fastpu.DegenerateModelWarning)  # of the smallest costs
    X, y = make_classification(n, d, n_informative=min(d, 10), n_redundant=0, n_clusters_per_class=3, random_state=0,
                               **_DATA[data])  # fmt: skip
    y = np.where(y > 0, 1, -1).astype(np.int8)
    folds = list(StratifiedKFold(_N_FOLDS, shuffle=True, random_state=0).split(X, y))
    grid = {"C": np.geomspace(1e-2, 1e3, size).tolist(), "gamma": np.geomspace(1e-3, 3, size).tolist()}

    spent = {}
    for n_threads in threads:
        cpu, wall, chosen = _timed(
            lambda n_threads=n_threads: fastpu.select(
                fastpu.fit_svm, X, y, grid, scoring="error", cv=folds, n_threads=n_threads, cache_mb=_CACHE_MB,
                admit=("degenerate",)
            )
        )  # fmt: skip
        spent[f"fastpu {n_threads}"] = {"cpu": cpu, "wall": wall}

    (train, held), differ = folds[0], {"one by one": 0.0, "SVC": 0.0}
    points = [(i, j) for i in range(size) for j in range(size) if n <= _ALL or (i % 3 == j % 3 == 0)]
    cpus_spent = dict.fromkeys(differ, 0.0)
    for i, j in points:
        options = {"C": grid["C"][i], "gamma": grid["gamma"][j]}
        fits = {
            "one by one": lambda options=options: fastpu.fit_svm(X[train], y[train], n_threads=1, cache_mb=_CACHE_MB,
                                                                 **options),
            "SVC": lambda options=options: SVC(cache_size=_CACHE_MB, **options).fit(X[train], y[train]),
        }  # fmt: skip
        for name, fit in fits.items():
            cpu, _, error = _timed(lambda fit=fit: float(np.mean(fit().predict(X[held]) != y[held])))
            cpus_spent[name] += cpu
            if chosen.table["status"][i * size + j] == "ok":  # what calls all rows the same may call them either
                differ[name] = max(differ[name], abs(error - float(chosen.table["fold_0"][i * size + j])))
    scale = size * size * _N_FOLDS / len(points)
    return {
        "spent": spent,
        "best": dict(chosen.best_params) | {"error": chosen.best_score},
        "scaled": {name: seconds * scale for name, seconds in cpus_spent.items()},
        "differ": differ,
    }


def _report(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    rows, goals = [], []
    for options, result in found:
        first, scaled, best = next(iter(result["spent"].values())), result["scaled"], result["best"]
        what = f"{options['data']}, n = {options['n']}"
        rows.append([
            what,
            f"{options['size']} x {options['size']} x {_N_FOLDS}",
            *(f"{times['cpu']:.2f} ({times['wall']:.2f})" for times in result["spent"].values()),
            f"{scaled['one by one']:.1f}",
            f"{scaled['SVC']:.1f}",
            f"1/{scaled['SVC'] / first['cpu']:.1f}",
            f"C = {best['C']:.3g}, gamma = {best['gamma']:.3g}: {best['error']:.4f}",
            f"{result['differ']['one by one']:.4f}, {result['differ']['SVC']:.4f}",
        ])  # fmt: skip
        ratio = first["cpu"] / scaled["SVC"]
        goals.append(f"- {what}: CPU time of the grid by that of SVC {at_most(ratio, 0.05)}")
        if options["n"] == _ALL:
            goals.append(f"- {what}: CPU seconds of the grid {at_most(first['cpu'], 30)}")
    names = [f"{name}: CPU s (s)" for name in found[0][1]["spent"]]
    head = ["rows", "grid", *names, "one by one, CPU s", "SVC, CPU s", "of SVC", "chosen", "errors differ by"]
    parts = [machine("fastpu", "scikit-learn", "numpy"), table("Grids of SVMs", head, rows), "\n".join(goals)]
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser("svm_grid", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 5000], metavar="N", help="default: %(default)s")
    parser.add_argument("--d", type=int, default=10, metavar="N", help="features (default: %(default)s)")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N", help="default: %(default)s")
    parser.add_argument("--output", type=Path, help="folder for svm_grid.md and svm_grid.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if missing := [name for name in ("fastpu", "sklearn") if find_spec(name) is None]:
        print(f"svm_grid: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    found = []
    for n in [200] if options.quick else options.n:
        for data in _DATA:
            arguments = {"data": data, "n": n, "d": options.d, "size": 3 if options.quick else 10,
                         "threads": options.threads}  # fmt: skip
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
