"""AUC and the risks of pairs of rows: how often a score orders two rows of different groups rightly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GroupsLike, LabelsLike, RandomState, Scenario, VectorLike
from fastpu.common._warn import warn
from fastpu.data._clusters import effective_number
from fastpu.data._missing_scores import rows_with_scores
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_binary, check_sample_weight, label_counts
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._decisions import in_sample, scale_down
from fastpu.metrics._intervals import Shares, check_boot, drawn_interval, warn_of_open_range
from fastpu.metrics._labelled_scores import check_scores, read_rows
from fastpu.metrics._ranked_rows import Ranked, win_share
from fastpu.metrics._ranking_estimates import RankingEstimate
from fastpu.metrics._row_draws import read_groups
from fastpu.model._prior import PriorEstimate, check_prior_in, prior_among_unlabeled

_MOST_ERRORS = 5  # standard errors by which an estimate may lie outside [0, 1]
_ROUNDING = 1e-9  # a share this near to 1 is 1 up to rounding of the prior, as in `prior_among_unlabeled`


@answers_unknown_keywords
def auc(y: LabelsLike, scores: VectorLike, *, sample_weight: VectorLike | None = None) -> float:
    r"""Return the area under the ROC curve (AUC), with ties counted one half.

    .. math:: \mathrm{AUC} = \frac{\sum_{i \in P} \sum_{k \in N} w_i w_k
        \left([s_i > s_k] + \tfrac12 [s_i = s_k]\right)}{\sum_{i \in P} w_i \sum_{k \in N} w_k}

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} or booleans. Both kinds must occur. Leave unlabelled rows out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Integers of one NumPy type are compared exactly, other numbers as float64.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1. A weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]; 1/2 if all scores are equal. Without weights it is the exact ratio of two integers, rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, a weight is negative, the labels are of three kinds, or
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
    values = check_scores("scores", scores, n=positive.size)
    weights = check_sample_weight(sample_weight, positive.size)
    has_score = rows_with_scores("auc", "scores", values, {"positive": positive, "negative": ~positive})
    if has_score is not None:
        positive, values = positive[has_score], values[has_score]
        weights = None if weights is None else weights[has_score]
    if weights is None:
        return _win_share(values[positive], values[~positive])
    return _weighted_win_share(values[positive], values[~positive], weights[positive], weights[~positive])


@answers_unknown_keywords
def pn_risk(y: LabelsLike, scores: VectorLike) -> float:
    r"""Return the share of (positive, negative) pairs in the wrong order, ties counted one half.

    .. math:: R_{PN} = \frac{1}{n_p n_n} \sum_{i \in P} \sum_{k \in N}
        \left([s_i < s_k] + \tfrac12 [s_i = s_k]\right) = 1 - \mathrm{AUC}

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 for positive rows, -1 for negative rows. Unlabelled rows (0) are left out. If your true labels are
        {1, 0} or booleans, call `auc`: here a 0 is not a negative row.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Integers of one NumPy type are compared exactly, other numbers as float64.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, there is no positive or no negative row, or an argument is not
        one-dimensional.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import pn_risk
    >>> pn_risk([1, 1, -1, -1], [0.9, 0.4, 0.4, 0.1])
    0.125
    """
    rows = read_rows("pn_risk", y, scores, needed=(1, -1))
    return _win_share(rows.scores[rows.labels == -1], rows.scores[rows.labels == 1])


@answers_unknown_keywords
def pu_auc(
    y: LabelsLike,
    scores: VectorLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> float | RankingEstimate:
    r"""Return an estimate of the AUC between positive and negative rows, without any labelled negatives.

    The AUC between labelled positive and unlabelled rows, ties counted one half, counts the positives among the
    unlabelled rows as negatives. If a share :math:`\theta` of the unlabelled rows is positive, its expectation is
    :math:`(1 - \theta) \mathrm{AUC} + \theta / 2`. So, with the risk of `pu_risk`,

    .. math:: \widehat{\mathrm{AUC}} = \frac{1 - R_{PU} - \theta / 2}{1 - \theta}.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, which must be a random sample of the positives, 0 (False or
        missing) for unlabelled rows. Labelled negative rows (-1) are left out with ``scenario="case_control"``, and
        count as unlabelled with ``"single_set"``.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to: on its training rows every figure is too good.
    prior : float or PriorEstimate
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows. Too
        large a prior makes the AUC too large.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        n rows together are one sample, and a prior :math:`\pi` is converted to :math:`\theta = (\pi n - n_p) / (n -
        n_p)`.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Only the
        interval depends on it: it then counts groups and not rows. By default each row is a group.
    n_boot : int, default 0
        The number of samples for a 90 % interval, from 0 to 10^9. With 0 there is no interval; 1000 are enough.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the samples. None takes a fresh seed.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        In [0, 1]. The estimate is unbiased, except for what is cut off at 0 and at 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, lengths differ, there is no positive or no unlabelled row, or an interval is
        asked for and all unlabelled rows are of one group.
        Also if `prior` is out of range, or not possible in ``"single_set"``; or if the estimate is outside [0, 1] by
        more than 5 standard errors of a perfect ranking: then `prior` cannot be the share of positives among the
        unlabelled rows.

    Warns
    -----
    EstimateWarning
        If the estimate is outside [0, 1] by less than that: 0 or 1 is then returned. Also if `prior` is an estimate
        that is only an upper bound, or that allows priors whose AUCs differ by more than 0.05.

    Notes
    -----
    O(n log n) time, O(n) memory. With one prior, models have the same order by this AUC and by `pu_risk`.

    If the share among all rows is passed as that among the unlabelled rows, the prior is too large, and so is the AUC.
    This is how libraries come to report AUCs above 1. If such an AUC is below 1, nothing tells it from a correct one.
    For a perfect ranking without ties the standard error of :math:`R_{PU}` is the root of :math:`(\theta / 3 - \theta^2
    / 4) / n_u + \theta^2 / (12 n_p)`.

    The interval has Gaffke's limits for the mean of numbers between 0 and 1, which hold with few labelled rows, and
    covers what an estimated `prior` allows. With `groups` all rows of a group are drawn together.

    References
    ----------
    Jain, White and Radivojac, "Recovering true classifier performance in positive-unlabeled learning", AAAI 2017.

    Examples
    --------
    >>> from fastpu.metrics import pu_auc
    >>> pu_auc([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.9, 0.4, 0.1, 0.1], prior=0.25)
    0.8333333333333334
    """
    number, drawn_as = check_prior_in(scenario, prior)
    rows = read_rows("pu_auc", y, scores, counted=(1, 0) if drawn_as == "case_control" else (1, 0, -1))
    labels, values = rows.labels, rows.scores
    n_pos, n_unl, n_neg = label_counts(rows.every)
    prior_among_unlabeled(number, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=drawn_as)  # a check
    is_pos, is_unl = labels == 1, in_sample(labels, drawn_as)
    pos, unl = values[is_pos], values[is_unl]
    n_other = int(np.count_nonzero(in_sample(rows.every, drawn_as)))
    share = prior_among_unlabeled(number, n_pos=n_pos, n_unl=n_other, scenario=drawn_as)
    if 1 - share < _ROUNDING:
        raise ValueError(
            f"prior must be smaller: with prior={number:g} and scenario='single_set' all {n_other} unlabelled rows "
            f"would be positive"
        )
    group = read_groups(y, groups, rows)
    won = _win_share(pos, unl)
    value = (won - share / 2) / (1 - share)
    inside = _against_negatives(won, share)
    independent = effective_number(group, is_unl), effective_number(group, is_pos)
    _check_inside(value, inside, won, share, *independent, drawn_as)
    warn_of_open_range("pu_auc", "AUC", prior, inside, lambda other: _against_negatives(won, other))
    n_samples, generator = check_boot(n_boot, random_state)
    if not n_samples:
        return inside
    ranked, shares = Ranked.of(values, is_pos, is_unl, group), Shares.drawn(prior, share, n_samples, generator)
    interval = drawn_interval(
        ranked, lambda p, u, other: _against_negatives(win_share(p, u), other), inside, shares, generator,
        is_biased=False,
    )  # fmt: skip
    return RankingEstimate(inside, interval)


def _against_negatives(won: float, share: float) -> float:
    """Return the AUC for that between positive and unlabelled rows, a share of which is positive."""
    return min(1.0, max(0.0, (won - share / 2) / (1 - share))) if share < 1 else 1.0


def _check_inside(
    value: float, inside: float, won: float, share: float, n_unl: float, n_pos: float, drawn_as: str
) -> None:
    """Warn if an estimate of an AUC is outside [0, 1], and refuse it if chance cannot explain that."""
    outside = abs(value - inside)
    # Rounding alone can put a perfect ranking above 1.
    if outside <= 8 * np.finfo(float).eps / (1 - share):
        return
    error = math.sqrt((share / 3 - share**2 / 4) / n_unl + share**2 / (12 * n_pos)) / (1 - share)
    most = 2 * (1 - won) if value > 1 else 2 * won
    meaning = (
        f"the AUC {won:.4g} between labelled and unlabelled rows would be {value:.4g} between positive and negative "
        f"ones if {share:.4g} of the unlabelled rows were positive: their share is {most:.4g} at most"
    )
    if outside > _MOST_ERRORS * error:
        hint = "" if drawn_as == "single_set" else (
            ". If prior is the rate among all rows, the labelled ones included, pass scenario='single_set'"
        )  # fmt: skip
        raise ValueError(f"prior does not fit the scores: {meaning}{hint}")
    warn(f"pu_auc: {meaning}. {inside:.0f} is returned", EstimateWarning)


@answers_unknown_keywords
def pu_risk(y: LabelsLike, scores: VectorLike) -> float:
    r"""Return the share of (positive, unlabelled) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{PU} = \theta_n R_{PN} + \theta_p / 2`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Integers of one NumPy type are compared exactly, other numbers as float64.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, there is no labelled positive or no unlabelled row, or an argument is not
        one-dimensional.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import pu_risk
    >>> pu_risk([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.9, 0.4, 0.1, 0.1])
    0.25
    """
    rows = read_rows("pu_risk", y, scores)
    return _win_share(rows.scores[rows.labels == 0], rows.scores[rows.labels == 1])


@answers_unknown_keywords
def un_risk(y: LabelsLike, scores: VectorLike) -> float:
    r"""Return the share of (unlabelled, negative) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{UN} = \theta_p R_{PN} + \theta_n / 2`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: 0 (or missing) for unlabelled rows, -1 for labelled negative rows. Positive rows (+1) are left out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Integers of one NumPy type are compared exactly, other numbers as float64.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, there is no unlabelled or no labelled negative row, or an argument is not
        one-dimensional.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import un_risk
    >>> un_risk([0, 0, -1, -1], [0.9, 0.1, 0.4, 0.1])
    0.375
    """
    rows = read_rows("un_risk", y, scores, needed=(0, -1))
    return _win_share(rows.scores[rows.labels == -1], rows.scores[rows.labels == 0])


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
