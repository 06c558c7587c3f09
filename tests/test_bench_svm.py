"""The commands in bench/ for SVMs and mapping convergence run, and judge what they time as they should."""

from __future__ import annotations

import gzip
import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fastpu
from bench_commands import BENCH, bench_module, needs_bench, read_set, run, write_set

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_bench

# ---- bench/papers/svmc -----------------------------------------------------------------------------------------------

LETTERS = "ABCDEF"


def write_letters(folder: Path, *, n: int) -> None:
    rng = np.random.default_rng(3)
    which = np.arange(n) % len(LETTERS)
    X = np.round(8 + 4 * rng.standard_normal((len(LETTERS), 4))[which] + rng.standard_normal((n, 4)))
    rows = [",".join([*(f"{x:g}" for x in row), LETTERS[k]]) for row, k in zip(X, which, strict=True)]
    with gzip.open(folder / "letter.csv.gz", "wt") as file:
        file.write("\n".join(["a,b,c,d,label", *rows]) + "\n")


def write_pages(folder: Path, *, n: int) -> None:
    rng = np.random.default_rng(4)
    words = [f"w{k}" for k in range(60)]
    with gzip.open(folder / "webkb7.jsonl.gz", "wt") as file:
        for i in range(n):
            label = ("student", "faculty", "course", "other")[i % 4]
            text = " ".join([*rng.choice(words, 12), *rng.choice([f"{label}{k}" for k in range(5)], 4)])
            file.write(json.dumps({"text": text if i else "", "label": label, "univ": "u"}) + "\n")


@pytest.fixture(scope="module")
def letters_and_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("letters_and_pages")
    write_letters(folder, n=240)
    write_pages(folder, n=161)
    return folder


SVMC = "papers/svmc"
SVMC_METHODS = ["TSVM", "SMC", "SVMC", "SVMC printed", "OSVM", "SVM_NN"]


def test_the_svmc_command_prints_the_table_and_writes_every_split(letters_and_pages, tmp_path):
    size = ["--sets", "letter-B", "faculty", "--splits", 2, "--threads", 2]
    result = run(SVMC, "--data", letters_and_pages, *size, "--output", tmp_path)
    table = result.stdout
    assert "| letter-B | C = 100 | 20 | 220 | 20 |" in table
    assert "|  | specification: F1 |  |  |  | 90.8 | 85.5 | 84.7 | 52.8 |  | 21.4 |" in table
    assert "| faculty | nu = 0.01 | 20 | 140 | 20 |" in table  # the page without a word is left out
    assert "digits of the paper's own table are lost" in table
    assert "Training time, s" in table
    assert (tmp_path / "table1.md").read_text().strip() in table
    raw = json.loads((tmp_path / "table1.json").read_text())
    assert [(found["name"], found["stage"]) for found in raw["sets"]] == [
        (name, stage) for name in ("letter-B", "faculty") for stage in ("C", "nu")
    ]
    for found in raw["sets"]:
        assert list(found["judged"]) == SVMC_METHODS
        for splits in found["judged"].values():
            assert len(splits) == 2
            assert all(0 <= split["f1"] <= 100 and split["seconds"] > 0 for split in splits)
    assert len((tmp_path / "table1_splits.csv").read_text().splitlines()) == 1 + 4 * 6 * 2
    figures = {"boundaries.png"} if find_spec("matplotlib") else set()
    assert {path.name for path in tmp_path.glob("*.png")} == figures


def test_the_svmc_command_judges_the_unlabelled_rows(letters_and_pages, tmp_path):
    run(SVMC, "--data", letters_and_pages, "--sets", "letter-A", "--svm", "C", "--splits", 1, "--output", tmp_path)
    judged = json.loads((tmp_path / "table1.json").read_text())["sets"][0]["judged"]
    X, positive = read_set(letters_and_pages / "letter.csv.gz", "A")
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    y = np.zeros(240, dtype=np.int8)
    y[np.random.default_rng(0).permutation(np.flatnonzero(positive))[:20]] = 1
    model = fastpu.fit_svmc(X, y, C=100.0, gamma=1.0)
    truth = positive[y == 0]
    for name, found in (("f1", model.decision_function(X[y == 0]) >= 0), ("set_f1", model.unlabeled_set > 0)):
        assert judged["SVMC"][0][name] == pytest.approx(200 * (truth & found).sum() / (truth.sum() + found.sum()))


def test_the_svmc_command_names_what_is_missing(letters_and_pages, tmp_path):
    assert "no file in" in run(SVMC, "--data", letters_and_pages, "--sets", "wdbc", code=2).stderr
    assert "unheard_of" in run(SVMC, "--data", letters_and_pages, "--sets", "unheard_of", code=2).stderr
    assert "there is no folder" in run(SVMC, "--data", tmp_path / "nowhere", code=2).stderr
    write_set(tmp_path, "wdbc", ("yes", "no"), n=50, seed=0)
    assert "some rows must be 'malignant'" in run(SVMC, "--data", tmp_path, code=1).stderr


def test_tf_idf_rows_have_length_one_and_rare_words_weigh_more(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "papers" / "svmc")
    X = bench_module("sets").tf_idf(["a a b", "a b", "a c b", "a c", "a c once"])
    assert X.shape == (5, 3)  # too few texts have the last word
    assert X.indices.dtype == np.int32
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1)
    weights = np.array([1 + np.log(2), 1]) * (1 + np.log(6 / np.array([6, 4])))
    np.testing.assert_allclose(X[[0]].toarray()[0], [*weights / np.linalg.norm(weights), 0])


# ---- bench/peers -----------------------------------------------------------------------------------------------------

RBF = {"kernel": "rbf", "gamma": 0.05}
SVM_NAMES = ["fastpu float64 1", "fastpu float32 2", "scikit-learn"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fits", {"kind": "c_svm", "rows": 150, "parameter": 100.0, "kernel": RBF, "names": SVM_NAMES}),
        ("fits", {"kind": "nu_svm", "rows": 150, "parameter": 0.3, "kernel": RBF, "names": SVM_NAMES}),
        ("fits", {"kind": "one_class", "rows": 150, "parameter": 0.1, "kernel": RBF, "names": SVM_NAMES}),
        ("fits", {"kind": "c_svm", "rows": "student", "parameter": 1.0, "kernel": {"kernel": "linear"},
                  "names": SVM_NAMES}),
        ("scoring", {"kind": "c_svm", "rows": 150, "parameter": 1.0, "kernel": RBF, "names": SVM_NAMES, "n_test": 50}),
    ],
)  # fmt: skip
def test_the_measurements_of_svms_judge_all_alike(name, options, letters_and_pages, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(BENCH / "peers")
    tol = 1e-3
    found = getattr(bench_module("svm_measures"), name)(
        **options, tol=tol, cache_mb=10, repeats=2, data=letters_and_pages
    )
    assert list(found["seconds"]) == SVM_NAMES
    assert all(len(times) == 2 and min(times) > 0 for times in found["seconds"].values())
    if name == "scoring":
        assert max(found["difference"].values()) < 0.1
        return
    objective = [quality["objective"] for quality in found["quality"].values()]
    np.testing.assert_allclose(objective, objective[0], rtol=1e-4)
    assert all(quality["violation"] < 1.5 * tol for quality in found["quality"].values())


def test_mapping_convergence_agrees_with_the_loop_over_scikit_learn(letters_and_pages, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(BENCH / "peers")
    measures = bench_module("svm_measures")
    shared = {"C": 100.0, "kernel": "rbf", "gamma": 1.0, "cache_mb": 10, "data": letters_and_pages, "n_rows": 200}
    found = measures.agreement(rows=["letter-A", "letter-C"], n_threads=1, tols=[1e-3, 1e-6], **shared)
    assert all(share["1e-06"] == 1 for share in found["between"].values())
    found = measures.mapping(rows="letter-A", threads=[1, 2], tol=1e-6, repeats=1, **shared)
    for what in ("SVMC", "SVMC, no repair", "SMC", "one SVM"):
        names = [f"fastpu 1: {what}", f"fastpu 2: {what}", f"scikit-learn: {what}"]
        assert len({found["f1"][name] for name in names}) == 1
        assert len({found["n_fits"][name] for name in names}) == 1


def test_bagging_is_measured_beside_pulearn(monkeypatch):
    pytest.importorskip("pulearn")
    monkeypatch.syspath_prepend(BENCH / "peers")
    found = bench_module("svm_measures").bagging(
        n=200,
        n_pos=20,
        n_bags=3,
        bag_size=20,
        threads=[1],
        repeats=1,
        n_test=50,
        C=1.0,
        kernel=RBF,
        tol=1e-3,
        cache_mb=10,
    )
    assert set(found["auc"]) == {"fastpu 1", "pulearn 1"}


def test_the_svm_command_runs_quickly_and_reports(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("resource")
    size = ["--only", "score", "memory", "letter", "--threads", 1]
    result = run("peers/svm.py", "--quick", *size, "--output", tmp_path)
    assert "without --data, letter is left out" in result.stderr
    assert "### Scores of other rows" in result.stdout
    assert "| fastpu float64 1 | csr | 500 |" in result.stdout
    assert (tmp_path / "svm.md").read_text().strip() in result.stdout
    assert {m["measure"] for m in json.loads((tmp_path / "svm.json").read_text())} == {"scoring", "memory"}


def test_the_report_of_svms_judges_the_goals(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "peers")
    report = bench_module("svm_report")
    seconds = {"fastpu float64 1": [0.5, 0.6, 0.7], "fastpu float32 1": [0.5], "scikit-learn": [0.9, 1.0, 2.0]}
    quality = {name: {"objective": -2.0, "violation": 1e-3} for name in seconds}
    options = {"kind": "c_svm", "rows": 2000, "parameter": 100.0, "kernel": RBF, "names": list(seconds), "repeats": 3}
    found = {"seconds": seconds, "quality": quality, "n_support": dict.fromkeys(seconds, 9), "shape": [2000, 20]}
    bags = {"n": 5000, "n_pos": 500, "n_bags": 35, "bag_size": 500, "threads": [1], "repeats": 3}
    text = report.report(
        [
            report.Measured("fits", options, found),
            report.Measured("agreement", {"tols": [1e-3, 1e-6]},
                            {"between": {"letter-A": {"0.001": 0.9, "1e-06": 0.998}}, "itself": {"letter-A": 0.5}}),
            report.Measured("bagging", bags, {"seconds": {"fastpu 1": [0.1], "pulearn 1": [2.0]},
                                              "auc": {"fastpu 1": 0.9, "pulearn 1": 0.9}}),
            report.Measured("memory", {"n": 1000, "name": "fastpu float64 1", "form": "dense", "cache_mb": 100},
                            {"rows": 2e6, "peak": 2e8, "matrix": 2e6, "n_support": 9}),
        ]
    )  # fmt: skip
    assert "0.60 (<= 0.667: met)" in text
    assert "0.83 (<= 0.667: missed)" in text
    assert "99.80 % (>= 99.90 %: missed)" in text
    assert "0.05 (<= 0.1: met)" in text
    assert "1.80 (<= 1: missed)" in text
