"""Rerun Table 1 of the SVMC paper for a folder of data sets.

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

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))

from methods import METHODS, Found, Split, f1
from report import Judged, Result, note, quality_head, quality_row, times_table
from sets import DATA_SETS, DataSet, load
from shared import DataError, Parser, cpus, find_sets, progress, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NU = 0.01


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("svmc", __doc__)
    parser.add_common("folder of the data sets", required=True)
    parser.add("--sets", "sets to run, of " + ", ".join(data_set.name for data_set in DATA_SETS), nargs="+")
    parser.add("--svm", "supervised SVMs", ["C", "nu"], nargs="+", choices=("C", "nu"))
    parser.add("--splits", "random halves of the positives", 3)
    parser.add("--seed", "seed of the first split", 0)
    parser.add("--threads", "threads of a fit", cpus())
    return parser.parsed(argv, "splits", "threads")


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
    if np.count_nonzero(truth > 0) < 4:
        raise DataError(f"{data_set.name}: only {np.count_nonzero(truth > 0)} positive rows")
    parameters = {"C": data_set.C} if stage == "C" else {"nu": _NU}
    judged: dict[str, list[Judged]] = {method.column: [] for method in METHODS}
    for seed in range(options.seed, options.seed + options.splits):
        y = _half(truth, seed)
        split = Split(X, truth, y, data_set.kernel, parameters, options.threads)
        for method in METHODS:
            progress(f"{data_set.name}, {stage}, split {seed}: {method.column}")
            judged[method.column].append(_judge(method.run(split), truth[split.unlabeled]))
    progress("")
    name, value = next(iter(parameters.items()))
    n_pos = np.count_nonzero(truth > 0)
    sizes = (int(n_pos // 2), int(truth.size - n_pos // 2), int(n_pos - n_pos // 2))
    return Result(data_set.name, stage, f"{name} = {value:g}", *sizes, judged)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, status = find_sets(DATA_SETS, options.data, options.sets)
    if status or not sets:
        return 2
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
    write(options.output, "\n".join(lines), results, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"svmc: {error}")
