"""`bin_features` and the binned subsets that it makes cheap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import N_THREADS, SIZES, dense_rows, require, sparse_rows


class BinFeatures:
    """Quantile bins of raw float32 rows."""

    param_names = ("n", "n_threads", "max_bins", "mode")
    params = (SIZES, N_THREADS, (255, 1023), ("dense", "csr"))

    def setup(self, n: int, n_threads: int, max_bins: int, mode: str) -> None:
        self.bin_features = require("bin_features")
        self.X: Any
        self.X, _ = dense_rows(n) if mode == "dense" else sparse_rows(n)

    def time_bin_features(self, n: int, n_threads: int, max_bins: int, mode: str) -> None:
        self.bin_features(self.X, max_bins=max_bins, n_threads=n_threads)

    def peakmem_bin_features(self, n: int, n_threads: int, max_bins: int, mode: str) -> None:
        """Peak of the process, the rows included."""
        self.bin_features(self.X, max_bins=max_bins, n_threads=n_threads)


class Subset:
    """`B[rows]` for a random half of the rows, as cross-validation takes it."""

    param_names = ("n", "mode")
    params = (SIZES, ("dense", "csr"))

    def setup(self, n: int, mode: str) -> None:
        X, _ = dense_rows(n) if mode == "dense" else sparse_rows(n)
        self.B = require("bin_features")(X)
        self.rows = np.sort(np.random.default_rng(1).permutation(n)[: n // 2])

    def time_take(self, n: int, mode: str) -> None:
        self.B[self.rows]
