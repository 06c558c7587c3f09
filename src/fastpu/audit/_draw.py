"""The draw of the rows to check."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._design import Draws, allocate
from fastpu.audit._plan import Plan, check_plan
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_int, check_random_state
from fastpu.common._text import describe, short
from fastpu.metrics._ranked_rows import check_k, check_scores
from fastpu.model._prior import PriorEstimate, check_prior

GOALS = ("count", "precision", "recall", "find")
_MOST_SEEDS = 2**31


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
    before = 0 if after is None else after.rows.size
    if before + more > values.size:
        raise ValueError(
            f"n must be at most {values.size - before}, the rows that are not in the plan before, got {more}"
        )
    seed = int(generator.integers(_MOST_SEEDS)) if after is None else after.seed
    order = ranking(values, seed)
    places = np.zeros(0, dtype=np.int64) if after is None else after.place
    total = before + more
    top = _last_of_top(places, more // 2) if wanted == "find" else 0
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
    new = draw_places(ends, counts, already, places, generator)
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
    ends: NDArray[np.int64],
    counts: NDArray[np.int64],
    already: NDArray[np.int64],
    places: NDArray[np.int64],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the places of new rows, so that each stratum has its count: each part of the order has all strata."""
    found, keys = [], []
    checked = np.sort(places)
    starts = ends - np.diff(ends, prepend=0)
    for start, end, count, had in zip(starts, ends, counts - already, already, strict=True):
        if not count:
            continue
        # Numbers among the rows of the stratum that are not checked, and then their places.
        chosen = np.sort(generator.choice(end - start - had, count, replace=False, shuffle=False))
        old = checked[np.searchsorted(checked, start) : np.searchsorted(checked, end)] - start
        chosen += np.searchsorted(old - np.arange(old.size), chosen, side="right")
        found.append(start + generator.permutation(chosen))
        keys.append((np.arange(count) + generator.random()) / count)
    order = np.argsort(np.concatenate(keys), kind="stable")
    drawn: NDArray[np.int64] = np.concatenate(found)[order]
    return drawn


def _last_of_top(places: NDArray[np.int64], n: int) -> int:
    """Return how far the first rows reach of which `n` are not among those at `places`."""
    checked = np.sort(places)
    return n + int(np.searchsorted(checked - np.arange(checked.size), n - 1, side="right"))


def _user_ends(strata: object, n_rows: int) -> list[int]:
    ends = np.asarray(strata)
    if ends.ndim != 1 or not ends.size or ends.dtype.kind not in "iu":
        raise TypeError(
            f"strata must be a sequence of whole numbers, the places at which strata end, got {describe(strata)}"
        )
    if np.any(np.diff(ends) <= 0) or ends[0] < 1 or ends[-1] > n_rows:
        raise ValueError(f"strata must rise, from 1 to {n_rows} at most, got {short(ends.tolist())}")
    return [int(end) for end in ends]
