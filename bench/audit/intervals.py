"""How often intervals hold the truth, and how large errors are beside those of rows drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from populations import KINDS, N_ROWS, drawn
from shared import run_tasks, table

from fastpu import audit
from fastpu.audit._checked import Counts

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray
    from populations import Population

#: What is estimated from a plan for what.
PAIRS = (
    ("count", "count"),
    ("precision", "count"),
    ("recall", "count"),
    ("precision", "precision"),
    ("recall", "recall"),
)
_DRAWS = 20  # of rows from one population
_TINY = 1e-9  # by which a truth may be beyond a limit that is equal to it but for rounding


@dataclass(frozen=True)
class Cell:
    """One kind of ranking and one share of positives.

    Attributes
    ----------
    held, above : tuple of float
        For each pair the share of the intervals that hold the truth, and of those that lie below it.
    found : tuple of float
        For each pair how many of the answers are of the kind that is counted, on average.
    error : float
        The standard deviation of the estimated count over all draws, which has no bias, beside that of random rows.
    """

    kind: str
    share: float
    held: tuple[float, ...]
    above: tuple[float, ...]
    found: tuple[float, ...]
    error: float


def answers(plan: audit.Plan, people: Population, rng: np.random.Generator) -> NDArray[np.int64]:
    """Count each stratum's draws: positives above k, negatives there, positives below, negatives there.

    They are drawn `_DRAWS` times: shape (_DRAWS, n_strata, 4). That is what the rows of as many plans would give.
    """
    starts = plan.ends - plan.sizes
    known = np.concatenate([[0], people.found])
    middle = np.clip(people.k, starts, plan.ends)
    above, below = known[middle] - known[starts], known[plan.ends] - known[middle]
    groups = np.stack([above, middle - starts - above, below, plan.ends - middle - below], axis=1)
    parts = [
        rng.multivariate_hypergeometric(group, count, _DRAWS) for group, count in zip(groups, plan.drawn, strict=True)
    ]
    return np.stack(parts, axis=1)


def counts_of(name: str, plan: audit.Plan, found: NDArray[np.int64], k: int) -> Counts:
    """Return what `estimate` counts, for all draws at once."""
    used = plan.drawn > 0
    pos_above, neg_above, pos_below, neg_below = np.moveaxis(found[:, used], 2, 0)
    ends, sizes = plan.ends[used], plan.sizes[used]
    is_above, is_below = (np.broadcast_to(part, pos_above.shape) for part in (ends - sizes < k, ends > k))
    everywhere = np.ones(pos_above.shape, dtype=np.bool_)
    first, second, first_in, second_in = {
        "count": (pos_above + pos_below, neg_above + neg_below, everywhere, everywhere),
        "precision": (pos_above, neg_above, is_above, is_above),
        "recall": (pos_above, pos_below, is_above, is_below),
    }[name]
    return Counts(first, second, plan.drawn[used], sizes, first_in, second_in)


def variance(plan: audit.Plan, people: Population) -> float:
    """Return the variance of the estimated share over all draws, which is known where the truth is."""
    sizes, drawn_rows = plan.sizes, plan.drawn
    share = np.diff(np.concatenate([[0], people.found])[plan.ends], prepend=0) / sizes
    of_answers = share * (1 - share) * sizes / np.maximum(sizes - 1, 1)
    return float((sizes**2 * (1 / drawn_rows - 1 / sizes) * of_answers).sum()) / N_ROWS**2


def measure(task: tuple[str, float], runs: int, n: int) -> Cell:
    """Draw populations and plans, and estimate."""
    kind, share = task
    rng = np.random.default_rng([list(KINDS).index(kind), round(share * N_ROWS)])
    held, above, found = (np.zeros((-(-runs // _DRAWS), len(PAIRS), _DRAWS)) for _ in range(3))
    variances = []
    for run in range(held.shape[0]):
        people = drawn(kind, share, rng)
        at_k = int(people.found[people.k - 1])
        truths = {"count": people.n_pos / N_ROWS, "precision": at_k / people.k, "recall": at_k / people.n_pos}
        plans = {goal: audit.plan(people.scores, n, goal=goal, k=people.k, random_state=rng) for goal in truths}
        plans["count"] = audit.plan(people.scores, n, random_state=rng)
        checked = {goal: answers(plan, people, rng) for goal, plan in plans.items()}
        for i, (name, goal) in enumerate(PAIRS):
            counts = counts_of(name, plans[goal], checked[goal], people.k)
            low, high = counts.quantiles([0.05, 0.95]).T
            held[run, i] = (low - _TINY <= truths[name]) & (truths[name] <= high + _TINY)
            above[run, i] = truths[name] > high + _TINY
            found[run, i] = counts.first.sum(axis=1)
        variances.append(variance(plans["count"], people))
    at_random = np.sqrt(share * (1 - share) * (1 / n - 1 / N_ROWS))
    means = (tuple(part.mean(axis=(0, 2)).tolist()) for part in (held, above, found))
    return Cell(kind, share, *means, error=float(np.sqrt(np.mean(variances)) / at_random))


def report(options: argparse.Namespace) -> tuple[str, list[Cell]]:
    """Return the table, and its numbers."""
    tasks = [(kind, share) for kind in options.kinds for share in options.shares]
    cells = run_tasks(partial(measure, runs=options.runs, n=options.checks), tasks, options.jobs, "intervals")
    head = ["ranking", "share", *(f"{name}, plan for {goal}" for name, goal in PAIRS), "error of the count"]
    rows = [
        [
            cell.kind,
            f"{cell.share:g}",
            *(f"{100 * held:.1f} ({found:.0f})" for held, found in zip(cell.held, cell.found, strict=True)),
            f"{cell.error:.2f}",
        ]
        for cell in cells
    ]
    title = f"90 % intervals that hold the truth, in percent (positives among {options.checks} answers)"
    return table(head, rows, title=title), cells
