"""Stratified folds, of rows or of whole groups of rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]  # training rows, held-out rows


def fold_sizes(labels: NDArray[np.int8], clusters: NDArray[np.int32] | None = None) -> dict[int, int]:
    """Return for each kind of label how many rows have it, or how many clusters have such rows.

    There cannot be more folds with rows of that kind.
    """
    if clusters is None:
        return {code: int(np.count_nonzero(labels == code)) for code in (1, 0, -1)}
    return {code: int(np.unique(clusters[labels == code]).size) for code in (1, 0, -1)}


def stratified_folds(
    labels: NDArray[np.int8],
    n_folds: int,
    rng: np.random.Generator,
    clusters: NDArray[np.int32] | None = None,
) -> list[Fold]:
    """Return (training rows, held-out rows) of each fold, ascending.

    The rows of each kind of label are put in random order and dealt out to the folds in turn, one kind after the
    other: so the folds have equally many rows of each kind, and equally many in all, up to one. With clusters, whole
    ones are dealt out, and the folds are as equal as these allow.
    """
    if clusters is not None:
        return _folds_of_clusters(labels, n_folds, rng, clusters)
    fold: NDArray[np.intp] = np.empty(labels.size, dtype=np.intp)
    dealt = 0
    for label in (1, 0, -1):
        rows = rng.permutation(np.flatnonzero(labels == label))
        fold[rows] = (dealt + np.arange(rows.size)) % n_folds
        dealt += rows.size
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def _folds_of_clusters(
    labels: NDArray[np.int8], n_folds: int, rng: np.random.Generator, clusters: NDArray[np.int32]
) -> list[Fold]:
    """Deal out the clusters with positive rows, then others with negative ones, then the rest, the largest ones first.

    The folds are gone through there and back again, so that none gets the larger cluster of every round.
    """
    _, of_row = np.unique(clusters, return_inverse=True)
    of_row = of_row.reshape(-1)
    n_clusters = int(of_row.max()) + 1
    counts = {code: np.bincount(of_row[labels == code], minlength=n_clusters) for code in (1, 0, -1)}
    order = np.lexsort((rng.random(n_clusters), -counts[0], -counts[-1], -counts[1]))
    kind_of = np.where(counts[1] > 0, 0, np.where(counts[-1] > 0, 1, 2))
    there_and_back = np.concatenate([np.arange(n_folds), np.arange(n_folds)[::-1]])
    fold_of: NDArray[np.intp] = np.empty(n_clusters, dtype=np.intp)
    for number in range(3):
        of_kind = order[kind_of[order] == number]
        fold_of[of_kind] = there_and_back[np.arange(of_kind.size) % there_and_back.size]
        there_and_back = n_folds - 1 - there_and_back  # the next kind begins at the other end
    fold = fold_of[of_row]
    for code, kind in ((1, "positive"), (0, "unlabelled"), (-1, "negative")):
        n_with = np.unique(fold[labels == code]).size
        if 0 < n_with < n_folds:
            raise ValueError(
                f"groups leave {n_folds - n_with} of {n_folds} folds without {kind} rows: rows of a group stay "
                f"together; ask for fewer folds"
            )
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
