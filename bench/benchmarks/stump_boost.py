"""Boosting of decision stumps: a whole fit from raw rows, a round, memory, and the quality that comes with the speed.

The mode is how thresholds are searched: "exact" tries all of them on dense rows, "binned" 255 quantiles of each
feature of dense rows, "csr" the same on rows of which a tenth of the entries is not zero.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .common import N_THREADS, SIZES, dense_rows, hide_labels, require, sparse_rows

MODES = ("exact", "binned", "csr")


class _Problem:
    """Rows and labels of a mode; `fit` runs the method from raw rows."""

    method = "fit_pnu_auc_boost"
    n_rounds = 100

    def prepare(self, n: int, mode: str) -> None:
        self.function = require(self.method)
        self.X: Any
        self.X, truth = sparse_rows(n) if mode == "csr" else dense_rows(n)
        self.y = hide_labels(truth)
        self.max_bins = "exact" if mode == "exact" else 255

    def fit(self, n_threads: int) -> Any:
        return self.function(self.X, self.y, n_rounds=self.n_rounds, max_bins=self.max_bins, n_threads=n_threads)


class _Speed(_Problem):
    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS, MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.prepare(n, mode)


class PNUAUCBoost(_Speed):
    """100 rounds from raw float32 rows, sorting or binning included."""

    def time_fit(self, n: int, n_threads: int, mode: str) -> None:
        self.fit(n_threads)

    def peakmem_fit(self, n: int, n_threads: int, mode: str) -> None:
        """Peak of the process, the rows included."""
        self.fit(n_threads)


class RankBoostAUC(_Speed):
    """The same on the labelled rows alone."""

    method = "fit_rankboost_auc"
    params = (SIZES, N_THREADS[-1:], MODES)

    def time_fit(self, n: int, n_threads: int, mode: str) -> None:
        self.fit(n_threads)


class PNUAdaBoost(_Speed):
    """The same with the loss of AdaBoost."""

    method = "fit_pnu_adaboost"
    params = (SIZES, N_THREADS[-1:], MODES)

    def time_fit(self, n: int, n_threads: int, mode: str) -> None:
        self.fit(n_threads)


class PNUAUCBoostRound(_Speed):
    """A round alone: (time of 300 rounds - time of 100 rounds) / 200, for binned rows on `BinnedFeatures`."""

    n_repeats = 3

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.prepare(n, mode)
        if self.max_bins != "exact":
            self.X = require("bin_features")(self.X, max_bins=self.max_bins, n_threads=n_threads)
            self.max_bins = None

    def track_round_ms(self, n: int, n_threads: int, mode: str) -> float:
        """Return the best of a few alternating runs, for what else runs on the machine can only add."""
        runs = [[self.seconds(n_rounds, n_threads) for n_rounds in (100, 300)] for _ in range(self.n_repeats)]
        seconds_100, seconds_300 = np.min(runs, axis=0)
        return float(1000 * (seconds_300 - seconds_100) / 200)

    track_round_ms.unit = "ms"  # type: ignore[attr-defined] (asv reads it)

    def seconds(self, n_rounds: int, n_threads: int) -> float:
        self.n_rounds = n_rounds
        start = time.perf_counter()
        model = self.fit(n_threads)
        seconds = time.perf_counter() - start
        if model.n_iter != n_rounds:
            raise RuntimeError(f"the fit ended after {model.n_iter} of {n_rounds} rounds")
        return seconds


class PNUAUCBoostQuality(_Problem):
    """What 100 rounds achieve: it must not move when the times do. The same for any number of threads."""

    param_names = ("n", "mode")
    params = (SIZES, MODES)

    def setup(self, n: int, mode: str) -> None:
        self.prepare(n, mode)
        self.model = self.fit(N_THREADS[-1])

    def track_objective(self, n: int, mode: str) -> float:
        """Return log J of the training rows."""
        return float(self.model.objective[-1])

    track_objective.unit = "log J"  # type: ignore[attr-defined] (asv reads it)

    def track_auc(self, n: int, mode: str) -> float:
        """Return the AUC of 20,000 other rows."""
        X, truth = (sparse_rows if mode == "csr" else dense_rows)(20_000, seed=7)
        return float(require("metrics.auc")(truth, self.model.decision_function(X)))

    track_auc.unit = "AUC"  # type: ignore[attr-defined] (asv reads it)
