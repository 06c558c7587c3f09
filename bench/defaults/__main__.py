"""Every method at its defaults, beside logistic regression of P against U, on a folder of data sets.

python bench/defaults --data DIR [--sets letter=A pima=positive ...] [--output FILE]

The folder holds NAME.csv.gz: a header, numeric columns without missing entries, the last column `label`. A set is given
with the label of its positive class; without --sets eight of them are run. Of each set, for each split, half of the
rows is for training and half for testing, at most --max-rows of each, and a share of the positive training rows is
labelled (--shares); all other training rows are unlabelled. Every method is fitted to standardised and to raw columns;
logistic regression (C=1) always sees standardised ones. What has no default is given: the prior is the true one among
the unlabelled rows, and C_pos = n_unl / n_pos, C_unl = 1. Supervised methods take unlabelled rows as negative, and two
get labelled negatives ("P, U, N"), as many as there are labelled positives; a path gives the model that it selects by
PUF, a supervised one its end. A fit that takes more than --limit seconds is ended: it is slow, has no AUC, the last
rank, and counts as an AUC of 1/2.

Printed are, for each method, its mean rank by AUC, the median difference of AUCs to logistic regression (over all, and
for each share of labels) and the worst, the median share of test rows called positive, median and most seconds of a
fit with one thread, and how many fits warned of what; then the mean AUC on each set. A few functions come once more
with another kernel or basis ("fit_bagging_svm rbf"), and the classes around a user's classifier have that logistic
regression in them.
"""

from __future__ import annotations

import queue
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from fits import METHODS, Outcome, Worker
from report import report
from shared import Parser, Problem, draw, load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from report import Place


#: set -> the label of its positive class; all others are negative.
SETS = {"letter": "A", "spambase": "spam", "pima": "positive", "wdbc": "malignant", "cod-rna": "1", "surgical": "1",
        "credit-g": "bad", "vehicle0": "positive"}  # fmt: skip
SCALINGS = ("standardised", "raw")


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("defaults", __doc__)
    parser.add("--data", "folder of NAME.csv.gz", type=Path, required=True)
    parser.add("--sets", "sets, positive class (default: eight)", nargs="+", metavar="NAME=LABEL")
    parser.add("--shares", "labelled", [0.05, 0.3], nargs="+")
    parser.add("--splits", "random splits", 2)
    parser.add("--max-rows", "to fit, and to test", 2000)
    parser.add("--limit", "seconds of a fit", 90.0)
    parser.add("--jobs", "fits at a time", 2)
    parser.add("--output", "file for the tables, Markdown (default: none written)", type=Path)
    options = parser.parsed(argv, "splits", "max_rows", "jobs", shares=("shares",))
    if options.sets and any("=" not in text for text in options.sets):
        parser.error("--sets must be NAME=LABEL, with the label of the positive class")
    options.sets = dict(text.split("=", 1) for text in options.sets) if options.sets else SETS
    return options


def _problems(options: argparse.Namespace) -> dict[Place, Problem]:
    found = {}
    for name, positive in options.sets.items():
        path = options.data / f"{name}.csv.gz"
        if not path.is_file():
            print(f"{name}: left out, there is no {path.name} in {options.data}", file=sys.stderr)
            continue
        try:
            X, truth = load(path, positive)
            for scaling in SCALINGS:
                for share in options.shares:
                    for seed in range(options.splits):
                        found[name, scaling, share, seed] = draw(
                            X, truth, scaling=scaling, share=share, seed=seed, max_rows=options.max_rows
                        )
        except ValueError as error:
            found = {place: problem for place, problem in found.items() if place[0] != name}
            print(f"{name}: left out, {error}", file=sys.stderr)
    return found


def _run(problems: dict[Place, Problem], options: argparse.Namespace) -> dict[Place, dict[str, Outcome]]:
    """Return the outcome of each method on each problem, several at a time."""
    waiting: queue.SimpleQueue[tuple[Place, str]] = queue.SimpleQueue()
    for place in problems:
        for method in METHODS:
            waiting.put((place, method))
    outcomes: dict[Place, dict[str, Outcome]] = {place: dict.fromkeys(METHODS, Outcome()) for place in problems}

    def work() -> None:
        worker = Worker(options.limit)
        try:
            while True:
                place, method = waiting.get_nowait()
                outcomes[place][method] = worker.judge(method, problems[place])
        except queue.Empty:
            worker.close()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(10)
            print(f"{waiting.qsize()} fits to go", file=sys.stderr)
    return outcomes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    problems = _problems(options)
    if not problems:
        return 2
    text = report(_run(problems, options))
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
