"""The share of positives among unlabelled rows, from scores of rows that a model has not been fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from fastpu.common._binomial import largest_shares, least_shares
from fastpu.tree._leaks import auc_of_scores

_TAIL = 0.02  # error probability of each of the two bounds of a bin
_MOST_CUTS = 1000
_LOGITS = np.linspace(-9.2, 4.6, 70)  # logits of the shares for which the likelihood is computed
_MOST_BINS = 60  # of scores, for the likelihood
_MOST_STEPS = 60
_STEEPEST, _FLATTEST = 5.0, -4.0  # logarithms of the slope, for scores of unit spread
_SURE = 3.84  # twice the loss of log likelihood at the ends of intervals of 95 %
_AS_LIKELY = 0.02  # twice a negligible loss of log likelihood
_FEW_NEGATIVE = 0.2  # share of negative rows among the unlabelled ones at scores with hardly any
_MUCH_PURE = 0.5  # part of the labelled rows that must have such scores, to show where the ratio stops falling


class PerRow(NamedTuple):
    """How many independent rows a positive and an unlabelled row count for: less than 1 if rows belong together."""

    pos: float = 1.0
    unl: float = 1.0


SINGLE = PerRow()


class ScoreShare(NamedTuple):
    """The estimated share, and the smallest and the largest share that the scores allow.

    `auc` is the share of pairs in which the score of the positive row is larger than that of the unlabelled one.
    """

    value: float
    low: float
    high: float
    auc: float = 0.0


def score_share(score_pos: NDArray[np.float64], score_unl: NDArray[np.float64], per_row: PerRow = SINGLE) -> ScoreShare:
    """Return the median of the ratio of the best bin and of the likeliest shares in two logistic models of the scores.

    A model may be misspecified: one is linear in the scores, the other in their normal scores. If all shares are about
    equally likely in a model, it gives the share nearest to the ratio. A share is allowed if the model in which it is
    likelier allows it, up to the bound of the best bin; where `fastpu.priors.bbe` says that the ratio has no flat part,
    and where a share of 1 is allowed, all smaller shares are. `per_row` changes what is allowed alone.
    """
    ratio, bound = best_bin(score_pos, score_unl)
    models = share_likelihoods(score_pos, score_unl)
    likeliest = [min(max(ratio, low), high) for low, high in (model.interval(_AS_LIKELY) for model in models)]
    value = float(np.median([ratio, *likeliest]))
    if per_row != SINGLE:
        _, bound = best_bin(score_pos, score_unl, per_row)
        models = share_likelihoods(score_pos, score_unl, per_row)
    better = best_of(models)
    low, high = better.interval(_SURE)
    high = max(high, bound, value)
    is_seen = high < 1 and better.pure_at(value) >= _MUCH_PURE
    return ScoreShare(value, min(low, value) if is_seen else 0.0, high, auc_of_scores(score_pos, score_unl))


def best_bin(
    score_pos: NDArray[np.float64], score_unl: NDArray[np.float64], per_row: PerRow = SINGLE
) -> tuple[float, float]:
    """Return q_u / q_p, of the shares of unlabelled and of positive rows above the cut where its bound is least.

    The bound is returned too. Cuts are scores of unlabelled rows; of more than 1,000 rows there are 1,000 at equal
    distances of the logarithm of their rank.
    """
    n_pos, n_unl = score_pos.size, score_unl.size
    ranks = np.unique(np.rint(np.geomspace(1, n_unl, _MOST_CUTS)).astype(np.int64)) if n_unl > _MOST_CUTS else None
    unl, pos = np.sort(score_unl), np.sort(score_pos)
    cuts = np.unique(unl if ranks is None else unl[n_unl - ranks])
    above_pos, above_unl = (n - np.searchsorted(rows, cuts, side="left") for n, rows in ((n_pos, pos), (n_unl, unl)))
    has_pos = above_pos > 0
    if not has_pos.any():
        return 1.0, 1.0
    above_pos, above_unl = above_pos[has_pos], above_unl[has_pos]
    bounds = largest_shares(above_unl * per_row.unl, n_unl * per_row.unl, _TAIL) / least_shares(
        above_pos * per_row.pos, n_pos * per_row.pos, _TAIL
    )
    best = int(np.argmin(bounds))
    return min(1.0, float(above_unl[best] / n_unl / (above_pos[best] / n_pos))), min(1.0, float(bounds[best]))


@dataclass(frozen=True)
class Likelihood:
    """Minus the log likelihood of some shares, each maximised over the slope of the model.

    `excess` is the factor by which bins scatter more about the model than counts do; it divides all differences. `pure`
    is, for each share, the part of the labelled rows with scores at which the model has hardly any negative rows.
    """

    logits: NDArray[np.float64]
    loss: NDArray[np.float64]
    excess: float
    pure: NDArray[np.float64]

    @property
    def lost(self) -> NDArray[np.float64]:
        """Twice the loss of log likelihood of each share, compared with the best share."""
        lost: NDArray[np.float64] = 2 * (self.loss - self.loss.min()) / self.excess
        return lost

    def interval(self, most: float) -> tuple[float, float]:
        """Return the smallest and the largest share that lose at most `most`, or 0 and 1 at the ends of the grid."""
        lost = self.lost
        inside = np.flatnonzero(lost <= most)
        low, high = int(inside[0]), int(inside[-1])
        return (
            0.0 if low == 0 else self._crossing(low - 1, low, most),
            1.0 if high == lost.size - 1 else self._crossing(high + 1, high, most),
        )

    def pure_at(self, share: float) -> float:
        """Return `pure` for a share in (0, 1], by linear interpolation."""
        return float(np.interp(logit(share), self.logits, self.pure))

    def _crossing(self, outside: int, inside: int, most: float) -> float:
        """Return the share between two neighbours at which the loss is `most`, by linear interpolation."""
        lost = self.lost
        way = (most - lost[inside]) / (lost[outside] - lost[inside])
        return float(expit(self.logits[inside] + way * (self.logits[outside] - self.logits[inside])))


def best_of(models: Sequence[Likelihood]) -> Likelihood:
    """Return the likelihood of shares, for each of them by the model in which it is likeliest."""
    losses = np.array([model.loss for model in models])
    better, each = np.argmin(losses, axis=0), np.arange(losses.shape[1])
    pure = np.array([model.pure for model in models])[better, each]
    return Likelihood(models[0].logits, losses[better, each], min(model.excess for model in models), pure)


def share_likelihoods(
    score_pos: NDArray[np.float64], score_unl: NDArray[np.float64], per_row: PerRow = SINGLE
) -> tuple[Likelihood, Likelihood]:
    """Return how likely shares are if P(positive | score) is logistic in the scores, and if it is in normal scores.

    The scores are in 60 bins, each with a sixtieth of the weight of both groups; normal scores are the quantiles of a
    normal distribution in place of theirs, so that they tell the order of rows alone.
    """
    scores, pos, unl = _binned(score_pos, score_unl)
    mass = pos / (2 * score_pos.size) + unl / (2 * score_unl.size)
    normal = ndtri(np.cumsum(mass) - mass / 2)
    normal -= (mass * normal).sum()
    normal /= math.sqrt(float((mass * normal**2).sum())) or 1.0
    counted = pos * per_row.pos, unl * per_row.unl
    return _of_scores(scores, *counted), _of_scores(normal, *counted)


def _of_scores(scores: NDArray[np.float64], pos: NDArray[np.float64], unl: NDArray[np.float64]) -> Likelihood:
    """Return how likely shares are, from counts at scores of mean 0 and spread 1.

    With density ratio negative : positive e^-z, z = a s + b, a > 0, the odds of labelled against unlabelled rows of
    score s are n_p / n_u / (share + e^-z): they stop rising where only positives are, and the likelihood of all labels
    says where. Where the bins say that the model is wrong, with a chi square of more than two standard deviations above
    its mean, all differences are divided by the excess.
    """
    rows, prior_odds = pos + unl, math.log(pos.sum() / unl.sum())
    shares = _LOGITS[:, None]
    log_share = -np.logaddexp(0, -shares)
    log_slope, offset = np.zeros(_LOGITS.size), np.zeros(_LOGITS.size)
    damping = np.full(_LOGITS.size, 1e-2)

    def evaluate(log_slope: NDArray[np.float64], offset: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the minus log likelihood of every share, the log odds, and the derivative of these by z.

        The derivative is also the share of negative rows among the unlabelled ones at each score.
        """
        z = np.exp(log_slope)[:, None] * scores + offset[:, None]
        odds = prior_odds - np.logaddexp(log_share, -z)
        return (rows * np.logaddexp(0, odds) - pos * odds).sum(axis=1), odds, expit(-z - log_share)

    value, odds, change = evaluate(log_slope, offset)
    for _ in range(_MOST_STEPS):  # Fisher's scoring, damped as Levenberg's and Marquardt's, for all shares side by side
        p = expit(odds)
        by_slope, by_offset = change * np.exp(log_slope)[:, None] * scores, change
        residual, weight = rows * p - pos, rows * p * (1 - p)
        g = (residual * by_slope).sum(axis=1), (residual * by_offset).sum(axis=1)
        a = (weight * by_slope**2).sum(axis=1) * (1 + damping) + 1e-9
        b = (weight * by_slope * by_offset).sum(axis=1)
        c = (weight * by_offset**2).sum(axis=1) * (1 + damping) + 1e-9
        determinant = a * c - b * b
        step_slope = np.clip((b * g[1] - c * g[0]) / determinant, -1, 1)
        step_offset = np.clip((b * g[0] - a * g[1]) / determinant, -5, 5)
        new_slope, new_offset = np.clip(log_slope + step_slope, _FLATTEST, _STEEPEST), offset + step_offset
        new_value, new_odds, new_change = evaluate(new_slope, new_offset)
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
    chi_square = float(((pos - rows * p) ** 2 / np.maximum(rows * p * (1 - p), 1e-9)).sum())
    freedom = max(1, rows.size - 3)
    excess = max(1.0, chi_square / (freedom + 2 * math.sqrt(2 * freedom)))
    return Likelihood(_LOGITS, value, excess, (change < _FEW_NEGATIVE) @ pos / pos.sum())


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
