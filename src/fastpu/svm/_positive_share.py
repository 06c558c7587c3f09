"""An upper bound on the share of positives among unlabelled rows, from the scores of a linear classifier."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fastpu.common._binomial import largest_shares, least_shares

# The error probability of each of the bound's two intervals, the most thresholds to try, and the number of rows that
# each fitted coefficient may have moved above a threshold.
_TAIL = 0.05
_MOST_THRESHOLDS = 1000
_LIFTED = 0.05


@lru_cache(maxsize=8)
def _least_shares_above(n_pos: int, n_coefs: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ranks of at most `most` labelled rows, whose scores are thresholds, and the least shares above these.

    Both are the same for all fits to the same rows, such as those of a grid of C.
    """
    ranks = np.arange(1, n_pos + 1)
    if n_pos > most:
        ranks = np.unique(np.rint(np.geomspace(1, n_pos, most)).astype(np.int64))
    above = ranks - _LIFTED * n_coefs
    ranks, above = ranks[above > 0], above[above > 0]
    return ranks, least_shares(above, n_pos, _TAIL)


def largest_share(scores: NDArray[np.float64], is_labelled: NDArray[np.bool_], n_coefs: int) -> float:
    """Return an upper bound on the share of positives among unlabelled rows, from the scores of a linear function.

    Labelled rows are taken to be a sample of the positives. If a share r of the positives and a share q of the
    unlabelled rows have scores above a threshold, the share of positives is at most q / r: more positives would put
    more than q above the threshold. The least bound over all thresholds counts. Thresholds are the scores of
    labelled rows, at most 1,000 of them, evenly spaced by the logarithm of their rank. q is replaced by the upper
    end of an exact interval and r by the lower end, after subtracting the rows that `n_coefs` coefficients may have
    gained by being fitted to the labelled rows. With fewer labelled rows than coefficients there is no bound but 1.
    """
    n_pos = int(np.count_nonzero(is_labelled))
    if n_pos < n_coefs:
        return 1.0
    labelled = np.sort(scores[is_labelled])[::-1]
    unlabelled = np.sort(scores[~is_labelled])
    n_unl = unlabelled.size
    ranks, least = _least_shares_above(n_pos, n_coefs, _MOST_THRESHOLDS)
    reached = n_unl - np.searchsorted(unlabelled, labelled[ranks - 1], side="left")
    return min(1.0, float((largest_shares(reached, n_unl, _TAIL) / least).min()))
