"""Rerun Tables 1 and 2 of the ISVM paper.

python bench/papers/isvm_ipsi [--data DIR] [--sets example-1 heart-absent ...] [--replications 10] [--output DIR]

The folder holds heart_statlog.csv.gz and spambase.csv.gz (a header, numeric columns, the last one `label`); the two
simulated examples need no file, and sets whose file is missing are left out. In every replication each method is fitted
with all parameters of its grid to rows of which few are labelled; Table 1 takes the parameters with the smallest error
on a tuning set with true labels, Table 2 those with the smallest Err* on one that has positive labels alone.

The paper's figures are those of --replications 100 --grid-step 0.1.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from protocol import Task, replicate
from published import CASES, TABLES
from report import Result, head, lines, notes
from sets import DATA_SETS, DataError, DataSet, find_sets

if TYPE_CHECKING:
    from collections.abc import Sequence


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(
        "isvm_ipsi", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the real data sets (default: simulated ones alone)")
    names = ", ".join(data_set.name for data_set in DATA_SETS)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help=f"sets to run (default: {names})")
    parser.add_argument("--cases", nargs="+", type=int, choices=CASES, default=list(CASES), help="default: both")
    parser.add_argument("--replications", type=int, default=10, help="default: %(default)s; paper: 100")
    parser.add_argument(
        "--grid-step",
        type=float,
        default=0.5,
        metavar="S",
        help="log10 step of C from -4 to 4 (default: %(default)s; paper: 0.1)",
    )
    parser.add_argument("--weights", type=int, default=15, metavar="N",
                        help="values of w in 0.01 to 0.15 (default: %(default)s, as in the paper)")  # fmt: skip
    parser.add_argument("--rows", type=int, default=1000, metavar="N",
                        help="rows of a simulated example (default: %(default)s)")  # fmt: skip
    parser.add_argument("--scenario", choices=("case_control", "single_set"), default="case_control",
                        help="how rows are drawn (default: %(default)s, the paper's Assumption 1)")  # fmt: skip
    parser.add_argument("--spam", choices=("log", "standard"), default="log",
                        help="SPAM: log(1 + x) or x, standardised (default: %(default)s)")  # fmt: skip
    parser.add_argument("--prior", type=float, default=0.5, help="Pr(Y = 1) in Err* (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first replication (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=cpus, help="processes (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for the tables and raw results (default: none written)")
    options = parser.parse_args(argv)
    for name in ("replications", "weights", "jobs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if not 0 < options.grid_step <= 8:
        parser.error("--grid-step must be in (0, 8]")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}")
    return options


def _run(data_set: DataSet, case: int, options: argparse.Namespace) -> Result:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == options.replications else ""
            print(
                f"\r{data_set.name}, case {case}: {done}/{options.replications}", end=end, file=sys.stderr, flush=True
            )

    tasks = [
        Task(
            data_set=data_set,
            folder=options.data,
            case=case,
            seed=seed,
            scenario=options.scenario,
            prior=options.prior,
            n_rows=options.rows,
            grid_step=options.grid_step,
            n_weights=options.weights,
            logs=options.spam == "log",
        )
        for seed in range(options.seed, options.seed + options.replications)
    ]
    start = time.perf_counter()
    tested = replicate(tasks, options.jobs, progress)
    return Result(data_set, case, tested, time.perf_counter() - start)


def _write(results: Sequence[Result], text: str, folder: Path, options: argparse.Namespace) -> None:
    (folder / "tables.md").write_text(text + "\n")
    with (folder / "replications.csv").open("w", newline="") as file:
        columns = ["table", "case", "set", "method", "seed", "error", "C", "w", "sigma", "lam"]
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        for result in results:
            for i, found in enumerate(result.tested):
                for name, tested in found.items():
                    for table in TABLES:
                        head = {"table": table, "case": result.case, "set": result.data_set.name, "method": name}
                        values = {"seed": options.seed + i, "error": tested.error[table], **tested.params[table]}
                        writer.writerow(head | values)
    raw = {
        "options": {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()},
        "sets": [
            {
                "set": result.data_set.name,
                "case": result.case,
                "seconds": result.seconds,
                "fit_seconds": {name: sum(found[name].seconds for found in result.tested) for name in result.tested[0]},
            }
            for result in results
        ],
    }
    (folder / "tables.json").write_text(json.dumps(raw, indent=1) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, missing = find_sets(options.data, options.sets)
    if missing:
        where = options.data or "no folder (--data)"
        print(f"no file in {where} for: {', '.join(missing)}", file=sys.stderr)
    if not sets or (missing and options.sets):
        return 2
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    results = []
    text = [head()]
    print(text[0])
    for data_set in sets:
        for case in options.cases:
            results.append(_run(data_set, case, options))
            text.append(lines(results[-1]))
            print(text[-1], flush=True)
    grid = f"{round(8 / options.grid_step) + 1} values of C (paper: 81) and {options.weights} of w (paper: 15)"
    text.append("\n" + notes(results, options.replications, grid, options.scenario))
    print(text[-1], flush=True)
    if options.output is not None:
        _write(results, "\n".join(text), options.output, options)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"isvm_ipsi: {error}")
