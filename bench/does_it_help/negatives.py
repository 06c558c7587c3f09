"""Rows that were checked and are negative: what should a fit do with them?

python bench/does_it_help/negatives.py --packages build/packages [--tables NAME ...] [--seeds 1] [--output DIR]

--packages is the folder of the wheels that `make help-table` fetches. Half of at most 4,000 rows of a table are to fit,
and 50 of their positive rows are labelled. Then 40 or 400 negative rows are known: random ones, or those that are found
by going down the ranking of a forest; there the positive rows on the way are labelled too. Printed are means over
tables and seeds of the AUC on the other half of the rows, with the difference to a forest without the negatives in
thousandths, and its standard error over the tables.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from problems import draw
from shared import Parser, run_tasks, table, write
from tasks import tasks

import fastpu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Fit = Callable[[Any, NDArray[np.int8], int], Any]

#: Tables with 400 negatives and more to fit, by which no default was chosen.
TABLES = (
    *("ada: 1", "banana: 1.0", "chess: nowin", "fars: Fatal_Injury", "kc1: true", "kr-vs-k: fourteen", "magic: h"),
    *("marketing: 1", "optdigits: 8", "penbased: 3", "phoneme: 1", "satimage: 4", "splice: EI", "sylva: 1"),
    "twonorm: 1",
)
LABELLED, MOST_ROWS = 50, 4000
CELLS = [(how, n) for how in ("random", "top") for n in (40, 400)]


def _rows(X: Any, rows: NDArray[np.bool_]) -> Any:
    return X[rows] if not hasattr(X, "loc") else X.loc[rows]


def _without(fit: Fit) -> Fit:
    return lambda X, y, seed: fit(_rows(X, y >= 0), y[y >= 0], seed)


def _as_unlabelled(fit: Fit) -> Fit:
    return lambda X, y, seed: fit(X, np.maximum(y, 0), seed)


def _forest(X: Any, y: NDArray[np.int8], seed: int, **given: Any) -> Any:
    return fastpu.fit_forest(X, y, random_state=seed, n_threads=1, **given)


def _weight_10(X: Any, y: NDArray[np.int8], seed: int) -> Any:
    return _forest(X, np.maximum(y, 0), seed, sample_weight=np.where(y == -1, 10.0, 1.0))


def _against_negatives(X: Any, y: NDArray[np.int8], seed: int) -> Any:
    return _forest(_rows(X, y != 0), np.maximum(y[y != 0], 0), seed, bag_ratio=None)


def _stumps(X: Any, y: NDArray[np.int8], seed: int) -> Any:
    return fastpu.fit_pnu_auc_boost(X, y, n_threads=1)


def _trees(X: Any, y: NDArray[np.int8], seed: int) -> Any:
    return fastpu.fit_boosted_trees(X, y, random_state=seed, n_threads=1)


def _bags(X: Any, y: NDArray[np.int8], seed: int) -> Any:
    return fastpu.fit_boosted_trees(X, y, n_bags=20, random_state=seed, n_threads=1)


WAYS: dict[str, Fit] = {
    "`fit_forest`, without them": _without(_forest),
    "`fit_forest`, as unlabelled rows": _as_unlabelled(_forest),
    "`fit_forest`, as unlabelled rows of weight 10": _weight_10,
    "`fit_forest`, positive against checked rows alone": _against_negatives,
    "20 bags of boosted trees, without them": _without(_bags),
    "20 bags of boosted trees, as unlabelled rows": _as_unlabelled(_bags),
    "20 bags of boosted trees, -1": _bags,
    "`fit_boosted_trees`, -1": _trees,
    "`fit_pnu_auc_boost`, without them": _without(_stumps),
    "`fit_pnu_auc_boost`, -1": _stumps,
}


def _checked(y: NDArray[np.int8], truth: NDArray[np.bool_], how: str, n: int, first: Any, seed: int) -> Any:
    """Return the labels after n negatives were found, or None where too few rows would be left."""
    negative = np.flatnonzero((y == 0) & ~truth)
    if n > 0.75 * negative.size:
        return None
    y = y.copy()
    if how == "random":
        y[np.random.default_rng(seed).choice(negative, n, replace=False)] = -1
        return y
    order = np.argsort(-np.where(y == 0, first.oob_decision_function, -np.inf), kind="stable")
    checked = order[: np.flatnonzero(np.cumsum(~truth[order]) == n)[0] + 1]
    y[checked] = np.where(truth[checked], 1, -1)
    return y if (y == 0).any() else None


def judged(given: tuple[Path, str, int]) -> dict[str, float]:
    """The AUC of every way in every cell, for one table and seed."""
    folder, name, seed = given
    warnings.simplefilter("ignore")
    task = next(task for task in tasks(folder, None) if task.name == name)
    task = replace(task, max_rows=MOST_ROWS)
    problem = draw(task, *task.rows(folder), labels=LABELLED, seed=seed)
    if problem is None:
        raise ValueError(f"{name} has too few positive rows for {LABELLED} labels")
    labelled = problem.is_labelled.astype(np.int8)
    first = _forest(problem.X, labelled, seed)
    found = {}
    for how, n in CELLS:
        y = _checked(labelled, problem.truth, how, n, first, seed)
        if y is None:
            continue
        for way, fit in WAYS.items():
            scores = fit(problem.X, y, seed).decision_function(problem.X_test, n_threads=1)
            found[f"{way}, {how} {n}"] = auc(problem.truth_test, scores)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("negatives", __doc__)
    parser.add("--packages", "folder of the wheels that hold tables", type=Path, required=True)
    parser.add("--tables", "to run", list(TABLES), nargs="+", metavar="NAME")
    parser.add("--seeds", "splits of each table", 1)
    parser.add_common(jobs=True)
    options = parser.parsed(argv, "seeds", "jobs")
    todo = [(options.packages, name, seed) for name in options.tables for seed in range(options.seeds)]
    found = run_tasks(judged, todo, options.jobs, "negatives")
    rows = []
    for way in WAYS:
        cells = []
        for how, n in CELLS:
            base, own = (
                np.array([each.get(f"{one}, {how} {n}", np.nan) for each in found]).reshape(-1, options.seeds)
                for one in (next(iter(WAYS)), way)
            )
            gain = 1000 * np.nanmean(own - base, axis=1)
            error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else np.nan
            cells.append(f"{np.nanmean(own):.3f} ({gain.mean():+.0f}, {error:.0f})")
        rows.append([way, *cells])
    head = ["", *(f"{n}, {'at random' if how == 'random' else 'from the top'}" for how, n in CELLS)]
    title = f"Checked negatives: {len(options.tables)} tables, {options.seeds} splits, {LABELLED} labels"
    text = table(head, rows, title=title)
    print(text)
    write(options.output, text, [dict(f, table=t[1], seed=t[2]) for t, f in zip(todo, found, strict=True)], options)


if __name__ == "__main__":
    main(sys.argv[1:])
