"""Choice of parameters: what `select` adds to the fits, and a grid with and without processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import require


class _Constant:
    def __init__(self, shift: float) -> None:
        self._shift = shift

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0] + self._shift


def _no_fit(X: Any, y: Any, *, shift: float = 0.0) -> _Constant:
    return _Constant(shift)


class Overhead:
    """1,000 points and 4 folds of a fit that costs nothing."""

    param_names = ("scoring",)
    params = (("puf", "err_star", "auc"),)

    def setup(self, scoring: str) -> None:
        self.select = require("select")
        rng = np.random.default_rng(0)
        self.X, self.y = rng.standard_normal((400, 2)), (np.arange(400) < 80).astype(np.int8)
        self.options = {"scoring": scoring, "random_state": 0} | ({"prior": 0.3} if scoring == "err_star" else {})

    def time_select(self, scoring: str) -> None:
        self.select(_no_fit, self.X, self.y, {"shift": np.linspace(-1, 1, 1000)}, **self.options)


class Grid:
    """24 points and 4 folds of a biased SVM of 1,000 rows."""

    param_names = ("n_threads",)
    params = ((1, 2),)

    def setup(self, n_threads: int) -> None:
        self.select, self.fit = require("select"), require("fit_bsvm")
        X, truth = require("datasets.make_four_normals")(1000, random_state=0)
        split = require("datasets.split_case_control")(truth, labeled=100, unlabeled=1.0, random_state=0)
        self.X, self.y = X[split.train], split.y_train

    def time_select(self, n_threads: int) -> None:
        grid = {"C_pos": [1.0, 3.0, 10.0, 30.0], "C_unl": [0.1, 0.2, 0.5, 1.0, 2.0, 5.0]}
        self.select(self.fit, self.X, self.y, grid, kernel="rbf", random_state=0, n_threads=n_threads)


class KernelGrid:
    """Costs and widths of a C-SVM of 1,000 rows, 5 folds: as one grid, or behind a function that hides it."""

    param_names = ("size", "n_threads", "one_by_one")
    params = ((3, 10), (1, 2), (False, True))

    def setup(self, size: int, n_threads: int, one_by_one: bool) -> None:
        self.select, fit = require("select"), require("fit_svm")

        def unknown(X: Any, y: Any, **params: Any) -> Any:
            return fit(X, y, **params)

        self.fit = unknown if one_by_one else fit
        self.X, self.y = require("datasets.make_four_normals")(1000, random_state=0)
        self.grid = {"C": np.geomspace(1e-2, 1e3, size), "gamma": np.geomspace(1e-3, 3, size)}

    def time_select(self, size: int, n_threads: int, one_by_one: bool) -> None:
        self.select(self.fit, self.X, self.y, self.grid, scoring="error", cv=5, random_state=0, n_threads=n_threads,
                    admit=("degenerate",))  # fmt: skip
