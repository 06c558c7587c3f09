"""The command that reruns the tables of the PUAL paper: on data as small as can be, for what it prints and writes."""

from __future__ import annotations

import csv
import importlib.util
import sys
from importlib.util import find_spec
from typing import Any

import pytest

import fastpu
from bench_commands import BENCH, run, write_set

PAPER = BENCH / "papers" / "pual"

pytestmark = pytest.mark.skipif(not PAPER.is_dir(), reason="needs the source tree")


def module(name: str) -> Any:
    """A module of the command, under a name of its own: other commands have modules of these names too."""
    spec = importlib.util.spec_from_file_location(f"pual_paper_{name}", PAPER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found  # dataclasses look their module up
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    write_set(folder, "seeds", ("Kama", "Rosa"), n=70, seed=0)
    write_set(folder, "raisin", ("Kecimen", "Besni"), n=90, seed=1)
    return folder


def test_the_command_prints_the_tables_and_writes_every_split(data, tmp_path):
    size = ["--splits", 2, "--every", 20, "--means", 50, "--gammas", 0.5, "--no-greedy", "--jobs", 1]
    result = run("papers/pual", "--data", data, "--sets", "Seeds", *size, "--output", tmp_path)
    assert "| 1 | mean_p2 = 50 | PUAL | 95.07 ± 0.78 | " in result.stdout
    assert "| 3 | Seeds, gamma = 0.5 | GLLC | 94.63 ± 2.81 | " in result.stdout
    assert "| 3 | Seeds, gamma = 0.5 | GLLC, printed form | 94.63 ± 2.81 | " in result.stdout
    assert (tmp_path / "tables.md").read_text().strip() in result.stdout
    lines = list(csv.DictReader((tmp_path / "splits.csv").read_text().splitlines()))
    joining = sum(hasattr(fastpu, name) for name in ("fit_upu", "fit_nnpu"))
    assert len(lines) == 2 * 2 + 2 * (4 + joining)
    assert all(0 <= float(line["f1"]) <= 1 for line in lines)
    figures = {"figure3.png", "figure4.png"} if find_spec("matplotlib") else set()
    assert {path.name for path in tmp_path.glob("*.png")} == figures


@pytest.mark.skipif(find_spec("matplotlib") is None or find_spec("sklearn") is None, reason="needs both")
def test_the_command_draws_maps(data, tmp_path):
    size = ["--splits", 1, "--every", 9, "--gammas", 0.25, "--forms", "paper", "--no-greedy", "--jobs", 1]
    output = tmp_path / "out"
    result = run("papers/pual", "--data", data, "--tables", 3, "--sets", "RD", *size, "--output", output)
    assert "mean_p2" not in result.stdout.split("\n\n")[0]
    assert {path.name for path in output.glob("*.png")} == {"figure6_RD.png"}


def test_the_command_names_what_is_missing(data, tmp_path):
    assert "no file in" in run("papers/pual", "--data", data, "--sets", "wifi", "Seeds", code=2).stderr
    assert "there is no folder" in run("papers/pual", "--data", tmp_path / "nowhere", code=2).stderr
    assert "--data" in run("papers/pual", "--tables", 3, code=2).stderr
    write_set(data, "ukm_train", ("Low", "Middle"), n=40, seed=0)
    assert "1 rows must be labelled 'High', got 0" in run("papers/pual", "--data", data, "--tables", 3, "--sets", "UMD",
                                                          code=1).stderr  # fmt: skip


def test_what_the_paper_prints_is_complete():
    published, sets = module("published"), module("sets")
    assert set(published.TABLE_3) == {(s.name, gamma) for s in sets.DATA_SETS for gamma in (0.5, 0.25)}
    assert {len(line) for line in published.TABLE_3.values()} == {4}
    assert published.TABLE_3["wifi", 0.25]["nnPU"] == (89.27, 2.61)
    labelled = {gamma: 0.7 * gamma / (1 - 0.3 * gamma) for gamma in published.GAMMAS}
    assert labelled == pytest.approx(published.GAMMAS)
