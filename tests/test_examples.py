"""The examples run, warn of nothing and print and draw what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the source tree")


def run_example(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_breast_cancer(tmp_path):
    for package in ("sklearn", "tqdm"):
        pytest.importorskip(package)
    image = pytest.importorskip("matplotlib.image")
    folder = tmp_path / "new" / "folder"
    result = run_example("breast_cancer.py", "--splits", "2", "--rounds", "15", "--output", str(folder))
    assert result.returncode == 0, result.stderr
    assert "model selection: 100%" in result.stderr

    table = re.findall(r"^(.+?) +(\d\.\d{4}) +(\d\.\d{4}) +(\d+\.\d)   (.+)$", result.stdout, re.MULTILINE)
    assert [row[0] for row in table] == ["PNUAUCBoost", "RankBoost-AUC", "logistic regression"]
    assert all(0.9 < float(mean) <= 1 and float(sd) < 0.1 for _, mean, sd, _, _ in table)
    assert [re.findall(r"(\w+)=", row[4]) for row in table] == [
        ["gamma", "rho", "n_rounds"],
        ["rho", "n_rounds"],
        ["C"],
    ]

    assert result.stdout.endswith(f"picture: {folder / 'breast_cancer.png'}\n")
    picture = image.imread(folder / "breast_cancer.png")
    assert picture.shape[0] > 500
    assert picture.shape[1] > 1000
    assert picture.std() > 0.05


def test_breast_cancer_says_what_it_cannot_do(tmp_path):
    for package in ("sklearn", "tqdm", "matplotlib"):
        pytest.importorskip(package)
    result = run_example("breast_cancer.py", "--splits", "1", "--output", str(tmp_path))
    assert result.returncode == 2
    assert "--splits and --rounds must be at least 2" in result.stderr
    assert not list(tmp_path.iterdir())
