"""The draw of the rows to check: borders of strata, and how many rows of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from fastpu.audit._plan import Plan, check_plan
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_int, check_k, check_random_state
from fastpu.common._text import describe, short
from fastpu.metrics._ranked_rows import check_scores
from fastpu.model._prior import PriorEstimate, check_prior

GOALS = ("count", "precision", "recall", "find")
_MOST_SEEDS = 2**31
_WORKING_AUC = 0.85  # of the scores that a plan is made for; worse than most, so that a plan for it suits better ones
_RARE = 0.01  # share of positives that a plan is made for where no prior is given
# Beside the scores as they should be, a plan is made for reversed and for worthless ones, with these weights. With
# them the error of the count stays below 1.15 times that of rows drawn at random in all cells of bench/audit.
_REVERSED, _WORTHLESS = 0.06, 0.3
_DRAWS = 5  # in a stratum, about: fewer make variances hard to estimate, more leave precision unused
_GRID = 4096  # places at which a density of draws is known
_ROUNDING = 1e-9
_RECALLS = (0.25, 0.75)  # between which the recall is taken to lie when draws are divided between both sides of k


@answers_unknown_keywords
def plan(
    scores: object,
    n: int,
    *,
    prior: float | PriorEstimate | None = None,
    goal: str = "count",
    k: float | None = None,
    strata: object = None,
    after: Plan | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Plan:
    """Draw the rows of a ranking to check, so that their answers say something of all rows.

    The rows are ordered by score and cut into strata, of which each gets about five draws: short ones at the top, where
    positives are expected, and long ones below. What `estimate` says then holds whatever the labels, the model or its
    calibration are: only the draw is random. Good scores make it more precise; bad ones cost a little.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Of the unlabelled rows, larger is more positive; infinite allowed. A model that was fitted to these rows may
        have scored them. Rows of one score are put in an order that is drawn once.
    n : int
        How many rows to draw, at least 1; 100 to 400 are usual.
    prior : float or PriorEstimate, optional
        A guess of the share of positives, in (0, 1), for which the draws are divided among strata. A wrong one costs
        precision, never validity. By default positives are taken to be rare.
    goal : {"count", "precision", "recall", "find"}, default "count"
        What the user wants to know: the number of positives; the precision of the first k rows (all draws are among
        them, and nothing is learnt of the others); their recall; or to find positives, where half of the draws are the
        rows of the largest scores, and the others tell how many are left.
    k : int or float, optional
        As in `fastpu.metrics.recall_at_k`. Needed for "precision" and "recall"; with other goals a stratum ends there.
    strata : sequence of int, optional
        In place of strata of about five draws, the numbers of first rows at which strata end.
    after : Plan, optional
        A plan for the same scores, which this one continues. The result has its rows, and then `n` others. Each stratum
        gets the draws that it lacks, which answers have no part in: so all draws of a stratum are one random sample.
    random_state : int >= 0, numpy.random.Generator or None

    Returns
    -------
    Plan
        `rows`, in the order in which to check them, each with its `probability` and `stratum`.

    Raises
    ------
    TypeError, ValueError
        If `scores` are empty, not one-dimensional or hold NaN; if `n` is more than there are rows to draw, or less than
        there are strata; if `after` is a plan for other scores; if another argument is not as described.

    See Also
    --------
    estimate : What the answers say.
    write_csv : A table for people who check in a spreadsheet.

    Notes
    -----
    The density of draws at a place of the ranking is Neyman's, the standard deviation of the answers there, for a
    mixture of rankings: by scores with normal distributions and an AUC of .85, and with weights of .06 and .3 the same
    reversed and without order. So it falls from the top to about the middle, by a factor of six, and not further. The
    error of the count is .72 to .74 times that of rows drawn at random at an AUC of .9, .51 to .56 times at .97, and at
    most 1.15 times with worthless or reversed scores (``bench/audit``).

    O(n_rows log n_rows) time, and O(n_rows) memory.

    References
    ----------
    Cochran (1977), Sampling Techniques, chapters 5 and 5A.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu import audit
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.02
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = audit.plan(scores, 200, random_state=0)
    >>> plan
    Plan(200 of 20000 rows, goal='count', 40 strata)
    >>> found = audit.estimate(plan, truth[plan.rows])  # in real life somebody looks at the rows
    >>> bool(found.count.interval[0] < truth.sum() < found.count.interval[1])
    True
    """
    values = check_scores(("scores", scores))[0]
    more = check_int("n", n, low=1, high=values.size)
    wanted = check_choice("goal", goal, GOALS)
    first = None if k is None else check_k(k, values.size)
    if first is None and wanted in ("precision", "recall"):
        raise ValueError(f"k must be given with goal={wanted!r}: of how many of the first rows, got None")
    guess = None if prior is None else check_prior(prior)
    generator = check_random_state(random_state)
    mark = fingerprint(values)
    if after is not None:
        check_plan("after", after, mark, values.size)
    places = np.zeros(0, dtype=np.int64) if after is None else after.place
    before = places.size
    if before + more > values.size:
        raise ValueError(
            f"n must be at most {values.size - before}, the rows that are not in the plan before, got {more}"
        )
    seed = int(generator.integers(_MOST_SEEDS)) if after is None else after.seed
    order = ranking(values, seed)
    total = before + more
    top = 0
    if wanted == "find":  # how far the first rows reach of which half of n are not in the plan before
        free = np.sort(places) - np.arange(before)
        top = more // 2 + int(np.searchsorted(free, more // 2 - 1, side="right"))
    cuts = {top, values.size} | ({first} if first is not None else set())
    cuts |= set() if after is None else set(after.ends.tolist())
    cuts |= set() if strata is None else set(_user_ends(strata, values.size))
    draws = Draws(wanted, guess, first, top, values.size, total)
    steps = np.array(sorted(cuts - {0}))
    ends = draws.ends(steps) if strata is None and after is None else steps
    sizes = np.diff(ends, prepend=0)
    already = np.bincount(np.searchsorted(ends, places, side="right"), minlength=ends.size)
    # Where a new end has cut off a part without any draw, it needs one if there are draws below: else they would stand
    # for it too.
    least = np.maximum(already, np.arange(ends.size) < np.flatnonzero(already).max(initial=0))
    expected = np.diff(draws.down_to(np.concatenate([[0], ends])))
    counts = allocate(expected, sizes, total, np.where(ends <= top, sizes, least), more)
    new = draw_places(ends, counts, places, generator)
    if wanted == "find":
        new = np.concatenate([np.sort(new[new < top]), new[new >= top]])
    place = np.concatenate([places, new])
    stratum = np.searchsorted(ends, place, side="right")
    rows = order[place]
    return Plan(
        rows=rows,
        probability=(counts / sizes)[stratum],
        stratum=stratum,
        place=place,
        score=values[rows],
        ends=ends,
        lowest=values[order[ends - 1]],
        n_rows=values.size,
        goal=wanted,
        k=first,
        n_before=before,
        seed=seed,
        fingerprint=mark,
    )


def ranking(scores: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Return the numbers of all rows by falling score; those of one score in an order that is drawn once."""
    drawn = np.random.default_rng(seed).permutation(scores.size)
    return drawn[np.argsort(-scores[drawn], kind="stable")]


def fingerprint(scores: NDArray[np.float64]) -> str:
    return hashlib.blake2b((scores + 0.0).tobytes(), digest_size=8).hexdigest()


def draw_places(
    ends: NDArray[np.int64], counts: NDArray[np.int64], places: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return further places, so that each stratum has its count: each part of the order has all strata."""
    found, keys = [], []
    checked = np.sort(places)
    starts = ends - np.diff(ends, prepend=0)
    for start, end, wanted in zip(starts, ends, counts, strict=True):
        old = checked[np.searchsorted(checked, start) : np.searchsorted(checked, end)] - start
        count = wanted - old.size
        if not count:
            continue
        # Numbers among the rows of the stratum that are not checked, and then their places.
        chosen = np.sort(generator.choice(end - start - old.size, count, replace=False, shuffle=False))
        chosen += np.searchsorted(old - np.arange(old.size), chosen, side="right")
        found.append(start + generator.permutation(chosen))
        keys.append((np.arange(count) + generator.random()) / count)
    order = np.argsort(np.concatenate(keys), kind="stable")
    return np.concatenate(found)[order]


def _user_ends(strata: object, n_rows: int) -> list[int]:
    ends = np.asarray(strata)
    if ends.ndim != 1 or not ends.size or ends.dtype.kind not in "iu":
        raise TypeError(
            f"strata must be a sequence of whole numbers, the places at which strata end, got {describe(strata)}"
        )
    if np.any(np.diff(ends) <= 0) or ends[0] < 1 or ends[-1] > n_rows:
        raise ValueError(f"strata must rise, from 1 to {n_rows} at most, got {short(ends.tolist())}")
    return [int(end) for end in ends]


# ---- How many rows to check at which places of a ranking ----


@lru_cache(maxsize=32)
def _positives(prior: float) -> NDArray[np.float64]:
    """Return the share of positives at places of a ranking (from the top) by scores with two normal distributions."""
    distance = np.sqrt(2) * ndtri(_WORKING_AUC)
    scores = np.linspace(-9, 9 + distance, 8 * _GRID)
    above = (1 - prior) * ndtr(-scores) + prior * ndtr(distance - scores)
    at = np.interp((np.arange(_GRID) + 0.5) / _GRID, above[::-1], scores[::-1])
    odds = prior / (1 - prior) * np.exp(distance * at - distance**2 / 2)
    share: NDArray[np.float64] = odds / (1 + odds)
    return share


@dataclass(frozen=True)
class Draws:
    """How many of `n` draws are expected down to each place of a ranking of `n_rows` rows, for what is asked for.

    `fastpu.audit.plan` says what their density is for "count". For the recall of the first k rows, T_k / T, it is that
    times the weight which the place has there: 1 - recall above k, and the recall below.
    """

    goal: str
    prior: float | None
    k: int | None
    top: int
    n_rows: int
    n: int

    @cached_property
    def _reached(self) -> NDArray[np.float64]:
        """Return the integral of the density over the places of a grid, from 0."""
        share = _positives(_RARE if self.prior is None else self.prior)
        variance = share * (1 - share)
        draws = np.sqrt(variance + _REVERSED * variance[::-1] + _WORTHLESS * variance.mean())
        above = 0.0 if self.k is None else np.clip(self.k * _GRID / self.n_rows - np.arange(_GRID), 0, 1)
        if self.goal == "recall":
            recall = float(np.clip((share * above).sum() / share.sum(), *_RECALLS))
            draws = draws * (above * (1 - recall) + (1 - above) * recall)
        return np.concatenate([[0.0], np.cumsum(draws)])

    def down_to(self, places: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many draws are expected above each place."""
        grid = np.linspace(0, self.n_rows, _GRID + 1)
        if self.goal == "precision" and self.k is not None:
            return np.asarray(self.n * np.minimum(places, self.k) / self.k)
        top = np.interp(self.top, grid, self._reached)
        below = np.maximum(np.interp(places, grid, self._reached) - top, 0) / (self._reached[-1] - top)
        found: NDArray[np.float64] = np.minimum(places, self.top) + (self.n - self.top) * below
        return found

    def ends(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ends of strata that expect about `_DRAWS` draws each; all `cuts` are among them."""
        found = []
        for start, end in zip([0, *cuts[:-1].tolist()], cuts.tolist(), strict=True):
            at = np.arange(start, end + 1) if end - start < _GRID else np.linspace(start, end, _GRID + 1)
            reached = self.down_to(at)
            count = 1 if end <= self.top else max(1, int((reached[-1] - reached[0]) / _DRAWS))
            wanted = reached[0] + (reached[-1] - reached[0]) * np.arange(1, count) / count
            inner = np.rint(np.interp(wanted, reached, at)).astype(np.int64)
            found += [inner[(inner > start) & (inner < end)], np.array([end])]
        return np.unique(np.concatenate(found))


def allocate(
    expected: NDArray[np.float64], sizes: NDArray[np.int64], n: int, least: NDArray[np.int64], more: int
) -> NDArray[np.int64]:
    """Return how many rows of each stratum are to be checked in all, `n` together, at least `least` of each.

    In proportion to `expected`, where that is possible: at most all rows of a stratum, and where one expects any, at
    least two, or one if `n` does not suffice. `more` is what the user calls n.
    """
    is_wanted = expected > 0
    most = np.where(is_wanted, sizes, least)
    if most.sum() < n:
        raise ValueError(f"n must be at most {more - n + int(most.sum())}, the rows that can be drawn, got {more}")
    for fewest in (2, 1):
        low = np.maximum(least, np.minimum(np.where(is_wanted, fewest, 0), sizes))
        if low.sum() <= n:
            break
    else:
        raise ValueError(f"n must be at least {more - n + int(low.sum())}, a row for each stratum, got {more}")
    few, many = 0.0, float(n + 1) / float(expected[is_wanted].min())
    for _ in range(60):
        factor = (few + many) / 2
        few, many = (factor, many) if np.clip(factor * expected, low, most).sum() < n else (few, factor)
    real = np.clip(many * expected, low, most)
    counts = np.floor(real + _ROUNDING).astype(np.int64)
    order = np.argsort(counts - real, kind="stable")
    counts[order[counts[order] < most[order]][: n - int(counts.sum())]] += 1
    return counts
