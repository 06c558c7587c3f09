"""uPU and nnPU: epochs of the reference network and of a linear model, Newton's method, and the risk that comes of it.

The mode is the form of the rows: "float64" and "float32" are dense, "csr" has an entry that is not zero in a tenth.
"""

from __future__ import annotations

import warnings
from typing import Any

from .common import N_THREADS, SIZES, dense_rows, label_positives, require, sparse_rows

MODES = ("float64", "float32", "csr")
N_EPOCHS = 5
PRIOR = 0.45


class _Problem:
    """Rows and labels of a mode."""

    def prepare(self, n: int, mode: str) -> None:
        self.X: Any
        self.X, truth = sparse_rows(n) if mode == "csr" else dense_rows(n)
        if mode == "float64":
            self.X = self.X.astype("float64")
        self.y = label_positives(truth, share=0.2)
        warnings.simplefilter("ignore")  # so few epochs leave models that call all rows the same

    def fit(self, function: str, **options: Any) -> Any:
        return require(function)(self.X, self.y, prior=PRIOR, random_state=0, **options)


class Network(_Problem):
    """Epochs of 100 hidden units, in one batch or in many."""

    param_names = ("n", "n_threads", "mode", "batch_size")
    params = (SIZES, N_THREADS, MODES, (None, 1000))

    def setup(self, n: int, n_threads: int, mode: str, batch_size: int | None) -> None:
        require("fit_nnpu")
        self.prepare(n, mode)

    def run(self, n_threads: int, batch_size: int | None) -> Any:
        options = {"loss": "sigmoid", "learning_rate": 1e-3, "n_epochs": N_EPOCHS, "batch_size": batch_size}
        return self.fit("fit_nnpu", model="mlp", n_threads=n_threads, **options)

    def time_epochs(self, n: int, n_threads: int, mode: str, batch_size: int | None) -> None:
        self.run(n_threads, batch_size)

    def peakmem_epochs(self, n: int, n_threads: int, mode: str, batch_size: int | None) -> None:
        """Peak of the process, rows included."""
        self.run(n_threads, batch_size)

    def track_risk(self, n: int, n_threads: int, mode: str, batch_size: int | None) -> float:
        """Return the risk of the last epoch: it must not move when the times do."""
        return float(self.run(n_threads, batch_size).objective[-1])


class Linear(_Problem):
    """Epochs of a linear model, and the convex risks by Newton's method."""

    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS, MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        require("fit_upu")
        self.prepare(n, mode)

    def time_adam(self, n: int, n_threads: int, mode: str) -> None:
        self.fit("fit_nnpu", loss="sigmoid", lam=0.0, learning_rate=1e-3, n_epochs=N_EPOCHS, n_threads=n_threads)

    def time_newton_logistic(self, n: int, n_threads: int, mode: str) -> None:
        self.fit("fit_upu", loss="logistic", lam=1e-3, n_threads=n_threads)

    def time_newton_squared(self, n: int, n_threads: int, mode: str) -> None:
        self.fit("fit_upu", loss="squared", lam=1e-3, n_threads=n_threads)

    def track_newton_risk(self, n: int, n_threads: int, mode: str) -> float:
        """Return the least risk, which must not move when the times do."""
        return float(self.fit("fit_upu", loss="logistic", lam=1e-3, n_threads=n_threads).objective[-1])
