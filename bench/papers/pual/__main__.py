"""Rerun Tables 1 and 3 of the PUAL paper.

python bench/papers/pual [--data DIR] [--tables 1 3] [--sets wifi Ecoli ...] [--splits 3] [--output DIR]

Table 1 is simulated. Table 3 wants the folder of the real sets (a header, numeric columns, the last one `label`; see
DATA_SETS in sets.py for the names); sets whose file is missing are left out. Parameters are those with the largest PUF
score over four folds, of equal ones the first in the order lam or width, sigma, C_unl; in Table 3 greedy moves by ten
per cent follow.

The paper's figures are those of --splits 5 --every 1 for Table 1 and --splits 10 --every 1 for Table 3.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[2]))

from protocol import Task, run_split
from published import GAMMAS, TABLE_1
from report import Result, head, notes, result_lines
from sets import DATA_SETS, DataSet
from shared import DataError, Parser, find_sets, run_tasks, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("pual", __doc__)
    parser.add_common("folder of the real data sets (default: Table 1 alone)", jobs=True)
    parser.add("--tables", "to rerun", [1, 3], nargs="+", choices=(1, 3))
    parser.add("--means", "mean_p2 in Table 1", sorted(TABLE_1), nargs="+", choices=sorted(TABLE_1))
    parser.add("--sets", "sets of Table 3, of " + ", ".join(data_set.name for data_set in DATA_SETS), nargs="+")
    parser.add("--gammas", "label frequencies in Table 3", list(GAMMAS), nargs="+", choices=list(GAMMAS))
    parser.add("--splits", "paper: 5 and 10", 3)
    parser.add("--every", "of lam (Table 1) and sigma, each so-many-th value; paper: 1", 4)
    parser.add("--scale", "features in Table 3, by the training rows", "standard", choices=("standard", "raw"))
    parser.add("--no-greedy", "leave the greedy moves of Table 3 out", action="store_true")
    parser.add("--seed", "seed of the first split", 0)
    return parser.parsed(argv, "splits", "every", "jobs")


def _lines(options: argparse.Namespace, sets: Sequence[DataSet]) -> dict[int | tuple[str, float], list[Task]]:
    """Return the splits of each line of the tables."""
    seeds = range(options.seed, options.seed + options.splits)
    lines: dict[int | tuple[str, float], list[Task]] = {}
    for mean in options.means if 1 in options.tables else ():
        lines[mean] = [Task(seed, options.every, mean=float(mean)) for seed in seeds]
    for data_set in sets:
        for gamma in options.gammas:
            lines[data_set.name, gamma] = [
                Task(
                    seed,
                    options.every,
                    data_set=data_set,
                    folder=options.data,
                    gamma=gamma,
                    scale=options.scale,
                    refine=not options.no_greedy,
                )
                for seed in seeds
            ]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    sets, status = find_sets(DATA_SETS, options.data, options.sets) if 3 in options.tables else ([], 0)
    lines = _lines(options, sets)
    if status or not lines:
        return 2
    text, results = [head()], []
    print(text[0])
    for key, tasks in lines.items():
        results.append(Result(key, run_tasks(run_split, tasks, options.jobs, str(key))))
        text.append(result_lines(results[-1]))
        print(text[-1], flush=True)
    text.append("\n" + notes(results, [f"{s.name}: {s.note}." for s in sets if s.note]))
    print(text[-1], flush=True)
    write(options.output, "\n".join(text), results, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DataError as error:
        sys.exit(f"pual: {error}")
