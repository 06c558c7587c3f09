"""Scores of an ensemble of 500 stumps."""

from __future__ import annotations

from typing import Any

from .common import N_THREADS, SIZES, dense_rows, hide_labels, require, sparse_rows

N_STUMPS = 500
_TRAINING_ROWS = 10_000


class StumpEnsemble:
    """`decision_function` of raw rows, dense and sparse, and of binned ones."""

    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS, ("dense", "csr", "binned"))

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        rows = sparse_rows if mode == "csr" else dense_rows
        self.X: Any
        self.X, truth = rows(n)
        training = slice(0, min(n, _TRAINING_ROWS))
        if mode == "binned":
            self.X = require("bin_features")(self.X)
        fit = require("fit_pnu_auc_boost")
        max_bins = None if mode == "binned" else 255
        self.model = fit(self.X[training], hide_labels(truth[training]), n_rounds=N_STUMPS, max_bins=max_bins)

    def time_decision_function(self, n: int, n_threads: int, mode: str) -> None:
        self.model.decision_function(self.X, n_threads=n_threads)

    def peakmem_decision_function(self, n: int, n_threads: int, mode: str) -> None:
        """Peak of the process, the rows included."""
        self.model.decision_function(self.X, n_threads=n_threads)


class Staged:
    """`staged_decision_function`: the scores after each of the 500 rounds."""

    param_names = ("n",)
    params = ((2_000, 20_000),)

    def setup(self, n: int) -> None:
        self.X, truth = dense_rows(n)
        self.model = require("fit_pnu_auc_boost")(self.X, hide_labels(truth), n_rounds=N_STUMPS, max_bins=255)

    def time_staged_decision_function(self, n: int) -> None:
        for _ in self.model.staged_decision_function(self.X):
            pass
