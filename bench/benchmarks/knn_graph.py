"""Nearest neighbours: searches by each method, W and R, memory, and a number that must not move when the times do.

Dense rows are normal; rows in CSR have some 100 entries that are not zero each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .common import KERNEL_SIZES, N_THREADS, require

FEATURES = (2, 5, 20, 100)
_WORDS = 20_000
_PER_ROW = 100


def rows(n: int, d: int, mode: str) -> Any:
    """Return normal rows, or in CSR rows of words that are the rarer the higher their number."""
    rng = np.random.default_rng(0)
    if mode != "csr":
        return rng.standard_normal((n, d)).astype(mode)
    words = (_WORDS * rng.random((n, _PER_ROW)) ** 3).astype(np.int32)
    counts = sp.csr_array((np.ones(n * _PER_ROW), words.ravel(), np.arange(0, n * _PER_ROW + 1, _PER_ROW)))
    counts.sum_duplicates()
    return counts


class Search:
    """The five nearest neighbours of every row."""

    param_names = ("n", "n_threads", "d")
    params = (KERNEL_SIZES, N_THREADS, FEATURES)

    def setup(self, n: int, n_threads: int, d: int) -> None:
        self.search = require("knn_graph")
        self.X, self.single = rows(n, d, "float64"), rows(n, d, "float32")

    def time_float64(self, n: int, n_threads: int, d: int) -> None:
        self.search(self.X, n_threads=n_threads)

    def time_float32(self, n: int, n_threads: int, d: int) -> None:
        self.search(self.single, n_threads=n_threads)

    def peakmem_float64(self, n: int, n_threads: int, d: int) -> None:
        """Peak of the process, rows included."""
        self.search(self.X, n_threads=n_threads)

    def track_distance(self, n: int, n_threads: int, d: int) -> float:
        """Return the mean distance of the fifth neighbour: exact, so that it never changes."""
        return float(np.sqrt(self.search(self.X, n_threads=n_threads).squared_distances[:, -1]).mean())


class Hard:
    """Rows that a filter in float32 cannot tell apart, and rows of which most are duplicates."""

    param_names = ("n", "kind")
    params = (KERNEL_SIZES, ("clusters", "duplicates"))

    def setup(self, n: int, kind: str) -> None:
        self.search = require("knn_graph")
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((n, 20))
        if kind == "clusters":
            self.X = 1e-4 * self.X + 1e4 * rng.integers(0, 2, size=(n, 1))
        else:
            self.X = self.X[rng.integers(0, n // 20, size=n)]

    def time_search(self, n: int, kind: str) -> None:
        self.search(self.X, n_threads=N_THREADS[-1])


class Sparse:
    """CSR rows like those of texts."""

    param_names = ("n", "n_threads")
    params = (KERNEL_SIZES, N_THREADS)

    def setup(self, n: int, n_threads: int) -> None:
        self.search = require("knn_graph")
        self.X = rows(n, _WORDS, "csr")

    def time_search(self, n: int, n_threads: int) -> None:
        self.search(self.X, n_threads=n_threads)


class Weights:
    """W and R from the neighbours."""

    param_names = ("n", "mode")
    params = (KERNEL_SIZES, ("mutual", "union"))

    def setup(self, n: int, mode: str) -> None:
        self.graph_of = require("KNNGraph")
        self.graph = require("knn_graph")(rows(n, 5, "float64"))

    def time_edges_and_weights(self, n: int, mode: str) -> None:
        self.graph_of(self.graph.indices, self.graph.squared_distances).similarity(mode=mode)

    def time_another_sigma(self, n: int, mode: str) -> None:
        self.graph.similarity(2.0, mode)
