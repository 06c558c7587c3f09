"""The command that reruns the tables of the PU-SvmPath paper: on little data, for what it prints and writes."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAPER = Path(__file__).resolve().parent.parent / "bench" / "papers" / "pu_svm_path"

pytestmark = pytest.mark.skipif(not PAPER.is_dir(), reason="needs the source tree")


def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPER), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code, result.stderr
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    pytest.importorskip("sklearn", reason="its stop words and TF-IDF")
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    lines = [
        json.dumps({"text": f"Newsgroups: {group}\n\n" + " ".join(rng.choice(words, 20)), "label": group})
        for group, words in (("a", ["skating", "puck", "game"]), ("b", ["pixels", "image", "game"]))
        for _ in range(20)
    ]
    with gzip.open(folder / "newsgroups8_mini.jsonl.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    with gzip.open(folder / "lymphoma_62x4026.csv.gz", "wt") as file:
        file.write("g1,g2,g3,label\n")
        for name in ["DLBCL"] * 20 + ["FL"] * 12:
            row = rng.normal(size=3) + 2 * (name == "FL")
            file.write(",".join(f"{x:.5g}" for x in row) + f",{name}\n")
    return folder


def test_tables_have_the_paper_beside_ours(data, tmp_path):
    printed = run("--data", data, "--draws", 3, "--splits", 2, "--shares", 0.5, 0.6, "--output", tmp_path).stdout
    for head in ("Table 2, PU_toy1", "Table 2, PU_toy2", "Table 3, DLBCL", "Table 4, 20newsgroup"):
        assert head in printed
    assert "| 60 % | 85.1 / " in printed
    assert (tmp_path / "tables.md").read_text().strip() in printed.replace("\n\n\n", "\n\n")
    rows = json.loads((tmp_path / "tables.json").read_text())
    assert {row["method"] for row in rows} == {"SvmPath", "PU-SvmPath", "SVM-light", "Bias-SVM", "One-class SVM"}
    toy = [row["f1"] for row in rows if row["case"] == "PU_toy2" and row["method"] == "PU-SvmPath"]
    assert len(toy) == 3
    assert min(toy) > 70
    assert (tmp_path / "figure2.png").stat().st_size > 10_000


def test_tables_without_their_files_are_left_out(tmp_path):
    result = run("--tables", 4, "--data", tmp_path, code=2)
    assert "Table 4 needs --data with newsgroups8_mini.jsonl.gz" in result.stderr


def test_stems_are_those_of_porter():
    spec = importlib.util.spec_from_file_location("pu_svm_path_stemming", PAPER / "stemming.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    known = {
        "caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster",
        "motoring": "motor", "hopping": "hop", "falling": "fall", "filing": "file", "happy": "happi", "sky": "sky",
        "relational": "relat", "conditional": "condit", "vietnamization": "vietnam", "hopefulness": "hope",
        "electrical": "electr", "adjustment": "adjust", "adoption": "adopt", "probate": "probat", "rate": "rate",
        "controll": "control", "roll": "roll", "generalizations": "gener",
    }  # fmt: skip
    assert {word: module.stem(word) for word in known} == known


def test_the_peer_command_runs_quickly_and_judges_the_goals(tmp_path):
    pytest.importorskip("sklearn", reason="the peer")
    command = [sys.executable, str(PAPER.parent.parent / "peers" / "svm_path.py"), "--quick", "--output", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert "| rbf, n = 150, d = 10 |" in result.stdout
    assert "time of the path by that of SVC" in result.stdout
    assert (tmp_path / "svm_path.md").read_text().strip() == result.stdout.strip()
    for _, found in json.loads((tmp_path / "svm_path.json").read_text()):
        assert found["violation"] < 1e-6
