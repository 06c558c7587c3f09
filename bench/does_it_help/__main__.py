"""Does learning from positive and unlabelled rows help? Thirteen tasks, what people do today, and this library.

python bench/does_it_help --data DIR [--tasks spam ring ...] [--shares .01 .05 .3] [--splits 5] [--output DIR]

DIR holds the tables as NAME.csv.gz (a header, numeric columns, the last column `label`) and webkb7.jsonl.gz; two tasks
are simulated. Needs fastpu, scikit-learn, LightGBM, pulearn and matplotlib. For each task, share and split, half of the
rows (at most --max-rows) is to fit, others are to test on, and the share of the positive training rows, five at least,
is labelled. Every learner gets the same rows, dense ones standardised, and keeps its defaults; none sees a true class,
but for "all labels known", the best of three supervised learners on the true classes, which is what could be had.
SARClassifier, which is told the column that decides who is labelled, is judged where one does, in a table of its own.

Printed are means over tasks and shares of AUC, average precision and precision among the top 1 % of the test rows,
mean ranks, and the critical difference: learners whose mean ranks differ by less cannot be told apart (Nemenyi, 5 %,
tasks as the blocks). --output keeps it as does_it_help.md, every number as JSON, and two pictures.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from learners import LEARNERS, NOT_AT_RANDOM, ORACLE, judge
from report import Place, draw_pictures, report
from shared import Parser
from tasks import TASKS, draw
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from learners import Outcome


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("does_it_help", __doc__)
    parser.add("--data", "folder of the tables", type=Path, required=True)
    parser.add("--tasks", "to run (default: all)", nargs="+", choices=TASKS, default=list(TASKS), metavar="NAME")
    parser.add("--learners", "to judge (default: all)", nargs="+", choices=LEARNERS, default=list(LEARNERS),
               metavar="NAME")  # fmt: skip
    parser.add("--shares", "labelled", [0.01, 0.05, 0.3], nargs="+")
    parser.add("--splits", "random splits", 5)
    parser.add("--max-rows", "to fit", 4000)
    parser.add("--jobs", "problems at a time", 2)
    parser.add("--output", "folder for the tables and pictures", type=Path)
    return parser.parsed(argv, "splits", "max_rows", "jobs", shares=("shares",))


def _run_task(task: str, options: argparse.Namespace, seed: int) -> dict[Place, dict[str, Outcome]]:
    """Judge every learner on one split of a task, for every share."""
    X, truth = TASKS[task].rows(options.data)
    found: dict[Place, dict[str, Outcome]] = {}
    known: dict[str, Outcome] = {}  # the oracle sees the same rows whatever the share
    learners = [name for name in options.learners if name != NOT_AT_RANDOM or TASKS[task].labelled_by is not None]
    for share in options.shares:
        problem = draw(X, truth, share=share, seed=seed, max_rows=options.max_rows, labelled_by=TASKS[task].labelled_by)
        judged = {name: judge(name, problem, seed) for name in learners if name not in known}
        known |= {name: outcome for name, outcome in judged.items() if name == ORACLE}
        found[Place(task, share, seed)] = {name: known.get(name) or judged[name] for name in learners}
    return found


def _run(options: argparse.Namespace) -> dict[Place, dict[str, Outcome]]:
    outcomes: dict[Place, dict[str, Outcome]] = {}
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        waiting = [
            (task, pool.submit(_run_task, task, options, seed))
            for task in options.tasks
            for seed in range(options.splits)
        ]
        for done, (task, future) in enumerate(waiting, start=1):
            outcomes |= future.result()
            print(f"{done} of {len(waiting)}: {task}", file=sys.stderr, flush=True)
    return outcomes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    start = time.perf_counter()
    outcomes = _run(options)
    text = report(outcomes)
    print(text, end="")
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "does_it_help.md").write_text(text)
        raw: list[dict[str, Any]] = [
            vars(place) | {"learner": name} | vars(outcome)
            for place, each in outcomes.items()
            for name, outcome in each.items()
        ]
        (options.output / "does_it_help.json").write_text(json.dumps(raw, indent=1) + "\n")
        draw_pictures(outcomes, options.output)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
