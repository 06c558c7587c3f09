"""What ISVM and IPSI can tell from the rows alone: a default C, and the largest share of positives there can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.kernels._kernels import Native

__all__ = ["default_cost", "largest_share"]

# The factor in C = _FACTOR n_pos / (s^2 sqrt(max(n_pos, d))). This rule was chosen on ten standardised data sets with
# 5 and 30 % of the positives labelled, and on text: for both methods its mean AUC was within .001 of the best rule.
_FACTOR = 80.0
_COSTS = (1e-100, 1e100)
_BLOCK = 1 << 16  # entries of X that are converted to float64 at a time

# Of the bound on the share of positives: its width in standard errors, the fewest labelled rows above a threshold that
# counts, and how many rows each fitted coefficient may have moved above the threshold.
_ERRORS = 2.0
_FEWEST = 5
_LIFTED = 0.5


def default_cost(native: Native, is_labelled: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> float:
    """Return C for n_pos labelled rows and the mean squared distance s^2 of rows from their mean, both weighted."""
    size = _mean_square(native, weights)
    n_features = native[3][1] if isinstance(native, tuple) else native.shape[1]
    n_pos = float(np.count_nonzero(is_labelled) if weights is None else weights[is_labelled].sum())
    cost = _FACTOR * n_pos / math.sqrt(max(n_pos, n_features)) / (size if size > 0 else 1.0)
    return min(max(cost, _COSTS[0]), _COSTS[1])


def _mean_square(native: Native, weights: NDArray[np.float64] | None) -> float:
    """Return the mean of |x - mean|^2 over the rows."""
    if isinstance(native, tuple):
        data, indices, indptr, (n, d) = native[0].astype(np.float64), native[1], native[2], native[3]
        given = np.ones(n) if weights is None else weights / weights.sum()
        given = given / given.sum()
        of_entries = np.repeat(given, np.diff(indptr))
        mean = np.bincount(indices, of_entries * data, minlength=d)
        here = np.bincount(indices, of_entries, minlength=d)
        apart = float((of_entries * (data - mean[indices]) ** 2).sum())
        return apart + float((np.maximum(1.0 - here, 0.0) * mean**2).sum())
    n, d = native.shape
    given = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    step = max(1, _BLOCK // max(1, d))
    blocks = [slice(first, first + step) for first in range(0, n, step)]
    origin = native[0].astype(np.float64)
    shift = sum((given[rows, None] * (native[rows] - origin)).sum(axis=0) for rows in blocks)
    mean = origin + shift
    return sum(float((given[rows, None] * (native[rows] - mean) ** 2).sum()) for rows in blocks)


def largest_share(scores: NDArray[np.float64], is_labelled: NDArray[np.bool_], n_coefs: int) -> float:
    """Return an upper bound on the share of positives among unlabelled rows, from the scores of a linear function.

    Labelled rows are taken for a sample of the positives. Then a threshold that a share r of the positives and q of the
    unlabelled rows exceed leaves room for a share of positives of q / r at most: more of them would put more than q
    above it. The least over all thresholds counts, with q taken two standard errors higher and r two lower, and less
    what `n_coefs` coefficients may have gained by being fitted to the labelled rows.
    """
    labelled = np.sort(scores[is_labelled])[::-1]
    unlabelled = np.sort(scores[~is_labelled])
    n_pos, n_unl = labelled.size, unlabelled.size
    above = np.arange(1, n_pos + 1)
    r = above / n_pos
    q = np.maximum(1.0 - np.searchsorted(unlabelled, labelled, side="left") / n_unl, 1.0 / n_unl)
    r_low = r - _ERRORS * np.sqrt(r * (1.0 - r) / n_pos) - _LIFTED * n_coefs / n_pos
    q_high = q + _ERRORS * np.sqrt(q * (1.0 - q) / n_unl)
    counts = (above >= _FEWEST) & (r_low > 0)
    return min(1.0, float((q_high[counts] / r_low[counts]).min())) if counts.any() else 1.0
