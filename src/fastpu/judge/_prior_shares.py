"""Penalised L1 distances between positive and unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu.data._matrix import DenseMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LARGEST", "RIDGES", "penalized_l1"]

RIDGES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_GRID = np.arange(1, 100) / 100  # of priors
LARGEST = float(_GRID[-1])


def penalized_l1(
    features: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    folds: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> float:
    """Return the share at which the penalised L1 distance between share * p(positive) and p(unlabelled) is least.

    `features` has, for each width, the basis functions of positive and of unlabelled rows, and `folds` the fold of each
    of these. For a share the ridge and the width with the least held-out criterion are taken.
    """
    best: NDArray[np.float64] = np.full(_GRID.size, np.inf)
    distance: NDArray[np.float64] = np.full(_GRID.size, np.inf)
    for of_pos, of_unl in features:
        whole = _excess(of_pos, of_unl)
        parts = []
        for fold in np.unique(np.concatenate(folds)):
            held = [fold_of_rows == fold for fold_of_rows in folds]
            if all(h.any() and not h.all() for h in held):
                parts.append((_excess(of_pos, of_unl, ~held[0], ~held[1]), _excess(of_pos, of_unl, *held)))
        for ridge in RIDGES:
            # The multipliers max(0, excess) / ridge maximise sum multiplier * excess - ridge / 2 multiplier^2.
            held_out = np.zeros(_GRID.size)
            for seen, other in parts:
                held_out -= (np.maximum(seen, 0) * other).sum(axis=0) / ridge / len(parts)
            values = (np.maximum(whole, 0) ** 2).sum(axis=0) / ridge - _GRID + 1
            better = held_out < best
            best[better], distance[better] = held_out[better], values[better]
    return float(_GRID[int(np.argmin(distance))])


def _excess(
    of_pos: NDArray[np.float64],
    of_unl: NDArray[np.float64],
    pos: NDArray[np.bool_] | None = None,
    unl: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return share * mean over positive - mean over unlabelled rows, for each basis function and share of the grid."""
    excess: NDArray[np.float64] = np.multiply.outer(_mean(of_pos, pos), _GRID) - _mean(of_unl, unl)[:, None]
    return excess


def _mean(features: NDArray[np.float64], chosen: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Return the mean of the chosen rows, or of all."""
    total = np.zeros(features.shape[1])
    for rows in DenseMatrix(features).blocks():  # Ctrl-C is handled between blocks
        total += (features[rows] if chosen is None else features[rows][chosen[rows]]).sum(axis=0)
    mean: NDArray[np.float64] = total / (len(features) if chosen is None else np.count_nonzero(chosen))
    return mean
