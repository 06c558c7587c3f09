"""The commands of bench/rare and bench/presence run on wheels with small tables. Part of `make test-all` alone."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not BENCH.is_dir(), reason="needs the source tree")]


def run(*command: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(*packages: str) -> None:
    if missing := [name for name in packages if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")


def test_places_where_an_enzyme_cuts(tmp_path):
    needs("sklearn", "lightgbm", "pandas")
    rng = np.random.default_rng(0)
    lines = ["entry\tgene\tsequence\tlabel"]
    for number in range(20):
        letters = rng.choice(list("ACDE"), 60)
        cuts = letters == "D"  # the enzyme cuts at every D
        lines.append(f"{number}\tgene\t{''.join(letters)}\t{','.join('01'[int(cut)] for cut in cuts)}")
    with zipfile.ZipFile(tmp_path / "aaanalysis-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("aaanalysis/_data/benchmarks/AA_FURIN.tsv", "\n".join(lines))
    common = ["--packages", tmp_path, "--tables", "furin", "--draws", 1, "--jobs", 1, "--output", tmp_path / "out"]
    text = run(BENCH / "rare", *common, "--labels", 20, 100_000)
    assert "### furin: 600 rows to fit" in text
    row = next(line for line in text.splitlines() if line.startswith("| `fit_forest` |"))
    figures = row.split("|")[2].split(", ")
    assert float(figures[2]) > 0.95  # AUC: the middle letter tells all
    assert not row.split("|")[3].strip()  # too few positive rows for so many labels
    assert (tmp_path / "out" / "results.json").stat().st_size > 0


def test_sightings_beside_a_background(tmp_path):
    needs("sklearn", "pandas")
    rng = np.random.default_rng(0)
    seen = np.arange(300) < 60
    X = rng.normal(size=(300, 3)) + 3.0 * seen[:, None]
    lines = ["presence,a,b,c", *(",".join(map(str, [int(s), *row])) for s, row in zip(seen, X, strict=True))]
    with zipfile.ZipFile(tmp_path / "elapid-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("elapid/data/bradypus.csv.gz", gzip.compress("\n".join(lines).encode()))
    text = run(BENCH / "presence", "--packages", tmp_path, "--draws", 2, "--jobs", 1, "--labels", 5, 20)
    assert "2 draws: AUC, CPU seconds" in text
    row = next(line for line in text.splitlines() if line.startswith("| `fit_forest` |"))
    assert float(row.split("|")[3].split(",")[0]) > 0.95
