"""Estimates of the class prior: time, and the error on two normal classes that hardly overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import require

_METHODS = ("km2", "pen_l1", "bbe", "tice")
_PRIOR = 0.35


class Prior:
    """One estimate without a bootstrap of n rows, a third of them labelled."""

    param_names = ("n", "method")
    params = ((600, 3_000), _METHODS)

    def setup(self, n: int, method: str) -> None:
        self.method: Any = require(f"priors.{method}")
        rng = np.random.default_rng(0)
        self.y = np.arange(n) < n // 3
        truth = self.y | (rng.random(n) < _PRIOR)
        self.X = rng.standard_normal((n, 10)) + 3.0 * truth[:, None] * (np.arange(10) == 0)
        self.prior = float(truth[~self.y].mean())

    def time_estimate(self, n: int, method: str) -> None:
        self.method(self.X, self.y, random_state=0)

    def track_error(self, n: int, method: str) -> float:
        return float(self.method(self.X, self.y, random_state=0).value - self.prior)
