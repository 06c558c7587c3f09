"""Rerun Tables 2, 3 and 4 of the PU-SvmPath paper.

python bench/papers/pu_svm_path [--data DIR] [--tables 2 3 4] [--draws 30] [--splits 5] [--output DIR]

Table 2 is drawn anew: two normal classes in the plane, averaged over draws, where the paper has one. Tables 3 and 4
need a folder: lymphoma_62x4026.csv.gz (a header, numeric columns, the last one `label`; DLBCL against CLL and FL, and
the reverse, in place of the paper's set, which is not public any more) and newsgroups8_mini.jsonl.gz (lines of
{"text", "label"}; headers dropped, stop words removed, words stemmed, TF-IDF; each group against the others).

Half of the rows of either class train, the others test; a share of the positives is labelled, the rest is unlabelled.
Costs are those of the paper's Table 1, with avg^2 the mean of x'x; both paths are linear and end at lam = 0; the
one-class SVM, of which the paper says nothing, has LIBSVM's defaults. A path that is trivial (the same call for all
rows at every lam) counts with that call.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))

from methods import METHODS, run_all
from published import COLUMNS, TABLES
from sets import lymphoma_tasks, news_tasks, toy_tasks, train_and_test
from shared import DataError, Parser, progress, table, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from sets import Task

_FILES = {3: "lymphoma_62x4026.csv.gz", 4: "newsgroups8_mini.jsonl.gz"}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("pu_svm_path", __doc__)
    parser.add_common("folder of the sets of Tables 3 and 4")
    parser.add("--tables", "to rerun", sorted(TABLES), nargs="+", choices=sorted(TABLES))
    parser.add("--draws", "draws of a toy set", 30)
    parser.add("--splits", "random halves of a set read", 5)
    parser.add("--shares", "shares of labelled positives (default: all)", nargs="+", type=float)
    parser.add("--seed", "seed of the first draw", 0)
    return parser.parsed(argv, "draws", "splits")


def _tasks(table: int, case: str, options: argparse.Namespace) -> Iterable[tuple[Task, int]]:
    """Yield the tasks of a case with the seeds of their splits."""
    if table == 2:
        for draw, task in enumerate(toy_tasks(case, options.draws, options.seed)):
            yield task, options.seed + draw
        return
    tasks = lymphoma_tasks(options.data) if table == 3 else news_tasks(options.data)
    for split in range(options.splits):
        for task in tasks:
            yield task, options.seed + split


def _run(table: int, case: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    chosen = list(_tasks(table, case, options))
    for share in TABLES[table][case]:
        if options.shares is not None and share not in options.shares:
            continue
        for task, seed in chosen:
            progress(f"Table {table}, {case}, {100 * share:.0f} %, {task.name}, seed {seed}")
            X, y, test, truth = train_and_test(task, share, seed)
            found = run_all(X, y, test, truth)
            rows.extend({"table": table, "case": case, "share": share, "task": task.name, "seed": seed,
                         "method": column, **values} for column, values in found.items())  # fmt: skip
    progress("")
    return rows


def _table(number: int, case: str, rows: list[dict[str, Any]]) -> str:
    """Return the table of a case; a line is a share of labels."""
    lines = []
    for share, printed in TABLES[number][case].items():
        mine = [row for row in rows if row["share"] == share]
        if not mine:
            continue
        cells, trivial = [f"{100 * share:.0f} %"], []
        for column, figure in zip(METHODS, printed, strict=True):
            values = np.array([row["f1"] for row in mine if row["method"] == column])
            cells.append(f"{figure:.1f} / {values.mean():.1f} ({values.std():.0f})")
            trivial.append(np.mean([row["status"] == "trivial" for row in mine if row["method"] == column]))
        lines.append([*cells, f"{100 * trivial[0]:.0f} / {100 * trivial[1]:.0f}"])
    title = f"Table {number}, {case}: F1 in percent, paper / ours (sd); trivial: share of trivial paths in percent"
    return table(["labelled", *COLUMNS, "trivial SvmPath / PU"], lines, title=title) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    rows: list[dict[str, Any]] = []
    text = []
    for number in options.tables:
        if number in _FILES and (options.data is None or not (options.data / _FILES[number]).exists()):
            print(f"pu_svm_path: Table {number} needs --data with {_FILES[number]}", file=sys.stderr)
            continue
        for case in TABLES[number]:
            found = _run(number, case, options)
            rows += found
            text.append(_table(number, case, found))
            print(text[-1], flush=True)
    if not rows:
        return 2
    write(options.output, "\n".join(text), rows, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pu_svm_path: {error}")
