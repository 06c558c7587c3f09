"""Time fastpu's PUAL against NumPy, LAPACK and SciPy in one run, at equal or better accuracy.

python bench/peers/pual.py [--threads 2] [--repeats 3] [--output DIR] [--only kernel linear]

Needs fastpu, and nothing else at work on the machine. Every measurement runs in a process of its own; NumPy's and
SciPy's BLAS have as many threads as fastpu. Prints Markdown; --output also keeps it, with every single time as JSON.
--quick tries everything on a few rows.

kernel: PUAL with an rbf kernel, 2,000 x 20 rows, 500 of them labelled, over 9 values of lam, 5 of C_unl and 3 of C_pos,
in one call of fit_pual, against a loop that solves each point by the formulas of the derivation in NumPy: the kernel
matrix and R are computed once, then for every point (lam + S K) a = Omega by LAPACK (numpy.linalg.solve), Q, its
eigendecomposition, and the alternating direction method with a step that follows the residuals, to a relative duality
gap of 1e-6; fastpu goes to 1e-9. The loop gets every so-many-th point (--every), and its time is scaled up.
linear: PUAL, 100,000 x 50 rows, 10,000 of them labelled, the graph given, against one product X'X in NumPy and one
product R X in SciPy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pual_report import Measured, report
from running import cpus, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = ("kernel", "linear")
_MEASURES = Path(__file__).with_name("pual_measures.py")
_QUICK = {"repeats": 1, "n": 120, "every": 45, "linear_n": 2000}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("pual", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def number(flag: str, default: int, text: str) -> None:
        parser.add_argument(flag, type=int, default=default, metavar="N", help=f"{text} (default: %(default)s)")

    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N",
                        help="numbers of threads (default: %(default)s)")  # fmt: skip
    number("--repeats", 3, "alternating runs")
    number("--n", 2000, "rows of the kernel problem")
    number("--every", 8, "of the 135 points, the loop gets each so-many-th")
    number("--linear-n", 100_000, "rows of the linear problem")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="measure a part (default: all)")
    parser.add_argument("--output", type=Path, help="folder for pual.md and pual.json")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(_QUICK)
    return options


def _everything(options: argparse.Namespace) -> list[Measured]:
    found = []
    sizes = {"kernel": {"n": options.n, "d": 20, "every": options.every}, "linear": {"n": options.linear_n, "d": 50}}
    for part in _PARTS:
        for n_threads in options.threads if part in options.only else ():
            arguments: dict[str, Any] = {**sizes[part], "n_threads": n_threads, "repeats": options.repeats}
            found.append(Measured(part, arguments, measure(_MEASURES, part, arguments, omp_threads=n_threads)))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    if find_spec("fastpu") is None:
        print("pual: install fastpu first", file=sys.stderr)
        return 2
    start = time.perf_counter()
    found = _everything(options)
    text = report(found)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "pual.md").write_text(text + "\n")
        raw = [{"measure": m.name, "options": m.options, "found": m.found} for m in found]
        (options.output / "pual.json").write_text(json.dumps(raw, indent=1) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
