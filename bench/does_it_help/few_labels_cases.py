"""Cases with few labels: the tables of two public benchmarks of anomaly detection, and what one of them published.

Both repositories stay where their readers put them. ADBench's "Classical" tables and those of ADGym are NAME.npz files
with the rows X and the classes y; what ADGym published is in four files result/AUC{ROC,PR}-SOTA-{semi-,}supervise.csv.
"""

from __future__ import annotations

import ast
import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from problems import Problem
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ADBENCH, ADGYM = "ADBench", "ADGym"
SHARES = (0.01, 0.05, 0.10, 0.25)  # of the positive rows to fit, labelled; the number is rounded up
_MAX_ROWS = 10_000
_FITTED = 0.7

GYM_LABELS = (5, 10, 20)
GYM_SEEDS = (1, 2, 3)
_GYM_TESTED, _GYM_MAX_ROWS = 0.3, 3000


@dataclass(frozen=True, order=True)
class Case:
    """A table, a split of its rows and how many of the positive rows to fit are labelled."""

    suite: str
    table: str
    seed: int
    labels: int
    share: float = 0.0


def table_paths(folder: Path) -> dict[str, Path]:
    """Return the tables of a folder by name, in the order of their numbers."""
    return {path.stem: path for path in sorted(folder.glob("*.npz"), key=lambda path: _number(path.stem))}


def _number(name: str) -> tuple[int, str]:
    number = name.split("_", maxsplit=1)[0]
    return (int(number) if number.isdigit() else 0, name)


def read_table(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the rows of a table and which of them are positive."""
    with np.load(path) as file:
        return np.ascontiguousarray(file["X"], dtype=np.float64), file["y"] == 1


# ---- ADBench ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Rows of a table to fit and to test on; `positives` are those to fit, in the order in which they get labels."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    positives: NDArray[np.intp]

    def numbers_of_labels(self) -> dict[int, float]:
        """Return the different numbers of labels, each with the smallest share that gives it."""
        numbers: dict[int, float] = {}
        for share in SHARES:
            numbers.setdefault(int(np.ceil(share * self.positives.size)), share)
        return numbers


def split_adbench(truth: NDArray[np.bool_], seed: int) -> Split:
    """Draw at most 10,000 rows; 70 % of them, of each class apart, are to fit, and the others to test on."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(truth.size)[:_MAX_ROWS]
    parts = [drawn[truth[drawn]], drawn[~truth[drawn]]]
    cuts = [int(np.clip(round(_FITTED * part.size), 1, max(1, part.size - 1))) for part in parts]
    train = np.concatenate([part[:cut] for part, cut in zip(parts, cuts, strict=True)])
    test = np.concatenate([part[cut:] for part, cut in zip(parts, cuts, strict=True)])
    # Labelled rows are the first positive ones, so the place of a row must tell nothing.
    order = rng.permutation(train.size)
    return Split(train[order], test, np.argsort(order)[: cuts[0]])


def adbench_problem(X: NDArray[np.float64], truth: NDArray[np.bool_], split: Split, labels: int) -> Problem:
    is_labelled = np.zeros(split.train.size, dtype=np.bool_)
    is_labelled[split.positives[:labels]] = True
    return _problem(X, truth, split.train, split.test, is_labelled)


def _problem(
    X: NDArray[np.float64],
    truth: NDArray[np.bool_],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    is_labelled: NDArray[np.bool_],
) -> Problem:
    rows, others = X[train], X[test]
    return Problem(rows, others, rows, others, truth[train], is_labelled, truth[test], None)


# ---- ADGym -----------------------------------------------------------------------------------------------------------


def adgym_problem(X: NDArray[np.float64], truth: NDArray[np.bool_], seed: int, labels: int) -> Problem:
    """Return the problem that the published figures are of: every draw of that benchmark, in its order.

    It seeds NumPy's global generator, whose stream the one here has.
    """
    stream = np.random.RandomState(seed)
    rows = np.arange(truth.size)
    if rows.size > _GYM_MAX_ROWS:
        rows = stream.choice(rows, _GYM_MAX_ROWS, replace=False)
    train, test = train_test_split(rows, test_size=_GYM_TESTED, stratify=truth[rows], random_state=stream)
    is_labelled = np.zeros(train.size, dtype=np.bool_)
    is_labelled[stream.choice(np.flatnonzero(truth[train]), labels, replace=False)] = True
    return _problem(X, truth, train, test, is_labelled)


def published(folder: Path) -> dict[Case, dict[str, tuple[float, float]]]:
    """Return the AUC and average precision of every published method, by case."""
    found: dict[Case, dict[str, tuple[float, float]]] = {}
    for group in ("supervise", "semi-supervise"):
        aucs, aps = (_read(folder / "result" / f"AUC{measure}-SOTA-{group}.csv") for measure in ("ROC", "PR"))
        for case, each in aucs.items():
            found.setdefault(case, {}).update({name: (auc, aps[case][name]) for name, auc in each.items()})
    return found


def _read(path: Path) -> dict[Case, dict[str, float]]:
    with path.open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    values: dict[Case, dict[str, float]] = {}
    for key, *cells in lines:
        table, seed, labels = ast.literal_eval(key)
        row = {name: float(cell) if cell else np.nan for name, cell in zip(head[1:], cells, strict=True)}
        values[Case(ADGYM, table, int(seed), int(labels))] = row
    return values
