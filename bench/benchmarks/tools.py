"""What is beside the methods and is not timed by `bench/peers`: bins, subsets, criteria, priors, staged scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu

from .common import KERNEL_SIZES, N_THREADS, SIZES, dense_rows, hide_labels, sparse_rows

if TYPE_CHECKING:
    from collections.abc import Callable

_N = SIZES[-1]
_SCORES = 1_000_000


def _bins(rows: Callable[..., Any], n_threads: int) -> Callable[[], Any]:
    return partial(fastpu.bin_features, rows(_N)[0], n_threads=n_threads)


def _subset(rows: Callable[..., Any], n_threads: int) -> Callable[[], Any]:
    binned = fastpu.bin_features(rows(_N)[0], n_threads=n_threads)
    half = np.sort(np.random.default_rng(1).permutation(_N)[: _N // 2])  # as cross-validation takes it
    return partial(binned.__getitem__, half)


def _staged(n_threads: int) -> Callable[[], Any]:
    X, truth = dense_rows(20_000)
    model = fastpu.fit_pnu_auc_boost(X, hide_labels(truth), n_rounds=500, n_threads=n_threads)
    return lambda: [None for _ in model.staged_decision_function(X)]


def _close_rows(n_threads: int) -> Callable[[], Any]:
    """Return a search of rows that a filter in float32 cannot tell apart."""
    rng = np.random.default_rng(0)
    X = 1e-4 * rng.standard_normal((KERNEL_SIZES[-1], 20)) + 1e4 * rng.integers(0, 2, size=(KERNEL_SIZES[-1], 1))
    return partial(fastpu.knn_graph, X, n_threads=n_threads)


def _auc(n_threads: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(_SCORES) < 0.3, 1, -1)
    scores = rng.standard_normal(_SCORES) + y
    return partial(fastpu.metrics.auc, y, np.round(scores, 1))


def _lift(n_threads: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [5_000, 95_000])
    return partial(fastpu.metrics.lift_at_k, y, rng.normal(size=y.size) + y, 500, n_boot=1000, random_state=0)


def _prior(name: str, n_threads: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = np.arange(3000) < 1000
    X = rng.standard_normal((3000, 10)) + 3.0 * (y | (rng.random(3000) < 0.35))[:, None] * (np.arange(10) == 0)
    return partial(getattr(fastpu.priors, name), X, y, random_state=0, n_threads=n_threads)


TOOLS: dict[str, Callable[[int], Callable[[], Any]]] = {
    "bins": partial(_bins, dense_rows),
    "bins, csr": partial(_bins, sparse_rows),
    "half of the bins": partial(_subset, dense_rows),
    "half of the bins, csr": partial(_subset, sparse_rows),
    "scores after each of 500 rounds": _staged,
    "neighbours, close rows": _close_rows,
    "AUC, ties": _auc,
    "lift, bootstrap": _lift,
    **{f"prior by {name}": partial(_prior, name) for name in ("bbe", "km2")},
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
