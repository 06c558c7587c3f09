"""How many of the positives the top of a ranking holds: recall and lift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_k
from fastpu.common._types import GroupsLike, LabelsLike, RandomState, VectorLike
from fastpu.metrics._intervals import Recalls, check_boot
from fastpu.metrics._ranked_rows import recall_of
from fastpu.metrics._ranking_estimates import RankingEstimate
from fastpu.metrics._read_ranking import read_ranking


@answers_unknown_keywords
def recall_at_k(
    y: LabelsLike,
    scores: VectorLike,
    k: float,
    *,
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> float | RankingEstimate:
    r"""Return the share of the positives that is found if the k unlabelled rows with the largest scores are flagged.

    It is the share of the labelled positives whose scores reach the k-th largest score of an unlabelled row. This
    estimates the share of the hidden positives (those among the unlabelled rows) that is flagged, if the labelled rows
    are a random sample of the positives and the model was not fitted to any of these rows. No prior is needed.

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
        Also if `k` is out of range.

    Notes
    -----
    Ties: if k takes only some of the unlabelled rows that share the k-th score, each row of this score counts by the
    share of them that is flagged. This holds for both kinds of rows, so the order of rows does not matter.

    The interval is about the population that the rows come from. It combines two sources of chance: the labelled rows
    above the cut, with the exact limits of Clopper and Pearson, and the cut itself, with unlabelled rows drawn anew. It
    holds with two labelled rows, too. If none of n labelled rows is above the cut, its upper end is at least
    1 - 0.05^(1/n), which is 0.45 for five rows.

    With `groups` all rows of a group are drawn together, and n is the number of groups of labelled rows. That is right
    where the rows of a group have similar scores, and too wide where they have not. A group that has labelled and
    unlabelled rows counts as one of each. Few groups of unlabelled rows, less than some 30, give too narrow intervals.

    O(n log n) time and O(n) memory of n rows, and O(n) time more for each sample.

    Examples
    --------
    >>> from fastpu.metrics import recall_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> recall_at_k(y, scores, k=2)
    0.75
    """
    at_k = _recall_at_k("recall_at_k", y, scores, k, groups, n_boot, random_state)
    return at_k.recall if at_k.interval is None else RankingEstimate(at_k.recall, at_k.interval)


@answers_unknown_keywords
def lift_at_k(
    y: LabelsLike,
    scores: VectorLike,
    k: float,
    *,
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
) -> float | RankingEstimate:
    r"""Return how many times more positives the k rows with the largest scores have than k random rows.

    .. math:: \mathrm{lift} = \frac{\mathrm{recall}}{k / n_u}
        = \frac{\mathrm{precision}}{\mathrm{share\ of\ positives\ among\ the\ unlabelled\ rows}}

    The recall is that of `recall_at_k`, and n_u is the number of unlabelled rows. No prior is needed: for a given k the
    lift orders models as the precision does. It is right if the labelled rows are a random sample of the positives.

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
        At least 0. Random scores give 1, and n_u / k is the largest possible lift.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, lengths differ, there is no positive or no unlabelled row, or an interval is
        asked for and all unlabelled rows are of one group.
        Also if `k` is out of range.

    Notes
    -----
    The interval is that of `recall_at_k`, divided by k / n_u.

    Examples
    --------
    >>> from fastpu.metrics import lift_at_k
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [0.9, 0.4, 0.8, 0.2, 0.7, 0.4, 0.3, 0.1, 0.0]
    >>> lift_at_k(y, scores, k=2)
    1.875
    """
    at_k = _recall_at_k("lift_at_k", y, scores, k, groups, n_boot, random_state)
    lift = at_k.recall / at_k.share
    if at_k.interval is None:
        return lift
    low, high = at_k.interval
    return RankingEstimate(lift, (low / at_k.share, high / at_k.share))


@dataclass(frozen=True)
class _RecallAtK:
    """The recall, its interval if there are samples for one, and the share of the unlabelled rows that is flagged."""

    recall: float
    interval: tuple[float, float] | None
    share: float


def _recall_at_k(
    function: str,
    y: LabelsLike,
    scores: VectorLike,
    k: float,
    groups: GroupsLike | None,
    n_boot: int,
    random_state: RandomState,
) -> _RecallAtK:
    ranked, _ = read_ranking(function, y, scores, groups)
    n_samples, generator = check_boot(n_boot, random_state)
    flagged = np.array([check_k(k, ranked.n_unl)])
    recall, share = recall_of(*ranked.counts(), flagged), float(flagged[0]) / ranked.n_unl
    if not n_samples:
        return _RecallAtK(float(recall[0]), None, share)
    low, high = Recalls.drawn(ranked, flagged, n_samples, generator).interval(recall)[0]
    return _RecallAtK(float(recall[0]), (float(low), float(high)), share)
