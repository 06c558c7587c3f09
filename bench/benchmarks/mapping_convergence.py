"""Mapping convergence, SMC and SVMC, on a small class among others: time, memory, fits and F1."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import KERNEL_SIZES, N_THREADS, label_positives, require

METHODS = ("fit_smc", "fit_svmc", "fit_svmc, no repair")
_N_FEATURES = 8
_N_CLASSES = 20


def clusters(n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 20 clusters in the unit cube, one of which is positive, and their labels."""
    rng = np.random.default_rng(seed)
    centers = rng.random((_N_CLASSES, _N_FEATURES))
    which = rng.integers(0, _N_CLASSES, n)
    X = centers[which] + 0.15 * rng.standard_normal((n, _N_FEATURES))
    return X, np.where(which == 0, np.int8(1), np.int8(-1))


class MappingConvergence:
    """Whole fits, half of the positives labelled."""

    param_names = ("n", "n_threads", "method")
    params = (KERNEL_SIZES, N_THREADS, METHODS)

    def setup(self, n: int, n_threads: int, method: str) -> None:
        name, *flag = method.split(", ")
        self.function = require(name)
        self.options: dict[str, Any] = {"repair": False} if flag else {}
        self.X, self.truth = clusters(n)
        self.y = label_positives(self.truth, share=0.5)

    def fit(self, n_threads: int) -> Any:
        shared = {"C": 100.0, "kernel": "rbf", "gamma": 5.0, "cache_mb": 500}
        return self.function(self.X, self.y, n_threads=n_threads, **shared, **self.options)

    def time_fit(self, n: int, n_threads: int, method: str) -> None:
        self.fit(n_threads)

    def peakmem_fit(self, n: int, n_threads: int, method: str) -> None:
        """Peak of the process, rows and kernel cache included."""
        self.fit(n_threads)

    def track_fits(self, n: int, n_threads: int, method: str) -> float:
        """Return how many supervised SVMs were trained."""
        return float(self.fit(n_threads).n_iter)

    track_fits.unit = "fits"  # type: ignore[attr-defined] (asv reads it)

    def track_f1(self, n: int, n_threads: int, method: str) -> float:
        """Return the F1 score of the unlabelled rows that were never rejected."""
        truth = self.truth[self.y == 0] > 0
        found = self.fit(n_threads).unlabeled_set > 0
        return float(2 * np.count_nonzero(truth & found) / (np.count_nonzero(truth) + np.count_nonzero(found)))

    track_f1.unit = "F1"  # type: ignore[attr-defined] (asv reads it)
