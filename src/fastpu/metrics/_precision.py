"""How pure the top of a ranking is, by a prior: precision and average precision."""

from __future__ import annotations

import math

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_k
from fastpu.common._text import counted
from fastpu.common._types import GroupsLike, LabelsLike, RandomState, Scenario, VectorLike
from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._intervals import Recalls, Shares, check_boot, drawn_interval, warn_of_open_range
from fastpu.metrics._ranked_rows import Ranked, mean_precision, recall_of
from fastpu.metrics._ranking_estimates import RankingEstimate
from fastpu.metrics._read_ranking import read_ranking_and_prior
from fastpu.model._prior import PriorEstimate, check_prior

_MOST_ERRORS = 3  # standard errors above 1 at which a precision is said to be impossible


@answers_unknown_keywords
def precision_at_k(
    y: LabelsLike,
    scores: VectorLike,
    k: float,
    prior: float | PriorEstimate,
    *,
    scenario: Scenario = "case_control",
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> float | RankingEstimate:
    r"""Return the share of positives among the k unlabelled rows with the largest scores.

    .. math:: \mathrm{precision} = \theta\, \mathrm{lift}, \qquad \theta = P(Y = 1 \mid \mathrm{unlabelled}),

    where the lift is that of `lift_at_k`; a value above 1 is cut off at 1. Times k the precision is the number of
    positives that are found. It is right if the labelled rows are a random sample of the positives, and it is
    proportional to the prior.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to: on its training rows every figure is too good.
    k : int or float
        How many unlabelled rows are flagged. An int counts rows, from 1 to the number of unlabelled rows. A float in
        (0, 1] is a share of them, rounded to whole rows and at least one row. So 1 is one row, and 1.0 is all rows.
    prior : float or PriorEstimate
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows together are one sample, and the prior is converted to that of the unlabelled rows.
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
        In [0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, lengths differ, there is no positive or no unlabelled row, or an interval is
        asked for and all unlabelled rows are of one group.
        Also if `k` or `prior` is out of range, or `prior` is not possible in ``"single_set"``.

    Warns
    -----
    EstimateWarning
        If the estimate is above 1 by more than 3 standard errors before it is cut off: `prior` is then too large, or
        the labelled rows are not a random sample of the positives. Also if `prior` is an estimate that is only an upper
        bound, or that allows priors whose precisions differ by more than 0.05. The warning gives the smallest and the
        largest of these precisions.

    Notes
    -----
    A number that is passed as `prior` is taken as exact. For an estimate the interval covers all shares that are
    `allowed`, and draws from `samples` if the estimate has any, as that of `fastpu.audit.estimate` has.

    The interval is that of `recall_at_k`, times :math:`\theta n_u / k`. The number of positives among the flagged rows
    is drawn too. So the interval holds for the rows that are flagged here, and for other rows like them. With `groups`
    all rows of a group are drawn together and are taken to be alike.

    Examples
    --------
    >>> from fastpu.metrics import precision_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> precision_at_k(y, scores, k=2, prior=0.4)
    0.75
    """
    check_prior(prior)
    ranked, theta = read_ranking_and_prior("precision_at_k", y, scores, prior, scenario, groups)
    n_samples, generator = check_boot(n_boot, random_state)
    flagged, n_unl = np.array([check_k(k, ranked.n_unl)]), ranked.n_unl
    share = float(flagged[0]) / n_unl
    recall = float(recall_of(*ranked.counts(), flagged)[0])
    value = min(1.0, theta * (recall / share))
    _warn_if_impossible("precision_at_k", counted(int(flagged[0]), "row"), recall, share, theta, ranked)
    warn_of_open_range("precision_at_k", "precision", prior, value, lambda other: min(1.0, other * (recall / share)))
    if not n_samples:
        return value
    shares = Shares.drawn(prior, theta, n_samples, generator)
    recalls = Recalls.drawn(ranked, flagged, n_samples, generator)
    low, high = recalls.precision_interval(np.array([value]), flagged, ranked.unl, shares, generator)[0]
    return RankingEstimate(value, (float(low), float(high)))


@answers_unknown_keywords
def average_precision(
    y: LabelsLike,
    scores: VectorLike,
    prior: float | PriorEstimate,
    *,
    scenario: Scenario = "case_control",
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> float | RankingEstimate:
    r"""Return the average precision, the integral of the precision over the recall, without labelled negatives.

    .. math:: \mathrm{AP} = \frac{1}{n_p} \sum_{i \in P} \min\left(1,
        \frac{\theta\, \mathrm{recall}(s_i)}{\mathrm{share}(s_i)}\right), \qquad
        \theta = P(Y = 1 \mid \mathrm{unlabelled}),

    where recall(s) and share(s) are the shares of the labelled positive and of the unlabelled rows with scores of at
    least s. It estimates what `sklearn.metrics.average_precision_score` says of the unlabelled rows with their true
    labels, if the labelled rows are a random sample of the positives and the model was not fitted to any of these rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to: on its training rows every figure is too good.
    prior : float or PriorEstimate
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows together are one sample, and the prior is converted to that of the unlabelled rows.
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
        In (0, 1]. Random scores give about the prior.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, lengths differ, there is no positive or no unlabelled row, or an interval is
        asked for and all unlabelled rows are of one group.
        Also if `prior` is out of range, or not possible in ``"single_set"``.

    Warns
    -----
    EstimateWarning
        If the precision where half of the labelled positives are found is above 1 by more than 3 standard errors before
        it is cut off: `prior` is then too large, or the labelled rows are not a random sample of the positives. Also if
        `prior` is an estimate that is only an upper bound, or that allows priors whose values differ by more than 0.05.
        The warning gives the smallest and the largest of these values.

    Notes
    -----
    Rows of equal scores are flagged together, so the order of rows does not matter. O(n log n) time and O(n) memory of
    n rows, and O(n) time more for each sample.

    With few rows the estimate is biased. Each precision is cut off at 1, which makes the estimate too small, and each
    labelled row counts in its own recall, which makes it too large. In simulations, with 20 to 1,000 labelled positives
    and 300 to 20,000 unlabelled rows, the bias was at most half of the standard error of one estimate, in either
    direction, and one standard error where the truth is nearly 1. Estimates of less bias (a jackknife, a U statistic)
    have larger errors.

    The interval is about the population that the rows come from, and covers what an estimated `prior` allows. In each
    sample the labelled rows have random weights, and the unlabelled ones are drawn anew. One more labelled row is
    added: below all others for the lower end, and above them for the upper end. For the mean of numbers between 0 and 1
    this gives exact limits, with few rows, too. Such samples have the bias twice, so the interval also covers the
    estimate less its bias, with two standard deviations to either side. With `groups` all rows of a group are drawn
    together.

    References
    ----------
    Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
    Mathematical Methods of Statistics, 2005.

    Examples
    --------
    >>> from fastpu.metrics import average_precision
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> round(average_precision(y, scores, prior=0.4), 3)
    0.854
    """
    check_prior(prior)
    ranked, theta = read_ranking_and_prior("average_precision", y, scores, prior, scenario, groups)
    n_samples, generator = check_boot(n_boot, random_state)
    counts = ranked.counts()
    value = mean_precision(*counts, theta)
    p, u = (np.cumsum(part) for part in counts)
    half = int(np.searchsorted(p, p[-1] / 2))
    where = f"{u[half]} rows, where half of the positives are found,"
    _warn_if_impossible("average_precision", where, float(p[half] / p[-1]), float(u[half] / u[-1]), theta, ranked)
    warn_of_open_range(
        "average_precision", "average precision", prior, value, lambda other: mean_precision(*counts, other)
    )
    if not n_samples:
        return value
    shares = Shares.drawn(prior, theta, n_samples, generator)
    return RankingEstimate(value, drawn_interval(ranked, mean_precision, value, shares, generator, is_biased=True))


def _warn_if_impossible(function: str, where: str, recall: float, share: float, prior: float, ranked: Ranked) -> None:
    """Warn if more labelled positives are found than can be if every flagged unlabelled row were positive.

    The share of the hidden positives that is found is then share / prior. The two shares are compared as those of two
    samples, of n_p rows and of prior * n_u rows; where rows belong together, of as many as are independent.
    """
    n_pos, n_hidden = ranked.pos.effective_number, prior * ranked.unl.effective_number
    most = share / prior
    both = (recall * n_pos + most * n_hidden) / (n_pos + n_hidden)
    error = math.sqrt(max(0.0, both * (1 - both)) * (1 / n_pos + 1 / n_hidden))
    if recall - most > _MOST_ERRORS * error:
        ratio = f"{recall / most:.3g}" if most else "infinite"
        warn(
            f"{function}: with prior={prior:.4g} the precision of {where} would be {ratio}, so 1 is used; chance does "
            f"not explain the excess. The cut has {100 * recall:.3g} % of the labelled positives above it, and "
            f"{100 * share:.3g} % of the unlabelled rows. Either prior, the share of positives among the unlabelled "
            f"rows, is too large, or the labelled rows are not a random sample of the positives",
            EstimateWarning,
        )
