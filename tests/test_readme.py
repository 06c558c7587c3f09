"""What the README shows is what happens: its code runs and prints what it says, its links are true."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="needs the source tree")


@pytest.fixture
def text():
    return README.read_text(encoding="utf-8")


def test_code_runs_and_prints_what_the_readme_says(text, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 3
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "text":
            assert printed == block
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
        printed = out.getvalue()


def test_it_is_short(text):
    assert len(text.splitlines()) <= 200
    code = re.search(r"## Ten lines\n.*?```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line]) <= 12


def test_links_and_commands_lead_somewhere(text):
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"\bmake\s+(\w+)\b(?=`)|^    make (\w+)$", text, re.MULTILINE))
    targets = {name for pair in commands for name in pair if name}
    assert {"demo", "test", "bench"} <= targets
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
