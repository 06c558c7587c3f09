"""PUAL and its relatives: fits of each form, a grid in one call, memory, and numbers that must not move with the times.

Rows are n x 50, of which a tenth is labelled positive; the graph of the linear fits is made before.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

from .common import KERNEL_SIZES, N_THREADS, SIZES, dense_rows, require, sparse_rows

FITS = ("fit_pual", "fit_gllc", "fit_bls_svm")


def _labels(truth: np.ndarray) -> np.ndarray:
    labels: np.ndarray = ((truth == 1) & (np.arange(truth.size) % 5 == 0)).astype(np.int64)
    return labels


class Linear:
    """Fits with the linear kernel, the graph given."""

    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS, ("float64", "float32", "csr"))

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.X: Any
        self.X, truth = sparse_rows(n) if mode == "csr" else dense_rows(n)
        if mode == "float64":
            self.X = self.X.astype("float64")
        self.y = _labels(truth)
        few = np.ascontiguousarray(self.X[:, :3].toarray() if mode == "csr" else self.X[:, :3])
        self.graph = require("knn_similarity")(few)
        self.fits = {name: require(name) for name in FITS}

    def time_pual(self, n: int, n_threads: int, mode: str) -> None:
        self.fits["fit_pual"](self.X, self.y, graph=self.graph, n_threads=n_threads)

    def time_gllc(self, n: int, n_threads: int, mode: str) -> None:
        self.fits["fit_gllc"](self.X, self.y, graph=self.graph, n_threads=n_threads)

    def peakmem_pual(self, n: int, n_threads: int, mode: str) -> None:
        """Peak of the process, rows and graph included."""
        self.time_pual(n, n_threads, mode)

    def track_gap(self, n: int, n_threads: int, mode: str) -> float:
        """Relative duality gap."""
        model = self.fits["fit_pual"](self.X, self.y, graph=self.graph, n_threads=n_threads)
        return float(model.gap / model.objective[-1])


class Kernel:
    """Fits with an rbf kernel: one, and a grid of 27 points in one call."""

    param_names = ("n", "n_threads")
    params = (KERNEL_SIZES[:1], N_THREADS)

    def setup(self, n: int, n_threads: int) -> None:
        warnings.simplefilter("ignore")  # models of some points call all rows the same
        X, truth = dense_rows(n)
        self.X, self.y = X.astype("float64"), _labels(truth)
        self.fit = require("fit_pual")
        points = product((0.01, 1.0, 100.0), (0.01, 0.1, 0.5), (0.1, 1.0, 10.0))
        lam, C_unl, C_pos = (list(column) for column in zip(*points, strict=True))
        self.grid = {"lam": lam, "C_unl": C_unl, "C_pos": C_pos}

    def time_one(self, n: int, n_threads: int) -> None:
        self.fit(self.X, self.y, kernel="rbf", n_threads=n_threads)

    def time_grid(self, n: int, n_threads: int) -> None:
        self.fit(self.X, self.y, kernel="rbf", n_threads=n_threads, **self.grid)

    def time_nystroem(self, n: int, n_threads: int) -> None:
        self.fit(self.X, self.y, kernel="rbf", n_threads=n_threads, n_components=200, random_state=0)

    def peakmem_one(self, n: int, n_threads: int) -> None:
        """Peak of the process."""
        self.time_one(n, n_threads)

    def track_n_iter(self, n: int, n_threads: int) -> int:
        """Steps of the solver over the grid."""
        models = self.fit(self.X, self.y, kernel="rbf", n_threads=n_threads, **self.grid)
        return sum(model.n_iter for model in models)
