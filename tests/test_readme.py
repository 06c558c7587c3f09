"""What the README shows is what happens: its code runs and prints what it says, its tables and links are true."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import fastpu
from fastpu.common._methods import table

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="needs the source tree")


@pytest.fixture
def text():
    return README.read_text(encoding="utf-8")


def test_code_runs_and_prints_what_the_readme_says(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves a model
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 4 + ["python"]
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "text":
            assert printed == block
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
        printed = out.getvalue()


def test_quick_start_is_short(text):
    code = re.search(r"## Quick start\n\n```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line]) <= 15


def test_capability_table_is_that_of_the_package(text):
    assert table() in text


def test_every_public_function_is_named(text):
    functions = {f"`{name}`" for name in fastpu.__all__ if callable(getattr(fastpu, name)) and name.islower()}
    assert {name for name in functions if name not in text} == set()
    for module in (fastpu.metrics, fastpu.datasets, fastpu.plot, fastpu.priors):
        assert [name for name in module.__all__ if name.islower() and name not in text] == []


def test_scorers_and_some_classifiers_are_named(text):
    estimators = pytest.importorskip("fastpu.estimators", reason="needs scikit-learn")
    assert [name for name in estimators.__all__ if name.islower() and name not in text] == []
    named = set(re.findall(r"`(\w+Classifier)`", text))
    assert named
    assert named <= set(estimators.__all__)


def test_links_and_commands_lead_somewhere(text):
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"\bmake\s+(\w+)\b(?=`)|^    make (\w+)$", text, re.MULTILINE))
    targets = {name for pair in commands for name in pair if name}
    assert {"demo", "test", "bench"} <= targets
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
