"""Which doctests run, and what tests and doctests draw where they give no random_state.

Doctests are those of modules of the package, not of tests and of what makes the pages. Those that import a package
that is not installed are skipped: docstrings whole, pages by their sections.

In a plain run everything draws the same numbers every time, so that only a change can fail it: the properties that
Hypothesis tries (tests/conftest.py), and the fits, estimates and splits that are given no random_state. Each test and
each fixture has numbers of its own, so it does not matter which of them run, in which order and in which process.
HYPOTHESIS_PROFILE=random or thorough takes new numbers for both.
"""

from __future__ import annotations

import ast
import os
import zlib
from bisect import bisect
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from _pytest.doctest import DoctestModule

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

_DRAWS_ANEW = os.environ.get("HYPOTHESIS_PROFILE") in {"random", "thorough"}
_default_rng = np.random.default_rng
_legacy_rng = np.random.mtrand._rand  # what scikit-learn takes where it is given no random_state
_seeds: list[np.random.SeedSequence] = []  # of the tests and fixtures that run now, the innermost one last


def _rng_of_the_test(seed: Any = None) -> np.random.Generator:
    """Stands for `numpy.random.default_rng`: without a seed it takes the next one of the test or fixture."""
    return _default_rng(_seeds[-1].spawn(1)[0] if seed is None and _seeds else seed)


@contextmanager
def _draws_of(name: str) -> Iterator[None]:
    """Within, what is given no random_state draws numbers that depend on `name` alone."""
    if _DRAWS_ANEW:
        yield
        return
    seed = zlib.crc32(name.encode())
    outer = _legacy_rng.get_state()
    _legacy_rng.seed(seed)
    np.random.default_rng = _rng_of_the_test
    _seeds.append(np.random.SeedSequence(seed))
    try:
        yield
    finally:
        _seeds.pop()
        _legacy_rng.set_state(outer)
        if not _seeds:
            np.random.default_rng = _default_rng


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give the test its numbers."""
    with _draws_of(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Give the fixture its own, whichever test is the first to ask for it."""
    index = getattr(request, "param_index", 0)
    with _draws_of(f"{fixturedef.baseid} {fixturedef.argname} {index}"):
        return (yield)


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
