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


class Ranking:
    """Lift of 500 of 95,000 unlabelled rows, with and without a bootstrap of 1,000 samples."""

    param_names = ("n_boot",)
    params = ((0, 1000),)

    def setup(self, n_boot: int) -> None:
        rng = np.random.default_rng(0)
        self.lift_at_k = require("metrics.lift_at_k")
        self.pos, self.unl = rng.normal(1, 1, 5_000), rng.normal(size=95_000)

    def time_lift_at_k(self, n_boot: int) -> None:
        self.lift_at_k(self.pos, self.unl, 500, n_boot=n_boot, random_state=0)
