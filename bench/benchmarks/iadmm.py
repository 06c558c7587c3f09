"""The large-margin problem behind ISVM and IPSI: an iteration of ADMM against a copy of X, and whole solutions.

The mode is the form of the rows: "float64" and "float32" are dense, "csr" has an entry that is not zero in a tenth.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from fastpu.data._validate import check_matrix

from .common import N_THREADS, SIZES, dense_rows, require, sparse_rows

MODES = ("float64", "float32", "csr")
N_ITER = 20
_ROUNDS = 5  # of which the fastest counts


class _Problem:
    """Rows, labels and an engine."""

    def prepare(self, n: int, mode: str, n_threads: int) -> None:
        engine = require("_core.LargeMarginEngine")
        self.X: Any
        self.X, self.y = sparse_rows(n) if mode == "csr" else dense_rows(n)
        if mode == "float64":
            self.X = self.X.astype("float64")
        self.engine = engine(check_matrix(self.X), n_threads=n_threads)

    def solve(self, C: float = 1.0, **options: Any) -> dict[str, Any]:
        known = {
            "solver": "exact",
            "tol": 1e-6,
            "max_iter": 0,
            "start": None,
            "callback": None,
        }
        result: dict[str, Any] = self.engine.solve(self.y, np.full(self.y.size, C), None, **(known | options))
        return result


class Iteration(_Problem):
    """Twenty iterations of ADMM, with what comes before and after."""

    param_names = ("n", "n_threads", "mode")
    params = (SIZES, N_THREADS, MODES)

    def setup(self, n: int, n_threads: int, mode: str) -> None:
        self.prepare(n, mode, n_threads)

    def iterate(self, n_iter: int) -> None:
        self.solve(solver="iadmm", max_iter=n_iter, tol=1e-14)

    def time_iterations(self, n: int, n_threads: int, mode: str) -> None:
        self.iterate(N_ITER)

    def track_bandwidth(self, n: int, n_threads: int, mode: str) -> float:
        """Return what an iteration must read and write, over its time: X once, and the state of the rows.

        Compare with `track_copy`. The time of one iteration is that of many less that of few.
        """
        values = [self.X.data, self.X.indices] if mode == "csr" else [self.X]
        state = 8 * n * 4  # labels, costs, and multipliers there and back
        seconds = min(self.seconds(1 + N_ITER) - self.seconds(1) for _ in range(_ROUNDS)) / N_ITER
        return float(sum(array.nbytes for array in values) + state) / seconds / 1e9

    track_bandwidth.unit = "GB/s"  # type: ignore[attr-defined] (asv reads it)

    def seconds(self, n_iter: int) -> float:
        start = time.perf_counter()
        self.iterate(n_iter)
        return time.perf_counter() - start


class Copy:
    """What the memory of this machine can do: bytes read and written by a copy of n rows, one thread."""

    param_names = ("n",)
    params = (SIZES,)

    def setup(self, n: int) -> None:
        self.X = dense_rows(n)[0].astype("float64")
        self.other = np.empty_like(self.X)

    def track_copy(self, n: int) -> float:
        """Return bytes per second, read and written alike."""
        seconds = []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            np.copyto(self.other, self.X)
            seconds.append(time.perf_counter() - start)
        return 2 * self.X.nbytes / min(seconds) / 1e9

    track_copy.unit = "GB/s"  # type: ignore[attr-defined] (asv reads it)


class Exact(_Problem):
    """The problem solved to a relative duality gap of 1e-6."""

    param_names = ("n", "n_threads", "mode", "C")
    params = (SIZES, N_THREADS, MODES, (0.01, 1.0, 100.0))

    def setup(self, n: int, n_threads: int, mode: str, C: float) -> None:
        self.prepare(n, mode, n_threads)

    def time_solve(self, n: int, n_threads: int, mode: str, C: float) -> None:
        self.solve(C)


class ExactQuality(_Problem):
    """What a solution achieves: it must not move when the times do. The same for any number of threads."""

    param_names = ("n", "mode", "C")
    params = (SIZES, MODES, (0.01, 1.0, 100.0))

    def setup(self, n: int, mode: str, C: float) -> None:
        self.prepare(n, mode, N_THREADS[-1])
        self.result = self.solve(C)

    def track_objective(self, n: int, mode: str, C: float) -> float:
        """Return the primal objective."""
        return float(self.result["objective"])

    def track_gap(self, n: int, mode: str, C: float) -> float:
        """Return the duality gap, relative to the objective."""
        return float(self.result["gap"] / self.result["objective"])

    def track_steps(self, n: int, mode: str, C: float) -> float:
        """Return the steps, of whatever method was chosen."""
        return float(self.result["n_iter"])

    track_steps.unit = "steps"  # type: ignore[attr-defined] (asv reads it)
