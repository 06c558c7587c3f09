"""Rerun Tables 2, 3 and 4 of the PU-SvmPath paper and draw its Figure 2.

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

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from methods import METHODS, run_all
from published import COLUMNS, TABLES
from sets import DataError, lymphoma_tasks, news_tasks, toy_tasks, train_and_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sets import Task

_FILES = {3: "lymphoma_62x4026.csv.gz", 4: "newsgroups8_mini.jsonl.gz"}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "pu_svm_path", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the sets of Tables 3 and 4")
    parser.add_argument("--tables", type=int, nargs="+", choices=sorted(TABLES), default=sorted(TABLES),
                        help="tables to rerun (default: all)")  # fmt: skip
    parser.add_argument("--draws", type=int, default=30, help="draws of a toy set (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=5, help="random halves of a set read (default: %(default)s)")
    parser.add_argument("--groups", nargs="+", metavar="NAME", help="newsgroups to take as positive (default: all)")
    parser.add_argument("--headers", action="store_true",
                        help="keep the headers of the newsgroups, one of which names the group")  # fmt: skip
    parser.add_argument("--shares", type=float, nargs="+", metavar="G", help="shares of labelled positives (all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first draw (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for tables, raw results and the figure")
    options = parser.parse_args(argv)
    for name in ("draws", "splits"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}")
    return options


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _tasks(table: int, case: str, options: argparse.Namespace) -> Iterable[tuple[Task, int]]:
    """Yield the tasks of a case with the seeds of their splits."""
    if table == 2:
        for draw, task in enumerate(toy_tasks(case, options.draws, options.seed)):
            yield task, options.seed + draw
        return
    tasks = (
        lymphoma_tasks(options.data)
        if table == 3
        else news_tasks(options.data, options.groups, headers=options.headers)
    )
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
            _progress(f"Table {table}, {case}, {100 * share:.0f} %, {task.name}, seed {seed}")
            X, y, test, truth, _ = train_and_test(task, share, seed)
            found = run_all(X, y, test, truth)
            rows.extend({"table": table, "case": case, "share": share, "task": task.name, "seed": seed,
                         "method": column, **values} for column, values in found.items())  # fmt: skip
    _progress("")
    return rows


def _table(table: int, case: str, rows: list[dict[str, Any]]) -> list[str]:
    lines = [f"Table {table}, {case}: F1 in percent, paper / ours (sd); trivial: share of trivial paths in percent", ""]
    lines += ["| labelled | " + " | ".join(COLUMNS) + " | trivial SvmPath / PU |", "|---" * (len(COLUMNS) + 2) + "|"]
    for share, printed in TABLES[table][case].items():
        mine = [row for row in rows if row["share"] == share]
        if not mine:
            continue
        cells, trivial = [], []
        for column, figure in zip(METHODS, printed, strict=True):
            values = np.array([row["f1"] for row in mine if row["method"] == column])
            cells.append(f"{figure:.1f} / {values.mean():.1f} ({values.std():.0f})")
            trivial.append(np.mean([row["status"] == "trivial" for row in mine if row["method"] == column]))
        last = f"{100 * trivial[0]:.0f} / {100 * trivial[1]:.0f}"
        lines.append(f"| {100 * share:.0f} % | " + " | ".join(cells) + f" | {last} |")
    return [*lines, ""]


def _write(text: str, rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "tables.md").write_text(text + "\n")
    (options.output / "tables.json").write_text(json.dumps(rows, indent=1) + "\n")
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: no figure is drawn", file=sys.stderr)
        return
    from figures import draw_lines  # noqa: PLC0415 (optional)

    draw_lines(options.output / "figure2.png", options.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    start = time.perf_counter()
    rows, lines = [], []
    for table in options.tables:
        if table in _FILES and (options.data is None or not (options.data / _FILES[table]).exists()):
            print(f"pu_svm_path: Table {table} needs --data with {_FILES[table]}", file=sys.stderr)
            continue
        for case in TABLES[table]:
            found = _run(table, case, options)
            rows.extend(found)
            lines += _table(table, case, found)
            print("\n".join(_table(table, case, found)), flush=True)
    if not rows:
        return 2
    if options.output is not None:
        _write("\n".join(lines), rows, options)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pu_svm_path: {error}")
