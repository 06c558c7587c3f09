"""Fits, training sets and comparisons that the tests of mapping convergence share."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.mapping._boundaries import Boundary, SvmStages

#: How closely a fit is solved where it is compared with an oracle, and what that leaves open in its scores.
TIGHT, FIT_TOL = 1e-9, 1e-5

#: Each method by name, and what it asks of the oracle.
FITS = {
    "smc": fastpu.fit_smc,
    "svmc": fastpu.fit_svmc,
    "svmc_paper": partial(fastpu.fit_svmc, repair=False),
}
ORACLE = {"smc": {"reset": False}, "svmc": {"reset": True, "repair": True}, "svmc_paper": {"reset": True}}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def rbf(A, B):
    """A kernel of the user's, which pickle can find."""
    A, B = (M.toarray() if sp.issparse(M) else np.asarray(M) for M in (A, B))
    return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def groups(seed: int, *, n: int = 400, d: int = 4, k: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in k overlapping groups, labels that name half of the first group, and who is in it."""
    rng = np.random.default_rng([seed, d, k])
    group = np.arange(n) % k
    X = rng.uniform(0, 1, (k, d))[group] + 0.15 * rng.normal(size=(n, d))
    truth = group == 0
    return X, np.where(truth & (np.cumsum(truth) % 2 == 0), 1, 0), truth


def zeros_and_all() -> tuple[np.ndarray, np.ndarray]:
    """Rows that are exact in float32 and have zeros, with their labels."""
    X, y, _ = groups(0, n=200, k=6)
    X = np.round(X * 64) / 64
    X[np.random.default_rng(1).random(X.shape) < 0.2] = 0.0
    return X, y


def forgetful() -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Rows on which the printed SVMC forgets many negatives, and the options that make it."""
    X, y, _ = groups(3)
    return X, y, {"C": 100.0, "gamma": 1.0}


def line() -> tuple[np.ndarray, np.ndarray]:
    """Numbers with a gap: negatives from 0 to 8 on a fine grid, positives, half of them hidden, from 10 to 11."""
    x = np.concatenate([np.arange(0, 8.001, 0.05), np.arange(10, 11.001, 0.05)])
    return x[:, None], np.where((x > 9) & (np.arange(x.size) % 2 == 0), 1, 0)


def map_below(monkeypatch: pytest.MonkeyPatch, limit: float) -> None:
    """Make the mapping of numbers on a line reject what is below a limit."""

    def boundary(self: SvmStages, positive: np.ndarray) -> Boundary:
        training = self._training
        row, value = positive[:1], float(training.matrix.values[positive[0], 0])
        fit = training.solve("one_class", row, np.ones(1, dtype=np.int8), np.ones(1), nu=1.0)
        fit = replace(fit, labels=np.ones(1, np.int8), alpha=np.array([1 / value]), intercept=-limit)
        return Boundary(
            training=training,
            fit=fit,
            support=positive[:0],
            positive_scores=training.matrix.values[positive, 0] - limit,
            span=(1, 1, 0.0, 0.0),
            nu=np.nan,
        )

    monkeypatch.setattr(SvmStages, "map", boundary)


def never_rejected(model: Any) -> np.ndarray:
    """Numbers of the rows of U that were never rejected."""
    return model.unlabeled_rows[model.unlabeled_set == 1]


def rejected_in(model: Any) -> list[np.ndarray]:
    """N_0, N_1, ... as numbers of rows."""
    return [model.unlabeled_rows[model.rejected_by == i] for i in range(model.history["kind"].size)]


SECONDS = ("fit_time", "score_time")
