"""A PU forest of 100 trees: a whole fit with its out-of-bag scores, memory, scores and AUC."""

from __future__ import annotations

from typing import Any

from .common import N_THREADS, SIZES, dense_rows, label_positives, require, sparse_rows

MODES = ("float32", "csr")
N_TREES = 100


class _Problem:
    def prepare(self, n: int, mode: str) -> None:
        self.function = require("fit_forest")
        self.X: Any
        self.X, truth = sparse_rows(n) if mode == "csr" else dense_rows(n)
        self.y = label_positives(truth, share=0.1)

    def fit(self, n_threads: int, **options: Any) -> Any:
        return self.function(self.X, self.y, n_trees=N_TREES, random_state=0, n_threads=n_threads, **options)


class Forest(_Problem):
    """Random cuts and all cuts, from raw rows."""

    param_names = ("n", "n_threads", "mode", "splitter")
    params = (SIZES, N_THREADS, MODES, ("random", "best"))

    def setup(self, n: int, n_threads: int, mode: str, splitter: str) -> None:
        self.prepare(n, mode)

    def time_fit(self, n: int, n_threads: int, mode: str, splitter: str) -> None:
        self.fit(n_threads, splitter=splitter)

    def peakmem_fit(self, n: int, n_threads: int, mode: str, splitter: str) -> None:
        """Peak of the process, rows included."""
        self.fit(n_threads, splitter=splitter)


class ForestScores(_Problem):
    """Scores of 20,000 other rows, and how well they rank."""

    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS[-1:], MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.prepare(n, mode)
        self.model = self.fit(n_threads)
        self.test, self.truth = (sparse_rows if mode == "csr" else dense_rows)(20_000, seed=7)

    def time_decision_function(self, n: int, n_threads: int, mode: str) -> None:
        self.model.decision_function(self.test, n_threads=n_threads)

    def track_auc(self, n: int, n_threads: int, mode: str) -> float:
        """Return the AUC of these rows."""
        return float(require("metrics.auc")(self.truth, self.model.decision_function(self.test)))

    track_auc.unit = "AUC"  # type: ignore[attr-defined] (asv reads it)
