"""How long Ctrl-C waits, in the calls that go on for minutes (tests/methods/test_every_method_interrupts.py).

python bench/interrupts.py [--only NAME ...] [--at 0.1 0.3 0.7 1.2 1.9] [--threads 1]

Each call is interrupted at every time of --at (seconds after its start), in a process of its own. The table says the
longest wait in processor time, which other programs on the machine do not lengthen. Afterwards a small fit must work.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "methods"))

from fastpu.common._methods import DECLARED, function_of
from interrupts import interrupted_after
from method_recipes import RECIPES
from test_every_method_interrupts import ENDLESS, problem

ALLOWED = 0.2  # seconds


def longest_wait(name: str, moments: list[float], n_threads: int) -> float:
    """Interrupt the call of that name at every moment, and return the longest wait in processor time."""
    warnings.simplefilter("ignore")
    n, d, options = ENDLESS.get(name, (20_000, 20, RECIPES[name].options))
    X, y = problem(n, d, DECLARED[name].groups)
    arguments = (X,) if name == "fit_one_class_svm" else (X, y)
    fit = function_of(name)
    waits = [interrupted_after(lambda: fit(*arguments, n_threads=n_threads, **options), delay=at) for at in moments]
    RECIPES[name].call(*RECIPES[name].arguments(60))
    return max(waits)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=list(ENDLESS), choices=ENDLESS, metavar="NAME")
    parser.add_argument("--at", nargs="*", type=float, default=[0.1, 0.3, 0.7, 1.2, 1.9])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(longest_wait(options.one, options.at, options.threads))
        return 0
    print("| call | longest wait, s of the processor |\n|---|---|")
    n_slow = 0
    for name in options.only:
        command = [sys.executable, __file__, "--one", name, "--threads", str(options.threads), "--at"]
        done = subprocess.run(  # noqa: S603 - this file, with a name of its own table
            [*command, *map(str, options.at)], capture_output=True, text=True, check=False
        )
        lines = (done.stderr if done.returncode else done.stdout).strip().splitlines() or ["?"]
        is_slow = bool(done.returncode) or float(lines[-1]) > ALLOWED * options.threads
        n_slow += is_slow
        print(f"| {name} | {lines[-1][:90]}{' **slow**' if is_slow else ''} |", flush=True)
    print(f"\n{n_slow} of {len(options.only)} calls failed or let Ctrl-C wait for more than {ALLOWED} s")
    return int(n_slow > 0)


if __name__ == "__main__":
    sys.exit(main())
