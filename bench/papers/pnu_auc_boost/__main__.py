"""Rerun Table 2 and Figures 1 and 2 of the PNUAUCBoost paper for a folder of data sets.

python bench/papers/pnu_auc_boost --data DIR [--sets pima ring ...] [--splits 15] [--jobs 2] [--output DIR]

The folder holds NAME.csv.gz: a header, numeric columns, the last column `label`. Which label is positive is in
published.py (the rarer one for a set that the paper does not have).

Protocol (section 5.3): 70/15/15 % stratified splits with 85 % of the training labels hidden; gamma, rho and the number
of rounds are chosen by the mean validation AUC over the splits, and the mean test AUC is reported. One fit with all
rounds gives every smaller number. Sets of more than --exact-rows training rows are searched over at most --max-bins
quantiles of each feature, binned once for all parameters; the others over every threshold.
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

import numpy as np
from methods import METHODS
from protocol import Evaluation, describe
from published import COLUMNS, OURS, PRINTED, DataError, DataSet, find_sets, load
from report import Result, compare, printed_ranks, ranks_of, row, summary, table_head

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIGURE_2 = ("vehicle2", "insurance", "phoneme", "vehicle0", "ring", "surgical", "pima")  # the first three there are


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(
        "pnu_auc_boost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of NAME.csv.gz")
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", help="sets to run (default: all of the table that are there)"
    )
    parser.add_argument("--splits", type=int, default=15, help="random splits (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=400, help="most rounds (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first split (default: %(default)s)")
    parser.add_argument(
        "--max-bins", type=int, default=255, help="cuts of a feature of large sets (default: %(default)s)"
    )
    parser.add_argument(
        "--exact-rows",
        type=int,
        default=20_000,
        help="training rows up to which search is exact (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=cpus, help="processes (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for table, raw results and figures (default: none written)")
    options = parser.parse_args(argv)
    for name in ("splits", "rounds", "jobs", "max_bins"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}")
    return options


def _progress(name: str, n_splits: int, done: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{name}: {done}/{n_splits} splits", end="\n" if done == n_splits else "", file=sys.stderr, flush=True)


def _run(evaluation: Evaluation, data_set: DataSet, path: Path, options: argparse.Namespace) -> Result:
    start = time.perf_counter()
    X, y = load(path, data_set.positive)
    choices = evaluation.run(path, data_set.positive, lambda done: _progress(data_set.name, options.splits, done))
    exact = round(0.7 * y.size) <= options.exact_rows
    seconds = time.perf_counter() - start
    max_bins = None if exact else options.max_bins
    return Result(data_set.name, X.shape[0], X.shape[1], max_bins, choices, seconds)


def _write(results: Sequence[Result], table: str, folder: Path, options: argparse.Namespace) -> None:
    (folder / "table2.md").write_text(table + "\n")
    fields = ["set", "method", "seed", "valid_auc", "test_auc", *dict.fromkeys(n for m in METHODS for n in m.grid[0])]
    with (folder / "table2_splits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*fields, "n_rounds"], restval="")
        writer.writeheader()
        for result in results:
            for column, choice in result.choices.items():
                for i, (valid, test) in enumerate(zip(choice.valid.tolist(), choice.test.tolist(), strict=True)):
                    head = {"set": result.name, "method": column, "seed": options.seed + i}
                    writer.writerow({**head, "valid_auc": valid, "test_auc": test, **choice.params})
    report = {
        "options": {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()},
        "critical_difference": ranks_of(results).critical_difference,
        "mean_ranks": dict(zip(ranks_of(results).columns, ranks_of(results).means.tolist(), strict=True)),
        "sets": {
            result.name: {
                "n_rows": result.n_rows,
                "n_features": result.n_features,
                "max_bins": result.max_bins,
                "seconds": result.seconds,
                "methods": {
                    column: {
                        "params": choice.params,
                        "valid_auc": choice.valid.tolist(),
                        "test_auc": choice.test.tolist(),
                        "p": compare(result.choices[OURS].test, choice.test).p,
                    }
                    for column, choice in result.choices.items()
                },
            }
            for result in results
        },
    }
    (folder / "table2.json").write_text(json.dumps(report, indent=1) + "\n")


def _draw(
    evaluation: Evaluation, results: Sequence[Result], files: dict[str, tuple[DataSet, Path]], folder: Path
) -> None:
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: no figures are drawn", file=sys.stderr)
        return
    from figures import draw_critical_difference, draw_rounds  # noqa: PLC0415 (optional)

    titles = {method.column: method.title for method in METHODS}
    panels = [
        (f"Here, {len(results)} data sets", ranks_of(results), titles),
        (f"The paper's Table 2, {len(PRINTED)} data sets", printed_ranks(COLUMNS, list(PRINTED)), {OURS: titles[OURS]}),
    ]
    draw_critical_difference(panels, folder / "figure1.png")
    by_name = {result.name: result for result in results}
    shown = ([name for name in _FIGURE_2 if name in by_name] or list(by_name))[:3]
    curves = {}
    for name in shown:
        choice = by_name[name].choices[OURS]
        data_set, path = files[name]
        curves[name] = (describe(choice.params), evaluation.curves(path, data_set.positive, choice))
    draw_rounds(curves, folder / "figure2.png")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, missing = find_sets(options.data, options.sets)
    if missing:
        print(f"no file in {options.data} for: {', '.join(missing)}", file=sys.stderr)
    if not sets or (missing and options.sets):
        return 2
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    results = []
    lines = [table_head()]
    print(lines[0])
    with Evaluation(
        n_splits=options.splits,
        n_rounds=options.rounds,
        seed=options.seed,
        max_bins=options.max_bins,
        exact_rows=options.exact_rows,
        jobs=options.jobs,
    ) as evaluation:
        for data_set, path in sets:
            results.append(_run(evaluation, data_set, path, options))
            lines.append(row(results[-1]))
            print(lines[-1], flush=True)
        lines.append(summary(results))
        print(lines[-1], flush=True)
        if options.output is not None:
            files = {data_set.name: (data_set, path) for data_set, path in sets}
            _write(results, "\n".join(lines), options.output, options)
            _draw(evaluation, results, files, options.output)
    names = ", ".join(f"{np.round(result.seconds, 1):g} s {result.name}" for result in results)
    print(f"\n{options.splits} splits, {time.perf_counter() - start:.0f} s ({names})", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pnu_auc_boost: {error}")
