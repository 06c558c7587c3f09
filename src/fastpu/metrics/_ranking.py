"""How good the top of a ranking is, by the scores of labelled positive and of unlabelled rows."""

from __future__ import annotations

import math

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_k
from fastpu.common._warn import warn
from fastpu.data._validate import label_counts
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._intervals import Recalls, Shares, check_boot, drawn_interval, tell_open_range
from fastpu.metrics._ranked_rows import Ranked, RankingCurve, RankingEstimate, mean_precision, recall_of
from fastpu.metrics._rows import read_rows
from fastpu.model._prior import PriorEstimate, check_prior, check_prior_in, check_scenario, proper_prior

_MOST_ERRORS = 3  # standard errors above 1 at which a precision is said to be impossible
_MOST_POINTS = 10**6  # of a curve


@answers_unknown_keywords
def recall_at_k(
    y: object,
    scores: object,
    k: float,
    *,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> float | RankingEstimate:
    r"""Return the share of the positives that is found if the k unlabelled rows of the largest scores are flagged.

    It is the share of the labelled positives whose scores reach the k-th largest score of an unlabelled row. If
    labelled rows are a random sample of the positives, and neither group was fitted to, it estimates the share of the
    hidden positives, those among the unlabelled rows, that are flagged. No prior is needed.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels as `fastpu.as_labels` reads them: +1 (or True) for labelled positive and 0 (False or missing) for
        unlabelled rows. Rows that are -1, labelled negative, are not in the ranking.
    scores : array-like of shape (n,)
        As in `auc`. On rows that the model was fitted to, every figure here is too good.
    k : int or float
        An integer is the number of unlabelled rows that are flagged, from 1 to n_u; a float in (0, 1] the share of
        them, rounded to whole rows, at least one. So 1 is one row and 1.0 is all of them.
    n_boot : int, default 0
        Samples for an interval of 90 %; 1000 are enough for its ends. It holds with two labelled rows as well.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the samples.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        In [0, 1].

    Raises
    ------
    TypeError, ValueError
        As in `pn_risk`, and if `k` is out of range.

    Notes
    -----
    Ties: if only some of the unlabelled rows that share the k-th score are needed for k, each row of this score, of
    either group, counts by the share of them that is flagged. So the order of rows does not matter.

    The interval has the exact limits of Clopper and Pearson for the share of the labelled rows above the cut, and the
    unlabelled rows drawn anew, as other rows have another cut. It is about the population that the rows are from. None
    of n labelled rows above the cut gives an upper end of 1 - 0.05^(1/n) and more: 0.45 for five.

    O(n log n) time and O(n) memory of n rows, and O(n) time more for each sample.

    Examples
    --------
    >>> from fastpu.metrics import recall_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> recall_at_k(y, scores, k=2)
    0.75
    """
    recall, interval, _ = _recall_at_k("recall_at_k", y, scores, k, n_boot, random_state)
    return recall if interval is None else RankingEstimate(recall, interval)


@answers_unknown_keywords
def lift_at_k(
    y: object,
    scores: object,
    k: float,
    *,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> float | RankingEstimate:
    r"""Return how many times more positives there are among the k rows of the largest scores than among k random ones.

    .. math:: \mathrm{lift} = \frac{\mathrm{recall}}{k / n_u}
        = \frac{\mathrm{precision}}{\mathrm{share\ of\ positives\ among\ the\ unlabelled\ rows}}

    The recall is that of `recall_at_k`, and so are errors. No prior is needed: for one k the lift orders models as the
    precision does.

    Parameters
    ----------
    y, scores, k, n_boot, random_state
        As in `recall_at_k`.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        >= 0; 1 is what random scores give, and n_u / k the most that is possible.

    Examples
    --------
    >>> from fastpu.metrics import lift_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> lift_at_k(y, scores, k=2)
    1.875
    """
    recall, interval, share = _recall_at_k("lift_at_k", y, scores, k, n_boot, random_state)
    return (
        recall / share
        if interval is None
        else RankingEstimate(recall / share, (interval[0] / share, interval[1] / share))
    )


@answers_unknown_keywords
def precision_at_k(
    y: object,
    scores: object,
    k: float,
    prior: float | PriorEstimate,
    *,
    scenario: str = "case_control",
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> float | RankingEstimate:
    r"""Return the share of positives among the k unlabelled rows of the largest scores.

    .. math:: \mathrm{precision} = \theta\, \mathrm{lift}, \qquad \theta = P(Y = 1 \mid \mathrm{unlabelled}),

    with the lift of `lift_at_k`, cut off at 1. Times k it is the number of positives that are found.

    Parameters
    ----------
    y, scores, k
        As in `recall_at_k`.
    prior, scenario
        As in `pu_auc`. The precision is proportional to :math:`\theta`.
    n_boot, random_state
        As in `recall_at_k`. The interval takes a number for exact, as `prior`; of an estimate it covers all that is
        `allowed`, and draws from the `samples` if there are some, as of `fastpu.audit.estimate`.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        In [0, 1].

    Raises
    ------
    TypeError, ValueError
        As in `recall_at_k`, and if `prior` is not in (0, 1), or not possible in ``"single_set"``.

    Warns
    -----
    EstimateWarning
        If the estimate was above 1 by more than 3 standard errors, so that `prior` is too large or the labelled rows
        are not a random sample of the positives. If `prior` is an estimate that is only an upper bound, or the
        precisions by the shares that it allows differ by more than 0.05: the warning gives their ends.

    Notes
    -----
    The interval is that of `recall_at_k` for the cut of these rows, times :math:`\theta n_u / k`, and the number of
    positive rows above the cut is drawn with it: so it holds for the rows that are flagged here and for other rows like
    them. Where few of very many labelled rows are above the cut it is the second that is narrower.

    Examples
    --------
    >>> from fastpu.metrics import precision_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> precision_at_k(y, scores, k=2, prior=0.4)
    0.75
    """
    check_prior(prior)
    ranked, theta = _with_share("precision_at_k", y, scores, prior, scenario)
    n_samples, generator = check_boot(n_boot, random_state)
    flagged, n_unl = np.array([check_k(k, ranked.unl.size)]), ranked.unl.size
    share = float(flagged[0]) / n_unl
    recall = float(recall_of(*ranked.counts(), flagged)[0])
    value = min(1.0, theta * (recall / share))
    _warn_if_impossible("precision_at_k", f"{flagged[0]} rows", recall, share, theta, ranked)
    tell_open_range("precision_at_k", "precision", prior, value, lambda other: min(1.0, other * (recall / share)))
    if not n_samples:
        return value
    shares = Shares.drawn(prior, theta, n_samples, generator)
    recalls = Recalls.drawn(ranked, flagged, n_samples, generator)
    low, high = recalls.precision_interval(np.array([value]), flagged, n_unl, shares, generator)[0]
    return RankingEstimate(value, (float(low), float(high)))


@answers_unknown_keywords
def average_precision(
    y: object,
    scores: object,
    prior: float | PriorEstimate,
    *,
    scenario: str = "case_control",
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> float | RankingEstimate:
    r"""Return the average precision, the integral of the precision over the recall, without labelled negatives.

    .. math:: \mathrm{AP} = \frac{1}{n_p} \sum_{i \in P} \min\left(1,
        \frac{\theta\, \mathrm{recall}(s_i)}{\mathrm{share}(s_i)}\right), \qquad
        \theta = P(Y = 1 \mid \mathrm{unlabelled}),

    where recall(s) and share(s) are the shares of the labelled positive and of the unlabelled rows with scores of at
    least s. It estimates what `sklearn.metrics.average_precision_score` says of the unlabelled rows with their true
    labels, if labelled rows are a random sample of the positives and neither group was fitted to. Errors are those of
    `precision_at_k`, and so is the warning, of the precision where half of the labelled positives are found.

    Parameters
    ----------
    y, scores, n_boot, random_state
        As in `recall_at_k`.
    prior, scenario
        As in `precision_at_k`.

    Returns
    -------
    float, or RankingEstimate if `n_boot` is not 0
        In (0, 1]; random scores give about the prior.

    Notes
    -----
    Rows of equal scores are flagged together, so the order of rows does not matter. O(n log n) time and O(n) memory of
    n rows, and O(n) time more for each sample.

    With few rows the mean of such estimates is not quite the truth: precisions are cut off at 1 one by one, which makes
    it too small, and each labelled row counts in its own recall, which makes it too large. In simulations, with 20 to
    1,000 labelled positives and 300 to 20,000 unlabelled rows, it was off by at most half of the standard error of one
    estimate, in either direction, and by one standard error where the truth is nearly 1. Estimates of less bias (a
    jackknife, a U statistic) have larger errors.

    The interval comes from samples in which the labelled rows have random weights and the unlabelled ones are drawn
    anew. One more labelled row is below all of them for the lower end, and above them for the upper one: for the mean
    of numbers between 0 and 1 that gives exact limits, for few rows too. Such samples have the bias twice, so the
    estimate less its bias is joined, with two standard deviations to either side. The interval is about the average
    precision of the population that the rows were drawn from, and covers what an estimated `prior` allows.

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
    ranked, theta = _with_share("average_precision", y, scores, prior, scenario)
    n_samples, generator = check_boot(n_boot, random_state)
    counts = ranked.counts()
    value = mean_precision(*counts, theta)
    p, u = (np.cumsum(part) for part in counts)
    half = int(np.searchsorted(p, p[-1] / 2))
    where = f"{u[half]} rows, where half of the positives are found,"
    _warn_if_impossible("average_precision", where, float(p[half] / p[-1]), float(u[half] / u[-1]), theta, ranked)
    tell_open_range(
        "average_precision", "average precision", prior, value, lambda other: mean_precision(*counts, other)
    )
    if not n_samples:
        return value
    shares = Shares.drawn(prior, theta, n_samples, generator)
    return RankingEstimate(value, drawn_interval(ranked, mean_precision, value, shares, generator, is_biased=True))


@answers_unknown_keywords
def ranking_curve(
    y: object,
    scores: object,
    *,
    prior: float | PriorEstimate | None = None,
    scenario: str = "case_control",
    n_points: int = 200,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> RankingCurve:
    """Return recall, lift and, with a prior, precision for many numbers of flagged rows at once.

    Errors are those of `precision_at_k`, and intervals those of `recall_at_k` and `precision_at_k`, for each point by
    itself. An EstimateWarning says so if `prior` is an estimate that is only an upper bound.

    Parameters
    ----------
    y, scores, n_boot, random_state
        As in `recall_at_k`.
    prior, scenario
        As in `precision_at_k`; only the precision needs a prior, which is None by default.
    n_points : int, default 200
        Most points of the curve: half of them at even distances, and half at even ratios, so that the top of the
        ranking is seen. With as many unlabelled rows or fewer there is a point for each.

    Returns
    -------
    RankingCurve

    Examples
    --------
    >>> from fastpu.metrics import ranking_curve
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> curve = ranking_curve(y, scores, prior=0.4)
    >>> curve.n_flagged.tolist(), curve.recall.tolist()
    ([1, 2, 3, 4, 5], [0.5, 0.75, 0.75, 1.0, 1.0])
    """
    most = check_int("n_points", n_points, low=2, high=_MOST_POINTS)
    ranked, theta = _with_share("ranking_curve", y, scores, prior, scenario)
    n_samples, generator = check_boot(n_boot, random_state)
    n_unl = ranked.unl.size
    if n_unl <= most:
        flagged = np.arange(1, n_unl + 1)
    else:
        even = np.linspace(1, n_unl, most - most // 2), np.geomspace(1, n_unl, most // 2)
        flagged = np.unique(np.rint(np.concatenate(even)).astype(np.int64))
    share = flagged / n_unl
    recall = recall_of(*ranked.counts(), flagged)
    precision = np.minimum(1.0, theta * (recall / share))
    if isinstance(prior, PriorEstimate) and prior.open_range is not None:
        low, high = (np.minimum(1.0, end * (recall / share)) for end in prior.open_range)
        most_open = int(np.argmax(high - low))
        tell_open_range("ranking_curve", f"precision of {flagged[most_open]} rows", prior, float(precision[most_open]),
                        lambda other: min(1.0, other * float(recall[most_open] / share[most_open])))  # fmt: skip
    interval = of_precision = None
    if n_samples:
        recalls = Recalls.drawn(ranked, flagged, n_samples, generator)
        interval = recalls.interval(recall)
        if prior is not None:
            shares = Shares.drawn(prior, theta, n_samples, generator)
            of_precision = recalls.precision_interval(precision, flagged, n_unl, shares, generator)
    return RankingCurve(flagged, share, recall, interval, None if prior is None else theta, of_precision)


def _ranked(user: str, y: object, scores: object) -> tuple[Ranked, int]:
    """Return the positive and the unlabelled rows in order, and the number of labelled negative ones beside them."""
    labels, values = read_rows(user, y, scores)
    return Ranked.of(values[labels == 1], values[labels == 0]), label_counts(labels)[2]


def _with_share(user: str, y: object, scores: object, prior: object, scenario: object) -> tuple[Ranked, float]:
    """Return the rows in order, and the share of positives among the unlabelled ones; 0.5 where no prior is given."""
    given = (None, check_scenario(scenario)) if prior is None else check_prior_in(scenario, prior)
    ranked, n_neg = _ranked(user, y, scores)
    return ranked, proper_prior(*given, n_pos=ranked.pos.size, n_unl=ranked.unl.size, n_neg=n_neg)


def _recall_at_k(
    user: str, y: object, scores: object, k: object, n_boot: object, random_state: object
) -> tuple[float, tuple[float, float] | None, float]:
    """Return the recall, its interval if there are samples for one, and the share that is flagged."""
    ranked, _ = _ranked(user, y, scores)
    n_samples, generator = check_boot(n_boot, random_state)
    flagged = np.array([check_k(k, ranked.unl.size)])
    recall, share = recall_of(*ranked.counts(), flagged), float(flagged[0]) / ranked.unl.size
    if not n_samples:
        return float(recall[0]), None, share
    low, high = Recalls.drawn(ranked, flagged, n_samples, generator).interval(recall)[0]
    return float(recall[0]), (float(low), float(high)), share


def _warn_if_impossible(name: str, where: str, recall: float, share: float, prior: float, ranked: Ranked) -> None:
    """Warn if more labelled positives are found than can be if every flagged unlabelled row were positive.

    The share of the hidden positives that is found is then share / prior, and the two shares are compared as those of
    two samples, of n_p rows and of prior * n_u rows.
    """
    n_pos, n_hidden = ranked.pos.size, prior * ranked.unl.size
    most = share / prior
    both = (recall * n_pos + most * n_hidden) / (n_pos + n_hidden)
    error = math.sqrt(max(0.0, both * (1 - both)) * (1 / n_pos + 1 / n_hidden))
    if recall - most > _MOST_ERRORS * error:
        ratio = f"{recall / most:.3g}" if most else "infinite"
        warn(
            f"{name}: with prior={prior:.4g} the precision of {where} would be {ratio}, which chance "
            f"does not explain, and counts as 1: {100 * recall:.3g} % of the labelled positives are above the cut, and "
            f"{100 * share:.3g} % of the unlabelled rows. prior, the share of positives among the unlabelled rows, is "
            f"too large, or the labelled rows are not a random sample of the positives",
            EstimateWarning,
        )
