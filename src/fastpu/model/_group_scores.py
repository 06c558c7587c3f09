"""Scores of positive and unlabelled rows, and what calibrations compute from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fastpu.model._threshold import differ

MAX_STEPS = 200
EPS = float(np.finfo(float).eps)


class GroupScores:
    """Finite scores of the labelled positive and of the unlabelled rows, and their shares in their groups.

    `mass_pos`, `mass_unl` and `mass_neg` are the weights of all rows of a label, with a score or without. `n_labelled`
    is the number of labelled rows with a score or, of unequal weights, that of equal ones whose means are as sure.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        labels: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
        has_score: NDArray[np.bool_] | None = None,
    ) -> None:
        mass = np.ones(labels.size) if weights is None else weights / weights.max()
        is_pos, is_unl, is_neg = (labels == label for label in (1, 0, -1))
        self.mass_pos, self.mass_unl, self.mass_neg = (float(mass[group].sum()) for group in (is_pos, is_unl, is_neg))
        if has_score is not None:
            mass = np.where(has_score, mass, 0.0)
        for group, mass_before, what in (
            (is_pos, self.mass_pos, "positive row (+1)"),
            (is_unl, self.mass_unl, "unlabelled row (0)"),
        ):
            if not mass[group].any():
                if mass_before:
                    raise ValueError(
                        f"X must be given for with_probabilities, got None: no {what} has an out-of-bag score, as "
                        f"every bag holds all of them; pass rows that the model has not seen, and their y"
                    )
                which = " of positive weight" if group.any() else ""
                raise ValueError(f"y must have at least one {what}{which} for with_probabilities, got none")
        bad = ~np.isfinite(scores) & (labels >= 0) & (mass > 0)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(f"scores must be finite for with_probabilities, got {scores[row]} for row {row} of X")
        pos, unl = is_pos & (mass > 0), is_unl & (mass > 0)
        self.pos, self.unl = scores[pos], scores[unl]
        self.share_pos, self.share_unl = mass[pos] / mass[is_pos].sum(), mass[unl] / mass[is_unl].sum()
        self.n_labelled = 1.0 / mean_of(self.share_pos, self.share_pos)

    def levels(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores that `differ`, rising, and the shares of the positive and of the unlabelled rows at each.

        Of scores that are equal but for rounding, the least stands for all.
        """
        levels, group = np.unique(np.concatenate([self.pos, self.unl]), return_inverse=True)
        is_level = np.append(True, differ(levels[:-1], levels[1:]))
        levels, group = levels[is_level], np.cumsum(is_level)[group.reshape(-1)] - 1
        of_pos, of_unl = group[: self.pos.size], group[self.pos.size :]
        pos = np.bincount(of_pos, self.share_pos, levels.size).astype(np.float64, copy=False)
        unl = np.bincount(of_unl, self.share_unl, levels.size).astype(np.float64, copy=False)
        return levels, pos, unl


def mean_of(shares: NDArray[np.float64], values: NDArray[Any]) -> float:
    """Return a weighted mean, summed by NumPy in this thread: a product of BLAS has other bits for other n_threads."""
    return float((shares * values).sum())


def intercept_of(a: float, b: float, unl: NDArray[np.float64], share: NDArray[np.float64], prior: float) -> float:
    """Return the b at which the mean over U is the prior: Newton's method from b, within an interval that holds it."""
    start = math.log(prior) - math.log1p(-prior)
    low, high = start - a * float(unl.max()), start - a * float(unl.min())
    best, least = b, math.inf
    for _ in range(MAX_STEPS):
        p = expit(a * unl + b)
        miss, curve = mean_of(share, p) - prior, mean_of(share, p * (1 - p))
        if abs(miss) < least:
            best, least = b, abs(miss)
        if least <= 2 * EPS * prior:
            break
        low, high = (b, high) if miss < 0 else (low, b)
        following = b - miss / curve if curve > 0 else math.inf
        if not low < following < high:
            following = 0.5 * (low + high)
        if not low < following < high or abs(following - b) <= EPS * abs(b):
            break
        b = following
    return best


def interpolate(
    knots: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the line through the knots at each score, flat beyond its ends."""
    right = np.minimum(np.searchsorted(knots, scores), knots.size - 1)
    line = np.interp(0.5 * scores, 0.5 * knots, values)  # halves, whose differences do not overflow
    return np.minimum(line, values[right])  # which rounding must not exceed, or probabilities would not rise
