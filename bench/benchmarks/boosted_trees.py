"""Boosted trees, 100 rounds of 8 leaves: a whole fit from bins, bags with their out-of-bag scores, memory and AUC."""

from __future__ import annotations

from typing import Any

from .common import N_THREADS, SIZES, dense_rows, label_positives, require, sparse_rows

MODES = ("float32", "csr")


class BoostedTrees:
    """All rows, and 20 bags."""

    param_names = ("n", "n_threads", "mode", "n_bags")
    params = (SIZES, N_THREADS, MODES, (1, 20))

    def setup(self, n: int, n_threads: int, mode: str, n_bags: int) -> None:
        self.function = require("fit_boosted_trees")
        rows = sparse_rows if mode == "csr" else dense_rows
        self.X: Any
        self.X, truth = rows(n)
        self.y = label_positives(truth, share=0.1)
        self.test, self.truth = rows(20_000, seed=7)

    def fit(self, n_threads: int, n_bags: int) -> Any:
        return self.function(self.X, self.y, n_bags=n_bags, random_state=0, n_threads=n_threads)

    def time_fit(self, n: int, n_threads: int, mode: str, n_bags: int) -> None:
        self.fit(n_threads, n_bags)

    def peakmem_fit(self, n: int, n_threads: int, mode: str, n_bags: int) -> None:
        """Peak of the process, rows included."""
        self.fit(n_threads, n_bags)

    def track_auc(self, n: int, n_threads: int, mode: str, n_bags: int) -> float:
        """Return the AUC of 20,000 other rows."""
        scores = self.fit(n_threads, n_bags).decision_function(self.test)
        return float(require("metrics.auc")(self.truth, scores))

    track_auc.unit = "AUC"  # type: ignore[attr-defined] (asv reads it)
