"""Whether checked positives score like labelled ones, and what it means where they do not."""

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
from fastpu.metrics._ranked_rows import check_scores

_FEWEST = 5  # checked positives
_MOST_LABELED = 10_000  # scores that are permuted: more say little more, beside some hundred checked rows
_MOST_PERMUTATIONS = 10**6
_LEVEL = 0.9
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ScarAudit:
    """How labelled and checked positives differ in their scores: what `is_scar` returns.

    Attributes
    ----------
    p_value : float
        How often the shares above a cut would differ as much, if labels were at random.
    difference : float
        The share of the labelled positives above `cut` minus that of all unlabelled ones, at the cut where it is
        furthest from 0.
    cut : float
    n_labeled, n_found : int
        How many positives were compared.
    k : int
        A number of first rows.
    recall_labeled : float
        Of these, by the labelled positives alone.
    recall : AuditEstimate
        Of these, by the checked rows.
    recall_error : AuditEstimate
        The first less the second, with a 90 % interval.
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
        """By which lift and precision of the first k rows are too large if labelled rows alone say what they are.

        A prior that is estimated at the top of the ranking, as by `fastpu.priors.bbe`, is too small by it.
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
    answers: object,
    scores_of_labelled: object,
    *,
    n_permutations: int = 999,
    random_state: int | np.random.Generator | None = None,
) -> ScarAudit:
    """Test that labelled rows are a random sample of the positives ("SCAR"), by the scores of checked positives.

    `fastpu.priors.scar_test` looks for columns that decide on labels, with rows that are taken for positive; this looks
    at rows that are known to be.

    Parameters
    ----------
    plan : Plan
        Where it has drawn nothing below k, only scores above are compared.
    answers : array-like of shape (m,)
        As in `estimate`; at least five must be positive.
    scores_of_labelled : array-like of shape (n_pos,)
        Scores of the labelled positives, by models that have not been fitted to them as positive rows (out of fold or
        out of bag), on the scale of the scores that were planned for.
    n_permutations : int, default 999
        From 1 to 10^6. No p-value is below 1 / (n_permutations + 1).
    random_state : int >= 0, numpy.random.Generator or None

    Returns
    -------
    ScarAudit
        The p-value, the largest difference of shares above a cut, and by how much the recall is off that labelled rows
        alone would give: that of the plan's k first rows, or else of about as many as are positive.

    Raises
    ------
    TypeError, ValueError
        If fewer than five answers are positive, or an argument is not as described.

    Notes
    -----
    The statistic is that of Kolmogorov and Smirnov, with weights 1 / probability for the checked positives. If labels
    are at random, the labelled and the unlabelled positives have one distribution of scores. Of all known positives
    together, which ones are checked is then a draw with odds in proportion to their probabilities (a labelled one has
    that of its stratum), given how many are. Such draws give the p-value; it is exact where positives are rare in each
    stratum, and somewhat too large where they are not, as draws without replacement vary less.

    Scores of labelled rows by a model that has seen their labels are too large, and differ without any fault of the
    labels. With few checked positives only gross differences are found: look at the interval of `recall_error`.

    O(n_permutations n_pos) time; of more than 10,000 labelled rows so many are drawn for the test.

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
    given = check_answers(answers, plan.rows.size)
    labeled = check_scores(("scores_of_labelled", scores_of_labelled))[0]
    count = check_int("n_permutations", n_permutations, low=1, high=_MOST_PERMUTATIONS)
    generator = check_random_state(random_state)
    is_found = given == 1
    n_found = int(np.count_nonzero(is_found))
    if n_found < _FEWEST:
        raise ValueError(f"answers must have at least {_FEWEST} positive ones, got {n_found}")
    answered = np.bincount(plan.stratum[~np.isnan(given)], minlength=plan.ends.size)
    of_labeled = np.minimum(np.searchsorted(-plan.lowest, -labeled), plan.ends.size - 1)
    comparable = answered[of_labeled] > 0
    if not comparable.any():
        raise ValueError("scores_of_labelled must hold scores of strata in which rows were checked, got none")
    drawn = generator.permutation(np.flatnonzero(comparable))[:_MOST_LABELED]
    pool = _Pool(
        np.concatenate([plan.score[is_found], labeled[drawn]]),
        np.concatenate([plan.stratum[is_found], of_labeled[drawn]]),
        answered / plan.sizes,
    )
    difference, cut = pool.furthest(np.arange(n_found))
    beyond = abs(difference) - _ROUNDING
    as_large = sum(abs(pool.furthest(rows)[0]) >= beyond for rows in pool.draws(n_found, count, generator))
    checked = Checked(plan, given, _LEVEL, bounds=False)
    k = plan.k
    if k is None:
        share = only(checked.precision(np.array([plan.n_rows]))).value
        near = plan.n_rows * (1.0 if np.isnan(share) else share)
        k = int(plan.ends[np.argmin(np.abs(plan.ends - near))])
    above = _above(plan, k, labeled)
    recall = only(checked.recall(np.array([k])))
    return ScarAudit(
        p_value=(1 + as_large) / (1 + count),
        difference=difference,
        cut=cut,
        n_labeled=drawn.size,
        n_found=n_found,
        k=k,
        recall_labeled=above / labeled.size,
        recall=recall,
        recall_error=_less(above, labeled.size, recall),
    )


def _above(plan: Plan, k: int, labeled: NDArray[np.float64]) -> float:
    """Return how many labelled rows score like the first k, in part where the last of these has the score of others."""
    border = plan.lowest[np.searchsorted(plan.ends, k)]
    weight = np.where(plan.score == border, 1 / plan.probability, 0.0)
    share = weight[plan.place < k].sum() / weight.sum() if weight.any() else 1.0
    return float(np.count_nonzero(labeled > border) + share * np.count_nonzero(labeled == border))


def _less(above: float, n: int, recall: AuditEstimate) -> AuditEstimate:
    """Return a share of `n` rows less a recall, with limits by those of both (Newcombe's way)."""
    share, tail = above / n, (1 - _LEVEL) / 2
    high = float(largest_shares(np.array([above]), n, tail)[0])
    low = float(least_shares(np.array([above]), n, tail)[0]) if above else 0.0
    value = share - recall.value
    down = np.hypot(share - low, recall.interval[1] - recall.value)
    up = np.hypot(high - share, recall.value - recall.interval[0])
    return AuditEstimate(value, (float(value - down), float(value + up)))


class _Pool:
    """The known positives, checked and labelled, by score; the probability of each to be checked is its stratum's."""

    def __init__(self, scores: NDArray[np.float64], stratum: NDArray[np.int64], chance: NDArray[np.float64]) -> None:
        self._order = np.argsort(-scores, kind="stable")
        self._scores = scores[self._order]
        self._ends = np.flatnonzero(np.append(self._scores[1:] < self._scores[:-1], True))  # of runs of equal scores
        self._weight = 1 / chance[stratum]
        self._strata = [np.flatnonzero(stratum == h) for h in np.unique(stratum)]
        self._chance = chance[np.unique(stratum)]

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
