"""The commands in bench/ run: on data as small as can be, for what they print and write, not for their figures."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

import fastpu
from bench_commands import BENCH, bench_module, needs_bench, read_set, run, write_set
from fastpu.datasets import split_pnu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_bench

# ---- bench/papers/pnu_auc_boost --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_set(folder, "pima", ("positive", "negative"), n=120, seed=0)
    write_set(folder, "insurance_part44", ("1", "0"), n=150, seed=1)
    write_set(folder, "unheard_of", ("rare", "usual"), n=100, seed=2)
    return folder


PAPER = "papers/pnu_auc_boost"


def test_the_paper_command_prints_the_table_and_writes_every_split(data, tmp_path):
    size = ["--splits", 2, "--rounds", 12, "--exact-rows", 100, "--max-bins", 15]
    result = run(PAPER, "--data", data, *size, "--jobs", 2, "--output", tmp_path)
    table = result.stdout
    assert "| pima | 120 x 3 | 0.8022 (0.0481) |" in table
    assert "| insurance | 150 x 3, 15 bins | 0.8810 (0.0012) |" in table  # more training rows than --exact-rows
    for line in ("| mean | 2 sets |", "| win/tie/loss |", "| mean rank |", "Nemenyi critical difference"):
        assert line in table
    assert (tmp_path / "table2.md").read_text().strip() in table
    raw = json.loads((tmp_path / "table2.json").read_text())
    assert list(raw["sets"]) == ["pima", "insurance"]
    for found in raw["sets"].values():
        assert list(found["methods"]) == ["Ours", "RBAUC", "PNUAUC", "Samult", "PNUAB", "LSAUC"]
        for method in found["methods"].values():
            assert len(method["valid_auc"]) == len(method["test_auc"]) == 2
            assert all(0 <= value <= 1 for value in method["test_auc"])
            if "lam" not in method["params"]:
                assert 1 <= method["params"]["n_rounds"] <= 12
    ours = raw["sets"]["pima"]["methods"]["Ours"]
    X, truth = read_set(data / "pima.csv.gz", "positive")
    split = split_pnu(truth, random_state=1)
    model = fastpu.fit_pnu_auc_boost(X[split.train], split.y_train, **ours["params"])
    assert ours["test_auc"][1] == pytest.approx(auc(truth[split.test], model.decision_function(X[split.test])))
    assert len((tmp_path / "table2_splits.csv").read_text().splitlines()) == 1 + 2 * 6 * 2
    figures = {"figure1.png", "figure2.png"} if find_spec("matplotlib") else set()
    assert {path.name for path in tmp_path.glob("*.png")} == figures


def test_the_paper_command_does_not_depend_on_the_number_of_processes(data):
    size = ["--data", data, "--sets", "unheard_of", "--splits", 2, "--rounds", 5]
    alone, together = (run(PAPER, *size, "--jobs", jobs).stdout for jobs in (1, 2))
    assert alone == together
    assert "| unheard_of | 100 x 3 |  |" in alone  # nothing printed about it, and the rarer label is positive


def test_the_paper_command_names_what_is_missing(data, tmp_path):
    assert "no file in" in run(PAPER, "--data", data, "--sets", "pima", "ring", code=2).stderr
    assert "there is no folder" in run(PAPER, "--data", tmp_path / "nowhere", code=2).stderr
    write_set(tmp_path, "pima", ("yes", "no"), n=50, seed=0)
    assert "no row is labelled 'positive'" in run(PAPER, "--data", tmp_path, code=1).stderr


# ---- bench/peers -----------------------------------------------------------------------------------------------------


def test_the_pairwise_command_finds_the_stumps_of_fastpu(tmp_path):
    result = run(
        "peers/pairwise_numpy.py", "--sizes", 40, 60, "--rounds", 10, "--repeats", 1, "--output", tmp_path / "t.json"
    )
    assert "The same 10 stumps in all three at every n." in result.stdout
    found = json.loads((tmp_path / "t.json").read_text())
    assert set(found) == {"40", "60"}
    assert all(seconds > 0 for times in found.values() for seconds in times["sorted"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rounds", {"n": 2000, "names": ["fastpu"], "judged": ["fastpu, labelled positives only"], "repeats": 1}),
        ("whole_fit", {"n": 2000, "names": ["fastpu", "fastpu, exact thresholds"], "repeats": 1, "n_rounds": 10}),
        ("prediction", {"n": 1000, "names": ["fastpu"], "repeats": 1, "n_stumps": 5, "train_rows": 1000}),
        ("copy_bandwidth", {"repeats": 1, "megabytes": 1}),
        ("memory", {"n": 5000, "name": "fastpu", "n_rounds": 2}),
    ],
)
def test_the_measurements_run(name, options, monkeypatch):
    if name == "memory":
        pytest.importorskip("resource")
    monkeypatch.syspath_prepend(BENCH / "peers")
    measures = bench_module("stump_boost_measures")
    assert getattr(measures, name)(**options, n_threads=2)


def test_the_report_judges_the_goals(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    report = bench_module("stump_boost_report")
    seconds = {"fastpu": [0.001, 0.002, 0.003], "LightGBM": [0.009, 0.01, 0.011], "XGBoost": [0.006, 0.007, 0.008]}
    quality = dict.fromkeys([*seconds, "fastpu, labelled positives only"], 0.9)
    rounds = {"seconds": seconds, "auc": quality, "small_side": 0.2}
    text = report.report(
        [
            report.Measured("rounds", {"n": 200_000, "n_threads": 1, "repeats": 3}, rounds),
            report.Measured("copy_bandwidth", {"n_threads": 1}, {"bytes_per_second": [2e10]}),
            report.Measured(
                "memory", {"n": 1000, "name": "fastpu", "n_threads": 1}, {"rows": 2e8, "peak": 7e8, "matrix": 2e8}
            ),
        ]
    )
    assert "3.50 (>= 4: missed)" in text
    assert "3.50 (<= 3: missed)" in text
    assert "### The floor" in text
