"""Time fastpu's nearest neighbours against scikit-learn, faiss and SciPy in one run, agreement beside speed.

python bench/peers/knn_graph.py [--n 20000] [--threads 1 2] [--repeats 5] [--output DIR] [--only search weights memory]

Needs fastpu, scikit-learn and faiss-cpu in one environment, and nothing else at work on the machine. Every measurement
runs in a process of its own, in which contenders take turns after a run each to warm up; all have the same number of
threads, of OpenMP and BLAS too. Prints Markdown; --output also keeps it, with every single time as JSON. --quick tries
everything on a few rows.

search: the K = 5 nearest neighbours of every one of 20,000 normal rows, of 20 and 100 columns by kneighbors_graph and
by IndexFlatL2 (which holds float32, and whose 6 nearest include the row), of 2 columns by cKDTree. What is built before
a search counts. Agreement is the share of neighbours that the exact distances in float64 name as well.
weights: W and R of the neighbours, edges included, against the search.
memory: the peak above that of the interpreter with the library and the rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knn_graph_report import Measured, report
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("search", "weights", "memory")
_MEASURES = Path(__file__).with_name("knn_graph_measures.py")
_QUICK = {"n": 300, "repeats": 1}
_PEERS = {2: ["cKDTree"], 20: ["scikit-learn", "faiss"], 100: ["scikit-learn", "faiss"]}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "knn_graph", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=20_000, metavar="N", help="rows (default: %(default)s)")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N",
                        help="numbers of threads (default: %(default)s)")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="alternating runs (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for knn_graph.md and knn_graph.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    return options


def _run(options: argparse.Namespace) -> list[Measured]:
    found = []

    def add(name: str, n_threads: int, /, **arguments: Any) -> None:
        arguments = {"n": options.n, **arguments, "n_threads": n_threads}
        result = measure(_MEASURES, name, arguments, omp_threads=n_threads, blas_threads=n_threads)
        found.append(Measured(name, arguments, result))

    for n_threads in options.threads if "search" in options.only else ():
        for d, peers in _PEERS.items():
            add("search", n_threads, d=d, peers=peers, repeats=options.repeats)
    for n_threads in options.threads if "weights" in options.only else ():
        for d in _PEERS:
            add("weights", n_threads, d=d, repeats=options.repeats)
    if "memory" in options.only:
        for d, peers in _PEERS.items():
            for name in ("fastpu", *peers):
                add("memory", max(options.threads), d=d, name=name)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("fastpu", "sklearn", "faiss") if find_spec(name) is None]
    if missing:
        print(f"knn_graph: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _run(options)
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "knn_graph.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "knn_graph.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
