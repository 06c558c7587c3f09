"""The distance from mixtures of two samples to the convex hull of their points in the feature space of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu import _core
from fastpu.common._params import forced_isa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["kernel_factor", "mixture_share"]

_RANK_TOL = 1e-7  # of the largest diagonal entry: what is left of it ends a factor
_MOST_COLUMNS = 600
_MOST_STEPS = 100  # for every row and point; 10 have been seen, where nearly all columns of a factor were needed
_FINEST = 1e-3  # of a share
_LARGEST = 0.98  # a share above it is not told from this one
_FIRST_STEP = 0.05  # of lambda, over which the first slope is taken
# A point that is so near to the hull, for kernel values of at most 1, is in it: the direction from its nearest point is
# that of rounding. Distances that were solved for are right to 1e-10 in the square.
_IN_HULL = 1e-6
_OF_DISTANCE = 0.2  # of the distance of the two means in the threshold of KM2, and the rest of the first slope


def kernel_factor(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Z, of as few columns as there are large pivots, with K = Z Z' but for what is left of the diagonal."""
    n = len(K)
    left = np.diagonal(K).copy()
    limit = _RANK_TOL * float(left.max())
    Z: NDArray[np.float64] = np.zeros((n, min(n, _MOST_COLUMNS)))
    for j in range(Z.shape[1]):
        pivot = int(np.argmax(left))
        if left[pivot] <= limit:
            return Z[:, :j]
        column = (K[:, pivot] - Z[:, :j] @ Z[pivot, :j]) / np.sqrt(left[pivot])
        Z[:, j] = column
        left = np.maximum(left - column * column, 0.0)
    return Z


def mixture_share(
    Z: NDArray[np.float64], mixture: NDArray[np.float64], component: NDArray[np.float64], *, n_threads: int = 1
) -> float:
    """Return KM2's estimate of the share of one distribution in another, each a vector of shares of the rows of `Z`.

    With means m_F of the mixture and m_H of the component in feature space, d(lambda) is the distance of lambda m_F +
    (1 - lambda) m_H from the convex hull of all points. It is convex and near 0 up to lambda = 1 / (1 - share), where
    the point is the other component; beyond that it rises. The estimate is where its slope reaches a fifth of the way
    from its first slope to |m_F - m_H|, the slope that it has at last. Where the point lies in the hull, as it does
    for discrete features, the slope is 0.
    """
    start = mixture @ Z
    along = start - component @ Z
    distance = float(np.linalg.norm(along))
    if distance == 0:
        return _LARGEST
    # Begins where the last point ended.
    hull = _core.HullDistance(np.ascontiguousarray(Z), n_threads=n_threads, isa=forced_isa(_core.isa_levels()))

    def apart_at(factor: float) -> NDArray[np.float64]:
        """Return mixture + factor along - the nearest point of the hull."""
        found = hull.nearest(start + factor * along, max_steps=_MOST_STEPS * len(Z))
        if found["status"] == "max_steps":
            raise RuntimeError(
                f"km2: the nearest point of the hull of {len(Z)} rows has not been found in {found['n_steps']} steps"
            )
        apart: NDArray[np.float64] = found["apart"]
        return apart if float(np.linalg.norm(apart)) > _IN_HULL else np.zeros_like(apart)

    first = float(np.linalg.norm(apart_at(_FIRST_STEP))) / _FIRST_STEP
    threshold = (1 - _OF_DISTANCE) * first + _OF_DISTANCE * distance
    low, high = 0.0, _LARGEST
    while high - low > _FINEST:
        share = (low + high) / 2
        apart = apart_at(share / (1 - share))  # lambda - 1
        length = float(np.linalg.norm(apart))
        # The derivative of the distance, where the nearest point is held fast (the envelope theorem).
        slope = float(apart @ along) / length if length > 0 else 0.0
        if slope > threshold:
            high = share
        else:
            low = share
    return (low + high) / 2
