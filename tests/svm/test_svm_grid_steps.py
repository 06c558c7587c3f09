"""Chains of large costs at a small width: many free variables have to move together."""

from __future__ import annotations

import numpy as np

import fastpu


def test_a_chain_of_large_costs_takes_newton_steps_in_place_of_pair_steps():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 10))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + rng.standard_normal(1500) > 0, 1, -1)
    models = fastpu.baselines.fit_svm(X, y, C=[10.0, 100.0, 1000.0], gamma=0.02)
    assert max(model.violation for model in models) <= 1e-3
    assert models[-1].n_iter < 25_000  # 33,600 where Newton steps are as rare as they were
