"""Does learning from positive and unlabelled rows help? Seventy tables, other kinds of data, and what people do today.

make help-table [DATA=DIR]     # fetches what is needed; the report and the picture are in build/help
python bench/does_it_help --packages DIR [--data DIR] [--kinds table text ...] [--splits 3] [--output DIR]

--packages is the folder of the wheels whose tables and texts are read (packages.py); --data adds tables of ours,
NAME.csv.gz (a header, numeric columns, the last column `label`) and webkb7.jsonl.gz. Needs the group "peers" of
pyproject.toml. Half of the rows of a task, at most 4,000 of a table, is to fit and the others are to test on; some of
the positive rows to fit are labelled. Every learner gets the same rows; none sees a true class, but for "all labels
known". What was set is in learners.py and in the report.

Printed are means by kind of data, wins, ties and losses over tables with a paired test (Wilcoxon, Holm), mean ranks and
their critical difference (Nemenyi, 5 %). --output keeps the report, every number as JSON, and the picture.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from learners import LEARNERS, MANY_ROWS, NOT_AT_RANDOM, ORACLE, SLOW, Outcome, judge
from report import Place, draw_picture, report
from shared import Parser, progress
from tasks import draw, tasks
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from tasks import Task


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("does_it_help", __doc__)
    parser.add("--packages", "folder of the wheels that hold tables", type=Path, required=True)
    parser.add("--data", "folder of tables of ours", type=Path)
    parser.add("--tasks", "whose names begin so (default: all)", nargs="+", metavar="NAME")
    parser.add("--kinds", "of data whose names begin so (default: all)", nargs="+", metavar="KIND")
    parser.add("--results", "report again what earlier runs wrote as JSON, and run nothing", nargs="+", type=Path)
    parser.add("--learners", "to judge (default: all)", nargs="+", choices=LEARNERS, default=list(LEARNERS),
               metavar="NAME")  # fmt: skip
    parser.add("--splits", "random splits", 3)
    parser.add("--jobs", "problems at a time", 2)
    parser.add("--output", "folder for the report and the picture", type=Path)
    return parser.parsed(argv, "splits", "jobs")


def _run_split(task: Task, options: argparse.Namespace, seed: int) -> dict[Place, dict[str, Outcome]]:
    """Judge every learner on one split of a task, for every number of labels."""
    X, truth = task.rows(options.packages)
    found: dict[Place, dict[str, Outcome]] = {}
    known: dict[str, Outcome] = {}  # the oracle sees the same rows however many are labelled
    learners = [
        name
        for name in options.learners
        if (name != NOT_AT_RANDOM or task.labelled_by is not None) and (name not in SLOW or truth.size < MANY_ROWS)
    ]
    for labels in task.labels:
        problem = draw(task, X, truth, labels=labels, seed=seed)
        if problem is None:
            continue
        judged = {name: known.get(name) or judge(LEARNERS[name], problem, seed) for name in learners}
        known = {name: outcome for name, outcome in judged.items() if name == ORACLE}
        found[Place(task.name, labels, seed)] = judged
    return found


def _run(wanted: Sequence[Task], options: argparse.Namespace) -> dict[Place, dict[str, Outcome]]:
    outcomes: dict[Place, dict[str, Outcome]] = {}
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        waiting = [pool.submit(_run_split, task, options, seed) for task in wanted for seed in range(options.splits)]
        for done, future in enumerate(waiting, start=1):
            outcomes |= future.result()
            if options.output is not None:  # what there is stays if the rest is cut off; --results reads it
                _keep(outcomes, options.output)
            progress(f"{done} of {len(waiting)}")
    return outcomes


def _keep(outcomes: dict[Place, dict[str, Outcome]], folder: Path) -> None:
    raw = [
        vars(place) | {"learner": name} | vars(outcome)
        for place, each in outcomes.items()
        for name, outcome in each.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "does_it_help.json").write_text(json.dumps(raw) + "\n")


def _read(paths: Sequence[Path]) -> dict[Place, dict[str, Outcome]]:
    outcomes: dict[Place, dict[str, Outcome]] = {}
    for path in paths:
        for row in json.loads(path.read_text()):
            place = Place(row.pop("task"), row.pop("labels"), row.pop("split"))
            name = row.pop("learner")
            outcomes.setdefault(place, {})[name] = Outcome(**row)
    return outcomes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    start = time.perf_counter()
    every = tasks(options.packages, options.data)
    wanted = [
        task
        for task in every
        if (options.tasks is None or task.name.startswith(tuple(options.tasks)))
        and (options.kinds is None or task.kind.startswith(tuple(options.kinds)))
    ]
    outcomes = _run(wanted, options) if options.results is None else _read(options.results)
    text = report(wanted, outcomes)
    print(text, end="")
    if options.output is not None:
        _keep(outcomes, options.output)
        (options.output / "does_it_help_table.md").write_text(text)
        draw_picture(wanted, outcomes, options.output / "does_it_help.png")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
