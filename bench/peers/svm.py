"""Time fastpu's SVMs and mapping convergence against scikit-learn and pulearn in one run, quality beside speed.

python bench/peers/svm.py [--data DIR] [--n 2000 8000 20000] [--threads 1 2] [--output DIR] [--only fit score ...]

Needs fastpu, scikit-learn and pulearn in one environment, and nothing else at work on the machine. Every measurement
runs in a process of its own with one BLAS thread; contenders take turns within it, after a small fit each to warm up.
Prints Markdown; --output also keeps it, with every single time as JSON. --quick tries everything on a few rows.

Rows: n x 20 of make_classification (10 informative features, 3 clusters a class, 2 % of the labels flipped), rbf kernel
with gamma 0.05, tol 1e-3, cache 500 MB. With the folder of --data (letter.csv.gz, webkb7.jsonl.gz) also a letter of
Letter recognition in [0, 1] and the pages of students as TF-IDF in CSR, each against the rest, and mapping convergence
on Letter with gamma 1 and C = 100, half of the positives labelled. scikit-learn has no threads to give an SVM; if
scikit-learn-intelex is installed, whose C- and nu-SVMs have, it takes part in fits and scores.
Solutions are judged by the dual objective and the KKT violation, both computed in float64 from alpha alone.
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
from svm_report import Measured, report

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("fit", "letter", "text", "score", "mapping", "agreement", "bagging", "memory")
_NEED_DATA = ("letter", "text", "mapping", "agreement")
_MEASURES = Path(__file__).with_name("svm_measures.py")
_PEER = "scikit-learn"

_RBF = {"kernel": "rbf", "gamma": 0.05}
_LETTER = {"kernel": "rbf", "gamma": 1.0}
_TEXT = ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 1.0})
_QUICK = {"n": [200], "repeats": 1, "cache_mb": 2.0, "test_n": 100, "bagging_n": 300, "bags": 3, "memory_n": 500,
          "data_rows": 600}  # fmt: skip


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("svm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def number(flag: str, kind: type, default: float, text: str) -> None:
        parser.add_argument(flag, type=kind, default=default, metavar="N", help=f"{text} (default: %(default)s)")

    parser.add_argument("--data", type=Path, help="folder of letter.csv.gz and webkb7.jsonl.gz")
    parser.add_argument("--n", type=int, nargs="+", default=[2000, 8000, 20_000], metavar="N",
                        help="rows of the fits; the last but one also for scores (default: %(default)s)")  # fmt: skip
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N",
                        help="numbers of threads (default: %(default)s)")  # fmt: skip
    parser.add_argument("--letters", nargs="+", default=["A", "B", "C", "D", "E"], metavar="L",
                        help="letters whose never-rejected rows are compared; the first is timed")  # fmt: skip
    number("--repeats", int, 5, "alternating runs")
    number("--cache-mb", float, 500.0, "kernel cache of all libraries")
    number("--test-n", int, 20_000, "rows to score")
    number("--bagging-n", int, 5000, "rows of the bagging SVM, a tenth of them labelled")
    number("--bags", int, 35, "its bags")
    number("--memory-n", int, 20_000, "rows of the memory measurement")
    parser.add_argument("--data-rows", type=int, metavar="N", help="rows of the sets of --data (default: all)")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for svm.md and svm.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    for part in _NEED_DATA:
        if options.data is None and part in options.only:
            print(f"svm: without --data, {part} is left out", file=sys.stderr)
    return options


class _Run:
    """The measurements of one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.found: list[Measured] = []
        self.shared = {"tol": 1e-3, "cache_mb": options.cache_mb}
        self.repeats = {"repeats": options.repeats}
        self.names = [f"fastpu {dtype} {n}" for n in options.threads for dtype in ("float64", "float32")]
        if find_spec("sklearnex") is not None:
            self.names += [f"{_PEER}-intelex {n}" for n in options.threads]
        self.names.append(_PEER)

    def add(self, name: str, n_threads: int | None = None, /, **arguments: Any) -> None:
        """Measure, and keep the result."""
        result = measure(_MEASURES, name, arguments, omp_threads=n_threads or max(self.options.threads))
        self.found.append(Measured(name, arguments, result))

    def who(self, kind: str) -> list[str]:
        """Return the names of those that solve this problem."""
        return [name for name in self.names if kind != "one_class" or "intelex" not in name]

    def fit(self) -> None:
        """C-, nu- and one-class SVMs of every size."""
        kinds = [("c_svm", 1.0), ("c_svm", 100.0), ("nu_svm", 0.1), ("nu_svm", 0.3), ("one_class", 0.1)]
        for n in self.options.n:
            for kind, parameter in kinds:
                self.add("fits", kind=kind, rows=n, parameter=parameter, kernel=_RBF, names=self.who(kind),
                         **self.shared, **self.repeats)  # fmt: skip

    def letter(self) -> None:
        """A letter against the others."""
        rows = f"letter-{self.options.letters[0]}"
        for parameter in (1.0, 100.0):
            self.add("fits", kind="c_svm", rows=rows, parameter=parameter, kernel=_LETTER, names=self.names,
                     **self.from_data(), **self.shared, **self.repeats)  # fmt: skip

    def text(self) -> None:
        """Pages of students against the others."""
        for kernel in _TEXT:
            self.add("fits", kind="c_svm", rows="student", parameter=1.0, kernel=kernel, names=self.names,
                     **self.from_data(), **self.shared, **self.repeats)  # fmt: skip

    def score(self) -> None:
        """Scores of other rows, and of the pages."""
        n = self.options.n[-2:][0]
        arguments = {"n_test": self.options.test_n, **self.shared, **self.repeats}
        for kind, parameter in (("c_svm", 1.0), ("one_class", 0.1)):
            self.add("scoring", kind=kind, rows=n, parameter=parameter, kernel=_RBF, names=self.who(kind), **arguments)
        if self.options.data is not None and "text" in self.options.only:
            for kernel in _TEXT:
                self.add("scoring", kind="c_svm", rows="student", parameter=1.0, kernel=kernel, names=self.names,
                         **self.from_data(), **arguments)  # fmt: skip

    def mapping(self) -> None:
        """SVMC, SMC and one SVM on a letter."""
        self.add("mapping", rows=f"letter-{self.options.letters[0]}", threads=self.options.threads, C=100.0,
                 **_LETTER, **self.from_data(), **self.shared, **self.repeats)  # fmt: skip

    def agreement(self) -> None:
        """Rows that SVMC never rejects."""
        rows = [f"letter-{letter}" for letter in self.options.letters]
        self.add("agreement", rows=rows, n_threads=max(self.options.threads), tols=[1e-3, 1e-6], C=100.0, **_LETTER,
                 **self.from_data(), cache_mb=self.options.cache_mb)  # fmt: skip

    def bagging(self) -> None:
        """Bags as large as the labelled rows are many, and pulearn's default, as many as all unlabelled rows."""
        n = self.options.bagging_n
        for bag_size in (n // 10, n - n // 10):
            self.add("bagging", n=n, n_pos=n // 10, n_bags=self.options.bags, bag_size=bag_size, kernel=_RBF, C=1.0,
                     threads=self.options.threads, n_test=self.options.test_n, **self.shared,
                     **self.repeats)  # fmt: skip

    def memory(self) -> None:
        """A cache that the kernel rows of the support vectors overflow."""
        cache_mb = min(100.0, self.options.cache_mb)
        names = [*(f"fastpu float64 {n}" for n in self.options.threads), _PEER]
        for form in ("dense", "csr"):
            for name in names:
                self.add("memory", n=self.options.memory_n, name=name, form=form, cache_mb=cache_mb)

    def from_data(self) -> dict[str, Any]:
        """Return the folder of the data sets, and how many of their rows are used."""
        return {"data": str(self.options.data), "n_rows": self.options.data_rows}

    def everything(self) -> list[Measured]:
        """Run what was asked for."""
        for part in _PARTS:
            if part in self.options.only and (self.options.data is not None or part not in _NEED_DATA):
                getattr(self, part)()
        return self.found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    needed = ["fastpu", "sklearn", *(["pulearn"] if "bagging" in options.only else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        print(f"svm: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _Run(options).everything()
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "svm.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "svm.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
