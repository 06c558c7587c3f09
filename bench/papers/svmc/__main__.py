"""Rerun Table 1 of the SVMC paper, and draw its boundaries after each iteration, for a folder of data sets.

python bench/papers/svmc --data DIR [--sets letter-A wdbc student ...] [--splits 3] [--svm C nu] [--output DIR]

The folder holds letter.csv.gz, wisconsin.csv.gz, wdbc.csv.gz (a header, numeric columns, the last one `label`) and
webkb7.jsonl.gz (lines of {"text", "label"}); sets whose file is missing are left out. One class is positive, all others
are not. Half of the positives are labelled; the other half and all negatives are unlabelled, and every method is judged
on these rows, as the paper does. Pages become TF-IDF rows in CSR, which stay sparse.

Parameters are fixed, as in the paper: nu = 0.01 for the mapping; for the supervised SVMs C (100 for letters, 1 for
breast cancer, 10 for pages), or nu = 0.01, as we read the paper. Only the one-class SVM is given its best parameters on
the true labels of U.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from methods import METHODS, Found, Split, f1
from report import Judged, Result, note, quality_head, quality_row, times_table
from sets import DATA_SETS, DataError, DataSet, find_sets, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NU = 0.01


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser("svmc", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    names = ", ".join(data_set.name for data_set in DATA_SETS)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help=f"sets to run (default: {names})")
    parser.add_argument("--svm", nargs="+", choices=("C", "nu"), default=["C", "nu"],
                        help="supervised SVMs (default: both)")  # fmt: skip
    parser.add_argument("--splits", type=int, default=3, help="random halves of the positives (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first split (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, metavar="N", help="random rows of a set to use (default: all)")
    parser.add_argument("--threads", type=int, default=cpus, help="threads of a fit (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for table, raw results and figures (default: none written)")
    options = parser.parse_args(argv)
    for name in ("splits", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.max_rows is not None and options.max_rows < 20:
        parser.error("--max-rows must be at least 20")
    if not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}")
    return options


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _half(truth: NDArray[np.int8], seed: int) -> NDArray[np.int8]:
    """Return labels: +1 for a random half of the positives, 0 for all other rows."""
    positives = np.flatnonzero(truth > 0)
    y = np.zeros(truth.size, dtype=np.int8)
    y[np.random.default_rng(seed).permutation(positives)[: positives.size // 2]] = 1
    return y


def _judge(found: Found, truth: NDArray[np.int8]) -> Judged:
    def percent(positive: NDArray[np.bool_] | None) -> tuple[float, float]:
        if positive is None:
            return float("nan"), float("nan")
        return 100 * f1(truth, positive), 100 * float(np.mean(positive == (truth > 0)))

    return Judged(*percent(found.positive), *percent(found.kept), found.seconds, found.n_fits, found.params)


def _run(data_set: DataSet, stage: str, options: argparse.Namespace) -> Result:
    X, truth = load(options.data, data_set)
    if options.max_rows is not None:
        rows = np.random.default_rng(options.seed).permutation(truth.size)[: options.max_rows]
        X, truth = X[rows], truth[rows]
    if np.count_nonzero(truth > 0) < 4:
        raise DataError(f"{data_set.name}: only {np.count_nonzero(truth > 0)} positive rows")
    parameters = {"C": data_set.C} if stage == "C" else {"nu": _NU}
    judged: dict[str, list[Judged]] = {method.column: [] for method in METHODS}
    for seed in range(options.seed, options.seed + options.splits):
        y = _half(truth, seed)
        split = Split(X, truth, y, data_set.kernel, parameters, options.threads)
        for method in METHODS:
            _progress(f"{data_set.name}, {stage}, split {seed}: {method.column}")
            judged[method.column].append(_judge(method.run(split), truth[split.unlabeled]))
    _progress("")
    name, value = next(iter(parameters.items()))
    n_pos = np.count_nonzero(truth > 0)
    sizes = (int(n_pos // 2), int(truth.size - n_pos // 2), int(n_pos - n_pos // 2))
    return Result(data_set.name, stage, f"{name} = {value:g}", *sizes, judged)


def _write(results: Sequence[Result], table: str, folder: Path, options: argparse.Namespace) -> None:
    (folder / "table1.md").write_text(table + "\n")
    with (folder / "table1_splits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        fields = list(Judged.__dataclass_fields__)
        writer.writerow(["set", "svm", "method", "seed", *fields])
        for result in results:
            for column, judged in result.judged.items():
                for i, found in enumerate(judged):
                    values = asdict(found)
                    head = [result.name, result.stage_text, column, options.seed + i]
                    writer.writerow([*head, *(values[name] for name in fields)])
    raw = {
        "options": {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()},
        "sets": [asdict(result) for result in results],
    }
    (folder / "table1.json").write_text(json.dumps(raw, indent=1) + "\n")


def _draw(folder: Path) -> None:
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: no figures are drawn", file=sys.stderr)
        return
    from figures import draw_boundaries  # noqa: PLC0415 (optional)

    draw_boundaries(folder / "boundaries.png")


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
    lines = [quality_head()]
    print(lines[0])
    for data_set in sets:
        for stage in options.svm:
            results.append(_run(data_set, stage, options))
            lines.append(quality_row(results[-1]))
            print(lines[-1], flush=True)
    lines += ["", note(options.splits), "", times_table(results)]
    print("\n".join(lines[-4:]), flush=True)
    if options.output is not None:
        _write(results, "\n".join(lines), options.output, options)
        _draw(options.output)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"svmc: {error}")
