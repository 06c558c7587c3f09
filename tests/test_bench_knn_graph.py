"""The command in bench/peers for nearest neighbours runs, and judges what it times as it should."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

from bench_commands import BENCH, bench_module, needs_bench, run

pytestmark = needs_bench


@pytest.mark.skipif(find_spec("faiss") is None, reason="needs faiss")
def test_the_knn_command_runs_quickly_and_reports(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("resource")
    result = run("peers/knn_graph.py", "--quick", "--threads", 1, "--output", tmp_path)
    assert "### The 5 nearest neighbours of every row" in result.stdout
    assert "| 300 x 2 | float64 | 1 | cKDTree |" in result.stdout
    assert (tmp_path / "knn_graph.md").read_text().strip() in result.stdout
    raw = json.loads((tmp_path / "knn_graph.json").read_text())
    assert [m["measure"] for m in raw] == ["search"] * 3 + ["weights"] * 3 + ["memory"] * 8
    for m in raw[:3]:
        assert all(found["agreement"] >= 0.999 for found in m["found"].values())


def test_what_is_missing_is_named(monkeypatch, capsys):
    monkeypatch.syspath_prepend(BENCH / "peers")
    command = bench_module("knn_graph")
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "faiss" else name)
    assert command.main(["--quick"]) == 2
    assert "install faiss first" in capsys.readouterr().err


def test_agreement_leaves_the_row_itself_out(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    agreement = bench_module("knn_graph_measures")._agreement
    exact = np.array([[1, 2], [0, 2]])
    assert agreement(np.array([[0, 1, 2], [1, 0, 2]]), exact) == 1
    assert agreement(np.array([[0, 1, 3], [1, 0, 2]]), exact) == 0.75


def test_the_report_of_neighbours_judges_the_goals(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    report = bench_module("knn_graph_report")
    options = {"n": 20_000, "d": 20, "n_threads": 2}

    def timed(seconds):
        return {"times": [seconds], "agreement": 1.0}

    search = {"fastpu float64": timed(0.2), "scikit-learn float64": timed(1.0), "fastpu float32": timed(0.3),
              "scikit-learn float32": timed(1.0), "faiss float32": timed(0.2)}  # fmt: skip
    weights = {"search": [0.2], "mutual": [0.01], "union": [0.02], "another sigma": [0.005]}
    text = report.report(
        [
            report.Measured("search", options, search),
            report.Measured("weights", options, weights),
            report.Measured("memory", options | {"name": "fastpu"}, {"rows": 2**20, "search": 2**21}),
        ]
    )
    assert "0.20 (<= 0.25: met)" in text
    assert "0.30 (<= 0.25: missed)" in text
    assert "1.50 (<= 1: missed)" in text
    assert "0.05 (<= 0.1: met)" in text
    assert "| fastpu | 20,000 x 20 | 1.0 | 2.0 |" in text
