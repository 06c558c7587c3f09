"""The command in bench/priors runs: on data as small as can be, for what it prints and writes."""

from __future__ import annotations

import json

from bench_commands import needs_bench, run, write_set

pytestmark = needs_bench


def test_the_command_prints_errors_and_times(tmp_path):
    write_set(tmp_path, "some", ("yes", "no"), n=150, seed=0)
    write_set(tmp_path, "tiny", ("yes", "no"), n=20, seed=1)
    result = run("priors", "--data", tmp_path, "--splits", 2, "--output", tmp_path / "found.json")
    assert "| some | 150 x 3 |" in result.stdout
    assert "| mean | 1 sets |" in result.stdout
    assert "tiny: left out" in result.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert list(found["sets"]) == ["some"]
    for values in found["sets"]["some"].values():
        assert len(values["error"]) == len(values["seconds"]) == 2
        assert all(-0.4 < error < 0.8 for error in values["error"])
        assert {*values["allowed"], *values["bound"]} <= {0.0, 1.0}
    assert "| allowed | bound |" in result.stdout
    run("priors", "--data", tmp_path, "--splits", 1, "--sets", "some", "--raw")
    assert "no file in" in run("priors", "--data", tmp_path, "--sets", "other", code=2).stderr
    assert "--prior must be in (0, 1)" in run("priors", "--data", tmp_path, "--prior", 1, code=2).stderr
