"""Estimates of the class prior: time, and the error on two normal classes that hardly overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import require

_METHODS = ("bbe", "km2")
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


class ScarTest:
    """The test that labels are missing at random, of n rows and ten columns."""

    param_names = ("n",)
    params = ((600, 3_000),)

    def setup(self, n: int) -> None:
        rng = np.random.default_rng(0)
        positive = rng.random(n) < _PRIOR
        self.X = rng.standard_normal((n, 10)) + 3.0 * positive[:, None] * (np.arange(10) < 3)
        self.y = positive & (rng.random(n) < 0.5)

    def time_test(self, n: int) -> None:
        require("priors.scar_test")(self.X, self.y, prior=0.2, random_state=0)
