"""The command that reruns the tables of the ISVM paper: on data as small as can be, for what it prints and writes."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastpu

PAPER = Path(__file__).resolve().parent.parent / "bench" / "papers" / "isvm_ipsi"

pytestmark = pytest.mark.skipif(not PAPER.is_dir(), reason="needs the source tree")

SMALL = ["--replications", 2, "--grid-step", 4, "--weights", 2, "--rows", 260]
BAYES = {"example-1": 0.15866, "example-2": 0.089}


def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPER), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code, result.stderr
    return result


@pytest.fixture(scope="module")
def published() -> Any:
    spec = importlib.util.spec_from_file_location("isvm_ipsi_published", PAPER / "published.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    present = rng.random(270) < 0.45
    X = rng.standard_normal((270, 3)) + present[:, None] * [2.0, 1.0, 0.0]
    X[:, 2] = 1.0  # constant
    rows = [
        ",".join([*(f"{x:.7g}" for x in row), "presence" if p else "absence"])
        for row, p in zip(X, present, strict=True)
    ]
    with gzip.open(folder / "heart_statlog.csv.gz", "wt") as file:
        file.write("\n".join(["a,b,c,label", *rows]) + "\n")
    return folder


def test_it_prints_the_paper_beside_what_it_finds_and_writes_every_replication(data, tmp_path):
    names = ["example-1", "heart-present"]
    result = run("--data", data, "--sets", *names, *SMALL, "--jobs", 2, "--output", tmp_path)
    table = result.stdout
    assert "| 1 | 1 | example-1 | BSVM | 0.1974 (0.0053) | 0." in table
    assert "| 2 | 2 | heart-present | BASVM | 0.2613 (0.0065) | 0." in table
    assert "heart: Statlog's 270 rows" in table
    assert "2 replications (paper: 100)" in table
    assert "3 values of C (paper: 81) and 2 of w (paper: 15)" in table
    assert (tmp_path / "tables.md").read_text().strip() == table.strip()
    methods = {line.split(" | ")[3] for line in table.splitlines() if " | example-1 | " in line}
    with (tmp_path / "replications.csv").open() as file:
        found = list(csv.DictReader(file))
    tested = {row["method"] for row in found}
    assert {"BASVM", "BSVM"} <= tested <= methods
    assert len(found) == len(tested) * 2 * 2 * 2 * 2  # sets, cases, tables, replications
    for row in found:
        assert 0 <= float(row["error"]) <= 1
        if row["method"] == "BLSSVM":
            assert float(row["sigma"]) in 2.0 ** np.arange(-6, 7, 2)
            assert float(row["lam"]) in 2.0 ** np.arange(-6, 7, 2)
        else:
            assert float(row["C"]) in 10.0 ** np.linspace(-4, 4, 3)  # NumPy 1.24 has another 1e-4
        assert row["w"] in ({"0.01", "0.15"} if row["method"] in {"BSVM", "BPSI"} else {""})
    errors = [float(r["error"]) for r in found if (r["table"], r["case"], r["set"], r["method"])
              == ("1", "1", "example-1", "BSVM")]  # fmt: skip
    assert f"{np.mean(errors):.4f} ({np.std(errors, ddof=1) / np.sqrt(2):.4f})" in table
    raw = json.loads((tmp_path / "tables.json").read_text())
    assert [(s["set"], s["case"]) for s in raw["sets"]] == [(name, case) for name in names for case in (1, 2)]
    assert raw["options"]["grid_step"] == 4


def test_it_does_not_depend_on_the_number_of_processes(data):
    size = ["--sets", "example-2", "--cases", 2, *SMALL, "--scenario", "single_set"]
    alone, together = (run(*size, "--jobs", jobs).stdout for jobs in (1, 2))
    assert alone == together
    assert "a stand-in with the Bayes error that the paper prints" in alone
    assert "drawn as in single_set" in alone


def test_it_names_what_is_missing(data, tmp_path):
    assert "no file in" in run("--data", data, "--sets", "spam-no", code=2).stderr
    assert "no folder (--data)" in run("--sets", "heart-absent", code=2).stderr
    assert "there is no folder" in run("--data", tmp_path / "nowhere", code=2).stderr
    assert "--grid-step must be in (0, 8]" in run("--grid-step", 0, code=2).stderr
    with gzip.open(tmp_path / "heart_statlog.csv.gz", "wt") as file:
        file.write("a,label\n1,yes\n2,no\n")
    result = run("--data", tmp_path, "--sets", "heart-absent", *SMALL, "--jobs", 1, code=1)
    assert "rows must be 'absence' or one other, got no, yes" in result.stderr


@pytest.mark.skipif(not hasattr(fastpu, "fit_isvm"), reason="needs fit_isvm")
def test_improvements_are_printed_from_the_paper_and_from_what_is_found():
    table = run("--sets", "example-1", "--cases", 1, *SMALL, "--jobs", 1).stdout
    # Printed, and by (5.1) from the printed errors 0.1974 and 0.1871.
    assert "| 24.1 % | 26.6 % | " in table


def test_the_printed_errors_are_transcribed_as_printed(published):
    """Table 1's improvements of IPSI over BPSI follow from its errors by (5.1) and (5.2), all twelve of them."""
    assert len(published.PRINTED) == 2 * 2 * 6 * 6
    assert len(published.IMPROVEMENTS) == 2 * 2 * 6 * 2
    assert all(0.1 < cell.mean < 0.35 and 0.001 < cell.se < 0.01 for cell in published.PRINTED.values())
    for case in (1, 2):
        for column in published.COLUMNS:
            biased, iterative = (published.PRINTED[1, case, column, row].mean for row in ("BPSI", "IPSI"))
            value = (biased - iterative) / (biased - BAYES.get(column, 0.0))
            assert value == pytest.approx(published.IMPROVEMENTS[1, case, column, "IPSI"], abs=0.003), (case, column)
