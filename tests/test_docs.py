"""The documentation is complete and leads nowhere wrong; its examples run in `make test-python`, with doctest."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fastpu
from fastpu.common._methods import DECLARED, function_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="needs the source tree")

PAGES = sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.parts)
PARTS = [
    "When to use it",
    "Objective",
    "Algorithm",
    "Parameters in practice",
    "Example",
    "Cost",
    "Traps",
    "Reference",
]
PUBLIC_MODULES = ["fastpu", *(f"fastpu.{name}" for name in dir(fastpu) if inspect.ismodule(getattr(fastpu, name)))]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub and MyST make them."""
    titles = re.findall(r"^#+ (.+)$", read(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


HEAD = "boundary | prior | labelled negatives | text (CSR) | rows | what it is best at |"
BASELINES = [name for name, method in DECLARED.items() if method.baseline]
OTHERS = [name for name, method in DECLARED.items() if not method.baseline]
#: Methods of a paper that have a section on the page of another one of it.
ON_PAGE_OF = {"fit_ipsi": "fit_isvm", "fit_gllc": "fit_pual", "fit_smc": "fit_svmc", "fit_pu_svm_path": "fit_svm_path"}


def text_of(method: str) -> str:
    """Returns what its page says of a method."""
    room = function_of(method).__module__.split(".")[1]
    first, *others = re.split(
        r"^## (?=fit_)", read(DOCS / "methods" / room / f"{ON_PAGE_OF.get(method, method)}.md"), flags=re.MULTILINE
    )
    return next(text for text in others if text.startswith(f"{method}\n")) if method in ON_PAGE_OF else first


@pytest.mark.parametrize("method", OTHERS)
def test_every_method_has_a_page_with_all_parts_and_an_example(method):
    public = f"{DECLARED[method].module}.{method}"
    text = text_of(method)
    if method in ON_PAGE_OF:
        heading = r"^\*\*(.+)\*\*$"
    else:
        heading = "^## (.+)$"
        assert re.findall(r"^# (.+)$", text, re.MULTILINE) == [method]
    assert re.findall(heading, text, re.MULTILINE) == PARTS
    bodies = dict(zip(PARTS, re.split(heading, text, flags=re.MULTILINE)[2::2], strict=True))
    assert [part for part, body in bodies.items() if not body.strip()] == []
    assert "$$" in bodies["Objective"]
    assert f"{public}(" in bodies["Example"] or f"{public}," in bodies["Example"]
    assert f"{{name}}`{public}`" in text


def test_every_classifier_around_another_has_a_page_of_the_same_form():
    pytest.importorskip("sklearn")
    estimators = importlib.import_module("fastpu.estimators")
    made = {method.classifier for method in DECLARED.values() if not method.baseline}
    names = {name for name in estimators.__all__ if name.endswith("Classifier")} - made
    assert {page.stem for page in (DOCS / "methods" / "estimators").glob("*.md")} == names
    for name in names:
        text = read(DOCS / "methods" / "estimators" / f"{name}.md")
        assert re.findall(r"^# (.+)$", text, re.MULTILINE) == [name]
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == PARTS
        assert "$$" in text
        assert f">>> from fastpu.estimators import {name}" in text
        assert f"{{name}}`fastpu.estimators.{name}`" in text
        assert f"[{name}](methods/estimators/{name}.md)" in read(DOCS / "choosing.md")


def test_pages_of_methods_begin_with_their_rows_of_the_table_that_compares_all():
    for method in OTHERS:
        head, line, row, after = text_of(method).partition("\n| ")[2].split("\n")[:4]
        assert head == HEAD, method
        assert line == "|---" * head.count("|") + "|", method
        assert all(cell.strip() for cell in row.split("|")[1:-1]), method
        assert row.count("|") == line.count("|"), method
        assert not after, method


def test_one_page_has_every_baseline_with_its_row_of_that_table_an_objective_and_an_example():
    text = read(DOCS / "methods" / "baselines.md")
    assert f"\n| function | {HEAD}\n" in text
    assert sorted(re.findall(r"^\| `(\w+)` \|(?:[^|\n]+\|){6}$", text, re.MULTILINE)) == sorted(BASELINES)
    sections = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)[1:]
    assert sorted(sections[::2]) == sorted(BASELINES)
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        assert "$$" in body, name
        assert f"= fastpu.baselines.{name}(" in body, name
        assert f"{{name}}`fastpu.baselines.{name}`" in body, name


def test_pages_have_places_for_what_is_made_of_the_declarations():
    # A line that begins with "%" is a comment: a sentence that wraps before a percent sign would lose its end.
    marks = {str(page.relative_to(DOCS)): re.findall(r"^ {0,3}% ?(.*)$", read(page), re.MULTILINE) for page in PAGES}
    assert {name: found for name, found in marks.items() if found} == {
        "choosing.md": ["comparison"],
        "functions.md": ["summaries"],
        "methods/index.md": ["methods", "table"],
    }


def test_functions_by_task_name_every_public_function_and_class():
    text = read(DOCS / "functions.md")
    callables = {name for name in fastpu.__all__ if callable(getattr(fastpu, name))} - set(DECLARED)
    assert {name for name in callables if f"`{name}`" not in text} == set()
    names = ("audit", "models", "metrics", "datasets", "objectives", "plot", "priors")
    for module in (getattr(fastpu, name) for name in names):
        assert [name for name in module.__all__ if not re.search(rf"`(\w+\.)?{name}`", text)] == []


def test_functions_by_task_name_every_scorer_and_only_classifiers_that_are():
    estimators = pytest.importorskip("fastpu.estimators", reason="needs scikit-learn")
    text = read(DOCS / "functions.md")
    assert [name for name in estimators.__all__ if name.islower() and name not in text] == []
    named = set(re.findall(r"`(\w+Classifier)`", text))
    assert named
    assert named <= set(estimators.__all__)


def test_every_public_module_is_in_the_reference():
    text = read(DOCS / "reference" / "index.md")
    assert set(re.findall(r"^   (fastpu[.\w]*)$", text, re.MULTILINE)) == set(PUBLIC_MODULES)


def on_all_pages(pattern: str, flags: int = 0) -> list[tuple[Path, Any]]:
    """What a pattern finds, with the page."""
    return [(page, found) for page in PAGES for found in re.findall(pattern, read(page), flags)]


def test_links_lead_somewhere():
    for page, link in on_all_pages(r"\]\(([^)\s]+)\)"):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), (page, link)
        assert not anchor or anchor in anchors(target), (page, link)


def test_pages_of_the_gallery_are_those_there_are():
    for page, name in on_all_pages(r"\{doc\}`[^`]*?<?/?gallery/(\w+)>?`"):
        assert name == "index" or (ROOT / "examples" / "gallery" / f"{name}.py").exists(), (page, name)


def test_names_are_public_ones():
    pytest.importorskip("sklearn")
    importlib.import_module("fastpu.estimators")
    for page, name in on_all_pages(r"\{name\}`([\w.]+)`"):
        item = fastpu
        for part in name.removeprefix("fastpu.").split("."):
            item = getattr(item, part, None)
        assert item is not None, (page, name)


def test_commands_are_there():
    makefile = read(ROOT / "Makefile")
    for page, target in on_all_pages(r"^make ([\w-]+)", re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), (page, target)
    for page, path in on_all_pages(r"`(?:python )?((?:bench|examples)/[\w/.]+)"):
        assert (ROOT / path).exists(), (page, path)


def test_included_parts_are_found():
    for page, (name, block) in on_all_pages(r"```\{include\} (\S+)\n(.*?)```", re.DOTALL):
        text = read(page.parent / name)
        if not block:  # the whole page
            continue
        start, end = re.findall(r': "?(.+?)"?$', block, re.MULTILINE)
        assert text.count(start) == 1, (page, name)
        assert text.index(start) < text.index(end), (page, name)


# ---- Versions side by side ----


def add_version(built, site, version):
    command = [sys.executable, str(DOCS / "add_version.py"), str(built), str(site), version]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_stable_is_the_newest_number_and_a_version_is_replaced_as_a_whole(tmp_path):
    built, site = tmp_path / "built", tmp_path / "site"
    built.mkdir()
    for version in ("latest", "0.9", "0.10", "0.2"):
        for old in built.iterdir():
            old.unlink()
        (built / f"made_for_{version}.html").touch()
        assert add_version(built, site, version).returncode == 0
        first = "stable" if (site / "stable").exists() else "latest"
        assert f"url={first}/" in (site / "index.html").read_text()
    assert json.loads((site / "versions.json").read_text()) == ["latest", "stable", "0.10", "0.9", "0.2"]
    assert [page.name for page in (site / "stable").iterdir()] == ["made_for_0.10.html"]
    add_version(built, site, "0.10")
    assert [page.name for page in (site / "0.10").iterdir()] == ["made_for_0.2.html"]
    assert sorted(path.name for path in site.iterdir() if path.name.startswith(".")) == []


def test_only_numbers_and_latest_are_versions(tmp_path):
    result = add_version(tmp_path, tmp_path / "site", "v1")
    assert result.returncode == 1
    assert "VERSION must be latest or a number such as 0.1, got v1" in result.stderr
    assert not (tmp_path / "site").exists()
