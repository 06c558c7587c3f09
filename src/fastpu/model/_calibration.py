"""From scores to probabilities, with positive and unlabelled rows and the class prior alone.

`Model.with_probabilities` says what is minimised. A loss l(g) of probabilities g has the expectation
pi E[l_+(g) - l_-(g) | Y = 1] + E[l_-(g)] over the population of the unlabelled rows. For the two losses there, whose
minimiser is P(Y = 1 | s), l_+ - l_- is linear in what is sought, so that the estimate of the expectation is convex.
With labelled negatives pi mean_P would be the sum over the positive rows of U: these are the targets of Platt's and of
isotonic calibration, replaced by what has the same expectation.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fastpu.data._validate import is_rising
from fastpu.model._threshold import differ

METHODS = ("sigmoid", "isotonic")

# The penalty is RIDGE a^2 / 2, for scores of unit spread. Where the labelled rows score higher than any share pi of U,
# the loss without it falls for ever as a grows; elsewhere it changes a by some 0.01 %.
RIDGE = 1e-5
_MAX_STEPS = 200
_EPS = float(np.finfo(float).eps)
_LARGEST = float(np.finfo(float).max)
# If all probabilities below e are right, less than a share e / pi of the positives can have them.
_UNLIKELY, _MOST_UNLIKELY = 0.01, 0.05
# If the mean of the isotonic probabilities over U is below the prior by a larger share of it, too many labelled rows
# score higher than every row of U.
_MOST_MISSED = 0.25


class Scored:
    """Finite scores of the labelled positive and of the unlabelled rows, and their shares in their groups.

    `masses` are the weights of all rows of each label, with a score or without.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        labels: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
        has_score: NDArray[np.bool_] | None = None,
    ) -> None:
        mass = np.ones(labels.size) if weights is None else weights / weights.max()
        groups = {"n_pos": labels == 1, "n_unl": labels == 0, "n_neg": labels == -1}
        self.masses = {name: float(mass[group].sum()) for name, group in groups.items()}
        if has_score is not None:
            mass = np.where(has_score, mass, 0.0)
        for name, what in (("n_pos", "positive row (+1)"), ("n_unl", "unlabelled row (0)")):
            if not mass[groups[name]].any():
                if self.masses[name]:
                    raise ValueError(
                        f"X must be given for with_probabilities: no {what} has an out-of-bag score, as every bag "
                        f"holds all of them; pass rows that the model has not seen, and their y"
                    )
                which = " of positive weight" if groups[name].any() else ""
                raise ValueError(f"y must have at least one {what}{which} for with_probabilities, got none")
        bad = ~np.isfinite(scores) & (labels >= 0) & (mass > 0)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(f"scores must be finite for with_probabilities, got {scores[row]} for row {row} of X")
        pos, unl = groups["n_pos"] & (mass > 0), groups["n_unl"] & (mass > 0)
        self.pos, self.unl = scores[pos], scores[unl]
        self.share_pos, self.share_unl = (
            mass[pos] / mass[groups["n_pos"]].sum(),
            mass[unl] / mass[groups["n_unl"]].sum(),
        )


#: The knots and values of `probabilities`, and a warning for the user, or "".
Calibration: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], str]


def calibrate(method: str, scored: Scored, prior: float) -> Calibration:
    """Return the calibration of one of METHODS for a prior among the unlabelled rows."""
    return _sigmoid(scored, prior) if method == "sigmoid" else _isotonic(scored, prior)


def probabilities(
    method: str, knots: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(Y = 1 | s) for each score s, which may be infinite, in [0, 1] and rising with s.

    Of "sigmoid" the knot is a centre c and the values are a and b in z = a (s - c) + b, which loses nothing where all
    scores are large and alike; of "isotonic" they are the probabilities at the knots, with lines between them.
    """
    if method == "isotonic":
        return _interpolate(knots, values, scores)
    a, b = values
    with np.errstate(over="ignore"):  # an infinite z has the probability 0 or 1
        found: NDArray[np.float64] = expit(a * (scores - knots[0]) + b if a > 0 else np.full(scores.size, b))
    return found


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
        raise ValueError("calibration_knots must rise, one for each of calibration_values, for 'isotonic'")
    elif values[0] < 0 or values[-1] > 1 or not is_rising(values):
        raise ValueError("calibration_values must be in [0, 1] and not fall for 'isotonic'")


# --------------------------------------------------------------------------------------------------- sigmoid


def _sigmoid(scored: Scored, prior: float) -> Calibration:
    """Minimise the risk over a >= 0 and b, for scores of mean 0 and spread 1."""
    centre, spread = _standard(scored)
    start = math.log(prior) - math.log1p(-prior)
    constant = np.array([centre]), np.array([0.0, start])
    if spread == 0:  # all scores are equal
        return *constant, ""
    half = 0.5 if spread > 1 else 1.0  # halved, since the difference of large scores may overflow
    pos, unl = ((half * s - half * centre) / (half * spread) for s in (scored.pos, scored.unl))
    mean_pos, mean_unl = _dot(scored.share_pos, pos), _dot(scored.share_unl, unl)
    if mean_pos <= mean_unl:  # the risk increases with a already at a = 0
        trouble = (
            "the labelled positive rows have lower scores than the unlabelled ones on average, so every row gets the "
            "prior as its probability; the model ranks them the wrong way round"
        )
        return *constant, trouble if mean_unl - mean_pos > 64 * _EPS else ""
    slope, intercept = _minimum(unl, scored.share_unl, prior, prior * mean_pos, start)
    if slope / spread > _LARGEST:
        raise ValueError(f"scores must differ by more for with_probabilities, got a standard deviation of {spread:.3g}")
    unlikely = _dot(scored.share_pos, expit(slope * pos + intercept) < _UNLIKELY)
    trouble = "" if unlikely <= _UNLIKELY / prior + _MOST_UNLIKELY else (
        f"{unlikely:.2g} of the labelled positives have probabilities below {_UNLIKELY:g}, more than can be right: the "
        f"mean of their scores is so high, by chance or as the model was fitted to them, that the steepest sigmoid is "
        f"the best; take more rows, other rows, a smaller prior, or method='isotonic'"
    )  # fmt: skip
    return np.array([centre]), np.array([slope / spread, intercept]), trouble


def _standard(scored: Scored) -> tuple[float, float]:
    """Return centre and spread of the scores of both groups, each with half of the weight."""
    largest = max(float(np.abs(scored.pos).max()), float(np.abs(scored.unl).max()))
    exponent = math.frexp(largest)[1]
    pos, unl = np.ldexp(scored.pos, -exponent), np.ldexp(scored.unl, -exponent)  # no square overflows
    centre = 0.5 * _dot(scored.share_pos, pos) + 0.5 * _dot(scored.share_unl, unl)
    if min(pos.min(), unl.min()) == max(pos.max(), unl.max()):
        return math.ldexp(float(pos[0]), exponent), 0.0
    square = 0.5 * _dot(scored.share_pos, (pos - centre) ** 2) + 0.5 * _dot(scored.share_unl, (unl - centre) ** 2)
    return math.ldexp(centre, exponent), math.ldexp(math.sqrt(square), exponent)


def _minimum(
    unl: NDArray[np.float64], share: NDArray[np.float64], prior: float, target: float, start: float
) -> tuple[float, float]:
    """Return the a > 0 and b of the least mean_U log(1 + e^z) - target a - prior b + RIDGE a^2 / 2, z = a s + b.

    Newton's method in a on the risk that is minimised over b, whose derivative in a rises, within an interval that
    holds its root: two variables at once would creep where nearly all probabilities are 0 or 1.
    """
    low, high = 0.0, (target + _dot(share, np.abs(unl))) / RIDGE
    a, b = 0.0, start
    for _ in range(_MAX_STEPS):
        b = _intercept(a, b, unl, share, prior)
        p = expit(a * unl + b)
        slope = _dot(share * p, unl) - target + RIDGE * a
        curve = share * p * (1 - p)
        mass = float(curve.sum())
        centre = _dot(curve, unl) / mass if mass else 0.0
        bend = _dot(curve, (unl - centre) ** 2) + RIDGE
        low, high = (a, high) if slope < 0 else (low, a)
        following = a - slope / bend
        if not low < following < high:
            following = math.sqrt(low * high) if low else 0.5 * high
        if abs(following - a) <= 4 * _EPS * a or abs(slope) <= _EPS * (abs(target) + RIDGE * a):
            break
        a, b = following, b - centre * (following - a)
    return a, b


def _intercept(a: float, b: float, unl: NDArray[np.float64], share: NDArray[np.float64], prior: float) -> float:
    """Return the b at which the mean over U is the prior: Newton's method from b, within an interval that holds it."""
    start = math.log(prior) - math.log1p(-prior)
    low, high = start - a * float(unl.max()), start - a * float(unl.min())
    best, least = b, math.inf
    for _ in range(_MAX_STEPS):
        p = expit(a * unl + b)
        miss, curve = _dot(share, p) - prior, _dot(share, p * (1 - p))
        if abs(miss) < least:
            best, least = b, abs(miss)
        if least <= 2 * _EPS * prior:
            break
        low, high = (b, high) if miss < 0 else (low, b)
        following = b - miss / curve if curve > 0 else math.inf
        if not low < following < high:
            following = 0.5 * (low + high)
        if not low < following < high or abs(following - b) <= _EPS * abs(b):
            break
        b = following
    return best


def _dot(shares: NDArray[np.float64], values: NDArray[Any]) -> float:
    """Return a weighted mean, summed by NumPy in this thread: a product of BLAS has other bits for other n_threads."""
    return float((shares * values).sum())


# -------------------------------------------------------------------------------------------------- isotonic


def _isotonic(scored: Scored, prior: float) -> Calibration:
    """Pool adjacent scores while the ratio of the positive to the unlabelled share does not rise."""
    levels, group = np.unique(np.concatenate([scored.pos, scored.unl]), return_inverse=True)
    is_level = np.append(True, differ(levels[:-1], levels[1:]))
    levels, group = levels[is_level], np.cumsum(is_level)[group.reshape(-1)] - 1
    pos = np.bincount(group[: scored.pos.size], scored.share_pos, levels.size)
    unl = np.bincount(group[scored.pos.size :], scored.share_unl, levels.size)
    starts, sums_pos, sums_unl = _pool(pos.tolist(), unl.tolist())
    with np.errstate(divide="ignore"):
        heights = np.minimum(1.0, prior * np.array(sums_pos) / np.array(sums_unl))  # a block without U has 1
    # Flat from the first to the last score of a block, straight between blocks.
    first = np.array(starts)
    last = np.append(first[1:], levels.size) - 1
    corners = np.stack([first, last], axis=1).reshape(-1)
    keep = np.append(True, corners[1:] != corners[:-1])
    values = np.maximum.accumulate(np.repeat(heights, 2)[keep])  # ratios may differ by rounding
    mean = _dot(scored.share_unl, _interpolate(levels[corners[keep]], values, scored.unl))
    trouble = "" if mean >= (1 - _MOST_MISSED) * prior else (
        f"the mean of the probabilities over the unlabelled rows is {mean:.4g}, not {prior:.4g}: more labelled "
        f"positives than that share allows have scores that few unlabelled rows have, as those of rows that the model "
        f"was fitted to do; take other rows, or a smaller prior"
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


def _interpolate(
    knots: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the line through the knots at each score, flat beyond its ends."""
    right = np.minimum(np.searchsorted(knots, scores), knots.size - 1)
    line = np.interp(0.5 * scores, 0.5 * knots, values)  # halves, whose differences do not overflow
    return np.minimum(line, values[right])  # which rounding must not exceed, or probabilities would not rise
