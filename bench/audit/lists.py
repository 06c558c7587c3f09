"""The share of negatives in lists of `discoveries`, and their length beside the longest that the truth allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from populations import KINDS, N_ROWS, drawn
from shared import run_tasks, table

from fastpu import audit
from fastpu.audit._discoveries import Prefixes
from fastpu.audit._draw import draw_places

if TYPE_CHECKING:
    import argparse

GOALS = ("count", "find")
_FDR = 0.1
_DRAWS = 10  # of rows from one population


@dataclass(frozen=True)
class Cell:
    """One kind of ranking and one share of positives.

    Attributes
    ----------
    oracle : float
        The mean length of the longest beginning of the ranking of which at most a tenth is negative.
    negatives, errors, lengths : tuple of float
        Of the lists from a plan for each goal: the mean share of negatives, its standard error, and the mean length.
    """

    kind: str
    share: float
    oracle: float
    negatives: tuple[float, ...]
    errors: tuple[float, ...]
    lengths: tuple[float, ...]


def measure(task: tuple[str, float], runs: int, n: int) -> Cell:
    """Draw populations and plans, and list."""
    kind, share = task
    rng = np.random.default_rng([list(KINDS).index(kind), round(share * N_ROWS), 1])
    scores, first = -np.arange(N_ROWS, dtype=float), np.arange(1, N_ROWS + 1)
    plans = [audit.plan(scores, n, goal=goal, random_state=rng) for goal in GOALS]  # one draw of each; more follow
    oracle, negatives, lengths = np.zeros(runs), np.zeros((runs, len(GOALS))), np.zeros((runs, len(GOALS)))
    for run in range(runs):
        if run % _DRAWS == 0:
            people = drawn(kind, share, rng)
            truth = np.diff(people.found, prepend=0) > 0  # in the order of the ranking
            longest = first[first - people.found <= _FDR * first].max(initial=0)
        oracle[run] = longest
        for i, plan in enumerate(plans):
            nothing = np.zeros(0, dtype=np.int64)
            place = draw_places(plan.ends, plan.drawn, nothing, rng)
            again = replace(plan, place=place, stratum=np.searchsorted(plan.ends, place, side="right"))
            last = Prefixes(again, ~truth[place]).longest(_FDR)
            refuted = np.count_nonzero(~truth[place] & (place < last))
            lengths[run, i] = last - refuted
            negatives[run, i] = (last - people.found[last - 1] - refuted) / lengths[run, i] if last else 0.0
    errors = negatives.std(axis=0) / np.sqrt(runs)
    parts = (tuple(part.tolist()) for part in (negatives.mean(axis=0), errors, lengths.mean(axis=0)))
    return Cell(kind, share, float(oracle.mean()), *parts)


def report(options: argparse.Namespace) -> tuple[str, list[Cell]]:
    """Return the table, and its numbers."""
    tasks = [(kind, share) for kind in options.kinds for share in options.shares]
    cells = run_tasks(partial(measure, runs=options.runs, n=2 * options.checks), tasks, options.jobs, "lists")
    head = ["ranking", "share", "longest list", *(f"plan for {goal}" for goal in GOALS)]
    rows = []
    for cell in cells:
        of_goals = zip(cell.negatives, cell.errors, cell.lengths, strict=True)
        texts = [f"{100 * share:.1f} ± {100 * error:.1f} %, {length:.0f}" for share, error, length in of_goals]
        rows.append([cell.kind, f"{cell.share:g}", f"{cell.oracle:.0f}", *texts])
    title = f"Negatives in lists of discoveries(fdr={_FDR:g}) with {2 * options.checks} checks, and their lengths"
    return table(head, rows, title=title), cells
