"""The longest list whose expected share of negatives is bounded, by conformal selection against checked negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._draw import fingerprint, ranked_scores, ranking
from fastpu.audit._plan import Plan, check_answers, check_plan
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._types import VectorLike

_FACTORS = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)  # by which the number of checks is raised to see whether lists get longer
_LONGER = 1.1  # by which a list must be longer to be worth saying so


@dataclass(frozen=True, eq=False, repr=False)
class Discoveries:
    """A list of rows, most of them positive: the result of `discoveries`.

    Attributes
    ----------
    rows : ndarray of int64
        The listed rows by number, from the top of the ranking. The list has rows that were found positive and rows that
        nobody checked; it leaves out rows that were found negative.
    n_first : int
        How far down the ranking the list goes: it has the first `n_first` rows, without those found negative.
    fdr : float
        The bound that was asked for: over many plans, the mean share of negatives in the list is at most `fdr`.
    more_checks : int, or None
        About how many further checks would make the list longer by at least a tenth. None if no number of checks would,
        because the ranking itself has too many negatives further down.
    """

    rows: NDArray[np.int64]
    n_first: int
    fdr: float
    more_checks: int | None

    def __repr__(self) -> str:
        more = "" if self.more_checks is None else f", longer with {self.more_checks} more checks"
        return f"Discoveries({self.rows.size} rows, fdr={self.fdr:g}{more})"


@answers_unknown_keywords
def discoveries(scores: VectorLike, plan: Plan, answers: VectorLike, *, fdr: float = 0.1) -> Discoveries:
    r"""Return the longest list from the top of the ranking whose expected share of negatives is at most `fdr`.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        The scores that the plan was made for.
    plan : Plan
        A plan with any goal. Take the goal "find" if you want short lists.
    answers : array-like of shape (m,)
        One answer for each of `plan.rows`: True or 1 for a positive row; False, 0 or -1 for a negative one; NaN or None
        if nobody could tell, or nobody has looked. `plan.align` brings answers into this order. Here NaN counts as
        negative.
    fdr : float, default 0.1
        The largest expected share of negatives in the list, in (0, 1): the mean over draws of plans. A single list may
        have a larger share.

    Returns
    -------
    Discoveries
        The list is its `rows`, which may be empty.

    Raises
    ------
    TypeError, ValueError
        If `plan` was made for other scores, or an argument is not as described. If there are so few checks that no list
        would be possible even if all answers were positive.

    Notes
    -----
    The first k rows are listed, less those that were found negative, for the largest k with

    .. math:: \sum_j \left(\frac{1}{\pi_j} - 1\right) + \max_h \left(\frac{1}{\pi_h} - 1\right)
        \le \mathrm{fdr} \; \cdot \; \mathrm{length},

    where j goes through the checked negatives above k, :math:`\pi_j` is the probability with which each was drawn, and
    h goes through the strata that begin above k. The left side estimates how many negatives in the list nobody has
    seen, plus one more of the largest weight. This is the procedure of Benjamini and Hochberg with conformal p-values
    against the checked negatives, weighted for the design. If all rows had the same probability the bound is exact;
    otherwise it held in simulations (``bench/audit``). It holds for rows that belong together, too: only the draw is
    random.

    O(n_rows log n_rows) time.

    References
    ----------
    Bates, Candès, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values, Annals of Statistics 51;
    Jin and Candès (2023), Selection by prediction with conformal p-values, Journal of Machine Learning Research 24.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu import audit
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.1
    >>> scores = rng.normal(size=20_000) + 2.5 * truth
    >>> plan = audit.plan(scores, 400, goal="find", random_state=0)
    >>> found = audit.discoveries(scores, plan, truth[plan.rows], fdr=0.1)
    >>> found.rows.size > 500, bool(truth[found.rows].mean() > 0.85)
    (True, True)
    """
    values, _ = ranked_scores(scores)
    check_plan("plan", plan, fingerprint(values), values.size)
    answered = check_answers(answers, plan.rows.size)
    share = check_float("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
    prefixes = Prefixes(plan, answered != 1)
    if not np.any(prefixes.one_more <= share * prefixes.first):
        least = math.ceil(plan.rows.size * float(np.min(prefixes.one_more / prefixes.first)) / share)
        raise ValueError(
            f"answers must be about {least} or more for fdr={share:g}, got {plan.rows.size}: even if all of them were "
            f"positive, no list could be promised to have so few negatives"
        )
    last = prefixes.longest(share)
    first = ranking(values, plan.seed)[:last]
    refuted = plan.rows[answered != 1]
    longer = [factor for factor in _FACTORS if prefixes.longest(share, factor) > _LONGER * last]
    more = math.ceil((longer[0] - 1) * plan.rows.size) if longer else None
    return Discoveries(first[~np.isin(first, refuted)], last, share, more)


class Prefixes:
    """Beginnings of the ranking that end before a checked negative or with a stratum.

    Each has the `first` rows of the ranking. Without checked negatives these are `listed` rows, and `unseen` is the
    estimated number of negatives among them. One further checked negative would add at most `one_more` to it.
    """

    def __init__(self, plan: Plan, is_negative: NDArray[np.bool_]) -> None:
        with np.errstate(divide="ignore"):
            weight = plan.sizes / plan.drawn - 1
        order = np.argsort(plan.place[is_negative])
        place, stratum = plan.place[is_negative][order], plan.stratum[is_negative][order]
        self.first: NDArray[np.int64] = np.unique(np.concatenate([place[place > 0], plan.ends]))
        count = np.searchsorted(place, self.first)
        self.listed = self.first - count
        self.unseen = np.concatenate([[0.0], np.cumsum(weight[stratum])])[count]
        self.one_more = np.maximum.accumulate(weight)[np.searchsorted(plan.ends, self.first)]

    def longest(self, share: float, factor: float = 1.0) -> int:
        """Return how many first rows may be listed; with `factor` > 1, if one more negative added that much less."""
        possible = (self.unseen + self.one_more / factor <= share * self.listed) & (self.listed > 0)
        return int(self.first[possible].max(initial=0))
