"""AUC and the risks of pairs of rows: how often a score orders two rows of different groups rightly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._warn import warn
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_binary, check_sample_weight, label_counts
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._decisions import in_sample, scale_down
from fastpu.metrics._intervals import Shares, check_boot, drawn_interval, tell_open_range
from fastpu.metrics._ranked_rows import Ranked, RankingEstimate, check_scores, win_share
from fastpu.metrics._rows import read_rows
from fastpu.model._prior import PriorEstimate, check_prior_in, prior_among_unlabeled

_MOST_ERRORS = 5  # standard errors by which an estimate may lie outside [0, 1]
_ROUNDING = 1e-9  # a share this near to 1 is 1 up to rounding of the prior, as in `prior_among_unlabeled`


@answers_unknown_keywords
def auc(y: object, scores: object, *, sample_weight: object = None) -> float:
    r"""Return the area under the ROC curve, with ties counted one half.

    .. math:: \mathrm{AUC} = \frac{\sum_{i \in P} \sum_{k \in N} w_i w_k
        \left([s_i > s_k] + \tfrac12 [s_i = s_k]\right)}{\sum_{i \in P} w_i \sum_{k \in N} w_k}

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} or booleans; both kinds must occur. Unlabelled rows have no
        place here: leave them out.
    scores : array-like of shape (n,)
        Larger is more positive; may be infinite. Integers of one NumPy type are compared as they are, other numbers
        as float64.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; a weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]; 1/2 for scores that are all equal. Without weights it is the exact ratio of two
        integers, rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, a score is NaN, a weight is negative, the labels are of three kinds, or
        one of the two kinds is missing (or has no weight).

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import auc
    >>> auc([1, 1, -1, -1], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    warn_of_other_order(y, other="y", scores=scores, sample_weight=sample_weight)
    positive = check_binary(y, name="y")
    (values,) = check_scores(("scores", scores), n=positive.size)
    weights = check_sample_weight(sample_weight, positive.size)
    if weights is None:
        return _win_share(values[positive], values[~positive])
    return _weighted_win_share(values[positive], values[~positive], weights[positive], weights[~positive])


@answers_unknown_keywords
def pn_risk(y: object, scores: object) -> float:
    r"""Return the share of (positive, negative) pairs in the wrong order, ties counted one half.

    .. math:: R_{PN} = \frac{1}{n_p n_n} \sum_{i \in P} \sum_{k \in N}
        \left([s_i < s_k] + \tfrac12 [s_i = s_k]\right) = 1 - \mathrm{AUC}

    Parameters
    ----------
    y : array-like of shape (n,)
        +1 for positive and -1 for negative rows; rows that are 0, unlabelled, have no part in it. For true labels that
        are {1, 0} or booleans take `auc`: here a 0 is no negative row.
    scores : array-like of shape (n,)
        As in `auc`.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, a group has no row, an argument is not one-dimensional, or a score is NaN.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import pn_risk
    >>> pn_risk([1, 1, -1, -1], [0.9, 0.4, 0.4, 0.1])
    0.125
    """
    labels, values = read_rows("pn_risk", y, scores, needed=(1, -1))
    return _win_share(values[labels == -1], values[labels == 1])


@answers_unknown_keywords
def pu_auc(
    y: object,
    scores: object,
    *,
    prior: float | PriorEstimate,
    scenario: str = "case_control",
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> float | RankingEstimate:
    r"""Return an estimate of the AUC between positive and negative rows, without any negative ones.

    The AUC between labelled positive and unlabelled rows, ties counted one half, takes the positives among the latter
    for negatives. With a share :math:`\theta` of them, that is in expectation :math:`(1 - \theta) \mathrm{AUC} +
    \theta / 2`, so

    .. math:: \widehat{\mathrm{AUC}} = \frac{1 - R_{PU} - \theta / 2}{1 - \theta}.

    Parameters
    ----------
    y, scores : array-like of shape (n,)
        As in `err_star`. The labelled positive rows must be a random sample of the positives.
    prior : float or PriorEstimate
        As in `err_star`: :math:`\theta` itself in ``"case_control"``. Of an estimate of `fastpu.priors` a warning gives
        the AUC at both ends of what it allows, and the interval covers these.
    scenario : {"case_control", "single_set"}, default "case_control"
        As in `err_star`; with ``"single_set"`` a prior :math:`\pi` is converted, :math:`\theta = (\pi n - n_p) /
        (n - n_p)`, and all rows that are not labelled positive count as unlabelled.
    n_boot, random_state
        As in `average_precision`.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        In [0, 1]. It is an unbiased estimate, but for what is cut off at the ends.

    Raises
    ------
    TypeError, ValueError
        As in `pn_risk`; if `prior` is out of range, or not possible in ``"single_set"``; or if the estimate is outside
        [0, 1] by more than 5 standard errors of a perfect ranking, so that `prior` cannot be the share of positives
        among the unlabelled rows.

    Warns
    -----
    EstimateWarning
        If the estimate is outside [0, 1] by less: 0 or 1 is returned. If `prior` is an estimate whose allowed shares
        have AUCs that differ by more than 0.05, or is only an upper bound.

    Notes
    -----
    O(n log n) time, O(n) memory. Scores of a given prior are ordered as `pu_risk` orders them. Too
    large a prior makes the AUC too large.

    An overall rate that is passed as the share among the unlabelled rows is too large, and so is the estimate: this is
    how libraries come to report AUCs above 1. What is below 1 cannot be told from a correct value. For a perfect
    ranking without ties the standard error of :math:`R_{PU}` is the root of :math:`(\theta / 3 - \theta^2 / 4) / n_u
    + \theta^2 / (12 n_p)`.

    References
    ----------
    Jain, White and Radivojac, "Recovering true classifier performance in positive-unlabeled learning", AAAI 2017.

    Examples
    --------
    >>> from fastpu.metrics import pu_auc
    >>> pu_auc([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.9, 0.4, 0.1, 0.1], prior=0.25)
    0.8333333333333334
    """
    given, drawn_as = check_prior_in(scenario, prior)
    labels, values = read_rows("pu_auc", y, scores)
    n_pos, n_unl, n_neg = label_counts(labels)
    prior_among_unlabeled(given, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=drawn_as)  # a check
    pos, unl = values[labels == 1], values[in_sample(labels, drawn_as)]
    share = prior_among_unlabeled(given, n_pos=pos.size, n_unl=unl.size, scenario=drawn_as)
    if 1 - share < _ROUNDING:
        raise ValueError(
            f"prior must be smaller: by {given:g} and scenario='single_set' all {unl.size} unlabelled rows are positive"
        )
    won = _win_share(pos, unl)
    value = (won - share / 2) / (1 - share)
    inside = _against_negatives(won, share)
    _check_inside(value, inside, won, share, unl.size, pos.size, drawn_as)
    tell_open_range("pu_auc", "AUC", prior, inside, lambda other: _against_negatives(won, other))
    n_samples, generator = check_boot(n_boot, random_state)
    if not n_samples:
        return inside
    ranked, shares = Ranked.of(pos, unl), Shares.drawn(prior, share, n_samples, generator)
    interval = drawn_interval(
        ranked, lambda p, u, other: _against_negatives(win_share(p, u), other), inside, shares, generator,
        is_biased=False,
    )  # fmt: skip
    return RankingEstimate(inside, interval)


def _against_negatives(won: float, share: float) -> float:
    """Return the AUC for that between positive and unlabelled rows, a share of which is positive."""
    return min(1.0, max(0.0, (won - share / 2) / (1 - share))) if share < 1 else 1.0


def _check_inside(value: float, inside: float, won: float, share: float, n_unl: int, n_pos: int, drawn_as: str) -> None:
    """Warn if an estimate of an AUC is no AUC, and refuse it if chance cannot explain that."""
    outside = abs(value - inside)
    # Rounding alone can put a perfect ranking above 1.
    if outside <= 8 * np.finfo(float).eps / (1 - share):
        return
    error = math.sqrt((share / 3 - share**2 / 4) / n_unl + share**2 / (12 * n_pos)) / (1 - share)
    most = 2 * (1 - won) if value > 1 else 2 * won
    meaning = (
        f"{value:.4g} from the AUC {won:.4g} between labelled and unlabelled rows, if {share:.4g} of the latter are "
        f"positive; an AUC in [0, 1] allows {most:.4g} at most"
    )
    if outside > _MOST_ERRORS * error:
        hint = "" if drawn_as == "single_set" else (
            ". If prior is the rate among all rows, the labelled ones included, pass scenario='single_set'"
        )  # fmt: skip
        raise ValueError(f"prior does not fit the scores: pu_auc is {meaning}{hint}")
    warn(f"pu_auc is {meaning}; {inside:.0f} is returned", EstimateWarning)


@answers_unknown_keywords
def pu_risk(y: object, scores: object) -> float:
    r"""Return the share of (positive, unlabelled) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{PU} = \theta_n R_{PN} + \theta_p / 2`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels as `fastpu.as_labels` reads them: +1 (or True) for labelled positive and 0 (False or missing) for
        unlabelled rows. Rows that are -1, labelled negative, have no part in it.
    scores : array-like of shape (n,)
        As in `auc`.

    Returns
    -------
    float
        As `pn_risk`, which has the same errors and costs.

    Examples
    --------
    >>> from fastpu.metrics import pu_risk
    >>> pu_risk([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.9, 0.4, 0.1, 0.1])
    0.25
    """
    labels, values = read_rows("pu_risk", y, scores)
    return _win_share(values[labels == 0], values[labels == 1])


@answers_unknown_keywords
def un_risk(y: object, scores: object) -> float:
    r"""Return the share of (unlabelled, negative) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{UN} = \theta_p R_{PN} + \theta_n / 2`.

    Parameters
    ----------
    y : array-like of shape (n,)
        0 (or missing) for unlabelled and -1 for labelled negative rows; rows that are +1 have no part in it.
    scores : array-like of shape (n,)
        As in `auc`.

    Returns
    -------
    float
        As `pn_risk`, which has the same errors and costs.

    Examples
    --------
    >>> from fastpu.metrics import un_risk
    >>> un_risk([0, 0, -1, -1], [0.9, 0.1, 0.4, 0.1])
    0.375
    """
    labels, values = read_rows("un_risk", y, scores, needed=(0, -1))
    return _win_share(values[labels == -1], values[labels == 0])


def _win_share(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the share of pairs with a above b, ties one half: a ratio of exact integers."""
    a, b = np.sort(a), np.sort(b)  # a search for sorted values reads memory in order
    below = np.searchsorted(b, a, side="left")
    not_above = np.searchsorted(b, a, side="right")
    twice_won = int(below.sum()) + int(not_above.sum())
    return twice_won / (2 * a.size * b.size)


def _weighted_win_share(
    a: NDArray[np.float64], b: NDArray[np.float64], weight_a: NDArray[np.float64], weight_b: NDArray[np.float64]
) -> float:
    weight_a, weight_b = _scaled(weight_a), _scaled(weight_b)
    order = np.argsort(b, kind="stable")
    b = b[order]
    mass = np.concatenate([[0.0], np.cumsum(weight_b[order])])
    won = mass[np.searchsorted(b, a, side="left")] + mass[np.searchsorted(b, a, side="right")]
    return min(1.0, float(weight_a @ won) / (2.0 * float(weight_a.sum()) * float(mass[-1])))


def _scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights scaled, exactly, by a power of two, so that no product overflows."""
    largest = float(weights.max())
    if largest == 0:
        raise ValueError(
            "sample_weight must have a positive entry among the positive and among the negative "
            "rows, got zeros only for one of them"
        )
    return scale_down(weights, largest)
