"""A grid of costs, kernel widths and folds by `fastpu.select` against GridSearchCV over SVC.

Rows: make_classification with 10 informative features and 3 clusters a class, once with 5 % of the labels flipped and
classes apart ("clear"), once with 20 % and classes that overlap ("noisy"). Grid: C from 0.01 to 1000 and gamma from
1e-3 to 3, 10 values of each, 5 folds, judged by the error rate. GridSearchCV fits each point and fold from nothing; so
does `select` where it does not know the fit function ("one by one"). Both are timed on the first fold, every point of
it up to 5,000 rows and every third cost and width above, and their time is scaled to all. Times are of the CPU, so that
other work on the machine counts little; the model of all rows is not among them but for `select`. The errors of these
SVMs on the first fold are compared with what the whole grid found.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, timed

import fastpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import SimpleNamespace

NEEDS = ("sklearn",)
SETTINGS = {"n": [1000, 5000], "d": 10, "size": 10, "data_sets": ["clear", "noisy"]}
QUICK = {"n": [200], "size": 3}
_N_FOLDS = 5
_CACHE_MB = 500
_DATA = {"clear": {"class_sep": 1.2, "flip_y": 0.05}, "noisy": {"class_sep": 0.8, "flip_y": 0.2}}
_ALL = 5000  # rows up to which other libraries fit every point


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n in run.n:
        for rows in run.data_sets:
            yield Case(grids, rows=rows, n=n, d=run.d, size=run.size, threads=run.threads)


def grids(*, rows: str, n: int, d: int, size: int, threads: Sequence[int]) -> list[Row]:
    """A grid of size x size SVMs by 5 folds, CPU time: what is chosen, and how far errors on the first fold differ."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only where it is measured)
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415
    from sklearn.svm import SVC  # noqa: PLC0415

    X, y = make_classification(n, d, n_informative=min(d, 10), n_redundant=0, n_clusters_per_class=3, random_state=0,
                               **_DATA[rows])  # fmt: skip
    y = np.where(y > 0, 1, -1).astype(np.int8)
    folds = list(StratifiedKFold(_N_FOLDS, shuffle=True, random_state=0).split(X, y))
    grid = {"C": np.geomspace(1e-2, 1e3, size).tolist(), "gamma": np.geomspace(1e-3, 3, size).tolist()}
    found: list[Row] = []
    for n_threads in threads:
        select = partial(
            fastpu.select, fastpu.baselines.fit_svm, X, y, grid, scoring="error", cv=folds, n_threads=n_threads,
            cache_mb=_CACHE_MB, admit=("degenerate",),
        )  # fmt: skip
        start = time.perf_counter()
        seconds, chosen = timed(select, time.process_time)
        found.append({"": f"fastpu {n_threads}", "seconds": [seconds], "wall, s": time.perf_counter() - start,
                      **chosen.best_params, "error": chosen.best_score})  # fmt: skip

    (train, held), differ = folds[0], {"one by one": 0.0, "SVC": 0.0}
    points = [(i, j) for i in range(size) for j in range(size) if n <= _ALL or (i % 3 == j % 3 == 0)]
    spent = dict.fromkeys(differ, 0.0)

    def error(name: str, options: dict[str, Any]) -> float:
        if name == "SVC":
            model = SVC(cache_size=_CACHE_MB, **options).fit(X[train], y[train])
        else:
            model = fastpu.baselines.fit_svm(X[train], y[train], n_threads=1, cache_mb=_CACHE_MB, **options)
        return float(np.mean(model.predict(X[held]) != y[held]))

    for i, j in points:
        for name in spent:
            seconds, value = timed(
                partial(error, name, {"C": grid["C"][i], "gamma": grid["gamma"][j]}), time.process_time
            )
            spent[name] += seconds
            if chosen.table["status"][i * size + j] == "ok":  # what calls all rows the same may call them either
                differ[name] = max(differ[name], abs(value - float(chosen.table["fold_0"][i * size + j])))
    scale = size * size * _N_FOLDS / len(points)
    found += [{"": name, "seconds": [spent[name] * scale], "errors differ by": differ[name]} for name in differ]
    return found
