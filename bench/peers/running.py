"""Measurements in processes of their own, and what they measure with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["cpus", "measure", "peak_bytes", "timed"]


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure(
    script: Path, name: str, options: Mapping[str, Any], *, omp_threads: int, blas_threads: int = 1
) -> dict[str, Any]:
    """Run one of the measures of a script in a process of its own, with so many OpenMP and BLAS threads."""
    text = ", ".join(f"{key} {value}" for key, value in options.items())
    print(f"{name}: {text}", file=sys.stderr, flush=True)
    blas = str(blas_threads)
    pinned = {"OMP_NUM_THREADS": str(omp_threads), "OPENBLAS_NUM_THREADS": blas, "MKL_NUM_THREADS": blas}
    command = [sys.executable, str(script), name, json.dumps(options)]
    child = subprocess.run(command, env=os.environ | pinned, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if child.returncode != 0:
        print(f"{script.stem}: the measurement {name} failed ({text})", file=sys.stderr)
        raise SystemExit(1)
    result: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return result


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long some work takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def peak_bytes() -> int:
    """Return the most memory that this process has held."""
    import resource  # noqa: PLC0415 (not on Windows)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
