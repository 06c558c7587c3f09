"""The distance from mixtures of two samples to the convex hull of their points in the feature space of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


_RANK_TOL = 1e-7  # pivots end when the remaining diagonal is below this share of its largest entry
_MOST_COLUMNS = 600
_MOST_STEPS = 100  # for each row and point; up to 10 were needed, with factors of nearly full rank
_FINEST = 1e-3  # a share is searched to this precision
_LARGEST = 0.98  # largest share that is searched: larger ones cannot be told from it
_FIRST_STEP = 0.05  # the first slope is taken over this step of lambda
# A point this close to the hull counts as inside (kernel values are at most 1), since rounding errors would dominate
# the direction to its nearest point. Squared distances are computed to 1e-10.
_IN_HULL = 1e-6
_OF_DISTANCE = 0.2  # weight of the distance of the two means in KM2's threshold; the first slope has the rest


def kernel_factor(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Z with K = Z Z' up to the small pivots that are left out: one column for each large pivot."""
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
    # Each search starts from the result of the last one.
    hull = _core.HullDistance(np.ascontiguousarray(Z), n_threads=n_threads)

    def apart_at(factor: float) -> NDArray[np.float64]:
        """Return mixture + factor along - the nearest point of the hull."""
        nearest = hull.nearest(start + factor * along, max_steps=_MOST_STEPS * len(Z))
        if nearest["status"] == "max_steps":
            raise RuntimeError(
                f"km2: the nearest point of the hull of {len(Z)} rows has not been found in {nearest['n_steps']} steps"
            )
        apart: NDArray[np.float64] = nearest["apart"]
        return apart if float(np.linalg.norm(apart)) > _IN_HULL else np.zeros_like(apart)

    first = float(np.linalg.norm(apart_at(_FIRST_STEP))) / _FIRST_STEP
    threshold = (1 - _OF_DISTANCE) * first + _OF_DISTANCE * distance
    low, high = 0.0, _LARGEST
    while high - low > _FINEST:
        share = (low + high) / 2
        apart = apart_at(share / (1 - share))  # lambda - 1
        length = float(np.linalg.norm(apart))
        # The derivative of the distance with the nearest point held fixed (the envelope theorem).
        slope = float(apart @ along) / length if length > 0 else 0.0
        if slope > threshold:
            high = share
        else:
            low = share
    return (low + high) / 2
