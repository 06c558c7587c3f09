"""Which doctests run: those of modules of the package, not of tests and of what makes the pages.

Those that import a package that is not installed are skipped: docstrings whole, pages by their sections.
"""

from __future__ import annotations

import ast
from bisect import bisect
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Read no docstrings of the files beside the package; they are not imported for it either."""
    collectors = yield
    is_beside = any(file_path.is_relative_to(parent.config.rootpath / folder) for folder in ("docs", "tests"))
    return [each for each in collectors if not (is_beside and isinstance(each, DoctestModule))]


def _lacks_package(source: str) -> bool:
    names: list[str] = []
    for node in ast.walk(ast.parse(source)) if "import" in source else ():
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.append(node.module)
    return any(find_spec(name.partition(".")[0]) is None for name in names)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the examples of such sections, and skip what has no others."""
    for item in items:
        if not isinstance(item, pytest.DoctestItem) or not item.dtest.examples:
            continue
        examples = item.dtest.examples
        headings = [n for n, line in enumerate(item.dtest.docstring.splitlines()) if line.startswith("#")]
        sections = [bisect(headings, example.lineno) for example in examples]
        lacking = {s for s, example in zip(sections, examples, strict=True) if _lacks_package(example.source)}
        item.dtest.examples = [e for s, e in zip(sections, examples, strict=True) if s not in lacking]
        if not item.dtest.examples:
            item.add_marker(pytest.mark.skip(reason="imports a package that is not installed"))
