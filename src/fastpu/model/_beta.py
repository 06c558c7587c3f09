"""Beta calibration without negatives: log odds that rise with the score and with its place among the unlabelled rows.

A sigmoid of the score is too flat where it matters: of a rare class the probabilities of the first few rows are far
above all others, and the scores of most models do not rise as fast. The share of unlabelled rows that score higher
does: -log of it has one unit more for every factor of e by which the rows above become fewer. Beta calibration takes
such logarithms of a score in (0, 1), here of the place of the score. The score itself is a third term, so that a model
whose scores are log odds keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fastpu.model._group_scores import EPS, MAX_STEPS, GroupScores, intercept_of, interpolate, mean_of

# The penalty is prior max(5 / n, 0.01) (a1^2 + a2^2 + a3^2) / 2, for scores of unit spread in U and n labelled rows: of
# few labelled rows the slopes are near 0, and no number of them makes the slopes infinite. On simulated rows of six
# kinds, with 5 to 800 labelled ones, half and twice these numbers gave the same log loss to within 1 %.
_PENALTY, _LEAST_PENALTY = 5.0, 0.01
_LEAST_SPREAD = 0.1  # of the scores of U, in that of both groups, by which their term is scaled
_STEP = 0.1  # between knots, in log odds of the share of unlabelled rows with a lower score
_TINY = float(np.finfo(float).tiny)
_CLOSE = 1e-12  # slopes of the loss below this part of the prior are 0

Columns: TypeAlias = tuple[NDArray[np.float64], ...]


def log_odds(
    scored: GroupScores, prior: float, centre: float, spread: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores, rising, and the log odds at these, between which they lie on lines.

    `centre` and `spread` > 0 are those of the scores of both groups.
    """
    levels, pos, unl = scored.levels()
    half = 0.5 if spread > 1 else 1.0  # halved, since the difference of large scores may overflow
    unit = (half * levels - half * centre) / (half * spread)
    spread_unl = math.sqrt(mean_of(unl, (unit - mean_of(unl, unit)) ** 2))
    unit /= max(spread_unl, _LEAST_SPREAD)
    below, above = _places(unl)
    knots = _knots(np.maximum.accumulate(below - above))
    at_knots = unit[knots], below[knots], -above[knots]
    at_levels = unit, *(interpolate(levels[knots], column, levels) for column in at_knots[1:])
    penalty = prior * max(_PENALTY / scored.n_labelled, _LEAST_PENALTY)
    slopes, intercept = _minimum(at_levels, pos, unl, prior, penalty)
    values = sum((slope * column for slope, column in zip(slopes, at_knots, strict=True)), np.zeros(knots.size))
    return levels[knots], np.maximum.accumulate(values + intercept)  # rounding must not make them fall


def _places(unl: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logarithms of the shares of U below and above each level, half of the level's own share in both.

    Beyond the scores of U, where only labelled rows are, they stay as they are at its end.
    """
    ends = unl[np.flatnonzero(unl > 0)[[0, -1]]]
    below, above = np.cumsum(unl) - 0.5 * unl, np.cumsum(unl[::-1])[::-1] - 0.5 * unl
    least_below, least_above = np.maximum(0.5 * ends, _TINY)
    return np.log(np.maximum(below, least_below)), np.log(np.maximum(above, least_above))


def _knots(odds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the numbers of the levels that are knots, by log odds of the share of U below, which do not fall."""
    grid = np.arange(odds[0], odds[-1], _STEP)
    first_unl, last_unl = np.searchsorted(odds, odds[0], side="right") - 1, np.searchsorted(odds, odds[-1])
    ends = [0, first_unl, last_unl, odds.size - 1]
    knots: NDArray[np.intp] = np.unique(np.concatenate([ends, np.searchsorted(odds, grid)]))
    return knots


def _minimum(
    columns: Columns, pos: NDArray[np.float64], unl: NDArray[np.float64], prior: float, penalty: float
) -> tuple[NDArray[np.float64], float]:
    """Return the a >= 0 and b of the least mean_U log(1 + e^z) - prior mean_P z + penalty |a|^2 / 2, z = columns a + b.

    Newton's method in b and in those of a that are not held at 0, each step cut off at a = 0 and halved until the loss
    falls. At the end the mean over U is the prior.
    """
    targets = np.array([mean_of(pos, column) for column in columns])
    terms = (*columns, np.ones(unl.size))
    pull = prior * np.append(targets, 1.0)  # the loss is mean_U log(1 + e^z) - pull point + penalty |a|^2 / 2
    ridge = np.array([penalty] * len(columns) + [0.0])

    def line(point: NDArray[np.float64]) -> NDArray[np.float64]:
        return sum((factor * term for factor, term in zip(point, terms, strict=True)), np.zeros(unl.size))

    def loss(point: NDArray[np.float64]) -> float:
        return mean_of(unl, np.logaddexp(0.0, line(point))) + float((0.5 * ridge * point**2 - pull * point).sum())

    point = np.zeros(len(terms))
    point[-1] = math.log(prior) - math.log1p(-prior)
    value = loss(point)
    for _ in range(MAX_STEPS):
        p = expit(line(point))
        slope = np.array([mean_of(unl * p, term) for term in terms]) + ridge * point - pull
        free = np.flatnonzero((point > 0) | (slope < 0) | (np.arange(point.size) == point.size - 1))
        if np.abs(slope[free]).max() <= _CLOSE * prior:
            break
        curve = unl * p * (1 - p)
        bend = np.array([[mean_of(curve * terms[i], terms[j]) for j in free] for i in free]) + np.diag(ridge[free])
        bend += np.diag(np.full(free.size, max(EPS * prior, _TINY)))  # where all p are 0 or 1, b has no curve
        step = np.zeros(point.size)
        step[free] = -np.linalg.solve(bend, slope[free])
        following, reached = _descend(loss, point, value, step)
        if reached >= value:
            break
        point, value = following, reached
    slopes = point[:-1]
    without = line(np.append(slopes, 0.0))
    return slopes, intercept_of(1.0, float(point[-1]), without, unl, prior)


def _descend(
    loss: Callable[[NDArray[np.float64]], float], point: NDArray[np.float64], value: float, step: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the first point of a halved step, cut off at slopes of 0, that has a lower loss, and the loss there."""
    for _ in range(MAX_STEPS):
        following = point + step
        following[:-1] = np.maximum(following[:-1], 0.0)
        reached = loss(following)
        if reached < value:
            return following, reached
        step = 0.5 * step
    return point, value
