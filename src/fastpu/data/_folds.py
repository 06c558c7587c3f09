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


def grouped_folds(
    labels: NDArray[np.int8], groups: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> list[Fold]:
    """Return (training rows, held-out rows) of each fold, ascending; all rows of a group are in one fold.

    The groups are dealt out in random order, those with most positive rows first: each to the fold that has fewest
    positive rows so far, or fewest rows if it has no positive one.
    """
    n_groups = int(groups.max()) + 1
    positive = np.bincount(groups, labels == 1, n_groups).astype(np.intp)
    size = np.bincount(groups, minlength=n_groups)
    order = rng.permutation(n_groups)
    order = order[np.argsort(-positive[order], kind="stable")]
    fold_of: NDArray[np.intp] = np.empty(n_groups, dtype=np.intp)
    held = np.zeros((2, n_folds), dtype=np.intp)
    for group in order:
        fewest = held[::-1] if positive[group] else held  # lexsort goes by the last key first
        fold_of[group] = np.lexsort(tuple(fewest))[0]
        held[:, fold_of[group]] += positive[group], size[group]
    fold = fold_of[groups]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
