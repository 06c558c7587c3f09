"""Time fastpu's large-margin engine and ISVM against scikit-learn in one run, at equal accuracy.

python bench/peers/isvm.py [--data DIR] [--threads 1 2] [--repeats 5] [--output DIR] [--only hinge spam text iadmm]

Needs fastpu and scikit-learn in one environment, and nothing else at work on the machine. Every measurement runs in a
process of its own with one BLAS thread; contenders take turns within it. Prints Markdown; --output also keeps it, with
every single time as JSON. --quick tries everything on a few rows.

hinge: an SVM with hinge loss, 20,000 x 50 rows, to a relative duality gap of 1e-6, the engine's construction included;
liblinear (LinearSVC) and libsvm (SVC) with the loosest tol, 1e-1 to 1e-8, that takes their own objective as close to
its optimum. A run that would take longer than --limit seconds is capped, by max_iter.
spam: Algorithm 1 over 81 values of C on SPAM of --data (spambase.csv.gz), 200 rows and all, against the same loop over
SVC(kernel="linear", tol=1e-3); with all rows the loop gets every tenth C only, and its time is scaled up. For small
C that tol is coarse, and statuses differ.
text: CSR, 10,000 x 50,000, and the pages of students of --data (webkb7.jsonl.gz); time, and memory a nonzero.
iadmm: an iteration on 1,000,000 x 50 rows against the bandwidth of a copy. It takes some 1.5 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isvm_report import Measured, report
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("hinge", "spam", "text", "iadmm")
_MEASURES = Path(__file__).with_name("isvm_measures.py")
_ACCURACIES = (1e-3, 1e-6)
_QUICK = {"repeats": 1, "n": 300, "limit": 0.5, "spam_rows": [60, 100], "every": 20, "text_n": 300, "words": 1000,
          "iadmm_n": 5000}  # fmt: skip


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("isvm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def number(flag: str, kind: type, default: float, text: str) -> None:
        parser.add_argument(flag, type=kind, default=default, metavar="N", help=f"{text} (default: %(default)s)")

    parser.add_argument("--data", type=Path, help="folder of spambase.csv.gz and webkb7.jsonl.gz")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N",
                        help="numbers of threads (default: %(default)s)")  # fmt: skip
    number("--repeats", int, 5, "alternating runs; the loop over SVC on all of SPAM has one")
    number("--n", int, 20_000, "rows of the hinge problem")
    number("--limit", float, 60.0, "seconds of a peer's run, about")
    number("--every", int, 1, "of the 81 values of C, take each so-many-th")
    number("--text-n", int, 10_000, "CSR rows")
    number("--words", int, 50_000, "their features")
    number("--iadmm-n", int, 1_000_000, "rows for IADMM")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for isvm.md and isvm.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    options.spam_rows = [200, None]
    if options.quick:
        vars(options).update(_QUICK)
    if options.data is None and "spam" in options.only:
        print("isvm: without --data, spam is left out", file=sys.stderr)
    return options


class _Run:
    """The measurements of one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.found: list[Measured] = []
        self.shared = {"threads": options.threads, "repeats": options.repeats}

    def add(self, name: str, /, **arguments: Any) -> None:
        """Measure, and keep the result."""
        result = measure(_MEASURES, name, arguments, omp_threads=max(self.options.threads))
        self.found.append(Measured(name, arguments, result))

    def hinge(self) -> None:
        """Dense rows, three costs."""
        for cost in (0.01, 1.0, 100.0):
            self.add("hinge", n=self.options.n, d=50, C=cost, limit=self.options.limit, **self.shared)

    def spam(self) -> None:
        """Algorithm 1 on a part of SPAM and on all of it."""
        if self.options.data is None:
            return
        for rows, peer_every in zip(self.options.spam_rows, (1, 10), strict=True):
            repeats = self.options.repeats if peer_every == 1 else 1
            self.add("spam", data=str(self.options.data), rows=rows, every=self.options.every, peer_every=peer_every,
                     max_iter=10_000_000, threads=self.options.threads, repeats=repeats)  # fmt: skip

    def text(self) -> None:
        """CSR rows, and their memory."""
        n, n_words = self.options.text_n, self.options.words
        for data in [None] if self.options.data is None or self.options.quick else [None, str(self.options.data)]:
            for accuracy in _ACCURACIES:
                self.add("text", n=n, n_words=n_words, C=1.0, accuracy=accuracy, limit=self.options.limit, data=data,
                         **self.shared)  # fmt: skip
        for name in ("fastpu", "LinearSVC"):
            for rows in (n, 4 * n):
                self.add("text_memory", n=rows, n_words=n_words, C=1.0, accuracy=1e-3, name=name)

    def iadmm(self) -> None:
        """Iterations of IADMM."""
        self.add("iadmm", n=self.options.iadmm_n, d=50, iterations=[20, 60], **self.shared)

    def everything(self) -> list[Measured]:
        """Run what was asked for."""
        for part in _PARTS:
            if part in self.options.only:
                getattr(self, part)()
        return self.found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("fastpu", "sklearn") if find_spec(name) is None]
    if missing:
        print(f"isvm: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _Run(options).everything()
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "isvm.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "isvm.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
