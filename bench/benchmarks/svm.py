"""C-, nu- and one-class SVMs: a whole fit, scores, memory, and the objective that comes with the speed.

The mode is the form of the rows: "float64" and "float32" are dense, "csr" has an entry that is not zero in a tenth.
"""

from __future__ import annotations

from typing import Any

from .common import KERNEL_SIZES, N_THREADS, dense_rows, require, sparse_rows

MODES = ("float64", "float32", "csr")
KINDS = ("c_svm", "nu_svm", "one_class")
KERNELS = ("rbf", "linear")


class _Problem:
    """Rows and labels of a mode; `fit` runs a kind of SVM."""

    def prepare(self, n: int, mode: str, *, seed: int = 0) -> None:
        self.X: Any
        self.X, self.y = sparse_rows(n, seed=seed) if mode == "csr" else dense_rows(n, seed=seed)
        if mode == "float64":
            self.X = self.X.astype("float64")
        self.gamma = 1 / (5 if mode == "csr" else 50)  # 1 / the mean squared norm of a row

    def fit(self, kind: str, kernel: str, n_threads: int) -> Any:
        shared = {"kernel": kernel, "gamma": self.gamma, "cache_mb": 500, "n_threads": n_threads}
        if kind == "c_svm":
            return require("fit_svm")(self.X, self.y, C=1.0, **shared)
        if kind == "nu_svm":
            return require("fit_nu_svm")(self.X, self.y, nu=0.3, **shared)
        return require("fit_one_class_svm")(self.X, nu=0.1, **shared)


class SVM(_Problem):
    """Fits with the rbf kernel."""

    param_names = ("n", "n_threads", "kind", "mode")
    params = (KERNEL_SIZES, N_THREADS, KINDS, MODES)

    def setup(self, n: int, n_threads: int, kind: str, mode: str) -> None:
        require("fit_svm")
        self.prepare(n, mode)

    def time_fit(self, n: int, n_threads: int, kind: str, mode: str) -> None:
        self.fit(kind, "rbf", n_threads)

    def peakmem_fit(self, n: int, n_threads: int, kind: str, mode: str) -> None:
        """Peak of the process, rows and kernel cache included."""
        self.fit(kind, "rbf", n_threads)


class LinearSVM(_Problem):
    """C-SVMs with the linear kernel, for which no kernel rows are formed."""

    param_names = ("n", "n_threads", "mode")
    params = (KERNEL_SIZES, N_THREADS, MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        require("fit_svm")
        self.prepare(n, mode)

    def time_fit(self, n: int, n_threads: int, mode: str) -> None:
        self.fit("c_svm", "linear", n_threads)


class LinearSolvers(_Problem):
    """Solvers of the same linear problem side by side, each of which stays for what it is faster at.

    "engine" is that of large margins; "pairs" keeps w, and "rows" computes kernel rows for a polynomial of degree 1,
    which is the same kernel. On spambase, surgical and webkb pairs took 1/1.5 to 1/17 of the time of rows (nu-SVM,
    one-class SVM, bags). Wide rows and small costs are the engine's: 2,000 x 1,500 at C = .001 took .17 s, pairs .24.
    """

    param_names = ("n", "mode", "solver")
    params = (KERNEL_SIZES, MODES, ("engine", "pairs", "rows"))

    def setup(self, n: int, mode: str, solver: str) -> None:
        require("fit_svm")
        self.prepare(n, mode)
        kernel = (
            {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0} if solver == "rows" else {"kernel": "linear"}
        )
        self.options = {**kernel, "max_iter": 10**6 if solver == "pairs" else None}

    def time_fit(self, n: int, mode: str, solver: str) -> None:
        require("fit_svm")(self.X, self.y, C=0.1, n_threads=1, **self.options)


class SVMScores(_Problem):
    """Scores of 20,000 other rows."""

    param_names = ("n", "n_threads", "kernel", "mode")
    params = (KERNEL_SIZES, N_THREADS, KERNELS, MODES)

    def setup(self, n: int, n_threads: int, kernel: str, mode: str) -> None:
        require("fit_svm")
        self.prepare(n, mode)
        self.model = self.fit("c_svm", kernel, n_threads)
        self.prepare(20_000, mode, seed=7)

    def time_decision_function(self, n: int, n_threads: int, kernel: str, mode: str) -> None:
        self.model.decision_function(self.X, n_threads=n_threads)


class SVMQuality(_Problem):
    """What a fit achieves: it must not move when the times do. The same for any number of threads."""

    param_names = ("n", "kind", "mode")
    params = (KERNEL_SIZES, KINDS, MODES)

    def setup(self, n: int, kind: str, mode: str) -> None:
        require("fit_svm")
        self.prepare(n, mode)
        self.model = self.fit(kind, "rbf", N_THREADS[-1])

    def track_objective(self, n: int, kind: str, mode: str) -> float:
        """Return the dual objective, as a minimum."""
        return float(self.model.objective[-1])

    def track_steps(self, n: int, kind: str, mode: str) -> float:
        """Return the updates of a pair of dual variables."""
        return float(self.model.n_iter)

    track_steps.unit = "updates"  # type: ignore[attr-defined] (asv reads it)
