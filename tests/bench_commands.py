"""What the tests of the commands in bench/ share: running them, importing their modules, small data sets."""

from __future__ import annotations

import gzip
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

__all__ = ["BENCH", "bench_module", "needs_bench", "read_set", "run", "write_set"]

BENCH = Path(__file__).resolve().parent.parent / "bench"

needs_bench = pytest.mark.skipif(not BENCH.is_dir(), reason="needs the source tree")


def run(script: str, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / script), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code, result.stderr
    return result


def write_set(folder: Path, name: str, labels: tuple[str, str], *, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.standard_normal((n, 3)) + positive[:, None] * [1.0, 0.5, 0.0]
    rows = [
        ",".join([*(f"{x:.7g}" for x in row), labels[0] if p else labels[1]])
        for row, p in zip(X, positive, strict=True)
    ]
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("\n".join(["a,b,c,label", *rows]) + "\n")


def read_set(path: Path, positive: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(path, "rt") as file:
        rows = [line.split(",") for line in file.read().splitlines()[1:]]
    return np.array([row[:-1] for row in rows], dtype=float), np.array([row[-1] == positive for row in rows])


def bench_module(name: str) -> Any:
    """Import a module of a folder that the test has put into `sys.path`."""
    return importlib.import_module(name)
