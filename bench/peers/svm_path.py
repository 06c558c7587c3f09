"""Whole SVM paths against fits of scikit-learn's SVC over a range of C, and against NumPy.

Rows: make_classification with 10 informative features, 3 clusters a class, 2 % of the labels flipped. An rbf path
(d = 10, gamma 0.1) has every event from the first one down to lam = 1e-3 (C = 1,000); scikit-learn makes 20 cold fits
with C from 1e-2 to 1e3. A linear path (d = 20) goes down to where float64 does not show the margin; scikit-learn makes
one fit with C = 1. NumPy solves the system of the rows on the margin afresh at every 20th event of the same path and
multiplies by their kernel columns; its time is scaled to all events. Paths are judged by the largest violation of the
optimality conditions at breakpoints and half way between, and beside SVC by what the 20 fits violate, both in float64.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, alternate
from workload import classes

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("sklearn",)
SETTINGS = {"paths": [[400, 10, "rbf"], [2000, 10, "rbf"], [5000, 20, "linear"]], "repeats": 5}  # rows, d, kernel
QUICK = {"paths": [[150, 10, "rbf"], [300, 20, "linear"]], "repeats": 1}
_COSTS = np.logspace(-2, 3, 20)
_JUDGED = 60  # points of a path


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n, d, kernel in run.paths:
        yield Case(paths, n=n, d=d, kernel=kernel, threads=run.threads, repeats=run.repeats)


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


def _violations(path: Any, K: NDArray[np.float64], y: NDArray[np.int8]) -> float:
    worst = 0.0
    for k in np.unique(np.linspace(0, path.lams.size - 2, _JUDGED).astype(int)):
        for lam in (path.lams[k], (path.lams[k] + path.lams[k + 1]) / 2):
            model = path.at(lam)
            alpha = np.zeros(y.size)
            alpha[model.support] = model.alpha
            worst = max(worst, _violation(K, y, alpha, model.intercept, 1 / lam))
    return worst


def paths(*, n: int, d: int, kernel: str, threads: Sequence[int], repeats: int) -> list[Row]:
    """A path, and scikit-learn's fits: the largest violation of the optimality conditions."""
    from sklearn.svm import SVC  # noqa: PLC0415 (only where it is measured)

    X, y = classes(n, d)
    K = _kernel(X, kernel)
    lam_min = 1e-3 if kernel == "rbf" else 0.0
    costs = _COSTS if kernel == "rbf" else [1.0]

    def follow(n_threads: int, rows: int | None = None) -> Any:
        return fastpu.fit_svm_path(
            X[:rows], y[:rows], kernel=kernel, gamma=0.1, lam_min=lam_min, cache_mb=500, n_threads=n_threads
        )

    def fit(rows: int | None = None) -> list[Any]:
        return [SVC(C=C, kernel=kernel, gamma=0.1, cache_size=500).fit(X[:rows], y[:rows]) for C in costs]

    def judge(name: str, found: Any) -> Row:
        if name != "scikit-learn":
            return {"violation": _violations(found, K, y), "breakpoints": int(found.lams.size), "status": found.status,
                    "rows on the margin": float(found.history["n_margin"].mean())}  # fmt: skip
        worst = 0.0
        for C, model in zip(costs, found, strict=True):
            alpha = np.zeros(n)
            alpha[model.support_] = np.abs(model.dual_coef_[0])
            worst = max(worst, _violation(K, y, alpha, float(model.intercept_[0]), C))
        return {"violation": worst}

    works: dict[str, Callable[..., Any]] = {f"fastpu {t}": partial(follow, t) for t in threads}
    works["scikit-learn"] = fit
    warm_up = {name: partial(work, rows=200) for name, work in works.items()}
    return alternate(works, repeats, warm_up=warm_up, judge=judge)
