"""The share of positives among unlabelled rows, from scores of rows that a model has not been fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv, expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Likelihood", "ScoreShare", "best_bin", "score_share", "share_likelihood"]

_TAIL = 0.02  # of each of the two bounds of a bin
_MOST_CUTS = 1000
_LOGITS = np.linspace(-9.2, 4.6, 70)  # of the shares that the likelihood is computed for
_MOST_BINS = 60  # of scores, for the likelihood
_MOST_STEPS = 60
_STEEPEST, _FLATTEST = 5.0, -4.0  # logarithms of the slope, for scores of unit spread
_SURE, _LIKELY = 3.84, 1.0  # twice the loss of log likelihood at the ends of intervals of 95 % and of 68 %


@dataclass(frozen=True)
class ScoreShare:
    """The share that is estimated, and the least and the largest that the scores do not contradict."""

    value: float
    low: float
    high: float


def score_share(score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]) -> ScoreShare:
    """Return the ratio of the best bin, moved into the shares that are likely in a logistic model of the scores.

    The best bin is too large where no score is of positive rows alone; the model knows how fast the ratio falls
    towards the largest scores, but need not be right. The allowed shares are those of both.
    """
    ratio, bound = best_bin(score_pos, score_unl)
    likelihood = share_likelihood(score_pos, score_unl)
    low, high = likelihood.interval(_LIKELY)
    value = min(max(ratio, low), high)
    low, high = likelihood.interval(_SURE)
    return ScoreShare(value, min(low, ratio), max(high, bound))


# ----------------------------------------------------------------------------------------------------- the best bin


def best_bin(score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]) -> tuple[float, float]:
    """Return q_u / q_p, of the shares of unlabelled and of positive rows above the cut where its bound is least.

    The bound, which is returned too, is the upper end of an interval for q_u over the lower end of one for q_p, both of
    Clopper and Pearson: unlike those of Dvoretzky, Kiefer and Wolfowitz they are narrow where shares are small, as
    those of the cuts that matter for a small prior are. Cuts are scores of unlabelled rows; of more than 1,000 rows
    there are 1,000 at equal distances of the logarithm of their rank.
    """
    n_pos, n_unl = score_pos.size, score_unl.size
    ranks = np.unique(np.rint(np.geomspace(1, n_unl, _MOST_CUTS)).astype(np.int64)) if n_unl > _MOST_CUTS else None
    unl, pos = np.sort(score_unl), np.sort(score_pos)
    cuts = np.unique(unl if ranks is None else unl[n_unl - ranks])
    above_pos, above_unl = (n - np.searchsorted(rows, cuts, side="left") for n, rows in ((n_pos, pos), (n_unl, unl)))
    some = above_pos > 0
    if not some.any():
        return 1.0, 1.0
    above_pos, above_unl = above_pos[some], above_unl[some]
    most = np.ones(above_unl.size)
    part = above_unl < n_unl
    most[part] = betaincinv(above_unl[part] + 1.0, n_unl - above_unl[part], 1 - _TAIL)
    bounds = most / betaincinv(above_pos, n_pos - above_pos + 1.0, _TAIL)
    at = int(np.argmin(bounds))
    return min(1.0, float(above_unl[at] / n_unl / (above_pos[at] / n_pos))), min(1.0, float(bounds[at]))


# -------------------------------------------------------------------------------------------------- the likelihood


@dataclass(frozen=True)
class Likelihood:
    """Twice the log likelihood that each of some shares loses against the best one, if the best slope goes with it."""

    logits: NDArray[np.float64]
    lost: NDArray[np.float64]

    def interval(self, most: float) -> tuple[float, float]:
        """Return the least and the largest share that lose at most `most`; 0 and 1 where all up to there do."""
        inside = np.flatnonzero(self.lost <= most)
        low, high = int(inside[0]), int(inside[-1])
        return (
            0.0 if low == 0 else self._crossing(low - 1, low, most),
            1.0 if high == self.lost.size - 1 else self._crossing(high + 1, high, most),
        )

    def _crossing(self, outside: int, inside: int, most: float) -> float:
        """Return the share between two neighbours at which `most` is lost, on a line."""
        way = (most - self.lost[inside]) / (self.lost[outside] - self.lost[inside])
        return float(expit(self.logits[inside] + way * (self.logits[outside] - self.logits[inside])))


def share_likelihood(score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]) -> Likelihood:
    """Return how likely shares are if P(positive | score) is logistic.

    With density ratio negative : positive e^-z, z = a s + b, a > 0, the odds of labelled against unlabelled rows of
    score s are n_p / n_u / (share + e^-z): they stop rising where only positives are, and the likelihood of all labels
    says where. It is of scores in 60 bins, each with a sixtieth of the weight of both groups. Where the bins say that
    the model is wrong, with a chi square of more than two standard deviations above its mean, all differences are
    divided by the excess.
    """
    scores, pos, unl = _binned(score_pos, score_unl)
    rows, prior_odds = pos + unl, math.log(score_pos.size / score_unl.size)
    shares = _LOGITS[:, None]
    log_share = -np.logaddexp(0, -shares)
    log_slope, offset = np.zeros(_LOGITS.size), np.zeros(_LOGITS.size)
    damping = np.full(_LOGITS.size, 1e-2)

    def at(log_slope: NDArray[np.float64], offset: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the minus log likelihood of every share, the log odds, and how these change with z."""
        z = np.exp(log_slope)[:, None] * scores + offset[:, None]
        odds = prior_odds - np.logaddexp(log_share, -z)
        return (rows * np.logaddexp(0, odds) - pos * odds).sum(axis=1), odds, expit(-z - log_share)

    value, odds, change = at(log_slope, offset)
    for _ in range(_MOST_STEPS):  # Fisher's scoring, damped as Levenberg's and Marquardt's, for all shares side by side
        p = expit(odds)
        by_slope, by_offset = change * np.exp(log_slope)[:, None] * scores, change
        excess, weight = rows * p - pos, rows * p * (1 - p)
        g = (excess * by_slope).sum(axis=1), (excess * by_offset).sum(axis=1)
        a = (weight * by_slope**2).sum(axis=1) * (1 + damping) + 1e-9
        b = (weight * by_slope * by_offset).sum(axis=1)
        c = (weight * by_offset**2).sum(axis=1) * (1 + damping) + 1e-9
        determinant = a * c - b * b
        step_slope = np.clip((b * g[1] - c * g[0]) / determinant, -1, 1)
        step_offset = np.clip((b * g[0] - a * g[1]) / determinant, -5, 5)
        new_slope, new_offset = np.clip(log_slope + step_slope, _FLATTEST, _STEEPEST), offset + step_offset
        new_value, new_odds, new_change = at(new_slope, new_offset)
        better = new_value < value
        gained = float(np.max(np.where(better, value - new_value, 0.0)))
        log_slope, offset = np.where(better, new_slope, log_slope), np.where(better, new_offset, offset)
        odds, change = np.where(better[:, None], new_odds, odds), np.where(better[:, None], new_change, change)
        value = np.where(better, new_value, value)
        if gained < 1e-4 and better.any():
            break
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-8, 1e6)
    best = int(np.argmin(value))
    p = expit(odds[best])
    surprise = float(((pos - rows * p) ** 2 / np.maximum(rows * p * (1 - p), 1e-9)).sum())
    freedom = max(1, rows.size - 3)
    excess_spread = max(1.0, surprise / (freedom + 2 * math.sqrt(2 * freedom)))
    return Likelihood(_LOGITS, 2 * (value - value[best]) / excess_spread)


def _binned(
    score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return mean scores of bins, of mean 0 and spread 1, and counts of both groups; equal scores share a bin."""
    scores = np.concatenate([score_pos, score_unl])
    # Divided by a power of two, so that no square overflows.
    levels, level = np.unique(np.ldexp(scores, -math.frexp(float(np.abs(scores).max()))[1]), return_inverse=True)
    of_pos, of_unl = (
        np.bincount(part, minlength=levels.size).astype(np.float64) for part in np.split(level, [score_pos.size])
    )
    mass = of_pos / (2 * score_pos.size) + of_unl / (2 * score_unl.size)
    middle = np.cumsum(mass) - mass / 2
    bins = np.unique(np.minimum(np.floor(middle * _MOST_BINS), _MOST_BINS - 1), return_inverse=True)[1]
    pos, unl, weight = (np.bincount(bins, part).astype(np.float64) for part in (of_pos, of_unl, mass))
    centre = float((mass * levels).sum())
    means = np.bincount(bins, mass * (levels - centre)) / weight
    spread = math.sqrt(float((weight * means**2).sum()))
    return means / (spread or 1.0), pos, unl
