"""Simulated claims: a frame with numbers, gaps, categories and many shops, of which a few are frauds, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOPS = 600


def draw(
    n_pos: int, n_unl: int, prior: float, apart: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.bool_]]:
    """Draw labelled frauds and unlabelled claims: columns, labels, and which claims are frauds."""
    y = np.repeat([1, 0], [n_pos, n_unl])
    truth = (y == 1) | (rng.random(y.size) < prior)
    return columns(truth, apart, rng), y, truth


def columns(truth: NDArray[np.bool_], apart: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the columns of claims; the means of frauds and of other claims are `apart`, in standard deviations."""
    n = truth.size
    numbers = rng.normal(size=(n, 5)) + apart * truth[:, None] / np.sqrt(5)
    X = pd.DataFrame(numbers, columns=["amount", "age", "distance", "hour", "earlier"])
    X["amount"] = np.exp(X["amount"])
    X.loc[rng.random(n) < np.where(truth, 0.3, 0.1), "distance"] = np.nan
    X["channel"] = np.where(rng.random(n) < 0.4, np.where(truth, "web", "desk"), rng.choice(["web", "desk", "app"], n))
    X.loc[rng.random(n) < 0.05, "channel"] = None
    shop = np.where(truth & (rng.random(n) < 0.5), rng.integers(0, 30, n), rng.integers(0, SHOPS, n))
    X["shop"] = np.char.add("shop", shop.astype(str))
    return X
