"""Rows of a population whose truth is known, and the models that are tried on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Sampler = Callable[[np.random.Generator, int], tuple[NDArray[np.float64], NDArray[np.bool_]]]


@dataclass(frozen=True)
class Rows:
    """Rows to fit, which of them are labelled, the truth, and fresh rows such as the unlabelled ones."""

    X: NDArray[np.float64]
    y: NDArray[np.bool_]
    truth: NDArray[np.bool_]
    fresh: NDArray[np.float64]
    fresh_truth: NDArray[np.bool_]

    @property
    def prior(self) -> float:
        """The share of positives among the unlabelled rows."""
        return float(self.truth[~self.y].mean())


def normals(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Five columns, of which three have larger means in one row out of 20."""
    truth = rng.random(n) < 0.05
    return rng.normal(size=(n, 5)) + truth[:, None] * [1.2, 1.0, 0.8, 0.0, 0.0], truth


def noisy(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One row out of nine, in no part of the space more than most."""
    X = rng.normal(size=(n, 8))
    return X, _drawn(rng, -2.5 + X[:, 0] + 0.5 * X[:, 1] * X[:, 2])


def stripes(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A third of the rows, in stripes of two columns out of six, with .9 of the rows in these and .05 of the others."""
    X = rng.normal(size=(n, 6))
    return X, rng.random(n) < np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0.9, 0.9, 0.05)


def claims(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Some 5 frauds in 1,000 claims: amounts, hours, shops of different shares, a product of two columns, and gaps."""
    X = rng.normal(size=(n, 12))
    X[:, 1], X[:, 2], X[:, 11] = rng.exponential(1, n), rng.integers(0, 24, n), rng.integers(0, 300, n)
    of_shop = np.random.default_rng(0).normal(0, 1.2, 300)[X[:, 11].astype(int)]
    log_odds = 1.8 * (X[:, 0] + np.minimum(X[:, 1], 4) + (X[:, 2] < 5)) + 1.2 * X[:, 3] * (X[:, 4] > 0) + of_shop
    truth = _drawn(rng, log_odds - 11.3)
    X[:, :11][rng.random((n, 11)) < 0.03] = np.nan
    return X, truth


def _drawn(rng: np.random.Generator, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    drawn: NDArray[np.bool_] = rng.random(log_odds.size) < 1 / (1 + np.exp(-log_odds))
    return drawn


#: Populations, and how many unlabelled rows of each there are.
POPULATIONS: dict[str, tuple[Sampler, int]] = {
    "normals": (normals, 5000), "noisy": (noisy, 8000), "stripes": (stripes, 5000), "claims": (claims, 200_000),
}  # fmt: skip
LEARNERS: dict[str, Callable[..., Any]] = {
    "forest": fastpu.fit_forest,
    "20 bags": lambda X, y, **how: fastpu.fit_boosted_trees(X, y, n_bags=20, **how),
}


def draw(population: str, n_labelled: int, n_fresh: int, rng: np.random.Generator) -> Rows:
    """Return labelled rows of their own, and unlabelled and fresh ones."""
    sample, n_unl = POPULATIONS[population]
    found: list[NDArray[np.float64]] = []
    while sum(map(len, found)) < n_labelled:
        X, truth = sample(rng, 20_000)
        found.append(X[truth])
    X, truth = sample(rng, n_unl)
    fresh, fresh_truth = sample(rng, n_fresh)
    rows = np.concatenate([np.concatenate(found)[:n_labelled], X])
    y = np.arange(len(rows)) < n_labelled
    return Rows(rows, y, np.concatenate([np.ones(n_labelled, dtype=np.bool_), truth]), fresh, fresh_truth)
