"""Does learning from positive and unlabelled rows help? Public tables, other kinds of data, and what people do today.

make help-table [DATA=DIR]     # fetches what is needed; all results, the report and the picture are in build/help
make help-quick                # all tables by the fast learners alone
python bench/does_it_help --packages DIR [--data DIR] [--kinds table real ...] [--splits 1] [--output DIR]

--packages is the folder of the wheels whose tables and texts are read (packages.py, real_rows.py); --data adds tables
of ours, NAME.csv.gz (a header, numeric columns, the last column `label`) and webkb7.jsonl.gz. Needs the group "peers"
of pyproject.toml. Half of the rows of a task, at most 10,000 of a table, is to fit and the others are to test on; some
of the positive rows to fit are labelled. Every learner gets the same rows; none sees a true class, but for "all labels
known". What was set is in learners.py and in the report.

--output keeps every result as it comes, in does_it_help.jsonl, and a rerun goes on where the last one stopped. At the
end all of them are written as one table, does_it_help.csv, which the pages publish. --known
docs/_static/does_it_help.csv starts from the published ones, so that a new learner is the only one that has to run.
--again forgets what some learners had, after a change of the library. --minutes stops taking up new tasks after that
time.

Printed are means by number of labels, wins, ties and losses over tables with a paired test (Wilcoxon, Holm), mean ranks
and their critical difference (Nemenyi, 5 %), differences by number of rows, and means by kind of data.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from learners import FAST, LEARNERS, MANY_ROWS, NOT_AT_RANDOM, ORACLE, SLOW, SLOWEST, TUNED, TUNED_WITH, Outcome, judge
from picture import draw_picture
from problems import draw
from report import report
from results import Outcomes, Place, Sizes, forget, keep, read, write_csv
from shared import Parser, progress
from tasks import tasks
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from problems import Task


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("does_it_help", __doc__)
    parser.add("--packages", "folder of the wheels that hold tables", type=Path, required=True)
    parser.add("--data", "folder of tables of ours", type=Path)
    parser.add("--tasks", "whose names begin so (default: all)", nargs="+", metavar="NAME")
    parser.add("--kinds", "of data whose names begin so (default: all)", nargs="+", metavar="KIND")
    parser.add("--labels", "numbers of labels in tables, or shares of the positive rows below 1", nargs="+", type=float,
               metavar="N")  # fmt: skip
    parser.add_argument("--quick", help="the fast learners alone", action="store_true")
    parser.add("--learners", "to judge (default: all)", nargs="+", choices=LEARNERS, default=list(LEARNERS),
               metavar="NAME")  # fmt: skip
    parser.add("--again", "learners of which kept results are forgotten", nargs="+", choices=LEARNERS, metavar="NAME")
    parser.add("--known", "files of results of other runs, of lines or as tables, to go on from", nargs="+", type=Path,
               metavar="FILE")  # fmt: skip
    parser.add_argument("--report", help="report what is known, and run nothing", action="store_true")
    parser.add("--splits", "random splits", 1)
    parser.add("--jobs", "tasks at a time", 2)
    parser.add("--minutes", "after which no new task is taken up", type=float)
    parser.add("--output", "folder for the results, the report and the picture", type=Path)
    return parser.parsed(argv, "splits", "jobs")


def _wanted(every: Sequence[Task], options: argparse.Namespace) -> list[Task]:
    """Return the tasks that the options name."""
    return [
        replace(task, labels=tuple(options.labels)) if options.labels and task.kind.startswith("table") else task
        for task in every
        if (options.tasks is None or task.name.startswith(tuple(options.tasks)))
        and (options.kinds is None or task.kind.startswith(tuple(options.kinds)))
    ]


def _judged(place: Place, task: Task, n: int, names: Sequence[str]) -> list[str]:
    """Return who is judged on a problem of n rows."""
    left_out = set(SLOW) if n >= MANY_ROWS else set()
    is_table = task.kind.startswith("table")
    if place.split > 0:
        left_out.update(TUNED if is_table else SLOWEST)
    if task.labelled_by is None:
        left_out.add(NOT_AT_RANDOM)
    if place.labels not in TUNED_WITH:
        left_out.update(TUNED)
    if not is_table and not task.learners:
        left_out.update(SLOWEST)
    return [name for name in names if name not in left_out and (not task.learners or name in task.learners)]


def _run_split(
    task: Task,
    folder: Path,
    names: Sequence[str],
    seed: int,
    known: set[tuple[Place, str]],
) -> tuple[Outcomes, dict[Place, Sizes]]:
    """Judge learners on one split of a task, for every number of labels, but for what is known."""
    missing = {
        labels: [name for name in names if (Place(task.name, labels, seed), name) not in known]
        for labels in task.labels
    }
    outcomes: Outcomes = {}
    sizes: dict[Place, Sizes] = {}
    if not any(missing.values()):
        return outcomes, sizes
    X, truth = task.rows(folder)
    oracle: Outcome | None = None  # it sees the same rows however many are labelled
    for labels, wanted in missing.items():
        place = Place(task.name, labels, seed)
        judged = _judged(place, task, truth.size, wanted)
        problem = draw(task, X, truth, labels=labels, seed=seed) if judged else None
        if problem is None:
            continue
        found: dict[str, Outcome] = {}
        for name in judged:
            found[name] = oracle if name == ORACLE and oracle else judge(LEARNERS[name], problem, seed)
        oracle = found.get(ORACLE)
        outcomes[place] = found
        sizes[place] = Sizes(problem.truth.size, int(problem.truth.sum()), int(problem.is_labelled.sum()))
    return outcomes, sizes


def _run(wanted: Sequence[Task], options: argparse.Namespace, outcomes: Outcomes, path: Path) -> None:
    """Judge what is not among the outcomes yet, and add it to the file."""
    known = {(place, name) for place, each in outcomes.items() for name in each}
    names = [name for name in options.learners if name in FAST or not options.quick]
    start = time.monotonic()
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        work = [(task, options.packages, names, seed, known) for seed in range(options.splits) for task in wanted]
        waiting = [pool.submit(_run_split, *each) for each in work]
        for done, future in enumerate(as_completed(waiting), start=1):
            if not future.cancelled():
                keep(path, *future.result())
            progress(f"{done} of {len(waiting)}")
            if options.minutes is not None and time.monotonic() - start > 60 * options.minutes:
                for each in waiting:
                    each.cancel()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    start = time.perf_counter()
    wanted = _wanted(tasks(options.packages, options.data), options)
    with TemporaryDirectory() as scratch:
        folder = options.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "does_it_help.jsonl"
        again = options.again or ()
        if again:
            forget(path, again)
        outcomes, sizes = read([*(options.known or ()), path], without=again)
        if not options.report:
            _run(wanted, options, outcomes, path)
            found, of = read([path])
            for place, each in found.items():
                outcomes.setdefault(place, {}).update(each)
            sizes |= of
    names = {task.name for task in wanted}
    outcomes = {place: each for place, each in outcomes.items() if place.task in names}
    text = report(wanted, outcomes, sizes)
    print(text, end="")
    if options.output is not None:
        (options.output / "does_it_help_table.md").write_text(text, encoding="utf-8")
        write_csv(options.output / "does_it_help.csv", outcomes, sizes)
        draw_picture(wanted, outcomes, options.output / "does_it_help.png")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
