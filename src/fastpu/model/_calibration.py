"""From scores to probabilities, with positive and unlabelled rows and the class prior alone.

`Model.with_probabilities` says what is minimised. A loss l(g) of probabilities g has the expectation
pi E[l_+(g) - l_-(g) | Y = 1] + E[l_-(g)] over the population of the unlabelled rows. For the two losses there, whose
minimiser is P(Y = 1 | s), l_+ - l_- is linear in what is sought, so that the estimate of the expectation is convex.
With labelled negatives pi mean_P would be the sum over the positive rows of U: these are the targets of Platt's and of
isotonic calibration, replaced by what has the same expectation.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fastpu.data._validate import is_rising
from fastpu.model._beta import log_odds
from fastpu.model._group_scores import EPS, MAX_STEPS, GroupScores, intercept_of, interpolate, mean_of

METHODS = ("beta", "sigmoid", "isotonic")

# The penalty is RIDGE a^2 / 2, for scores of unit spread. Where the labelled rows score higher than any share pi of U,
# the loss without it falls for ever as a grows; elsewhere it changes a by some 0.01 %.
RIDGE = 1e-5
_LARGEST = float(np.finfo(float).max)
# If all probabilities below e are right, less than a share e / pi of the positives can have them.
_UNLIKELY, _MOST_UNLIKELY = 0.01, 0.05
# If the mean of the isotonic probabilities over U is below the prior by a larger share of it, too many labelled rows
# score higher than every row of U.
_MOST_MISSED = 0.25


#: The knots and values of `probabilities`, and a warning for the user, or "".
Calibration: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], str]


def calibrate(method: str, scored: GroupScores, prior: float) -> Calibration:
    """Return the calibration of one of METHODS for a prior among the unlabelled rows."""
    return {"beta": _beta, "sigmoid": _sigmoid, "isotonic": _isotonic}[method](scored, prior)


def probabilities(
    method: str, knots: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(Y = 1 | s) for each score s, which may be infinite, in [0, 1] and rising with s.

    Of "sigmoid" the knot is a centre c and the values are a and b in z = a (s - c) + b, which loses nothing where all
    scores are large and alike; of "isotonic" they are the probabilities at the knots, of "beta" their log odds,
    with lines between them.
    """
    if method == "beta":
        odds: NDArray[np.float64] = expit(interpolate(knots, values, scores))
        return odds
    if method == "isotonic":
        return interpolate(knots, values, scores)
    a, b = values
    with np.errstate(over="ignore"):  # an infinite z has the probability 0 or 1
        found: NDArray[np.float64] = expit(a * (scores - knots[0]) + b if a > 0 else np.full(scores.size, b))
    return found


def of_both(
    method: str, knots: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(Y = -1 | s) and P(Y = 1 | s) for each score s, NaN for NaN."""
    positive = probabilities(method, knots, values, scores)
    return np.stack([1.0 - positive, positive], axis=1)


def of_training_rows(
    method: str | None,
    knots: NDArray[np.float64] | None,
    values: NDArray[np.float64] | None,
    scores: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return `of_both` of a model's out-of-bag scores, or raise AttributeError, as for a missing property."""
    if scores is None:
        raise AttributeError("oob_predict_proba needs out-of-bag scores, and the model has none")
    if method is None or knots is None or values is None:
        raise AttributeError("oob_predict_proba needs probabilities: call with_probabilities(prior=..., y=...) first")
    return of_both(method, knots, values, scores)


def check_calibration(
    method: str | None, prior: float | None, knots: NDArray[np.float64] | None, values: NDArray[np.float64] | None
) -> None:
    """Raise ValueError if the fields of a model cannot come from `calibrate`, as in a damaged file."""
    if method is None or prior is None or knots is None or values is None:
        if any(part is not None for part in (method, prior, knots, values)):
            raise ValueError("calibration, its prior, its knots and its values must be there together or be None")
        return
    if method not in METHODS:
        raise ValueError(f"calibration must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    if not 0 < prior < 1:
        raise ValueError(f"calibration_prior must be in (0, 1), got {prior}")
    if not (np.isfinite(knots).all() and np.isfinite(values).all()):
        raise ValueError("calibration_knots and calibration_values must be finite")
    if method == "sigmoid":
        if knots.size != 1 or values.size != 2 or values[0] < 0:
            raise ValueError("calibration must have one knot, a slope >= 0 and an intercept for 'sigmoid'")
    elif knots.size < 1 or knots.size != values.size or not is_rising(knots, strictly=True):
        raise ValueError(f"calibration_knots must rise, one for each of calibration_values, for {method!r}")
    elif not is_rising(values):
        raise ValueError(f"calibration_values must not fall for {method!r}")
    elif method == "isotonic" and (values[0] < 0 or values[-1] > 1):
        raise ValueError("calibration_values must be in [0, 1] for 'isotonic'")


# ------------------------------------------------------------------------------------------------------ beta

_WRONG_WAY = (
    "the labelled positive rows have lower scores than the unlabelled ones on average: the model ranks them the wrong "
    "way round, and every row gets the prior as its probability"
)


def _beta(scored: GroupScores, prior: float) -> Calibration:
    """Minimise the risk over log odds that rise with the score and with its place among the unlabelled rows."""
    centre, spread = _standard(scored)
    if spread == 0:  # all scores are equal
        return np.array([centre]), np.array([math.log(prior) - math.log1p(-prior)]), ""
    knots, values = log_odds(scored, prior, centre, spread)
    if values[0] == values[-1]:
        half_pos, half_unl = mean_of(scored.share_pos, 0.5 * scored.pos), mean_of(scored.share_unl, 0.5 * scored.unl)
        return knots, values, _WRONG_WAY if half_pos < half_unl else ""
    return knots, values, _unlikely(expit(interpolate(knots, values, scored.pos)), scored.share_pos, prior)


# --------------------------------------------------------------------------------------------------- sigmoid


def _sigmoid(scored: GroupScores, prior: float) -> Calibration:
    """Minimise the risk over a >= 0 and b, for scores of mean 0 and spread 1."""
    centre, spread = _standard(scored)
    start = math.log(prior) - math.log1p(-prior)
    constant = np.array([centre]), np.array([0.0, start])
    if spread == 0:  # all scores are equal
        return *constant, ""
    half = 0.5 if spread > 1 else 1.0  # halved, since the difference of large scores may overflow
    pos, unl = ((half * s - half * centre) / (half * spread) for s in (scored.pos, scored.unl))
    mean_pos, mean_unl = mean_of(scored.share_pos, pos), mean_of(scored.share_unl, unl)
    if mean_pos <= mean_unl:  # the risk increases with a already at a = 0
        return *constant, _WRONG_WAY if mean_unl - mean_pos > 64 * EPS else ""
    slope, intercept = _minimum(unl, scored.share_unl, prior, prior * mean_pos, start)
    if slope / spread > _LARGEST:
        raise ValueError(f"scores must differ by more for with_probabilities, got a standard deviation of {spread:.3g}")
    p = expit(slope * pos + intercept)
    return np.array([centre]), np.array([slope / spread, intercept]), _unlikely(p, scored.share_pos, prior)


def _unlikely(p: NDArray[np.float64], share: NDArray[np.float64], prior: float) -> str:
    """Return a warning if more of the labelled rows have tiny probabilities than can be right, else ""."""
    unlikely = mean_of(share, p < _UNLIKELY)
    return "" if unlikely <= _UNLIKELY / prior + _MOST_UNLIKELY else (
        f"a share of {unlikely:.2g} of the labelled positives has probabilities below {_UNLIKELY:g}, which is too many:"
        f" their scores are so high on average, by chance or because the model was fitted to them, that the curve is "
        f"nearly a step; take more rows, rows that the model was not fitted to, a smaller prior, or method='isotonic'"
    )  # fmt: skip


def _standard(scored: GroupScores) -> tuple[float, float]:
    """Return centre and spread of the scores of both groups, each with half of the weight."""
    largest = max(float(np.abs(scored.pos).max()), float(np.abs(scored.unl).max()))
    exponent = math.frexp(largest)[1]
    pos, unl = np.ldexp(scored.pos, -exponent), np.ldexp(scored.unl, -exponent)  # no square overflows
    centre = 0.5 * mean_of(scored.share_pos, pos) + 0.5 * mean_of(scored.share_unl, unl)
    if min(pos.min(), unl.min()) == max(pos.max(), unl.max()):
        return math.ldexp(float(pos[0]), exponent), 0.0
    square = 0.5 * mean_of(scored.share_pos, (pos - centre) ** 2) + 0.5 * mean_of(scored.share_unl, (unl - centre) ** 2)
    return math.ldexp(centre, exponent), math.ldexp(math.sqrt(square), exponent)


def _minimum(
    unl: NDArray[np.float64], share: NDArray[np.float64], prior: float, target: float, start: float
) -> tuple[float, float]:
    """Return the a > 0 and b of the least mean_U log(1 + e^z) - target a - prior b + RIDGE a^2 / 2, z = a s + b.

    Newton's method in a on the risk that is minimised over b, whose derivative in a rises, within an interval that
    holds its root: two variables at once would creep where nearly all probabilities are 0 or 1.
    """
    low, high = 0.0, (target + mean_of(share, np.abs(unl))) / RIDGE
    a, b = 0.0, start
    for _ in range(MAX_STEPS):
        b = intercept_of(a, b, unl, share, prior)
        p = expit(a * unl + b)
        slope = mean_of(share * p, unl) - target + RIDGE * a
        curve = share * p * (1 - p)
        mass = float(curve.sum())
        centre = mean_of(curve, unl) / mass if mass else 0.0
        bend = mean_of(curve, (unl - centre) ** 2) + RIDGE
        low, high = (a, high) if slope < 0 else (low, a)
        following = a - slope / bend
        if not low < following < high:
            following = math.sqrt(low * high) if low else 0.5 * high
        if abs(following - a) <= 4 * EPS * a or abs(slope) <= EPS * (abs(target) + RIDGE * a):
            break
        a, b = following, b - centre * (following - a)
    return a, b


# -------------------------------------------------------------------------------------------------- isotonic


def _isotonic(scored: GroupScores, prior: float) -> Calibration:
    """Pool adjacent scores while the ratio of the positive to the unlabelled share does not rise."""
    levels, pos, unl = scored.levels()
    starts, sums_pos, sums_unl = _pool(pos.tolist(), unl.tolist())
    with np.errstate(divide="ignore"):
        heights = np.minimum(1.0, prior * np.array(sums_pos) / np.array(sums_unl))  # a block without U has 1
    # Flat from the first to the last score of a block, straight between blocks.
    first = np.array(starts)
    last = np.append(first[1:], levels.size) - 1
    corners = np.stack([first, last], axis=1).reshape(-1)
    keep = np.append(True, corners[1:] != corners[:-1])
    values = np.maximum.accumulate(np.repeat(heights, 2)[keep])  # ratios may differ by rounding
    mean = mean_of(scored.share_unl, interpolate(levels[corners[keep]], values, scored.unl))
    trouble = "" if mean >= (1 - _MOST_MISSED) * prior else (
        f"the mean of the probabilities over the unlabelled rows is {mean:.4g}, not the prior {prior:.4g}: too many "
        f"labelled positives have higher scores than nearly all unlabelled rows, as rows that the model was fitted to "
        f"have; take rows that the model was not fitted to, or a smaller prior"
    )  # fmt: skip
    return levels[corners[keep]], values, trouble


def _pool(pos: list[float], unl: list[float]) -> tuple[list[int], list[float], list[float]]:
    """Return the first position and the sums of each block of rising ratios pos / unl."""
    starts: list[int] = []
    sums_pos: list[float] = []
    sums_unl: list[float] = []
    for start, (p, u) in enumerate(zip(pos, unl, strict=True)):
        first, sum_p, sum_u = start, p, u
        while starts and sums_pos[-1] * sum_u >= sum_p * sums_unl[-1]:
            first = starts.pop()
            sum_p += sums_pos.pop()
            sum_u += sums_unl.pop()
        starts.append(first)
        sums_pos.append(sum_p)
        sums_unl.append(sum_u)
    return starts, sums_pos, sums_unl
