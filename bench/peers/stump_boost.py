"""Time fastpu's stump boosting against LightGBM and XGBoost in one run, quality beside speed.

python bench/peers/stump_boost.py [--n 200000 1000000] [--threads 1 2] [--output DIR] [--only round fit ...]

Needs fastpu, lightgbm and xgboost in one environment, and nothing else at work on the machine. Every measurement runs
in a process of its own, with as many OpenMP threads as it is allowed and one BLAS thread; contenders take turns within
it. Prints Markdown; --output also keeps it, with every single time as JSON.

Rows: n x 50 normal float32; positive where five features, the sign of a sixth and noise sum above 0; 15 % are labelled.
A round is (time of 300 rounds - time of 100 rounds) / 200 on features binned before. AUC is that on 100,000 other rows.
The pairwise version of Table 3 is timed by pairwise_numpy.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from running import cpus, measure
from stump_boost_report import Measured, report

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("round", "fit", "scaling", "memory", "predict", "curve")
_PEERS = ["LightGBM", "XGBoost"]
_MEASURES = Path(__file__).with_name("stump_boost_measures.py")


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    up_to = [t for t in (1, 2, 4, 8, 16, 32, 64) if t <= cpus()]
    parser = argparse.ArgumentParser(
        "stump_boost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def sizes(flag: str, default: list[int], text: str) -> None:
        parser.add_argument(
            flag, type=int, nargs="+", default=default, metavar="N", help=f"{text} (default: %(default)s)"
        )

    def size(flag: str, default: int, text: str) -> None:
        parser.add_argument(flag, type=int, default=default, metavar="N", help=f"{text} (default: %(default)s)")

    sizes("--n", [200_000, 1_000_000], "rows of a round; the first also for whole fits and exact thresholds")
    sizes("--threads", up_to[:2], "numbers of threads")
    sizes(
        "--curve",
        up_to,
        "threads of fastpu's own curve, at the last --n",
    )
    sizes("--scaling", [100_000, 1_600_000], "rows whose rounds are compared")
    size("--memory-n", 1_000_000, "rows of the memory measurement")
    size("--predict-n", 1_000_000, "rows to score")
    size("--stumps", 500, "stumps of whole fits and of the models that score")
    size("--repeats", 5, "alternating runs")
    parser.add_argument(
        "--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: everything)"
    )
    parser.add_argument("--output", type=Path, help="folder for stump_boost.md and stump_boost.json")
    return parser.parse_args(argv)


def _measure_all(options: argparse.Namespace) -> list[Measured]:
    found: list[Measured] = []
    repeats = options.repeats

    def add(name: str, n_threads: int, /, **arguments: Any) -> None:
        threads = {} if name == "thread_curve" else {"n_threads": n_threads}  # the curve has its own numbers of them
        result = measure(_MEASURES, name, arguments | threads, omp_threads=n_threads)
        found.append(Measured(name, {**arguments, "n_threads": n_threads}, result))

    for n_threads in options.threads:
        if "round" in options.only:
            for n in options.n:
                exact = ["fastpu, exact thresholds"] if n == options.n[0] else []
                names = ["fastpu", *exact, *_PEERS]
                add("rounds", n_threads, n=n, names=names, judged=["fastpu, labelled positives only"], repeats=repeats)
            add("copy_bandwidth", n_threads, repeats=repeats, megabytes=400)
        if "fit" in options.only:
            names = ["fastpu", "LightGBM"]
            add("whole_fit", n_threads, n=options.n[0], names=names, repeats=repeats, n_rounds=options.stumps)
        if "scaling" in options.only:
            add("scaling", n_threads, sizes=options.scaling, repeats=repeats)
        if "predict" in options.only:
            names = ["fastpu", *_PEERS]
            more = {"n_stumps": options.stumps, "train_rows": 100_000, "repeats": repeats}
            add("prediction", n_threads, n=options.predict_n, names=names, **more)
        if "memory" in options.only:
            for name in ("fastpu", *_PEERS):
                add("memory", n_threads, n=options.memory_n, name=name, n_rounds=20)
    if "curve" in options.only:
        add("thread_curve", max(options.curve), n=options.n[-1], threads=options.curve, repeats=repeats)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("fastpu", "lightgbm", "xgboost") if find_spec(name) is None]
    if missing:
        print(f"stump_boost: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _measure_all(options)
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "stump_boost.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "stump_boost.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
