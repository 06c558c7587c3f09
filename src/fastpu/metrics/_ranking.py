"""How good the top of a ranking is, by the scores of labelled positive and of unlabelled rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._warn import warn
from fastpu.data._validate import label_counts
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._ranked_rows import (
    Ranked,
    RankingCurve,
    RankingEstimate,
    check_k,
    mean_precision,
    perfect_counts,
    recall_of,
)
from fastpu.metrics._rows import read_rows
from fastpu.model._prior import PriorEstimate, check_prior_in, check_scenario, proper_prior

_ENDS = (0.05, 0.95)  # of an interval, as quantiles of the samples
_STANDARD_ERRORS = 2  # from an average precision without its bias to the ends of its interval
_MOST_ERRORS = 3  # standard errors above 1 at which a precision is said to be impossible
_MOST_POINTS = 10**6  # of a curve
_MOST_SAMPLES = 10**9  # of a bootstrap: more than there is time for


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
        Samples of the bootstrap, which gives an interval; 1000 are enough for its ends. It is too short if one labelled
        row or none is above the cut, or below it; see the notes.
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

    In simulations intervals covered the true recall in 86 to 95 % of the cases where two labelled rows or more were to
    be expected on either side of the cut, and in 65 to 82 % where one was. They have no width where all labelled rows
    are on one side.

    O(n log n) time and O(n) memory of n rows, and O(n) time more for each sample.

    Examples
    --------
    >>> from fastpu.metrics import recall_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> recall_at_k(y, scores, k=2)
    0.75
    """
    ranked, _ = _ranked("recall_at_k", y, scores)
    return _at_k(ranked, k, lambda recall, _share: recall, n_boot, random_state)


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
    ranked, _ = _ranked("lift_at_k", y, scores)
    return _at_k(ranked, k, lambda recall, share: recall / share, n_boot, random_state)


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
        As in `recall_at_k`. The interval takes a number for exact, as `prior`, and draws anew from the `samples` of an
        estimate that has some, such as that of `fastpu.audit.estimate`.

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
        are not a random sample of the positives.

    Examples
    --------
    >>> from fastpu.metrics import precision_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> precision_at_k(y, scores, k=2, prior=0.4)
    0.75
    """
    given = check_prior_in(scenario, prior)
    ranked, theta, thetas, generator = _opened("precision_at_k", y, scores, prior, given, n_boot, random_state)
    flagged = np.array([check_k(k, ranked.unl.size)])
    share = float(flagged[0]) / ranked.unl.size
    each = iter([theta, *thetas.tolist()])
    estimate = _at_k(ranked, k, lambda recall, share: min(1.0, next(each) * (recall / share)), thetas.size, generator)
    recall = float(recall_of(*ranked.counts(), flagged)[0])
    _warn_if_impossible("precision_at_k", f"{flagged[0]} rows", recall, share, theta, ranked)
    return estimate


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

    The middle 90 % of the samples would be off by that bias twice. The interval therefore joins to them the estimate
    less its bias (their mean is off by as much again) with two of their standard deviations to either side, and 1 where
    five in a hundred rankings of as many rows with all positives on top have a smaller estimate. It is about the
    average precision of the population that the rows were drawn from, which it covered in 85 to 99 % of the simulated
    samples where 90 % was meant.

    Examples
    --------
    >>> from fastpu.metrics import average_precision
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> round(average_precision(y, scores, prior=0.4), 3)
    0.854
    """
    given = check_prior_in(scenario, prior)
    ranked, theta, thetas, generator = _opened("average_precision", y, scores, prior, given, n_boot, random_state)
    each = iter([theta, *thetas.tolist()])
    estimate = _estimated(ranked, lambda p, u: mean_precision(p, u, next(each)), thetas.size, generator)
    if isinstance(estimate, RankingEstimate):
        estimate = replace(estimate, interval=_wider(estimate, ranked, theta, generator))
    p, u = (np.cumsum(part) for part in ranked.counts())
    half = int(np.searchsorted(p, p[-1] / 2))
    where = f"{u[half]} rows, where half of the positives are found,"
    _warn_if_impossible("average_precision", where, float(p[half] / p[-1]), float(u[half] / u[-1]), theta, ranked)
    return estimate


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

    Errors are those of `precision_at_k`.

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
    given = (None, check_scenario(scenario)) if prior is None else check_prior_in(scenario, prior)
    ranked, theta, thetas, generator = _opened("ranking_curve", y, scores, prior, given, n_boot, random_state)
    n_unl = ranked.unl.size
    if n_unl <= most:
        flagged = np.arange(1, n_unl + 1)
    else:
        even = np.linspace(1, n_unl, most - most // 2), np.geomspace(1, n_unl, most // 2)
        flagged = np.unique(np.rint(np.concatenate(even)).astype(np.int64))
    interval = of_precision = None
    if thetas.size:
        samples = np.array([recall_of(*ranked.redrawn(generator), flagged) for _ in range(thetas.size)])
        interval = np.quantile(samples, _ENDS, axis=0).T
        if prior is not None:
            precisions = thetas[:, None] * (samples / (flagged / n_unl))
            of_precision = np.minimum(1.0, np.quantile(precisions, _ENDS, axis=0).T)
    recall = recall_of(*ranked.counts(), flagged)
    return RankingCurve(flagged, flagged / n_unl, recall, interval, None if prior is None else theta, of_precision)


def _ranked(user: str, y: object, scores: object) -> tuple[Ranked, int]:
    """Return the positive and the unlabelled rows in order, and the number of labelled negative ones beside them."""
    labels, values = read_rows(user, y, scores)
    return Ranked.of(values[labels == 1], values[labels == 0]), label_counts(labels)[2]


def _opened(
    user: str,
    y: object,
    scores: object,
    prior: object,
    given: tuple[float | None, str],
    n_boot: object,
    random_state: object,
) -> tuple[Ranked, float, NDArray[np.float64], np.random.Generator]:
    """Return the rows in order, the share of positives among the unlabelled ones, and that for each bootstrap sample.

    The latter are drawn if the prior has samples. `given` is its number, or None for any, and the scenario.
    """
    n_samples, generator = _check_boot(n_boot, random_state)
    ranked, n_neg = _ranked(user, y, scores)
    theta = proper_prior(*given, n_pos=ranked.pos.size, n_unl=ranked.unl.size, n_neg=n_neg)
    if isinstance(prior, PriorEstimate) and prior.samples.size:
        return ranked, theta, generator.choice(prior.samples, n_samples), generator
    return ranked, theta, np.full(n_samples, theta), generator


def _wider(
    estimate: RankingEstimate, ranked: Ranked, prior: float, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the interval of an average precision, as its notes describe it.

    Near 1, where precisions are cut off, samples do not show all of the bias; a ranking with all positives on top does.
    """
    without_bias = 2 * estimate.value - float(estimate.samples.mean())
    reach = _STANDARD_ERRORS * float(estimate.samples.std())
    low = min(estimate.interval[0], max(0.0, without_bias - reach))
    high = max(estimate.interval[1], min(1.0, without_bias + reach))
    if high < 1:
        sizes = ranked.pos.size, ranked.unl.size
        perfect = [mean_precision(*perfect_counts(*sizes, prior, generator), prior) for _ in estimate.samples]
        if estimate.value >= np.quantile(perfect, _ENDS[0]):
            high = 1.0
    return low, high


def _at_k(
    ranked: Ranked, k: object, criterion: Callable[[float, float], float], n_boot: object, random_state: object
) -> float | RankingEstimate:
    """Return a function of the recall and of the share that is flagged."""
    flagged = np.array([check_k(k, ranked.unl.size)])
    share = float(flagged[0]) / ranked.unl.size
    return _estimated(ranked, lambda p, u: criterion(float(recall_of(p, u, flagged)[0]), share), n_boot, random_state)


def _estimated(
    ranked: Ranked,
    criterion: Callable[[NDArray[np.intp], NDArray[np.intp]], float],
    n_boot: object,
    random_state: object,
) -> float | RankingEstimate:
    n_samples, generator = _check_boot(n_boot, random_state)
    value = criterion(*ranked.counts())
    if not n_samples:
        return value
    samples = np.array([criterion(*ranked.redrawn(generator)) for _ in range(n_samples)])
    low, high = np.quantile(samples, _ENDS)
    return RankingEstimate(value, (float(low), float(high)), samples)


def _check_boot(n_boot: object, random_state: object) -> tuple[int, np.random.Generator]:
    return check_int("n_boot", n_boot, low=0, high=_MOST_SAMPLES), check_random_state(random_state)


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
