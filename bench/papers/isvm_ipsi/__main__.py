"""Rerun Tables 1 and 2 of the ISVM paper.

python bench/papers/isvm_ipsi [--data DIR] [--sets example-1 heart-absent ...] [--replications 10] [--output DIR]

The folder holds heart_statlog.csv.gz and spambase.csv.gz (a header, numeric columns, the last one `label`); the two
simulated examples need no file, and sets whose file is missing are left out. In every replication each method is fitted
with all parameters of its grid to rows of which few are labelled; Table 1 takes the parameters with the smallest error
on a tuning set with true labels, Table 2 those with the smallest Err* on one that has positive labels alone.

The paper's figures are those of --replications 100 --grid-step 0.1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[2]))

from protocol import Task, replicate
from published import CASES
from report import Result, head, lines, notes
from sets import DATA_SETS, DataSet
from shared import DataError, Parser, find_sets, run_tasks, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("isvm_ipsi", __doc__)
    parser.add_common("folder of the real data sets (default: simulated ones alone)", jobs=True)
    parser.add("--sets", "sets to run, of " + ", ".join(data_set.name for data_set in DATA_SETS), nargs="+")
    parser.add("--cases", "of the tables", list(CASES), nargs="+", choices=CASES)
    parser.add("--replications", "paper: 100", 10)
    parser.add("--grid-step", "log10 step of C from -4 to 4, at most 8; paper: 0.1", 0.5)
    parser.add("--weights", "values of w in 0.01 to 0.15, as in the paper", 15)
    parser.add("--rows", "rows of a simulated example", 1000)
    parser.add("--prior", "Pr(Y = 1) in Err*", 0.5)
    parser.add("--seed", "seed of the first replication", 0)
    options = parser.parsed(argv, "replications", "weights", "jobs")
    if not 0 < options.grid_step <= 8:
        parser.error(f"--grid-step must be in (0, 8], got {options.grid_step:g}")
    return options


def _run(data_set: DataSet, case: int, options: argparse.Namespace) -> Result:
    tasks = [
        Task(
            data_set=data_set,
            folder=options.data,
            case=case,
            seed=seed,
            prior=options.prior,
            n_rows=options.rows,
            grid_step=options.grid_step,
            n_weights=options.weights,
        )
        for seed in range(options.seed, options.seed + options.replications)
    ]
    return Result(data_set, case, run_tasks(replicate, tasks, options.jobs, f"{data_set.name}, case {case}"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, status = find_sets(DATA_SETS, options.data, options.sets)
    if status or not sets:
        return 2
    results = []
    text = [head()]
    print(text[0])
    for data_set in sets:
        for case in options.cases:
            results.append(_run(data_set, case, options))
            text.append(lines(results[-1]))
            print(text[-1], flush=True)
    grid = f"{round(8 / options.grid_step) + 1} values of C (paper: 81) and {options.weights} of w (paper: 15)"
    text.append("\n" + notes(results, options.replications, grid))
    print(text[-1], flush=True)
    write(options.output, "\n".join(text), results, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"isvm_ipsi: {error}")
