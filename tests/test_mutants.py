"""The tools of mutation testing: what they change, and the list of the changes that mean the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import mutants

CMAKE = Path(__file__).resolve().parent.parent / "cmake"
CORE = CMAKE.parent / "cpp" / "src"

pytestmark = pytest.mark.skipif(not (CORE.is_dir() and mutants.PACKAGE.is_dir()), reason="needs the source tree")


@pytest.fixture(scope="module")
def mutate_cpp():
    spec = importlib.util.spec_from_file_location("mutate_cpp", CMAKE / "mutate_cpp.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_module_has_tests_that_notice_or_nothing_to_change():
    modules = {str(file.relative_to(mutants.PACKAGE).with_suffix("")) for file in mutants.PACKAGE.rglob("*.py")}
    assert set(mutants.MODULES) <= modules
    assert {module for module in modules - set(mutants.MODULES) if mutants.mutants_of(module)} == set()
    for tests in mutants.MODULES.values():
        assert all((mutants.TESTS / test).is_file() for test in tests if test.endswith(".py"))


def test_a_mutant_is_one_changed_line(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    (tmp_path / "small.py").write_text("def f(a: int = 3) -> float:\n    return -a * (1, not a)[0]  # é\n")
    found = mutants.mutants_of("small")
    assert [f"{mutant.line} {mutant}" for mutant in found] == [
        "1 small.py: def f(a: int = 4) -> float:",
        "2 small.py: return -a / (1, not a)[0]  # é",
        "2 small.py: return +a * (1, not a)[0]  # é",
        "2 small.py: return -a * (2, not a)[0]  # é",
        "2 small.py: return -a * (1, bool(a))[0]  # é",
        "2 small.py: return -a * (1, not a)[1]  # é",
    ]
    sources = [mutants.source_of(mutant) for mutant in found]
    assert sources[0] == "def f(a: int=4) -> float:\n    return -a * (1, not a)[0]"
    for mutant, source in zip(found[1:], sources[1:], strict=True):
        assert source == f"def f(a: int=3) -> float:\n    {mutant.text.removesuffix('  # é')}"


def test_what_is_listed_as_meaning_the_same_is_a_mutant(mutate_cpp):
    known = mutants.equivalent()
    assert known == mutate_cpp.equivalent()
    found = {str(mutant) for module in mutants.MODULES for mutant in mutants.mutants_of(module)}
    for name in {line.split(":")[0] for line in known if line.split(":")[0].endswith(".cpp")}:
        (source,) = CORE.rglob(name)
        found |= {f"{name}: {line.strip()}" for _, line in mutate_cpp.changed_lines(source.read_text())}
    assert known - found == set(), "the code has changed: look at these again"
