"""The command in bench/ that times nnPU runs, and its contenders train the same network."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

from bench_commands import BENCH, bench_module, needs_bench, run

pytestmark = needs_bench

PEERS = ["PyTorch"] if find_spec("torch") else []


def test_the_command_prints_a_table_and_writes_every_time(tmp_path):
    result = run("peers/nnpu.py", "--quick", "--threads", 1, "--output", tmp_path)
    for name in ("fastpu", *PEERS, "NumPy"):
        assert f"| 300 x 20, 3 epochs | all rows | 1 | {name} |" in result.stdout
        assert f"| 300 x 20, 3 epochs | 100 | 1 | {name} |" in result.stdout
    assert (tmp_path / "nnpu.md").read_text().strip() in result.stdout
    raw = json.loads((tmp_path / "nnpu.json").read_text())
    assert [m["options"]["batch_size"] for m in raw] == [None, 100]


def test_all_contenders_come_to_the_same_risk(monkeypatch):
    """They have one start, and batches of all rows."""
    monkeypatch.syspath_prepend(BENCH / "peers")
    names = ["fastpu", *PEERS, "NumPy"]
    found = bench_module("nnpu_measures").fits(
        names=names, n=200, d=10, n_epochs=30, batch_size=None, n_threads=1, repeats=1
    )
    np.testing.assert_allclose([found["risk"][name] for name in names], found["risk"]["fastpu"], rtol=1e-4)
    assert found["accuracy"]["NumPy"] == pytest.approx(found["accuracy"]["fastpu"], abs=0.03)
