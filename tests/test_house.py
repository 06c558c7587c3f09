"""What must hold for the package as a whole, whatever methods are in it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata, requires, version
from pathlib import Path

import pytest

import fastpu
from fastpu import _blas, _core
from fastpu.common._methods import DECLARED, function_of

ROOT = Path(__file__).resolve().parent.parent
IS_CHECKOUT = (ROOT / "CMakeLists.txt").exists()
SOURCES = {".py", ".pyi", ".pyx", ".hpp", ".cpp"}
needs_checkout = pytest.mark.skipif(not IS_CHECKOUT, reason="needs the source tree")

PUBLIC_MODULES = [fastpu, *(module for module in map(vars(fastpu).get, fastpu.__all__) if inspect.ismodule(module))]


def run_python(code: str, *, timeout: float = 120) -> str:
    """Runs code in an interpreter of its own, with warnings as errors, and returns what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


# ---- Versions and metadata ----


@needs_checkout
def test_installed_version_is_that_of_the_source_and_is_in_the_changelog():
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None
    assert declared[1] == version("fastpu"), "the installed fastpu is another; run `make install`"
    assert f"## {declared[1]}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {declared[1]}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'\n  version: "{declared[1]}"\n' in (ROOT / "recipe/recipe.yaml").read_text()


@needs_checkout
def test_every_python_that_is_promised_gets_wheels():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    promised = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    build = re.search(r"^build = \[(.*)\]$", text, re.MULTILINE)[1]
    assert [f"cp{each.replace('.', '')}-*" for each in promised] == re.findall(r'"(cp\d+-\*)"', build)
    assert ("Free Threading" in text) == bool(re.search(r'"cp\d+t-\*"', build))


@needs_checkout
def test_the_recipe_for_conda_asks_for_the_same_packages():
    recipe = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    for line in requires("fastpu"):
        if "extra ==" not in line:
            assert f"    - {line.replace('>=', ' >=')}\n" in recipe
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in re.findall(r'^  "([\w-]+>=[\d.]+)"', text.partition("\nbuild-backend")[0], re.MULTILINE):
        assert f"    - {line.replace('>=', ' >=')}\n" in recipe


# ---- The address ----


@pytest.fixture
def address(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "cmake")
    return importlib.import_module("address")


ADDRESS = "https://host.invalid/owner/fastpu"


@needs_checkout
def test_readme_and_citation_show_the_address_that_the_project_has_and_no_other(address):
    assert address.stale() == {}, "run `make address`"
    shown = [line.partition(", ")[2] for line in metadata("fastpu").get_all("Project-URL") or []]
    assert shown == list(address.links(address.repository()).values()), "run `make install`"


@needs_checkout
def test_on_the_index_every_link_and_picture_of_the_readme_leads_to_a_file_of_the_version(address):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = address.relative_links(readme)
    assert len(targets) > 10
    shown = address.readme_for_index(readme, ADDRESS, "1.2.3")
    assert address.relative_links(shown) == []
    for target in targets:
        kind = "raw" if target.endswith(".png") else "blob"
        assert f"]({ADDRESS}/{kind}/v1.2.3/{target})" in shown, target
    assert address.readme_for_index(readme, "", "1.2.3") == readme


@needs_checkout
def test_the_address_can_be_set_changed_and_taken_away(address):
    for name, change in (("README.md", address.with_badges), ("CITATION.cff", address.with_citation)):
        text = change((ROOT / name).read_text(encoding="utf-8"), "")
        first = change(text, ADDRESS)
        assert first.count(f"{ADDRESS}") == {"README.md": 4, "CITATION.cff": 2}[name]
        other = change(first, "https://other.invalid/fastpu")
        assert ADDRESS not in other
        assert change(first, ADDRESS) == first
        assert change(other, "") == text


def test_run_time_packages_are_few():
    names = {re.match(r"[a-z0-9]+", line)[0] for line in requires("fastpu") if "extra ==" not in line}
    assert names <= {"numpy", "scipy", "threadpoolctl"}


def test_type_information_is_installed():
    folder = Path(inspect.getfile(fastpu)).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


# ---- The public surface ----


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_all_is_complete_and_sorted(module):
    names = module.__all__
    assert sorted(names) == list(names)
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(module, name), name


@pytest.mark.parametrize("name", ["", *(name for name in dir(fastpu) if inspect.ismodule(getattr(fastpu, name)))])
def test_dir_shows_what_stays_stable_and_nothing_else(name):
    """docs/stability.md promises every name that dir() shows; what a module imports must not be among them."""
    module = getattr(fastpu, name) if name else fastpu
    modules_with_extras = {"dask", "estimators"} if not name else set()
    assert set(dir(module)) == set(module.__all__) | modules_with_extras
    assert [each for each in dir(module) if each.startswith("_") and each != "__version__"] == []
    if IS_CHECKOUT:
        assert f"`{module.__name__}`" in (ROOT / "docs/stability.md").read_text(encoding="utf-8")


def test_warnings_are_kept_from_the_caller_in_one_place():
    """Elsewhere `catch_warnings` would change what other threads hear, maybe for good; _warn.py says more."""
    folder = Path(inspect.getfile(fastpu)).parent
    users = [path.name for path in folder.rglob("*.py") if "catch_warnings(" in path.read_text(encoding="utf-8")]
    assert users == ["_warn.py"]


def test_public_functions_are_documented():
    for module in PUBLIC_MODULES:
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isfunction(item):
                text = inspect.getdoc(item) or ""
                for section in ("Parameters", "Returns", "Examples"):
                    assert f"{section}\n---" in text, f"{module.__name__}.{name} has no section {section}"


def documented_defaults(function):
    """For each parameter the text of its default, or the function that is named for its meaning."""
    text = inspect.getdoc(function).split("\nParameters\n", 1)[1].split("\n", 1)[1]
    section = re.split(r"\n\w+( \w+)?\n---+\n", text)[0]
    found = {}
    for header, body in re.findall(r"^(\S.*)\n((?:    .*\n?|\n(?=    ))*)", section, re.MULTILINE):
        names, _, kind = header.partition(" : ")
        values = re.split(r", | and ", re.split(r"defaults?[= ]", kind)[1]) if "default" in kind else []
        other = re.search(r"As (?:in|for) `(?:\w+\.)*(\w+)`", body)
        for i, name in enumerate(names.split(", ")):
            if values:
                found[name] = values[min(i, len(values) - 1)]
            elif other:
                found[name] = other
    return found


def test_defaults_are_those_that_the_documentation_names():
    functions = {
        name: getattr(module, name)
        for module in PUBLIC_MODULES
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    documented = {name: documented_defaults(function) for name, function in functions.items()}
    for name, function in functions.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.default in (inspect.Parameter.empty, None):
                continue
            text = documented[name].get(parameter.name)
            while text is not None and not isinstance(text, str):
                text = documented[text[1]].get(parameter.name)
            assert text in (str(parameter.default), repr(parameter.default)) or (
                text is not None and ast.literal_eval(text) == parameter.default
            ), f"{name}({parameter.name})"


def test_every_public_method_is_declared():
    tiers = {False: fastpu, True: fastpu.baselines}
    for is_baseline, module in tiers.items():
        declared = {name for name, method in DECLARED.items() if method.baseline is is_baseline}
        assert declared == {name for name in module.__all__ if name.startswith("fit_")}


def test_the_first_tier_has_at_most_40_names():
    assert len(dir(fastpu)) <= 40
    assert {"dask", "estimators"} <= set(dir(fastpu))
    with pytest.raises(AttributeError, match="'fastpu' has no attribute 'fit_svm'; look in fastpu.baselines"):
        vars(fastpu)["__getattr__"]("fit_svm")


@pytest.mark.parametrize("name", DECLARED)
def test_options_are_keyword_only(name):
    kinds = [p.kind for p in inspect.signature(function_of(name)).parameters.values()]
    assert kinds[2:]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[2:])


def test_import_brings_in_no_optional_package():
    heavy = {"sklearn", "pandas", "polars", "matplotlib", "tqdm", "pyarrow", "joblib"}
    loaded = run_python("import sys, fastpu; print(*sys.modules)").split()
    assert heavy.isdisjoint(loaded)


# ---- The binaries ----


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("readelf") is None, reason="needs readelf")
@pytest.mark.parametrize("module", [_blas, _core], ids=lambda module: module.__name__)
def test_links_no_blas(module):
    dynamic = subprocess.run(["readelf", "-d", module.__file__], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED.*\[(.+)\]", dynamic)
    allowed = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|libasan|libubsan|ld-linux.*)\.so.*")
    assert [name for name in needed if not allowed.fullmatch(name)] == []


@needs_checkout
@pytest.mark.parametrize("flag", ["-march=native", "-ffast-math", "-Ofast", "-fopenmp"])
def test_no_flag_that_changes_results_or_ties_to_a_machine(flag):
    files = [ROOT / "CMakeLists.txt", ROOT / "CMakePresets.json", ROOT / "pyproject.toml", ROOT / "Makefile"]
    files += (ROOT / "cmake").glob("*.cmake")
    assert [file.name for file in files if flag in file.read_text()] == []


@needs_checkout
def test_files_fit_in_a_head():
    files = [p for folder in ("src", "cpp", "tests") for p in (ROOT / folder).rglob("*") if p.suffix in SOURCES]
    assert files
    # The stub is a list of declarations, one for each thing that the extension has, and not code that somebody follows.
    long = [p.name for p in files if len(p.read_text().splitlines()) > 500 and p.name != "_core.pyi"]
    assert long == []


@needs_checkout
def test_lists_of_sources_name_every_file():
    """CMake compiles what is listed; a file that nobody lists would be compiled nowhere, without a word."""
    listed = {
        folder: re.findall(rf"^    ({pattern}\S+\.cpp)$", (ROOT / file).read_text(), re.MULTILINE)
        for folder, file, pattern in (
            ("cpp/src", "cmake/sources.cmake", "cpp/src/"),
            ("cpp/bindings", "cmake/sources.cmake", "cpp/bindings/"),
            ("cpp/tests", "cpp/tests/CMakeLists.txt", ""),
            ("cpp/fuzz", "cpp/fuzz/CMakeLists.txt", "fuzz_"),
        )
    }
    listed["cpp/tests"] = [f"cpp/tests/{name}" for name in (*listed["cpp/tests"], "common/test_parallel_refused.cpp")]
    listed["cpp/fuzz"] = [f"cpp/fuzz/{name}" for name in listed["cpp/fuzz"]]
    helpers = {"cpp/fuzz/gcc_coverage.cpp", "cpp/fuzz/gcc_main.cpp"}
    for folder, files in listed.items():
        there = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.cpp")} - helpers
        assert sorted(files) == sorted(there)


@needs_checkout
def test_nothing_is_found_by_a_pattern_over_source_files():
    files = [ROOT / "CMakeLists.txt", *(ROOT / "cpp").rglob("CMakeLists.txt"), *(ROOT / "cmake").glob("*.cmake")]
    assert [file.name for file in files if "GLOB" in file.read_text()] == []


def test_signatures_say_what_may_be_passed():
    """An editor shows them: `object`, `Any` and any word are no help. A parameter of words names the words."""
    loose = {
        "Any",
        "object",
        "str",
        "str | None",
        "Callable[..., Any]",
        "Callable[..., object]",
        inspect.Parameter.empty,
    }
    found = {
        f"{module.__name__}.{name}({parameter.name})"
        for module in PUBLIC_MODULES
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and parameter.annotation in loose
    }
    assert found == {"fastpu.plot.selection(param)"}  # the name of any parameter of a grid
