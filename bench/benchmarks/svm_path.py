"""SVM paths: every breakpoint down to a lam, the choice of the best one, memory, and what the time buys."""

from __future__ import annotations

from typing import Any

from .common import N_THREADS, dense_rows, require

SIZES = (400, 2000)
KERNELS = ("rbf", "linear")


class SVMPath:
    """Paths of rows with true labels, and of positives that must be right."""

    param_names = ("n", "n_threads", "kernel")
    params = (SIZES, N_THREADS, KERNELS)

    def setup(self, n: int, n_threads: int, kernel: str) -> None:
        self.fit = require("fit_svm_path")
        X, self.y = dense_rows(n)
        self.X: Any = X[:, :10].astype("float64")
        self.options = {"kernel": kernel, "gamma": 0.1, "lam_min": 1e-2, "n_threads": n_threads}
        self.path = self.fit(self.X, self.y, **self.options)
        self.labels = self.y.clip(0)
        self.labels[::2] = 0  # half of the positives are labelled

    def time_fit(self, n: int, n_threads: int, kernel: str) -> None:
        self.fit(self.X, self.y, **self.options)

    def time_fit_pu(self, n: int, n_threads: int, kernel: str) -> None:
        require("fit_pu_svm_path")(self.X, self.labels, C_pos=2.0, **self.options)

    def time_select(self, n: int, n_threads: int, kernel: str) -> None:
        self.path.select("puf", self.X, self.labels, n_threads=n_threads)

    def peakmem_fit(self, n: int, n_threads: int, kernel: str) -> None:
        """Peak of the process, rows and kernel cache included."""
        self.fit(self.X, self.y, **self.options)

    def track_breakpoints(self, n: int, n_threads: int, kernel: str) -> int:
        return int(self.path.lams.size)

    def track_violation(self, n: int, n_threads: int, kernel: str) -> float:
        return float(self.path.violation)
