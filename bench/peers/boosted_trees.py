"""Compare fit_boosted_trees with LightGBM and XGBoost on the same bins, leaves and rounds, and bags with a loop.

python bench/peers/boosted_trees.py [--n 200000 1000000] [--threads 1 2] [--output DIR] [--only trees scores bags ...]

Needs fastpu, lightgbm and xgboost in one environment. Every measurement runs in a process of its own, and contenders
take turns within it. Prints Markdown; --output also keeps it. Times of one thread are processor time, which neighbours
on the machine disturb least. --quick tries everything on a few rows.

trees: seconds of a round, the median of `--rounds` of them, binning left out; n x 50 normal float32, 31 leaves.
scores: of n rows by 100 such trees. bags: 20 bags of 100 trees of 8 leaves, 1,500 positive rows and 4,500 of U each, by
fit_boosted_trees and by a loop over LightGBM, with and without the scores of the rows that a bag leaves out.
memory: peak of a fit over the bytes of the float32 rows, these included.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from report_parts import Measured, at_most, machine, median, spread, table
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("trees", "scores", "bags", "memory")
_MEASURES = Path(__file__).with_name("boosted_trees_measures.py")
_QUICK = {"n": [600], "rounds": 3, "repeats": 1, "threads": [1], "bag_rows": 600}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "boosted_trees", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, nargs="+", default=[200_000, 1_000_000], metavar="N", help="rows")
    parser.add_argument("--threads", type=int, nargs="+", default=[t for t in (1, 2) if t <= cpus()], metavar="N")
    parser.add_argument("--rounds", type=int, default=20, help="of a fit that is timed (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="alternating runs (default: %(default)s)")
    parser.add_argument("--bag-rows", type=int, default=200_000, help="rows that bags are drawn from")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for boosted_trees.md")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    return options


def _measure_all(options: argparse.Namespace) -> list[Measured]:
    found: list[Measured] = []

    def add(name: str, n_threads: int, /, **arguments: object) -> None:
        result = measure(_MEASURES, name, {**arguments, "n_threads": n_threads}, omp_threads=n_threads)
        found.append(Measured(name, {**arguments, "n_threads": n_threads}, result))

    for n_threads in options.threads:
        for n in options.n:
            if "trees" in options.only:
                add("trees", n_threads, n=n, rounds=options.rounds, repeats=options.repeats)
            if "scores" in options.only:
                add("scores", n_threads, n=n, repeats=options.repeats)
        if "bags" in options.only:
            add("bags", n_threads, n=options.bag_rows, repeats=options.repeats)
    if "memory" in options.only:
        add("memory", options.threads[-1], n=options.n[-1])
    return found


def _times(title: str, goal: float, measured: Sequence[Measured]) -> str:
    rows = []
    for m in measured:
        times = m.found["seconds"]
        best = min(median(times[name]) for name in times if name != "fastpu")
        rows.append([f"{m.options['n']:,}", str(m.options["n_threads"]), *(spread(times[name]) for name in times),
                     at_most(median(times["fastpu"]) / best, goal)])  # fmt: skip
    return table(title, ["n", "threads", *measured[0].found["seconds"], "fastpu / the faster peer"], rows)


def report(measured: Sequence[Measured]) -> str:
    """Return everything that was measured as Markdown tables."""
    parts = [machine("fastpu", "lightgbm", "xgboost", "numpy")]
    titles = {"trees": "A tree of 31 leaves on 50 features, ms", "scores": "Scores by 100 trees, ms"}
    for name, title in titles.items():
        if chosen := [m for m in measured if m.name == name]:
            parts.append(_times(title, 0.5, chosen))
    if bags := [m for m in measured if m.name == "bags"]:
        rows = []
        for m in bags:
            times = m.found["seconds"]
            for ours, theirs in (("fastpu", "loop"), ("fastpu", "loop with scores")):
                ratio = median(times[ours]) / median(times[theirs])
                rows.append([theirs, str(m.options["n_threads"]), spread(times[ours]), spread(times[theirs]),
                             at_most(ratio, 0.1)])  # fmt: skip
        parts.append(table("20 bags of 100 trees of 8 leaves, ms; fastpu with out-of-bag scores",
                           ["against", "threads", "fastpu", "LightGBM", "fastpu / LightGBM"], rows))  # fmt: skip
    if memory := [m for m in measured if m.name == "memory"]:
        rows = [[f"{m.options['n']:,}", at_most(m.found["ratio"], 2)] for m in memory]
        parts.append(table("Peak memory over the float32 rows", ["n", "ratio"], rows))
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("fastpu", "lightgbm", "xgboost") if find_spec(name) is None]
    if missing:
        print(f"boosted_trees: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    text = report(_measure_all(options))
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "boosted_trees.md").write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
