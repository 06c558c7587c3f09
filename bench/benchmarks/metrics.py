"""Criteria on scores with and without ties."""

from __future__ import annotations

import numpy as np

from .common import require


class AUC:
    """`metrics.auc` of n scores."""

    param_names = ("n", "scores", "sample_weight")
    params = ((1_000, 30_000, 1_000_000), ("distinct", "tied"), (False, True))

    def setup(self, n: int, scores: str, sample_weight: bool) -> None:
        rng = np.random.default_rng(0)
        self.auc = require("metrics.auc")
        self.y = np.where(rng.random(n) < 0.3, 1, -1)
        self.score = rng.standard_normal(n) + self.y
        if scores == "tied":
            self.score = np.round(self.score, 1)
        self.weights = rng.random(n) if sample_weight else None

    def time_auc(self, n: int, scores: str, sample_weight: bool) -> None:
        self.auc(self.y, self.score, sample_weight=self.weights)


class Risk:
    """The pairwise 0-1 risk of n scores, half of them of either group."""

    param_names = ("n",)
    params = ((1_000, 30_000, 1_000_000),)

    def setup(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.pn_risk = require("metrics.pn_risk")
        self.high, self.low = rng.standard_normal(n // 2) + 1, rng.standard_normal(n // 2)

    def time_pn_risk(self, n: int) -> None:
        self.pn_risk(self.high, self.low)
