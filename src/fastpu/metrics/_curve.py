"""Recall, lift and precision for many numbers of flagged rows at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int
from fastpu.common._text import counted
from fastpu.common._types import GroupsLike, LabelsLike, RandomState, Scenario, VectorLike
from fastpu.metrics._intervals import Recalls, Shares, check_boot, warn_of_open_range
from fastpu.metrics._ranked_rows import recall_of
from fastpu.metrics._ranking_estimates import RankingCurve
from fastpu.metrics._read_ranking import read_ranking_and_prior
from fastpu.model._prior import PriorEstimate

_MOST_POINTS = 10**6  # of a curve


@answers_unknown_keywords
def ranking_curve(
    y: LabelsLike,
    scores: VectorLike,
    *,
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
    groups: GroupsLike | None = None,
    n_points: int = 200,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> RankingCurve:
    """Return recall, lift and, with a prior, precision for many numbers of flagged rows at once.

    Each point has the values and the intervals that `recall_at_k`, `lift_at_k` and `precision_at_k` give for its number
    of rows. They are right if the labelled rows are a random sample of the positives.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to: on its training rows every figure is too good.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows. Only
        the precision needs a prior: without one the curve has recall and lift alone.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows together are one sample, and the prior is converted to that of the unlabelled rows.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Only the
        interval depends on it: it then counts groups and not rows. By default each row is a group.
    n_points : int, default 200
        The most points of the curve, from 2 to 10^6. Half of them are at even distances and half at even ratios, so
        that the curve is fine at the top of the ranking. With at most so many unlabelled rows there is a point for each
        row.
    n_boot : int, default 0
        The number of samples for a 90 % interval, from 0 to 10^9. With 0 there is no interval; 1000 are enough.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the samples. None takes a fresh seed.

    Returns
    -------
    RankingCurve
        The points of the curve: `n_flagged`, `share`, `recall`, `lift` and, with a prior, `precision`, each with its
        interval if `n_boot` is not 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, lengths differ, there is no positive or no unlabelled row, or an interval is
        asked for and all unlabelled rows are of one group.
        Also if `prior` is out of range, or not possible in ``"single_set"``.

    Warns
    -----
    EstimateWarning
        If `prior` is an estimate that is only an upper bound, or that allows priors whose precisions differ by more
        than 0.05.

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
    ranked, theta = read_ranking_and_prior("ranking_curve", y, scores, prior, scenario, groups)
    n_samples, generator = check_boot(n_boot, random_state)
    n_unl = ranked.n_unl
    flagged = _points(n_unl, most)
    share = flagged / n_unl
    recall = recall_of(*ranked.counts(), flagged)
    precision = np.minimum(1.0, theta * (recall / share))
    if isinstance(prior, PriorEstimate) and prior.open_range is not None:
        low, high = (np.minimum(1.0, end * (recall / share)) for end in prior.open_range)
        widest = int(np.argmax(high - low))
        rows = counted(int(flagged[widest]), "row")
        warn_of_open_range("ranking_curve", f"precision of {rows}", prior, float(precision[widest]),
                           lambda other: min(1.0, other * float(recall[widest] / share[widest])))  # fmt: skip
    interval = of_precision = None
    if n_samples:
        recalls = Recalls.drawn(ranked, flagged, n_samples, generator)
        interval = recalls.interval(recall)
        if prior is not None:
            shares = Shares.drawn(prior, theta, n_samples, generator)
            of_precision = recalls.precision_interval(precision, flagged, ranked.unl, shares, generator)
    return RankingCurve(flagged, share, recall, interval, None if prior is None else theta, of_precision)


def _points(n_unl: int, most: int) -> NDArray[np.int64]:
    """Return the numbers of flagged rows of a curve: all of them, or half at even distances and half at even ratios."""
    if n_unl <= most:
        return np.arange(1, n_unl + 1)
    even = np.linspace(1, n_unl, most - most // 2), np.geomspace(1, n_unl, most // 2)
    return np.unique(np.rint(np.concatenate(even)).astype(np.int64))
