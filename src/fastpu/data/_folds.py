"""Stratified folds."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]  # training rows, held-out rows


def stratified_folds(labels: NDArray[np.int8], n_folds: int, rng: np.random.Generator) -> list[Fold]:
    """Return (training rows, held-out rows) of each fold, ascending.

    The rows of each kind of label are put in random order and dealt out to the folds in turn, one kind after the
    other: so the folds have equally many rows of each kind, and equally many in all, up to one.
    """
    fold: NDArray[np.intp] = np.empty(labels.size, dtype=np.intp)
    dealt = 0
    for label in (1, 0, -1):
        rows = rng.permutation(np.flatnonzero(labels == label))
        fold[rows] = (dealt + np.arange(rows.size)) % n_folds
        dealt += rows.size
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
