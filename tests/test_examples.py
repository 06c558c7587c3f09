"""The examples run, warn of nothing and print and draw what they promise."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import fastpu

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the source tree")


def run_example(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=one_thread)


# ---- The gallery ----


@pytest.mark.parametrize("name", sorted(path.name for path in (EXAMPLES / "gallery").glob("*.py")))
def test_pages_of_the_gallery_run(name, capsys):
    for package in ("lightgbm", "matplotlib", "pandas", "sklearn"):
        pytest.importorskip(package)
    with threadpool_limits(1):
        runpy.run_path(str(EXAMPLES / "gallery" / name))
    assert capsys.readouterr().err == ""


def test_gallery_shows_every_plot():
    cells = (EXAMPLES / "gallery" / "plots.py").read_text(encoding="utf-8").split("# %%")
    shown = [re.match(r"fastpu\.plot\.(\w+)\(", cell.strip().splitlines()[-1]) for cell in cells[1:]]
    assert all(shown)
    assert {last[1] for last in shown} == set(fastpu.plot.__all__)


# ---- The examples on real input, here on small data of the same form ----

rng = np.random.default_rng(0)


def two_groups(n, d, apart, *, share=0.3):
    """Rows and whether they are positive; the first two features tell."""
    positive = np.arange(n) < share * n
    X = rng.standard_normal((n, d)).round(3)
    X[positive, :2] += apart
    order = rng.permutation(n)
    return X[order], positive[order]


def letters():
    X, positive = two_groups(400, 4, 3.0, share=0.2)
    return X, np.where(positive, "A", np.where(X[:, 2] > 0, "B", "Q"))


def genes():
    X, positive = two_groups(40, 60, 3.0, share=0.6)
    X[positive, 2:12] += 2.0
    return X, positive


def proteins():
    X, positive = two_groups(150, 7, 3.0, share=0.5)
    return X, np.where(positive, np.where(X[:, 2] > 0, "im", "pp"), np.where(X[:, 2] > 0, "cp", "omL"))


def sales():
    X, positive = two_groups(800, 4, 2.0, share=0.2)
    X[::5, 3] = np.nan
    return X, np.where(positive, "Germany", "United Kingdom")


def postings():
    texts, groups = [], []
    for number in range(160):
        about = "cipher" if number % 4 == 0 else "engine"
        words = [f"{about}{k}" for k in rng.integers(0, 12, 8)] + [f"word{k}" for k in rng.integers(0, 30, 12)]
        texts.append(" ".join(words))
        groups.append("sci.crypt" if number % 4 == 0 else "rec.autos")
    return texts, groups


def write_csv(folder, name, X, classes):
    rows = [",".join("" if np.isnan(value) else str(value) for value in row) for row in X]
    lines = [f"{row},{label}" for row, label in zip(rows, classes, strict=True)]
    header = ",".join([*(f"x{k}" for k in range(X.shape[1])), "label"])
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("\n".join([header, *lines]) + "\n")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder for --data with small sets of the same form as the real ones."""
    folder = tmp_path_factory.mktemp("data")
    write_csv(folder, "letter", *letters())
    X, positive = genes()
    write_csv(folder, "lymphoma_62x4026", X, np.where(positive, "DLBCL", "FL"))
    write_csv(folder, "ecoli", *proteins())
    write_csv(folder, "online_retail", *sales())
    texts, groups = postings()
    with gzip.open(folder / "newsgroups8_mini.jsonl.gz", "wt") as file:
        for text, group in zip(texts, groups, strict=True):
            print(json.dumps({"text": f"Newsgroups: {group}\nLines: 1\n\n{text}", "label": group}), file=file)
    return folder


@pytest.fixture
def example(monkeypatch, capsys, tmp_path):
    """Run an example in this process; `patch` replaces what it fetches with."""
    for package in ("sklearn", "matplotlib", "pandas"):
        pytest.importorskip(package)
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def run(name, *arguments, patch=()):
        for module in ("_common", name):
            monkeypatch.delitem(sys.modules, module, raising=False)
        program = importlib.import_module(name)
        for module, function, replacement in patch:
            monkeypatch.setattr(importlib.import_module(module), function, replacement)
        monkeypatch.setattr(sys, "argv", [name, "--output", str(tmp_path), *map(str, arguments)])
        with threadpool_limits(1):  # on so few rows threads only wait for each other
            program.main()
        return capsys.readouterr().out

    return run


def figures(printed):
    """The rows of the table: AUC, average precision, F1, share called positive, by the name of the method."""
    pattern = r"^( *\S.*?) {2,}(\d\.\d{3}) +(\d\.\d{3}) +(\d\.\d{3}) +(?:\d\.\d{3}|-) +(\d+\.\d)% +\d+\.\d{3}$"
    rows = re.findall(pattern, printed, re.MULTILINE)
    assert len(rows) == printed.count("%  ")
    return [(name, *map(float, values)) for name, *values in rows]


def pictures(folder):
    return sorted(path.name for path in folder.glob("*.png"))


def openml(X, classes):
    """What fetch_openml gives for such rows, and a check that it is asked for a name and a version."""
    pandas = pytest.importorskip("pandas")

    def fetched(name, *, version, as_frame):
        assert (version, as_frame) == (1, True)
        return SimpleNamespace(data=pandas.DataFrame(X), target=pandas.Series(classes, dtype="category"))

    return fetched


def test_digits(example, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    folder = tmp_path / "new" / "folder"
    printed = example("digits", "--draws", 1, "--output", folder)

    found = re.findall(r"^(.+?) +(\d\.\d{3}) +(\d+\.\d) +\d+\.\d+$", printed, re.MULTILINE)
    assert [row[0] for row in found][-1] == "fastpu.fit_forest"
    counts = [float(row[2]) for row in found]
    assert len(counts) == 4
    assert counts[-1] > 85
    assert counts[-1] > max(counts[:2])  # of the learners that nobody has set for it
    text = re.search(r"(\d+) of the first 100 .* expected .*interval: (\d+) to (\d+)\); in truth (\d+) do", printed)
    assert text is not None, printed
    expected, low, high, truth = map(int, text.groups())
    assert 0 <= low <= expected <= high <= 100
    assert low <= truth <= high
    for name in ("digits.png", "digits_found.png"):
        assert f"picture: {folder / name}\n" in printed
        picture = image.imread(folder / name)
        assert picture.shape[0] > 400
        assert picture.shape[1] == 1050  # all pictures have one width
        assert picture.std() > 0.05


def test_rare_positives(example, data, tmp_path):
    printed = example("rare_positives", "--data", data, "--splits", 2, "--labeled", 0.3)
    table = figures(printed)
    assert len(table) == 13
    assert all(area > 0.8 for _, area, _, _, _ in table)
    assert len(re.findall(r"prior 0\.\d{4} estimated.*, 0\.\d{4} true", printed)) == 2
    assert pictures(tmp_path) == ["rare_positives.png"]


def test_text(example, data, tmp_path):
    with_file = example("text", "--data", data, "--splits", 2)
    assert len(figures(with_file)) == 10
    assert pictures(tmp_path) == ["text.png"]
    texts, groups = postings()
    names = sorted(set(groups))

    def fetched(*, subset, categories, remove):
        assert (subset, len(categories), remove) == ("all", 8, ("headers",))
        return SimpleNamespace(
            data=texts, target_names=names, target=np.array([names.index(group) for group in groups])
        )

    printed = example("text", "--splits", 1, patch=[("text", "fetch_20newsgroups", fetched)])
    assert all(area > 0.8 for _, area, _, _, _ in figures(printed))


def test_genes(example, data, tmp_path):
    table = figures(example("genes", "--data", data, "--splits", 2))
    assert len(table) == 7
    assert all(area > 0.7 for _, area, _, _, _ in table)
    assert pictures(tmp_path) == ["genes_costs.png"]
    X, positive = genes()
    fetched = openml(X, np.where(positive, "ALL", "AML"))
    assert "ALL: 24 of 40 rows, 60 genes" in example(
        "genes", "--splits", 1, patch=[("_common", "fetch_openml", fetched)]
    )


def test_trifurcate(example, data, tmp_path):
    table = figures(example("trifurcate", "--splits", 1))
    score = {name: value for name, _, _, value, _ in table}
    assert score["fit_pual linear"] > score["SVC linear, balanced"] + 0.1
    assert pictures(tmp_path) == ["trifurcate.png"]
    from_file = example("trifurcate", "--ecoli", "--data", data, "--splits", 1)
    assert from_file.startswith("Ecoli: 150 x 7, 75 positive")
    patch = [("_common", "fetch_openml", openml(*proteins()))]
    assert len(figures(example("trifurcate", "--ecoli", "--splits", 1, patch=patch))) == 7


def test_million_rows(example, data, tmp_path):
    table = figures(example("million_rows", "--rows", 3000, "--labeled", 0.3))
    assert len(table) == 6
    assert pictures(tmp_path) == ["million_rows.png"]
    from_file = example("million_rows", "--data", data, "--labeled", 0.3)
    assert from_file.startswith("Online Retail, Germany: 800 x 4")
    X, positive = two_groups(900, 5, 2.0)
    forests = SimpleNamespace(data=X, target=np.where(positive, 1, 2))
    patch = [("million_rows", "fetch_covtype", lambda: forests)]
    assert "Covertype, spruce: 900 x 5" in example("million_rows", "--covtype", "--labeled", 0.3, patch=patch)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("rare_positives", "letter.csv.gz"),
        ("text", "newsgroups8_mini.jsonl.gz"),
        ("genes", "lymphoma_62x4026.csv.gz"),
        ("trifurcate --ecoli", "ecoli.csv.gz"),
        ("million_rows --covtype", "online_retail.csv.gz"),
    ],
)
def test_without_network_and_data_it_says_what_to_do(example, name, file):
    def no_network(*_args, **_options):
        warnings.warn("Retrying", UserWarning, stacklevel=1)
        raise URLError("Name or service not known")

    name, *options = name.split()
    patch = [("_common", "fetch_openml", no_network)]
    for function in ("fetch_20newsgroups", "fetch_covtype"):
        if function == {"text": "fetch_20newsgroups", "million_rows": "fetch_covtype"}.get(name):
            patch = [(name, function, no_network)]
    with pytest.raises(SystemExit) as ended:
        example(name, *options, patch=patch)
    assert "cannot be fetched (<urlopen error Name or service not known>)." in str(ended.value.code)
    assert f"pass --data DIR, a folder with {file}" in str(ended.value.code)


@pytest.mark.parametrize(
    ("name", "file"), [("text", "newsgroups8_mini.jsonl.gz"), ("genes", "lymphoma_62x4026.csv.gz")]
)
def test_a_folder_without_the_file_is_named(example, tmp_path, name, file):
    with pytest.raises(SystemExit) as ended:
        example(name, "--data", tmp_path)
    assert ended.value.code == f"{tmp_path / file} cannot be read: No such file or directory"
    (tmp_path / file).write_text("label\n")
    with pytest.raises(SystemExit) as ended:
        example(name, "--data", tmp_path)
    assert str(ended.value.code).startswith(f"{tmp_path / file} cannot be read: Not a gzipped file")


def test_xgboost_on_dask():
    for package in ("xgboost", "distributed", "dask.array"):
        pytest.importorskip(package)
    result = run_example("xgboost_dask.py", "--rows", "60000", "--rounds", "10")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^60,000 rows, \d+ labelled; 10 trees in ", result.stdout, re.MULTILINE), result.stdout
    found = re.search(r"^AUC of hidden positives among unlabelled rows: (0\.\d+)$", result.stdout, re.MULTILINE)
    assert float(found[1]) > 0.8


def test_options_that_do_not_fit_are_refused(example, tmp_path, capsys):
    for name, arguments, text in (
        ("trifurcate", ["--data", tmp_path], "--data is for --ecoli"),
        ("million_rows", ["--splits", 2], "--splits must be 1"),
        ("digits", ["--draws", 0], "--draws must be at least 1, got 0"),
    ):
        with pytest.raises(SystemExit) as ended:
            example(name, *arguments)
        assert ended.value.code == 2
        assert text in capsys.readouterr().err


def test_examples_of_the_docs_are_those_there_are():
    names = {path.name for path in EXAMPLES.glob("*.py") if not path.name.startswith("_")}
    page = (EXAMPLES.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(\.\./examples/(\w+\.py)\)", page)) == names
