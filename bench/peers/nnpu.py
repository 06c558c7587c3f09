"""Time nnPU's reference network against PyTorch on the CPU in one run, quality beside speed.

python bench/peers/nnpu.py [--n 10000] [--features 784] [--epochs 100] [--threads 1 2] [--output DIR]

Needs fastpu in an environment, and nothing else at work on the machine; PyTorch is measured if it is there, and a loop
in NumPy, which has one BLAS thread, always. Every measurement runs in a process of its own; contenders take turns
within it, after a short fit each to warm up. Prints Markdown; --output also keeps it, with every single time as JSON.
--quick tries everything on a few rows.

Rows: float32, ten groups around means in [0, 1] with noise, five of them positive; a tenth of the rows is labelled, and
half of the others is positive. The network is that of the reference (100 rectified linear units), with its loss, Adam
and weight decay, from one start for all; an epoch is one batch of all rows, or several in a random order, which each
contender draws for itself. Everybody is judged by the risk of all training rows and the accuracy on other rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from report_parts import Measured, at_most, machine, median, spread, table
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_MEASURES = Path(__file__).with_name("nnpu_measures.py")
_GOAL = 1.0  # of PyTorch's time
_QUICK = {"n": 300, "features": 20, "epochs": 3, "batch_size": 100, "repeats": 1}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("nnpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def number(flag: str, default: int, text: str) -> None:
        parser.add_argument(flag, type=int, default=default, metavar="N", help=f"{text} (default: %(default)s)")

    number("--n", 10_000, "rows")
    number("--features", 784, "features")
    number("--epochs", 100, "epochs")
    number("--batch-size", 1000, "rows of a batch in the second part")
    number("--repeats", 3, "alternating runs")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N",
                        help="numbers of threads (default: %(default)s)")  # fmt: skip
    parser.add_argument("--output", type=Path, help="folder for nnpu.md and nnpu.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    return options


def _measured(options: argparse.Namespace, peers: Sequence[str]) -> list[Measured]:
    found = []
    for batch_size in (None, options.batch_size):
        for n_threads in options.threads:
            arguments: dict[str, Any] = {
                "names": ["fastpu", *(peer for peer in peers if peer != "NumPy" or n_threads == 1)],
                "n": options.n,
                "d": options.features,
                "n_epochs": options.epochs,
                "batch_size": batch_size,
                "n_threads": n_threads,
                "repeats": options.repeats,
            }
            found.append(Measured("fits", arguments, measure(_MEASURES, "fits", arguments, omp_threads=n_threads)))
    return found


def report(measured: Sequence[Measured]) -> str:
    """Return what was measured as Markdown."""
    rows = []
    for m in measured:
        batch = m.options["batch_size"]
        times = m.found["seconds"]
        own = median(times["fastpu"])
        for name, seconds in times.items():
            ratio = own / median(seconds)
            judged = "" if name == "fastpu" else at_most(ratio, _GOAL) if name == "PyTorch" else f"{ratio:.2f}"
            rows.append([
                f"{m.options['n']:,} x {m.options['d']}, {m.options['n_epochs']} epochs",
                "all rows" if batch is None else f"{batch:,}",
                str(m.options["n_threads"]),
                name,
                spread(seconds, 1),
                judged,
                f"{m.found['risk'][name]:.5f}",
                f"{100 * m.found['accuracy'][name]:.2f} %",
            ])  # fmt: skip
    head = ["float32", "batch", "threads", "", "seconds", "fastpu / it", "training risk", "accuracy, new rows"]
    return f"{machine('fastpu', 'torch', 'numpy', 'scipy')}\n\n{table('nnPU, the reference network', head, rows)}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    if find_spec("fastpu") is None:
        print("nnpu: install fastpu first", file=sys.stderr)
        return 2
    peers = ["NumPy"]
    if find_spec("torch") is None:
        print("nnpu: PyTorch is not installed and is left out", file=sys.stderr)
    else:
        peers.insert(0, "PyTorch")
    start = time.perf_counter()
    found = _measured(options, peers)
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "nnpu.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "nnpu.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
