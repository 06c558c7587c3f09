"""Whether checked positives score like labelled ones, and what follows if they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fastpu.audit._checked import Checked
from fastpu.audit._estimate import AuditEstimate, only
from fastpu.audit._plan import Plan, check_answers, check_plan
from fastpu.common._binomial import largest_shares, least_shares
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._types import GroupsLike, RandomState, VectorLike
from fastpu.data._clusters import cluster_numbers, effective_number
from fastpu.data._missing_scores import rows_with_scores
from fastpu.metrics._labelled_scores import check_scores

_FEWEST = 5  # checked positives
_MOST_LABELED = 10_000  # scores that are permuted: more say little more, beside some hundred checked rows
_MOST_PERMUTATIONS = 10**6
_LEVEL = 0.9
_ROUNDING = 1e-9
_PICKS = 10  # times that one row of each group is picked


@dataclass(frozen=True, eq=False, repr=False)
class ScarAudit:
    """How labelled and checked positives differ in their scores: the result of `is_scar`.

    Attributes
    ----------
    p_value : float
        How often the shares above a cut would differ as much if labels were at random.
    difference : float
        The share of the labelled positives above `cut` minus that of all unlabelled positives, at the cut where it is
        furthest from 0. It is positive where labelled rows have the larger scores.
    cut : float
        The score of this cut.
    n_labeled, n_found : int
        How many labelled and how many checked positives were compared.
    k : int
        The number of first rows of the ranking that the recalls are about.
    recall_labeled : float
        The recall of the first k rows by the labelled positives alone, as from `fastpu.metrics.recall_at_k`.
    recall : AuditEstimate
        The recall of the first k rows by the checked rows.
    recall_error : AuditEstimate
        `recall_labeled` minus `recall`, with a 90 % interval.
    """

    p_value: float
    difference: float
    cut: float
    n_labeled: int
    n_found: int
    k: int
    recall_labeled: float
    recall: AuditEstimate
    recall_error: AuditEstimate

    @property
    def factor(self) -> float:
        """How many times too large the lift and the precision of the first k rows are by the labelled rows alone.

        It is `recall_labeled` divided by `recall`. A prior that is estimated at the top of the ranking, such as that of
        `fastpu.priors.bbe`, is too small by the same factor. NaN if the recall is 0 or not known.
        """
        return self.recall_labeled / self.recall.value if self.recall.value > 0 else float("nan")

    def __repr__(self) -> str:
        low, high = self.recall_error.interval
        return (
            f"ScarAudit(p_value={self.p_value:.3g}, difference={self.difference:+.2f}, recall of {self.k} rows off by "
            f"{self.recall_error.value:+.2f} ({low:+.2f} to {high:+.2f}))"
        )


@answers_unknown_keywords
def is_scar(
    plan: Plan,
    answers: VectorLike,
    scores_of_labelled: VectorLike,
    *,
    groups: GroupsLike | None = None,
    groups_of_labelled: GroupsLike | None = None,
    n_permutations: int = 999,
    random_state: RandomState = None,
) -> ScarAudit:
    """Test that labelled rows are a random sample of the positives ("SCAR"), by the scores of checked positives.

    If they are, labelled and checked positives have the same distribution of scores. `fastpu.priors.scar_test` looks
    for columns that decide on labels, with rows that are taken for positive; this test uses rows that are known to be.

    Parameters
    ----------
    plan : Plan
        The plan whose rows were checked. If it drew nothing below its k, only scores above are compared.
    answers : array-like of shape (m,)
        One answer for each of `plan.rows`: True or 1 for a positive row; False, 0 or -1 for a negative one; NaN or None
        if nobody could tell, or nobody has looked. `plan.align` brings answers into this order. At least five must be
        positive.
    scores_of_labelled : array-like of shape (n_pos,)
        Scores of the labelled positives, on the scale of the scores that the plan was made for, by models that were not
        fitted to them as positive rows (out of fold or out of bag). Rows whose score is NaN are left out, with a
        warning.
    groups : array-like of shape (n_rows,), optional
        A label of any kind for each row that the plan was made for, which says which rows belong together, such as
        those of one customer. By default each row is a group. Without `groups` the p-value is far too small if whole
        groups are labelled and their rows have similar scores.
    groups_of_labelled : array-like of shape (n_pos,), optional
        The same labels of groups for each of the labelled rows. Pass it together with `groups`.
    n_permutations : int, default 999
        The number of permutations, from 1 to 10^6. No p-value is below 1 / (n_permutations + 1).
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of all that is drawn. None takes a fresh seed.

    Returns
    -------
    ScarAudit
        The p-value, the largest difference of shares above a cut, and the error of the recall that labelled rows alone
        would give: that of the plan's k first rows, or else of about as many rows as are positive.

    Raises
    ------
    TypeError, ValueError
        If fewer than five answers are positive, only one of `groups` and `groups_of_labelled` is passed, or an argument
        is not as described.

    Notes
    -----
    The statistic is that of Kolmogorov and Smirnov, with weights 1 / probability for the checked positives. Suppose
    that labels are at random. Then, given how many positives are checked, the checked ones are a draw from all known
    positives with odds in proportion to the probabilities of their strata (a labelled row has the stratum of its
    score). Such draws give the p-value. It is exact if positives are rare in each stratum, and somewhat too large if
    they are not, as draws without replacement vary less.

    With groups the draws are from one row of each group of labelled rows and one of each group of checked positives, a
    new one for every tenth of the draws: differences are compared with those that as many groups have by chance. That
    is right if rows of a group have similar scores, and careful if they have not.

    Scores of labelled rows by a model that has seen their labels are too large, and differ even if labels are at
    random. With few checked positives only gross differences are found: look at the interval of `recall_error`.

    O(n_permutations n_pos) time; if there are more than 10,000 labelled rows, 10,000 of them are drawn for the test.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu import audit
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.1
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = audit.plan(scores, 200, random_state=0)
    >>> easy = rng.normal(size=500) + 3  # only such positives are labelled as are easily recognised
    >>> found = audit.is_scar(plan, truth[plan.rows], easy, random_state=0)
    >>> found.p_value < 0.01, bool(found.recall_error.value > 0)
    (True, True)
    """
    check_plan("plan", plan)
    answered = check_answers(answers, plan.rows.size)
    every = check_scores("scores_of_labelled", scores_of_labelled)
    kinds = {"labelled positive": np.ones(every.size, dtype=np.bool_)}
    has_score = rows_with_scores("is_scar", "scores_of_labelled", every, kinds)
    labeled = every if has_score is None else every[has_score]
    count = check_int("n_permutations", n_permutations, low=1, high=_MOST_PERMUTATIONS)
    generator = check_random_state(random_state)
    group, group_labeled = _read_groups(groups, groups_of_labelled, plan.n_rows, every.size)
    if group_labeled is not None and has_score is not None:
        group_labeled = group_labeled[has_score]
    is_found = answered == 1
    n_found = int(np.count_nonzero(is_found))
    if n_found < _FEWEST:
        raise ValueError(f"answers must have at least {_FEWEST} positive ones, got {n_found}")
    n_answers = np.bincount(plan.stratum[~np.isnan(answered)], minlength=plan.ends.size)
    of_labeled = np.minimum(np.searchsorted(-plan.lowest, -labeled), plan.ends.size - 1)
    comparable = n_answers[of_labeled] > 0
    if not comparable.any():
        raise ValueError("scores_of_labelled must hold scores of strata in which rows were checked, got none")
    drawn = generator.permutation(np.flatnonzero(comparable))[:_MOST_LABELED]
    pool = _Pool(
        np.concatenate([plan.score[is_found], labeled[drawn]]),
        np.concatenate([plan.stratum[is_found], of_labeled[drawn]]),
        n_answers / plan.sizes,
    )
    difference, cut = pool.furthest(np.arange(n_found))
    if group is None or group_labeled is None:
        n_as_large = pool.n_as_large(abs(difference), n_found, count, generator)
    else:
        own = group[plan.rows[is_found]], group_labeled[drawn]
        n_as_large = _n_as_large_by_groups(pool, abs(difference), *own, count, generator)
    checked = Checked(plan, answered, _LEVEL, bounds=False)
    k = plan.k
    if k is None:
        share = only(checked.precision(np.array([plan.n_rows]))).value
        near = plan.n_rows * (1.0 if np.isnan(share) else share)
        k = int(plan.ends[np.argmin(np.abs(plan.ends - near))])
    recall_labeled = _above(plan, k, labeled) / labeled.size
    recall = only(checked.recall(np.array([k])))
    n_independent = effective_number(group_labeled, np.ones(labeled.size, dtype=np.bool_))
    return ScarAudit(
        p_value=(1 + n_as_large) / (1 + count),
        difference=difference,
        cut=cut,
        n_labeled=drawn.size,
        n_found=n_found,
        k=k,
        recall_labeled=recall_labeled,
        recall=recall,
        recall_error=_less(recall_labeled, n_independent, recall),
    )


def _read_groups(
    groups: GroupsLike | None, groups_of_labelled: GroupsLike | None, n_rows: int, n_labeled: int
) -> tuple[NDArray[np.int32] | None, NDArray[np.int32] | None]:
    """Return the number of the group of each row that has a place in the plan, and of each labelled row."""
    if (groups is None) != (groups_of_labelled is None):
        missing = "groups" if groups is None else "groups_of_labelled"
        raise TypeError(f"groups and groups_of_labelled must be passed together, got None for {missing}")
    return cluster_numbers(groups, n_rows), cluster_numbers(groups_of_labelled, n_labeled, "groups_of_labelled")


def _n_as_large_by_groups(
    pool: _Pool,
    difference: float,
    of_found: NDArray[np.int32],
    of_labeled: NDArray[np.int32],
    count: int,
    generator: np.random.Generator,
) -> int:
    """Return how many of `count` draws from one row of each group differ as much."""
    n_as_large = 0
    for part in np.diff(np.linspace(0, count, _PICKS + 1).astype(np.int64)).tolist():
        found, labeled = (_one_of_each(group, generator) for group in (of_found, of_labeled))
        picked = pool.only(np.concatenate([found, of_found.size + labeled]))
        n_as_large += picked.n_as_large(difference, found.size, part, generator)
    return n_as_large


def _one_of_each(group: NDArray[np.int32], generator: np.random.Generator) -> NDArray[np.intp]:
    order = generator.permutation(group.size)
    return order[np.unique(group[order], return_index=True)[1]]


def _above(plan: Plan, k: int, labeled: NDArray[np.float64]) -> float:
    """Return how many labelled rows score like the first k, in part where the last of these has the score of others."""
    border = plan.lowest[np.searchsorted(plan.ends, k)]
    weight = np.where(plan.score == border, 1 / plan.probability, 0.0)
    share = weight[plan.place < k].sum() / weight.sum() if weight.any() else 1.0
    return float(np.count_nonzero(labeled > border) + share * np.count_nonzero(labeled == border))


def _less(share: float, n: float, recall: AuditEstimate) -> AuditEstimate:
    """Return a share of `n` independent rows less a recall, with limits by those of both (Newcombe's way)."""
    above, tail = np.array([share * n]), (1 - _LEVEL) / 2
    high = float(largest_shares(above, n, tail)[0])
    low = float(least_shares(above, n, tail)[0]) if share else 0.0
    value = share - recall.value
    down = np.hypot(share - low, recall.interval[1] - recall.value)
    up = np.hypot(high - share, recall.value - recall.interval[0])
    return AuditEstimate(value, (float(value - down), float(value + up)))


class _Pool:
    """The known positives, checked and labelled, by score; the probability of each to be checked is its stratum's."""

    def __init__(self, scores: NDArray[np.float64], stratum: NDArray[np.int64], chance: NDArray[np.float64]) -> None:
        self._unordered, self._stratum, self._chance_of_stratum = scores, stratum, chance
        self._order = np.argsort(-scores, kind="stable")
        self._scores = scores[self._order]
        self._ends = np.flatnonzero(np.append(self._scores[1:] < self._scores[:-1], True))  # of runs of equal scores
        self._weight = 1 / chance[stratum]
        self._strata = [np.flatnonzero(stratum == h) for h in np.unique(stratum)]
        self._chance = chance[np.unique(stratum)]

    def only(self, rows: NDArray[np.intp]) -> _Pool:
        """Return the pool of some of the rows."""
        return _Pool(self._unordered[rows], self._stratum[rows], self._chance_of_stratum)

    def n_as_large(self, difference: float, n: int, count: int, generator: np.random.Generator) -> int:
        """Return how many of `count` draws of `n` checked rows have a difference as large, but for rounding."""
        beyond = difference - _ROUNDING
        return sum(abs(self.furthest(rows)[0]) >= beyond for rows in self.draws(n, count, generator))

    def furthest(self, checked: NDArray[np.int64]) -> tuple[float, float]:
        """Return the largest difference of the shares above a cut, labelled less checked, and the cut."""
        n_labeled = self._weight.size - checked.size
        change = np.full(self._weight.size, 1 / n_labeled)
        change[checked] = -self._weight[checked] / self._weight[checked].sum()
        differences = np.cumsum(change[self._order])[self._ends]
        at = int(np.argmax(np.abs(differences)))
        return float(differences[at]), float(self._scores[self._ends[at]])

    def draws(self, n: int, count: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
        """Return `count` draws of `n` rows whose odds are in proportion to their probabilities.

        How many rows of each stratum are drawn is binomial, and drawn again until the sum is n.
        """
        sizes = np.array([rows.size for rows in self._strata])

        def probability(log_odds: float) -> NDArray[np.float64]:
            odds = np.exp(log_odds) * self._chance
            return np.asarray(odds / (1 + odds))

        log_odds = brentq(lambda x: float(sizes @ probability(x)) - n, -50, 50)
        draws: list[NDArray[np.int64]] = []
        while len(draws) < count:
            counts = generator.binomial(sizes, probability(log_odds), size=(256, sizes.size))
            for each in counts[counts.sum(axis=1) == n][: count - len(draws)]:
                parts = [generator.choice(rows, k, False) for rows, k in zip(self._strata, each, strict=True) if k]
                draws.append(np.concatenate(parts))
        return draws
