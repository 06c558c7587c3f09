"""The command in bench/peers for large-margin iterations runs, and judges what it times as it should."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench_commands import BENCH, bench_module, needs_bench, run

pytestmark = needs_bench


def write_spam(folder, *, n):
    rng = np.random.default_rng(5)
    spam = rng.random(n) < 0.4
    X = rng.standard_normal((n, 4)) + spam[:, None]
    table = np.column_stack([X.round(4).astype(str), np.where(spam, "spam", "email")])
    lines = ["f0,f1,f2,f3,label", *(",".join(row) for row in table)]
    np.savetxt(folder / "spambase.csv.gz", lines, fmt="%s")


def test_the_isvm_command_runs_quickly_and_reports(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("resource")
    write_spam(tmp_path, n=200)
    size = ["--only", "spam", "text", "iadmm", "--threads", 1]
    result = run("peers/isvm.py", "--quick", *size, "--data", tmp_path, "--output", tmp_path)
    assert "| 60 x 4 | 5 |" in result.stdout
    assert "(timed on 1 of them, scaled up)" in result.stdout
    assert "### An iteration of IADMM" in result.stdout
    assert (tmp_path / "isvm.md").read_text().strip() in result.stdout
    raw = json.loads((tmp_path / "isvm.json").read_text())
    assert [m["measure"] for m in raw] == ["spam"] * 2 + ["text"] * 2 + ["text_memory"] * 4 + ["iadmm"]
    assert "without --data, spam is left out" in run("peers/isvm.py", "--quick", "--only", "spam").stderr


@pytest.mark.filterwarnings("ignore::UserWarning")  # of fits that are capped
def test_the_peers_of_a_hinge_problem_are_as_accurate(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(BENCH / "peers")
    found = bench_module("isvm_measures").hinge(n=150, d=12, C=0.1, threads=[1], repeats=2, limit=2.0)
    assert list(found["contenders"]) == ["fastpu 1", "LinearSVC", "SVC"]
    for contender in found["contenders"].values():
        assert contender["reached"]
        assert len(contender["times"]) == 2
        assert -1e-9 < contender["excess"] <= 1e-6


def test_the_optimum_of_liblinear_is_below_what_liblinear_finds(monkeypatch):
    svm = pytest.importorskip("sklearn.svm")
    monkeypatch.syspath_prepend(BENCH / "peers")
    problems = bench_module("isvm_problems")
    for X, y in (problems.clusters(200, 12), problems.sparse_rows(200, 400)):
        optimum = problems.liblinear_optimum(X, y, 0.5, 1e-10)
        peer = svm.LinearSVC(loss="hinge", C=0.5, tol=1e-9, max_iter=100_000, random_state=0).fit(X, y)
        value = problems.primal(X, y, 0.5, peer.coef_[0], peer.intercept_[0])
        assert optimum * (1 - 1e-12) <= value <= optimum * (1 + 1e-6)


def test_the_report_of_isvm_judges_the_goals(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    report = bench_module("isvm_report")
    ours = {"excess": 1e-7, "n_iter": 9, "reached": True, "times": [0.2]}
    contenders = {
        "fastpu 1": ours,
        "LinearSVC": {**ours, "tol": 1e-4, "times": [1.0]},
        "SVC": {**ours, "tol": 1e-1, "reached": False, "times": [0.5]},
    }
    spam = {"seconds": {"fastpu 1": [1.0], "SVC": [20.0]}, "n_costs": 81, "n_part": 9, "equal": 8, "shape": [200, 57]}
    rates = {"seconds": {"2": [0.1]}, "iteration": {"2": [4e9]}, "copy": {"2": [1e10]}}
    text = report.report(
        [
            report.Measured("hinge", {"C": 1.0}, {"contenders": contenders, "shape": [20_000, 50]}),
            report.Measured("spam", {"threads": [1]}, spam),
            report.Measured("iadmm", {"n": 10, "d": 5, "threads": [2]}, rates),
        ]
    )
    assert "0.20 (<= 0.333: met)" in text
    assert "> 500" in text
    assert "< 0.4 (<= 0.333: open)" in text
    assert "0.05 (<= 0.1: met) | 8 of 9" in text
    assert "0.40 (>= 0.5: missed)" in text
