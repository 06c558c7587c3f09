"""Bagging SVM of 35 bags: a whole fit with its out-of-bag scores, memory, scores and AUC."""

from __future__ import annotations

from typing import Any

from .common import KERNEL_SIZES, N_THREADS, dense_rows, label_positives, require, sparse_rows

MODES = ("float64", "float32", "csr")
N_BAGS = 35


class _Problem:
    def prepare(self, n: int, mode: str) -> None:
        self.function = require("fit_bagging_svm")
        self.X: Any
        self.X, truth = sparse_rows(n) if mode == "csr" else dense_rows(n)
        if mode == "float64":
            self.X = self.X.astype("float64")
        self.y = label_positives(truth, share=0.1)
        self.gamma = 1 / (5 if mode == "csr" else 50)  # 1 / the mean squared norm of a row

    def fit(self, n_threads: int) -> Any:
        kernel = {"kernel": "rbf", "gamma": self.gamma, "cache_mb": 500}
        return self.function(self.X, self.y, n_bags=N_BAGS, random_state=0, n_threads=n_threads, **kernel)


class BaggingSVM(_Problem):
    """Bags as large as the labelled rows are many."""

    param_names = ("n", "n_threads", "mode")
    params = (KERNEL_SIZES, N_THREADS, MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.prepare(n, mode)

    def time_fit(self, n: int, n_threads: int, mode: str) -> None:
        self.fit(n_threads)

    def peakmem_fit(self, n: int, n_threads: int, mode: str) -> None:
        """Peak of the process, rows and kernel cache included."""
        self.fit(n_threads)


class BaggingSVMScores(_Problem):
    """Scores of 20,000 other rows, and how well they rank."""

    param_names = ("n", "n_threads", "mode")
    params = (KERNEL_SIZES, N_THREADS[-1:], MODES)

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
