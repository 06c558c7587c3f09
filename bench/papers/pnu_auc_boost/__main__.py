"""Rerun Table 2 of the PNUAUCBoost paper for a folder of data sets.

python bench/papers/pnu_auc_boost --data DIR [--sets pima ring ...] [--splits 15] [--jobs 2] [--output DIR]

The folder holds NAME.csv.gz: a header, numeric columns, the last column `label`. Which label is positive is in
published.py.

Protocol (section 5.3): 70/15/15 % stratified splits with 85 % of the training labels hidden; gamma, rho and the number
of rounds are chosen by the mean validation AUC over the splits, and the mean test AUC is reported. One fit with all
rounds gives every smaller number. Sets of more than 20,000 training rows are searched over at most 255 quantiles of
each feature, binned once for all parameters; the others over every threshold.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[2]))

from protocol import Protocol, bins_of, choose, load
from published import DATA_SETS
from report import Result, row, summary, table_head
from shared import DataError, Parser, find_sets, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("pnu_auc_boost", __doc__)
    parser.add_common("folder of NAME.csv.gz", required=True, jobs=True)
    parser.add("--sets", "sets to run (default: all of the table that are there)", nargs="+", metavar="NAME")
    parser.add("--splits", "random splits", 15)
    parser.add("--rounds", "most rounds", 400)
    parser.add("--seed", "seed of the first split", 0)
    return parser.parsed(argv, "splits", "rounds", "jobs")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, status = find_sets(DATA_SETS, options.data, options.sets)
    if status or not sets:
        return 2
    protocol = Protocol(range(options.seed, options.seed + options.splits), options.rounds, options.jobs)
    results = []
    lines = [table_head()]
    print(lines[0])
    for data_set in sets:
        path = options.data / data_set.file
        X, y = load(path, data_set.positive)
        choices = choose(protocol, path, data_set.positive, data_set.name)
        results.append(Result(data_set.name, *X.shape, bins_of(round(0.7 * y.size)), choices))
        lines.append(row(results[-1]))
        print(lines[-1], flush=True)
    lines.append(summary(results))
    print(lines[-1], flush=True)
    write(options.output, "\n".join(lines), results, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pnu_auc_boost: {error}")
