"""Ten rounds of twenty checks with a fit after each, on tables of which the truth is hidden; and intervals there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import load, run_tasks, table

import fastpu
from fastpu import audit
from fastpu.audit._draw import ranking

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from numpy.typing import NDArray

#: Tables by their files, and the labels of their positive rows.
TABLES = {
    "cod-rna": "1",
    "credit-g": "bad",
    "digits": "8",
    "insurance_part44": "1",
    "letter": "A",
    "occupancy_train": "1",
    "ring": "1",
    "sepsis_study": "dead",
    "spambase": "spam",
    "surgical": "1",
}
ROUNDS, CHECKS = 10, 20
_MOST_ROWS, _SHARE, _LABELLED = 2000, 0.1, 10  # rows; positives among them, at most; those that are labelled first
_WEIGHT = 10.0  # of a checked negative where it is a heavier unlabelled row
_AUDITS = 40  # of the first ranking of each split
POLICIES = ("top", "find", "random")
#: What becomes of checked negatives. The checked positives are labelled.
WAYS = (
    "forest, unlabelled",
    "forest, unlabelled with weight 10",
    "boosted trees, unlabelled",
    "boosted trees, negative",
)


@dataclass(frozen=True)
class Result:
    """Of one split of a table.

    Attributes
    ----------
    hidden : int
        How many positives there are to find.
    found : ndarray of int64, shape (len(WAYS), len(POLICIES))
        How many were.
    held : tuple of int
        How many of `_AUDITS` intervals of count, precision and recall hold the truth.
    """

    table: str
    hidden: int
    found: NDArray[np.int64]
    held: tuple[int, ...]


def scores_of(way: str, X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return the scores of all rows by a model of one of `WAYS`, for labels +1, 0 and -1; out of bag by a forest."""
    if way.startswith("forest"):
        weight = np.where(y < 0, _WEIGHT, 1.0) if "weight" in way else None
        model = fastpu.fit_forest(
            X, np.maximum(y, 0), n_trees=200, sample_weight=weight, random_state=seed, n_threads=1
        )
        seen = model.oob_decision_function
        return np.where(np.isnan(seen), model.decision_function(X, n_threads=1), seen)
    labels = y if way.endswith("negative") else np.maximum(y, 0)
    fitted = fastpu.fit_boosted_trees(X, labels, loss="pnu_auc", n_bags=5, random_state=seed, n_threads=1)
    scores: NDArray[np.float64] = fitted.decision_function(X, n_threads=1)
    return scores


def choose(policy: str, scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[Any]:
    """Return which of the rows that have not been checked to look at next."""
    if policy == "top":
        return np.argsort(-scores)[:CHECKS]
    if policy == "random":
        return rng.choice(scores.size, CHECKS, replace=False)
    return audit.plan(scores, CHECKS, goal="find", random_state=rng).rows


def split_of(name: str, folder: Path, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Return rows, their classes, and labels of some positive ones."""
    if name == "digits":
        from sklearn.datasets import load_digits  # noqa: PLC0415 (one table is scikit-learn's)

        digits = load_digits()
        X, truth = digits.data, digits.target == int(TABLES[name])
    else:
        X, truth = load(folder / f"{name}.csv.gz", TABLES[name])
    rng = np.random.default_rng(seed)
    pos, neg = (rng.permutation(np.flatnonzero(truth == kind)) for kind in (True, False))
    n_pos = min(pos.size, round(_SHARE * min(_MOST_ROWS, truth.size)))
    rows = rng.permutation(np.concatenate([pos[:n_pos], neg[: _MOST_ROWS - n_pos]]))
    labels = np.zeros(rows.size, dtype=np.int64)
    labels[np.flatnonzero(truth[rows])[:_LABELLED]] = 1
    return X[rows], truth[rows], labels


def measure(task: tuple[str, int], folder: Path) -> Result:
    """Play all rounds of one split with each way and policy."""
    name, seed = task
    X, truth, first = split_of(name, folder, seed)
    rng = np.random.default_rng(seed)
    found = np.zeros((len(WAYS), len(POLICIES)), dtype=np.int64)
    for i, way in enumerate(WAYS):
        for j, policy in enumerate(POLICIES):
            y, is_open = first.copy(), first == 0
            for number in range(ROUNDS):
                scores = scores_of(way, X, y, number)
                left = np.flatnonzero(is_open)
                rows = left[choose(policy, scores[left], rng)]
                y[rows] = np.where(truth[rows], 1, -1)
                is_open[rows] = False
            found[i, j] = np.count_nonzero((y == 1) & (first == 0))
    hidden = truth[first == 0]
    return Result(name, int(hidden.sum()), found, held(scores_of(WAYS[0], X, first, 0)[first == 0], hidden, rng))


def held(scores: NDArray[np.float64], truth: NDArray[np.bool_], rng: np.random.Generator) -> tuple[int, ...]:
    """Count the intervals that hold the truth, of plans for the recall of as many rows as are positive."""
    counts, k = np.zeros(3, dtype=np.int64), int(truth.sum())
    for _ in range(_AUDITS):
        plan = audit.plan(scores, ROUNDS * CHECKS, goal="recall", k=k, random_state=rng)
        estimate = audit.estimate(plan, truth[plan.rows])
        at_k = truth[ranking(scores, plan.seed)[:k]].sum()
        known = truth.sum(), at_k / k, at_k / truth.sum()
        limits = (getattr(estimate, name).interval for name in ("count", "precision", "recall"))
        counts += [low - 1e-9 <= value <= high + 1e-9 for (low, high), value in zip(limits, known, strict=True)]
    return tuple(counts.tolist())


def report(options: argparse.Namespace) -> tuple[str, list[Result]]:
    """Return the tables, and their numbers."""
    if options.data is None:
        return "The rounds need --data.", []
    names = [name for name in options.tables if name == "digits" or (options.data / f"{name}.csv.gz").is_file()]
    tasks = [(name, seed) for name in names for seed in range(options.splits)]
    results = run_tasks(partial(measure, folder=options.data), tasks, options.jobs, "rounds")
    rows, means = [], []
    for name in names:
        own = [result for result in results if result.table == name]
        share = 100 * np.mean([result.found / result.hidden for result in own], axis=0)
        means.append(share)
        covered = 100 * np.mean([result.held for result in own], axis=0) / _AUDITS
        rows.append([name, str(own[0].hidden), *_cells(share), *(f"{each:.0f}" for each in covered)])
    rows.append(["mean", "", *_cells(np.mean(means, axis=0)), "", "", ""])
    head = ["table", "hidden", *WAYS, "count", "precision", "recall"]
    title = f"Found of the hidden positives after {ROUNDS} rounds of {CHECKS} checks, in percent: {', '.join(POLICIES)}"
    return table(head, rows, title=f"{title}. 90 % intervals that hold the truth"), results


def _cells(share: NDArray[np.float64]) -> list[str]:
    return [", ".join(f"{each:.0f}" for each in row) for row in share]
