"""Rerun Tables 1 and 3 of the PUAL paper.

python bench/papers/pual [--data DIR] [--tables 1 3] [--sets wifi Ecoli ...] [--splits 3] [--output DIR]

Table 1 is simulated. Table 3 wants the folder of the real sets (a header, numeric columns, the last one `label`; see
DATA_SETS in sets.py for the names); sets whose file is missing are left out. Parameters are those with the largest PUF
score over four folds, of equal ones the first in the order lam or width, sigma, C_unl; in Table 3 greedy moves by ten
per cent follow. uPU and nnPU join if this fastpu has them.

With --output, Figures 3 (boundaries), 4 (differences) and, if scikit-learn is there, 5 and 6 (maps) are drawn as well.
The paper's figures are those of --splits 5 --every 1 for Table 1 and --splits 10 --every 1 for Table 3.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from protocol import Task, run_tasks
from published import GAMMAS, TABLE_1
from report import Result, head, line, notes
from sets import DATA_SETS, DataError, DataSet, find_sets

if TYPE_CHECKING:
    from collections.abc import Sequence


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser("pual", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the real data sets (default: Table 1 alone)")
    parser.add_argument("--tables", nargs="+", type=int, choices=(1, 3), default=[1, 3], help="default: both")
    parser.add_argument("--means", nargs="+", type=int, choices=sorted(TABLE_1), default=sorted(TABLE_1),
                        metavar="M", help="mean_p2 in Table 1 (default: %(default)s)")  # fmt: skip
    names = ", ".join(data_set.name for data_set in DATA_SETS)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help=f"sets of Table 3 (default: {names})")
    parser.add_argument("--gammas", nargs="+", type=float, choices=list(GAMMAS), default=list(GAMMAS),
                        metavar="G", help="label frequencies in Table 3 (default: %(default)s)")  # fmt: skip
    parser.add_argument("--splits", type=int, default=3, help="default: %(default)s; paper: 5 and 10")
    parser.add_argument(
        "--every",
        type=int,
        default=4,
        metavar="N",
        help="of lam (Table 1) and sigma, each so-many-th value (default: %(default)s; paper: 1)",
    )
    parser.add_argument("--forms", nargs="+", choices=("exact", "paper"), default=["exact", "paper"],
                        help="kernel forms in Table 3 (default: both)")  # fmt: skip
    parser.add_argument("--scale", choices=("standard", "raw"), default="standard",
                        help="features in Table 3 (default: %(default)s, by the training rows)")  # fmt: skip
    parser.add_argument("--no-greedy", action="store_true", help="leave the greedy moves of Table 3 out")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first split (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=cpus, help="processes (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for the tables, raw results and figures (default: none)")
    options = parser.parse_args(argv)
    for name in ("splits", "every", "jobs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}")
    return options


def _run(table: int, key: int | tuple[str, float], tasks: Sequence[Task], jobs: int) -> Result:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == len(tasks) else ""
            print(f"\rtable {table}, {key}: {done}/{len(tasks)}", end=end, file=sys.stderr, flush=True)

    start = time.perf_counter()
    return Result(table, key, run_tasks(tasks, jobs, progress), time.perf_counter() - start)


def _results(options: argparse.Namespace, sets: Sequence[DataSet]) -> list[Result]:
    results = []
    print(head())
    seeds = range(options.seed, options.seed + options.splits)
    if 1 in options.tables:
        for mean in options.means:
            tasks = [Task(seed, options.every, mean=float(mean)) for seed in seeds]
            results.append(_run(1, mean, tasks, options.jobs))
            print(line(results[-1]), flush=True)
    for data_set in sets:
        for gamma in options.gammas:
            tasks = [
                Task(
                    seed,
                    options.every,
                    data_set=data_set,
                    folder=options.data,
                    gamma=gamma,
                    forms=tuple(options.forms),
                    scale=options.scale,
                    refine=not options.no_greedy,
                )
                for seed in seeds
            ]
            results.append(_run(3, (data_set.name, gamma), tasks, options.jobs))
            print(line(results[-1]), flush=True)
    return results


def _write(results: Sequence[Result], text: str, options: argparse.Namespace, sets: Sequence[DataSet]) -> None:
    folder = options.output
    (folder / "tables.md").write_text(text + "\n")
    with (folder / "splits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "line", "method", "seed", "f1", "seconds", "params"])
        for result in results:
            for i, found in enumerate(result.tested):
                for name, tested in found.items():
                    values = [tested.f1, tested.seconds, json.dumps(tested.params)]
                    writer.writerow([result.table, result.name, name, options.seed + i, *values])
    raw = {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()}
    (folder / "options.json").write_text(json.dumps(raw, indent=1) + "\n")
    if find_spec("matplotlib") is None:
        print("without matplotlib there are no figures", file=sys.stderr)
        return
    from figures import draw_boundaries, draw_differences, draw_map  # noqa: PLC0415 - they need matplotlib

    if 1 in options.tables:
        draw_boundaries(folder / "figure3.png", options.every, options.seed)
    draw_differences(results, folder / "figure4.png")
    if find_spec("sklearn") is None:
        print("without scikit-learn there are no t-SNE maps", file=sys.stderr)
        return
    for data_set in sets:
        if data_set.perplexity:
            path = folder / f"figure{data_set.figure}_{data_set.name}.png"
            draw_map(data_set, options.data, path, options.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets: list[DataSet] = []
    if 3 in options.tables:
        sets, missing = find_sets(options.data, options.sets)
        if missing:
            where = options.data or "no folder (--data)"
            print(f"no file in {where} for: {', '.join(missing)}", file=sys.stderr)
        if missing and options.sets:
            return 2
    if 1 not in options.tables and not sets:
        return 2
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    results = _results(options, sets)
    remarks = [f"{s.name}: {s.note}." for s in sets if s.note]
    tail = "\n" + notes(results, remarks)
    print(tail, flush=True)
    if options.output is not None:
        _write(results, "\n".join([head(), *map(line, results), tail]), options, sets)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pual: {error}")
