"""KM2: the share of one sample in another, from their means in the feature space of a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

_RANK_TOL = 1e-7  # pivots end when the remaining diagonal is below this share of its largest entry
_MOST_COLUMNS = 600
_MOST_STEPS = 100  # of non-negative least squares, for each row
_FINEST = 1e-3  # a share is searched to this precision
_LARGEST = 0.98  # largest share that is searched: larger ones cannot be told from it
_FIRST_STEP = 0.05  # the first slope is taken over this step of lambda
# A point this close to the hull counts as inside (kernel values are at most 1), since rounding errors would dominate
# the direction to its nearest point.
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


def from_hull(Z: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `point` minus the nearest point to it of the convex hull of the rows of `Z`, or zeros in the hull.

    Weights u >= 0 that minimise |sum_i u_i (z_i - p)|^2 + (1 - sum_i u_i)^2 are those of the nearest point times a
    factor: for any weights of sum 1, which give the vector v, the best factor leaves |v|^2 / (1 + |v|^2).
    """
    towards = Z - point
    system = np.vstack([towards.T, np.ones(len(Z))])
    weights, _ = nnls(system, np.append(np.zeros(Z.shape[1]), 1.0), maxiter=_MOST_STEPS * len(Z))
    apart: NDArray[np.float64] = -(weights / weights.sum()) @ towards
    return apart if float(np.linalg.norm(apart)) > _IN_HULL else np.zeros_like(apart)


def mixture_share(Z: NDArray[np.float64], mixture: NDArray[np.float64], component: NDArray[np.float64]) -> float:
    """Return KM2's estimate of the share of one distribution in another, each a vector of shares of the rows of `Z`.

    `fastpu.priors.km2` says where it is. The distance d is convex, and |m_u - m_p| is the slope that it has at last.
    """
    start = mixture @ Z
    along = start - component @ Z
    distance = float(np.linalg.norm(along))
    if distance == 0:
        return _LARGEST
    first = float(np.linalg.norm(from_hull(Z, start + _FIRST_STEP * along))) / _FIRST_STEP
    threshold = (1 - _OF_DISTANCE) * first + _OF_DISTANCE * distance
    low, high = 0.0, _LARGEST
    while high - low > _FINEST:
        share = (low + high) / 2
        apart = from_hull(Z, start + share / (1 - share) * along)  # lambda - 1
        length = float(np.linalg.norm(apart))
        # The derivative of the distance with the nearest point held fixed (the envelope theorem).
        slope = float(apart @ along) / length if length > 0 else 0.0
        if slope > threshold:
            high = share
        else:
            low = share
    return (low + high) / 2
