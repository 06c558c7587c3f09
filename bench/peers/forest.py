"""Compare fit_forest with scikit-learn's trees in a loop, LightGBM and others: speed, and quality on real tables.

python bench/peers/forest.py [--data DIR] [--threads 1 2] [--output DIR] [--only quality fits ...]

Needs fastpu, scikit-learn, joblib and lightgbm in one environment; for the times, nothing else at work on the machine.
Every measurement runs in a process of its own, and contenders take turns within it. Prints Markdown; --output also
keeps it, with every single time as JSON. --quick tries everything on a few rows.

quality: on the sets of --data, half of the rows (at most --max-rows) to fit and half to test, a share of the positive
rows labelled and all others unlabelled; AUC and average precision against the true classes. --variant adds fit_forest
with other arguments, as JSON: --variant '{"bag_ratio": 1.0}'.
fits, scores, scaling, memory: the rows of bench/peers/workload.py, n x 50 normal float32.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from forest_report import Measured, report
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

#: set -> the label of its positive class; all others are negative.
SETS = {
    "spambase": "spam", "pima": "positive", "ring": "0", "vehicle0": "positive", "credit-g": "bad",
    "wisconsin": "positive", "wdbc": "malignant", "monk-2": "0", "surgical": "1", "cod-rna": "1",
    "insurance_part44": "1", "letter": "A", "occupancy_train": "1", "raisin": "Besni", "heart_statlog": "presence",
}  # fmt: skip
_PARTS = ("quality", "fits", "scores", "scaling", "memory")
_NAMES = ("fit_forest", "fit_forest, nnpu", "loop over ExtraTreeClassifier", "LightGBM",
          "LightGBM, 8 leaves, rate .05", "random forest", "logistic regression", "fit_pnu_auc_boost",
          "fit_bagging_svm")  # fmt: skip
_MEASURES = Path(__file__).with_name("forest_measures.py")
_QUICK = {"repeats": 1, "n": [400], "n_trees": 5, "splits": 1, "shares": [0.3], "max_rows": 60, "score_rows": 300}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "forest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the sets, as NAME.csv.gz with a last column label")
    parser.add_argument("--sets", nargs="+", metavar="NAME=POSITIVE", help="other sets (default: fifteen)")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.05, 0.3], help="labelled (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=5, help="of each set (default: %(default)s)")
    parser.add_argument("--first-split", type=int, default=0, metavar="N", help="its seed (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=5000, help="to fit (default: %(default)s)")
    parser.add_argument("--learners", nargs="+", choices=_NAMES, default=_NAMES, metavar="NAME", help="default: all")
    parser.add_argument("--variant", action="append", default=[], metavar="JSON", help="fit_forest with arguments")
    parser.add_argument("--threads", type=int, nargs="+", default=[t for t in (1, 2) if t <= cpus()], metavar="N",
                        help="numbers of threads; the last for quality (default: %(default)s)")  # fmt: skip
    parser.add_argument("--n", type=int, nargs="+", default=[20_000, 200_000], metavar="N", help="rows of a fit")
    parser.add_argument("--n-trees", type=int, default=500, metavar="N", help="of timed forests (default: %(default)s)")
    parser.add_argument("--score-rows", type=int, default=200_000, metavar="N", help="to score (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="alternating runs (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for forest.md and forest.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    options.sets = dict(each.split("=", 1) for each in options.sets) if options.sets else SETS
    if options.data is None and "quality" in options.only:
        print("forest: without --data, quality is left out", file=sys.stderr)
    return options


def _measure_all(options: argparse.Namespace) -> list[Measured]:
    found: list[Measured] = []

    def add(name: str, n_threads: int, /, **arguments: object) -> None:
        result = measure(_MEASURES, name, {**arguments, "n_threads": n_threads}, omp_threads=n_threads)
        found.append(Measured(name, {**arguments, "n_threads": n_threads}, result))

    shared = {"n_trees": options.n_trees, "repeats": options.repeats}
    n_pos = [n // 20 if n <= 20_000 else n // 10 for n in options.n]
    for n_threads in options.threads:
        for n, positives in zip(options.n, n_pos, strict=True) if "fits" in options.only else ():
            add("fits", n_threads, n=n, n_pos=positives, **shared)
        if "scores" in options.only:
            add("scores", n_threads, n=options.score_rows, n_pos=n_pos[0], **shared)
    if "scaling" in options.only:
        sizes = [max(2, n_pos[-1] // 16), max(32, n_pos[-1])]
        add("scaling", options.threads[0], n=options.n[-1], sizes=sizes, **shared)
    if "memory" in options.only:
        add("memory", options.threads[-1], n=options.n[-1], n_pos=n_pos[-1], n_trees=options.n_trees)
    if "quality" in options.only and options.data is not None:
        for name, positive in options.sets.items():
            for share in options.shares:
                path = str(options.data / f"{name}.csv.gz")
                result = measure(_MEASURES, "quality", {
                    "path": path, "positive": positive, "share": share, "first_split": options.first_split,
                    "splits": options.splits,
                    "max_rows": options.max_rows, "names": list(options.learners),
                    "variants": {text: json.loads(text) for text in options.variant},
                    "n_threads": options.threads[-1],
                }, omp_threads=options.threads[-1])  # fmt: skip
                found.append(Measured("quality", {"set": name, "share": share}, result))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("fastpu", "sklearn", "joblib", "lightgbm") if find_spec(name) is None]
    if missing:
        print(f"forest: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _measure_all(options)
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "forest.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "forest.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
