"""The command in bench/defaults runs: on data as small as can be, for what it prints and writes."""

from __future__ import annotations

import re
import sys
import time

import numpy as np
import pytest

from bench_commands import BENCH, bench_module, needs_bench, run, write_set
from fastpu.common._capabilities import CAPABILITIES

pytestmark = needs_bench


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH / "defaults"))
    yield {name: bench_module(name) for name in ("problems", "fits", "report")}
    for name in ("problems", "fits", "report"):
        sys.modules.pop(name, None)


def test_the_command_prints_every_method_on_both_scalings(tmp_path):
    write_set(tmp_path, "some", ("yes", "no"), n=200, seed=0)
    output = tmp_path / "defaults.md"
    arguments = ["--data", tmp_path, "--sets", "some=yes", "none=yes", "--splits", 1, "--shares", 0.3, "--limit", 60]
    result = run("defaults", *arguments, "--output", output)
    assert output.read_text() == result.stdout
    assert "none: left out, there is no none.csv.gz" in result.stderr
    for scaling in ("standardised", "raw"):
        assert f"**Columns {scaling}.**" in result.stdout
    for method in ("logistic regression", *CAPABILITIES, "fit_bagging_svm rbf"):
        assert len(re.findall(rf"^\| {method} \|", result.stdout, flags=re.MULTILINE)) == 4
    assert "| logistic regression | P, U as N |" in result.stdout
    assert "More than 0.05 below logistic regression in the median: " in result.stdout
    assert "slow" not in result.stdout.replace("slow or refused", "")


def test_bad_options_are_refused(tmp_path):
    write_set(tmp_path, "tiny", ("yes", "no"), n=20, seed=1)
    data = ["--data", tmp_path]
    assert "left out, needs more than 5 positive" in run("defaults", *data, "--sets", "tiny=yes", code=2).stderr
    assert "must have a last column 'label'" in run("defaults", *data, "--sets", "tiny=maybe", code=2).stderr
    assert "--sets must be NAME=LABEL" in run("defaults", *data, "--sets", "tiny", code=2).stderr
    assert "--shares must be in (0, 1)" in run("defaults", *data, "--shares", 1, code=2).stderr
    assert "--jobs must be at least 1" in run("defaults", *data, "--jobs", 0, code=2).stderr


def some_problem(modules, **more):
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    X = rng.normal(size=(300, 3)) * [1, 10, 100] + truth[:, None] * [1, 5, 0]
    wanted = {"scaling": "standardised", "share": 0.3, "seed": 0, "max_rows": 1000, **more}
    return modules["problems"].draw(X, truth, **wanted)


def test_a_problem_hides_labels_and_keeps_halves_apart(modules):
    problem = some_problem(modules)
    assert len(problem.X) == len(problem.X_test) == 150
    assert problem.is_labelled.sum() == round(0.3 * problem.truth.sum())
    assert problem.truth[problem.is_labelled].all()
    assert problem.prior == problem.truth[~problem.is_labelled].mean()
    np.testing.assert_allclose(problem.X.std(axis=0), 1)
    raw = some_problem(modules, scaling="raw", max_rows=50)
    assert len(raw.X) == 50
    assert raw.X.std(axis=0)[2] > 50
    assert some_problem(modules, share=0.001).is_labelled.sum() == 5


def test_outcomes_are_those_of_a_fit_by_hand(modules):
    import fastpu

    problem = some_problem(modules)
    found = modules["fits"].judge("fit_isvm", problem)
    model = fastpu.fit_isvm(problem.X, problem.is_labelled)
    scores = model.decision_function(problem.X_test)
    assert found.auc == fastpu.metrics.auc(problem.truth_test, scores)
    assert found.called == np.mean(scores > 0)
    assert found.flaw == ""
    raw = modules["fits"].judge("fit_isvm", some_problem(modules, scaling="raw"))
    assert raw.warnings == ()
    wild = some_problem(modules)
    wild.X[:, 0] *= 1e6
    assert modules["fits"].judge("fit_isvm", wild).warnings == ("ScaleWarning",)
    assert modules["fits"].judge("fit_nu_svm", some_problem(modules, share=0.05)).flaw.startswith("ValueError: nu")


def test_a_slow_fit_is_ended_and_the_next_one_runs(modules):
    fits = modules["fits"]
    worker = fits.Worker(limit=1e-9)
    try:
        start = time.monotonic()
        assert worker.judge("fit_pnu_auc_boost", some_problem(modules)).flaw == "slow"
        assert time.monotonic() - start < 30
        worker = fits.Worker(limit=60)
        assert worker.judge("fit_isvm", some_problem(modules)).flaw == ""
    finally:
        worker.close()


def test_ranks_and_differences_by_hand(modules):
    fits = modules["fits"]
    names = [fits.BASELINE, "fit_isvm", "fit_svm"]
    outcomes = {
        ("a", "raw", 0.1, k): {
            names[0]: fits.Outcome(auc=0.8, called=0.5, seconds=1.0),
            names[1]: fits.Outcome(auc=0.8 + difference, called=0.25, seconds=2.0, warnings=("ScaleWarning",)),
            names[2]: fits.Outcome(seconds=5.0, flaw="slow"),
        }
        for k, difference in enumerate((0.1, -0.2, -0.1))
    }
    text = modules["report"].report(outcomes)
    assert "| fit_isvm | P, U | 1.7 | -0.100 | -0.100 | -0.200 | 25% | 2.00 | 2.00 | ScaleWarning 3/3 |" in text
    assert "| fit_svm | P, U as N | 3.0 | -0.300 | -0.300 | -0.300 |  | 5.00 | 5.00 | slow 3/3 |" in text
    assert "in the median: fit_svm (-0.300), fit_isvm (-0.100)." in text
    assert "| fit_svm | slow or refused |" in text
