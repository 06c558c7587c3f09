"""Labelled, unlabelled and fresh rows of four populations whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import claims
import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Table = NDArray[np.float64] | pd.DataFrame
    Sampler = Callable[[np.random.Generator, int], tuple[Table, NDArray[np.bool_]]]

_FRAUDS, _APART = 0.01, 2.0  # of the claims


@dataclass(frozen=True)
class Sample:
    """Rows to fit, which of them are labelled, the truth, and fresh rows such as the unlabelled ones."""

    X: Any
    y: NDArray[np.bool_]
    truth: NDArray[np.bool_]
    fresh: Any
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
    return X, rng.random(n) < 1 / (1 + np.exp(2.5 - X[:, 0] - 0.5 * X[:, 1] * X[:, 2]))


def stripes(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A third of the rows, in stripes of two columns out of six, with .9 of the rows in these and .05 of the others."""
    X = rng.normal(size=(n, 6))
    return X, rng.random(n) < np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0.9, 0.9, 0.05)


def frauds(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """One fraud in 100 claims."""
    truth = rng.random(n) < _FRAUDS
    return claims.columns(truth, _APART, rng), truth


#: Populations, and how many unlabelled rows of each there are.
POPULATIONS: dict[str, tuple[Sampler, int]] = {
    "normals": (normals, 5000), "noisy": (noisy, 8000), "stripes": (stripes, 5000), "claims": (frauds, 200_000),
}  # fmt: skip


def draw(population: str, n_labelled: int, n_fresh: int, rng: np.random.Generator) -> Sample:
    """Return labelled rows of their own, and unlabelled and fresh ones."""
    sampler, n_unl = POPULATIONS[population]
    found: list[Any] = []
    while sum(map(len, found)) < n_labelled:
        X, truth = sampler(rng, 20_000)
        found.append(X[truth])
    X, truth = sampler(rng, n_unl)
    fresh, fresh_truth = sampler(rng, n_fresh)
    rows = _stacked([_stacked(found)[:n_labelled], X])
    y = np.arange(len(rows)) < n_labelled
    return Sample(rows, y, np.concatenate([np.ones(n_labelled, dtype=np.bool_), truth]), fresh, fresh_truth)


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)
