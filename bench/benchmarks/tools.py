"""What is beside the methods: bins, subsets, neighbours, criteria, priors, grids, scores after each round."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .common import KERNEL_SIZES, N_THREADS, SIZES, dense_rows, hide_labels, require, sparse_rows

if TYPE_CHECKING:
    from collections.abc import Callable

_N = SIZES[-1]
_SCORES = 1_000_000


def _bins(rows: Callable[..., Any], n_threads: int) -> Callable[[], Any]:
    return partial(require("bin_features"), rows(_N)[0], n_threads=n_threads)


def _subset(rows: Callable[..., Any], n_threads: int) -> Callable[[], Any]:
    binned = require("bin_features")(rows(_N)[0], n_threads=n_threads)
    half = np.sort(np.random.default_rng(1).permutation(_N)[: _N // 2])  # as cross-validation takes it
    return partial(binned.__getitem__, half)


def _staged(n_threads: int) -> Callable[[], Any]:
    X, truth = dense_rows(20_000)
    model = require("fit_pnu_auc_boost")(X, hide_labels(truth), n_rounds=500, n_threads=n_threads)
    return lambda: [None for _ in model.staged_decision_function(X)]


def _neighbours(d: int, n_threads: int) -> Callable[[], Any]:
    X = np.random.default_rng(0).standard_normal((KERNEL_SIZES[-1], d))
    return partial(require("knn_graph"), X, n_threads=n_threads)


def _close_rows(n_threads: int) -> Callable[[], Any]:
    """Return a search of rows that a filter in float32 cannot tell apart."""
    rng = np.random.default_rng(0)
    X = 1e-4 * rng.standard_normal((KERNEL_SIZES[-1], 20)) + 1e4 * rng.integers(0, 2, size=(KERNEL_SIZES[-1], 1))
    return partial(require("knn_graph"), X, n_threads=n_threads)


def _similarity(n_threads: int) -> Callable[[], Any]:
    return partial(_neighbours(5, n_threads)().similarity, mode="union", n_threads=n_threads)


def _auc(n_threads: int, *, ties: bool) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(_SCORES) < 0.3, 1, -1)
    scores = rng.standard_normal(_SCORES) + y
    return partial(require("metrics.auc"), y, np.round(scores, 1) if ties else scores)


def _lift(n_threads: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    groups = rng.normal(1, 1, 5_000), rng.normal(size=95_000)
    return partial(require("metrics.lift_at_k"), *groups, 500, n_boot=1000, random_state=0)


def _prior(name: str, n_threads: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = np.arange(3000) < 1000
    X = rng.standard_normal((3000, 10)) + 3.0 * (y | (rng.random(3000) < 0.35))[:, None] * (np.arange(10) == 0)
    return partial(require(f"priors.{name}"), X, y, random_state=0, n_threads=n_threads)


def _grid(n_threads: int, *, one_by_one: bool) -> Callable[[], Any]:
    """Return a choice of costs and widths of an SVM, as one grid or behind a function that hides it."""
    fit = require("baselines.fit_svm")
    X, y = require("datasets.make_four_normals")(1000, random_state=0)
    grid = {"C": np.geomspace(1e-2, 1e3, 5), "gamma": np.geomspace(1e-3, 3, 5)}

    def hidden(X: Any, y: Any, **params: Any) -> Any:
        return fit(X, y, **params)

    options = {"scoring": "error", "admit": ("degenerate",), "random_state": 0, "n_threads": n_threads}
    return partial(require("select"), hidden if one_by_one else fit, X, y, grid, **options)


TOOLS: dict[str, Callable[[int], Callable[[], Any]]] = {
    "bins": partial(_bins, dense_rows),
    "bins, csr": partial(_bins, sparse_rows),
    "half of the bins": partial(_subset, dense_rows),
    "half of the bins, csr": partial(_subset, sparse_rows),
    "scores after each of 500 rounds": _staged,
    "neighbours, 2 columns": partial(_neighbours, 2),
    "neighbours, 20 columns": partial(_neighbours, 20),
    "neighbours, 100 columns": partial(_neighbours, 100),
    "neighbours, close rows": _close_rows,
    "W and R": _similarity,
    "AUC": partial(_auc, ties=False),
    "AUC, ties": partial(_auc, ties=True),
    "lift, bootstrap": _lift,
    **{f"prior by {name}": partial(_prior, name) for name in ("bbe", "km2")},
    "grid of SVMs": partial(_grid, one_by_one=False),
    "grid of SVMs, one by one": partial(_grid, one_by_one=True),
}


class Tool:
    param_names = ("tool", "n_threads")
    params = (tuple(TOOLS), N_THREADS)

    def setup(self, tool: str, n_threads: int) -> None:
        self.call = TOOLS[tool](n_threads)

    def time_call(self, tool: str, n_threads: int) -> None:
        self.call()

    def peakmem_call(self, tool: str, n_threads: int) -> None:
        """Peak of the process, what it is given included."""
        self.call()
