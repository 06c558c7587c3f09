"""The draw of the rows to check: borders of strata, and how many rows of each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._allocation import Draws, allocate
from fastpu.audit._plan import Plan, check_plan
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_int, check_k, check_random_state
from fastpu.common._text import describe, short
from fastpu.common._types import RandomState, VectorLike
from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning
from fastpu.metrics._labelled_scores import check_scores
from fastpu.model._prior import PriorEstimate, check_prior

GOALS = ("count", "precision", "recall", "find")
_MOST_SEEDS = 2**31


@answers_unknown_keywords
def plan(
    scores: VectorLike,
    n: int,
    *,
    prior: float | PriorEstimate | None = None,
    goal: Literal["count", "precision", "recall", "find"] = "count",
    k: float | None = None,
    strata: Sequence[int] | None = None,
    after: Plan | None = None,
    random_state: RandomState = None,
) -> Plan:
    """Draw the rows of a ranking to check, so that their answers say something of all rows.

    The rows are ordered by score and cut into strata with about five draws each: short strata at the top, where
    positives are expected, and long ones below. What `estimate` says then holds whatever the labels, the model or its
    calibration are, because only the draw is random. Good scores make it more precise, and bad ones cost a little. If
    rows belong together, such as those of one customer, it still holds for these rows. To count customers, pass one
    score for each customer.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        One score for each unlabelled row, larger for rows that are more likely positive. Infinite scores are allowed.
        The model may have been fitted to these rows. Rows of equal scores are put in a random order once. Rows without
        a score (NaN), as out-of-bag scores may be, are put last, with a warning.
    n : int
        How many rows to draw, >= 1. 100 to 400 are usual.
    prior : float or PriorEstimate, optional
        A guess of the share of positives, in (0, 1). It decides how the draws are divided among the strata. A wrong
        guess makes intervals wider, but never invalid. By default positives are taken to be rare.
    goal : {"count", "precision", "recall", "find"}, default "count"
        What you want to know.

        - "count": how many rows are positive.
        - "precision": the share of positives among the first k rows. All draws are among these, and nothing is learnt
          of the others.
        - "recall": the share of all positives that is among the first k rows.
        - "find": positives themselves. Half of the draws are the rows with the largest scores, and the other half tells
          how many positives are left.
    k : int or float, optional
        How many first rows precision and recall are about: an int from 1 to n_rows, or a float in (0, 1], a share of
        the rows. It is needed for "precision" and "recall". With other goals a stratum ends there.
    strata : sequence of int, optional
        The places where strata end, rising: ``[100, 500]`` makes a stratum of the first 100 rows and one of the next
        400. By default strata get about five draws each.
    after : Plan, optional
        An earlier plan for the same scores, which this one continues. The result has the rows of that plan, and then
        `n` others. Each stratum gets the draws that it lacks, whatever the answers were, so all draws of a stratum are
        one random sample.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. None takes a fresh seed.

    Returns
    -------
    Plan
        Its `rows` are in the order in which to check them, each with its `probability` and `stratum`.

    Raises
    ------
    TypeError, ValueError
        If `scores` are empty, not one-dimensional or all NaN. If `n` is larger than the number of rows that can be
        drawn, or smaller than the number of strata. If `after` is a plan for other scores, or another argument is not
        as described.

    See Also
    --------
    estimate : What the answers say of all rows.
    write_csv : Write a table for people who check rows in a spreadsheet.

    Notes
    -----
    The density of draws at a place of the ranking is Neyman's: in proportion to the standard deviation of the answers
    there. It is computed for a mixture of three rankings: normal scores with an AUC of .85, and with weights of .06 and
    .3 the same scores reversed and in random order. So the density falls by a factor of six from the top to about the
    middle, and then stays. Compared with rows drawn at random, the error of the count is .72 to .74 times as large
    at an AUC of .9, .51 to .56 times at .97, and at most 1.15 times with worthless or reversed scores
    (``bench/audit``).

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
    values, n_without = ranked_scores(scores)
    if n_without:
        warn(
            f"plan: {n_without} of {values.size} rows have no score (NaN) and are put last in the ranking; an "
            f"out-of-bag score is NaN where every bag has the row",
            EstimateWarning,
        )
    n_new = check_int("n", n, low=1, high=values.size)
    wanted = check_choice("goal", goal, GOALS)
    first = None if k is None else check_k(k, values.size)
    if first is None and wanted in ("precision", "recall"):
        raise ValueError(f"k must be the number of first rows with goal={wanted!r}, got None")
    guess = None if prior is None else check_prior(prior)
    generator = check_random_state(random_state)
    mark = fingerprint(values)
    if after is not None:
        check_plan("after", after, mark, values.size)
    places = np.zeros(0, dtype=np.int64) if after is None else after.place
    n_before = places.size
    if n_before + n_new > values.size:
        raise ValueError(
            f"n must be at most {values.size - n_before}, the number of rows that are not in the earlier plan, got "
            f"{n_new}"
        )
    seed = int(generator.integers(_MOST_SEEDS)) if after is None else after.seed
    order = ranking(values, seed)
    total = n_before + n_new
    top = 0
    if wanted == "find":  # the first rows end where half of n are rows that the earlier plan does not have
        free = np.sort(places) - np.arange(n_before)
        top = n_new // 2 + int(np.searchsorted(free, n_new // 2 - 1, side="right"))
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
    counts = allocate(expected, sizes, total, np.where(ends <= top, sizes, least), n_new)
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
        n_before=n_before,
        seed=seed,
        fingerprint=mark,
    )


def ranked_scores(scores: VectorLike) -> tuple[NDArray[np.float64], int]:
    """Return the scores by which rows are ranked, and how many rows have none (NaN): these are put last, as -inf."""
    values = check_scores("scores", scores)
    without = np.isnan(values)
    if without.all():
        raise ValueError(f"scores must hold a number for at least one row, got NaN for all {values.size}")
    return np.where(without, -np.inf, values) if without.any() else values, int(np.count_nonzero(without))


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
            f"strata must be a sequence of whole numbers, the numbers of first rows at which strata end, got "
            f"{describe(strata)}"
        )
    if np.any(np.diff(ends) <= 0) or ends[0] < 1 or ends[-1] > n_rows:
        raise ValueError(f"strata must rise and lie between 1 and {n_rows}, got {short(ends.tolist())}")
    return [int(end) for end in ends]
