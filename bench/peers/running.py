"""How every area is measured: cases in processes of their own, in which contenders take turns.

python running.py AREA MEASURE '{"option": value, ...}' prints the rows that one measure returns as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

#: What was found of one contender: "" is its name, "seconds" its times, everything else says how good its result is.
Row = dict[str, Any]


class Case:
    """A measure of an area and its options; `n_threads`, or the largest of `threads`, says how many OpenMP has.

    `summary` makes Markdown of all cases of the measure where a table of all contenders would be too long.
    """

    def __init__(
        self,
        function: Callable[..., list[Row]],
        /,
        *,
        blas_threads: int = 1,
        summary: Callable[[Sequence[tuple[Case, list[Row]]]], str] | None = None,
        **options: Any,
    ) -> None:
        self.function, self.blas_threads, self.summary, self.options = function, blas_threads, summary, options

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def title(self) -> str:
        """The first line of what the measure says of itself."""
        return (self.function.__doc__ or self.name).splitlines()[0].rstrip(".")

    def beside(self, neighbour: bool) -> Case:
        """Return the case with or without a neighbour (`_neighbour`) beside it."""
        options = {"neighbour": neighbour, **self.options}
        return Case(self.function, blas_threads=self.blas_threads, summary=self.summary, **options)


class Timed(NamedTuple):
    """How long some work took, and its result."""

    seconds: float
    result: Any


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> Timed:
    """Return what work says of its time, if it returns that, and else how long it takes."""
    start = clock()
    result = work()
    return result if isinstance(result, Timed) else Timed(clock() - start, result)


def alternate(
    works: Mapping[str, Callable[[], Any]],
    repeats: int,
    *,
    warm_up: Mapping[str, Callable[[], Any]] | None = None,
    judge: Callable[[str, Any], Row] | None = None,
) -> list[Row]:
    """Time works that take turns after each has been warmed up (by itself, by default); judge the last results.

    Every other round goes backwards, so that none always follows the same one: what a work frees, the next takes over.
    """
    for work in (works if warm_up is None else warm_up).values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    results = {}
    for number in range(repeats):
        for name, work in list(works.items())[:: 1 if number % 2 == 0 else -1]:
            spent, results[name] = timed(work)
            seconds[name].append(spent)
    return [{"": name, "seconds": seconds[name], **(judge(name, results[name]) if judge else {})} for name in works]


def is_there(package: str, area: str, what: str) -> bool:
    """Return whether a package is installed; if not, say what is left out."""
    if find_spec(package) is not None:
        return True
    print(f"{area}: {package} is not installed, {what} is left out", file=sys.stderr)
    return False


def peak_bytes() -> int:
    """Return the most memory that this process has held."""
    import resource  # noqa: PLC0415 (not on Windows)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


# Two arrays of 512 MB, until the process that started it is gone.
_COPIES = """
import os
import numpy as np
parent, a, b = os.getppid(), np.ones(1 << 26), np.ones(1 << 26)
print("copies", flush=True)
while os.getppid() == parent:
    np.copyto(a, b)
"""


@contextmanager
def _neighbour() -> Iterator[None]:
    """Keep the memory busy: a process on another core reads and writes 1 GB in a loop."""
    with subprocess.Popen([sys.executable, "-c", _COPIES], stdout=subprocess.PIPE) as process:  # noqa: S603
        try:
            if process.stdout is not None:
                process.stdout.readline()  # says that it has begun
            yield
        finally:
            process.kill()


def measure(case: Case) -> list[Row]:
    """Run a case in a process of its own, with its numbers of OpenMP and BLAS threads."""
    area = case.function.__module__
    text = ", ".join(f"{key} {value}" for key, value in case.options.items())
    print(f"{area}, {case.name}: {text}", file=sys.stderr, flush=True)
    n_threads = case.options.get("n_threads") or max(case.options.get("threads", [1]))
    blas = str(case.blas_threads)
    pinned = {"OMP_NUM_THREADS": str(n_threads), "OPENBLAS_NUM_THREADS": blas, "MKL_NUM_THREADS": blas}
    options = dict(case.options)
    with _neighbour() if options.pop("neighbour", False) else nullcontext():
        command = [sys.executable, __file__, area, case.name, json.dumps(options)]
        env = os.environ | pinned
        child = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if child.returncode != 0:
        print(f"{area}: the measurement {case.name} failed ({text})", file=sys.stderr)
        raise SystemExit(1)
    rows: list[Row] = json.loads(child.stdout.splitlines()[-1])
    return rows


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning)  # of fits that end at their cap
    print(json.dumps(getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(**json.loads(sys.argv[3]))))
