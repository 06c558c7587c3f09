"""The command in bench/peers for PUAL runs, and its loop in NumPy finds what fastpu finds."""

from __future__ import annotations

import json

import pytest

from bench_commands import BENCH, bench_module, needs_bench, run

pytestmark = needs_bench


def test_the_pual_command_runs_quickly_and_reports(tmp_path):
    result = run("peers/pual.py", "--quick", "--threads", 1, "--output", tmp_path)
    assert "### A grid of kernel PUAL" in result.stdout
    assert "### Linear PUAL, graph given" in result.stdout
    assert (tmp_path / "pual.md").read_text().strip() in result.stdout
    raw = json.loads((tmp_path / "pual.json").read_text())
    assert [m["measure"] for m in raw] == ["kernel", "linear"]
    assert raw[0]["found"]["n_points"] == 135
    assert "linear" not in run("peers/pual.py", "--quick", "--threads", 1, "--only", "kernel").stderr


@pytest.mark.filterwarnings("ignore::fastpu.DegenerateModelWarning")
def test_the_loop_of_the_peer_finds_the_same_minimum(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    found = bench_module("pual_measures").kernel(n=80, d=4, every=10, n_threads=1, repeats=1)
    assert found["n_timed"] == 14
    assert found["our_gap"] <= 1e-9
    assert found["peer_gap"] <= 1e-6
    assert found["apart"] <= 2e-6
