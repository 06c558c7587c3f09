"""Arrows point one way: C++ core <- bindings <- thin Python <- scikit-learn estimators.

Rooms stand on each other the same way, and there is no circle, between files of Python, between units of C++, or
through both. It is all read from the include and import lines, and from the names of `_core` that Python uses.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from fastpu import _core

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "cpp").is_dir(), reason="needs the source tree")

# Rooms from the ground up: a room stands on those before it, in C++ and in Python alike, and rooms of one line do not
# know each other.
ROOMS = (
    ("common",),
    ("linalg", "data"),
    ("model",),
    ("kernels", "tree"),
    ("boosting", "forest"),
    ("svm",),
    ("mapping", "risk", "knn"),
    ("pual",),
    ("baselines",),
    ("priors",),
    ("metrics",),
    ("selection", "audit"),
    ("path",),
    ("estimators", "plot", "dask"),
)
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}


def goes_up(room: str, other: str) -> bool:
    """Tell whether a room may not import from another."""
    return room != other and FLOOR[other] >= FLOOR[room]


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of two or more units that reach each other (Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(unit: str) -> None:
        number[unit] = lowest[unit] = len(number)
        path.append(unit)
        for other in sorted(arrows.get(unit, ())):
            if other not in number:
                visit(other)
            if other in path:
                lowest[unit] = min(lowest[unit], lowest[other])
        if lowest[unit] == number[unit]:
            group = path[path.index(unit) :]
            del path[path.index(unit) :]
            if len(group) > 1:
                found.append(sorted(group))

    for unit in sorted(arrows):
        if unit not in number:
            visit(unit)
    return found


# ---- C++: what the files of a folder may include ----

STD = r"<[a-z_0-9]+>"  # the standard library's headers have no dot
CORE = r'"fastpu/[a-z]+/[a-z_0-9]+\.hpp"'
DETAIL = r'"[a-z]+/[a-z_0-9]+\.hpp"'
MACHINE = r"<(immintrin|intrin|cpuid|arm_neon|unistd)\.h>"  # intrinsics and getpid; in sources, never in public headers
PYBIND = r"<pybind11/[a-z_0-9/]+\.h>"
HELPER = r'"[a-z_0-9]+\.hpp"'

MAY_INCLUDE = {
    "cpp/include/fastpu": [STD, CORE],
    "cpp/src": [STD, CORE, DETAIL, MACHINE],
    "cpp/bindings": [STD, CORE, PYBIND, DETAIL],
    "cpp/fuzz": [STD, CORE, DETAIL, HELPER],
    "cpp/tests": [STD, CORE, DETAIL, HELPER, r"<(dlfcn|pthread|unistd|sys/wait)\.h>"],
}
# One file alone may ask the system about memory: madvise, for large pages under large arrays.
MAY_INCLUDE_TOO = {"cpp/src/common/aligned_buffer.cpp": [r"<sys/mman\.h>"]}

# Threads start in parallel.cpp and nowhere else; the core neither prints nor looks around nor ends the process.
THREADS = re.compile(r"<(thread|future|execution|stop_token|pthread\.h|omp\.h)>|#\s*pragma\s+omp|\bstd::j?thread\b")
SIDE_EFFECTS = re.compile(
    r"<(iostream|cstdio|print|syncstream|fstream)>|\b(getenv|printf|puts|quick_exit|abort|exit)\s*\("
)
THREADS_LIVE_IN = "cpp/src/common/parallel.cpp"

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"][^>"]+[>"])', re.MULTILINE)


def cpp_violations(path: str, text: str) -> list[str]:
    folder = next((folder for folder in MAY_INCLUDE if path.startswith(folder + "/")), None)
    if folder is None:
        return [f"{path}: no rule for this folder"]
    code = COMMENT.sub("", text)
    patterns = MAY_INCLUDE[folder] + MAY_INCLUDE_TOO.get(path, [])
    allowed = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    found = [f"{path} includes {header}" for header in INCLUDE.findall(code) if not allowed.fullmatch(header)]
    if folder not in {"cpp/fuzz", "cpp/tests"}:
        if path != THREADS_LIVE_IN and (match := THREADS.search(code)):
            found.append(f"{path} starts threads: {match.group()}")
        if folder != "cpp/bindings" and (match := SIDE_EFFECTS.search(code)):
            found.append(f"{path} has side effects: {match.group()}")
    return found


ROOM_OF_INCLUDE = re.compile(r'"(?:fastpu/)?([a-z]+)/([a-z_0-9]+)\.hpp"')


def includes_of_rooms(path: str, text: str) -> list[tuple[str, str]]:
    """Return the room and the unit of every header of ours that a file of the core includes."""
    headers = INCLUDE.findall(COMMENT.sub("", text))
    matches = (ROOM_OF_INCLUDE.fullmatch(header) for header in headers)
    return [(match[1], match[2]) for match in matches if match]


def cpp_room_violations(path: str, text: str) -> list[str]:
    room = path.split("/")[-2]
    return [
        f"{path} includes {other}/{unit}: {other} does not stand below {room}"
        for other, unit in includes_of_rooms(path, text)
        if goes_up(room, other)
    ]


# ---- Python: which package may be imported where, and which module of our own ----

EVERYWHERE = {"numpy", "scipy", "fastpu"}
WITHOUT_THE_CORE = {"common", "data", "model"}  # what methods share knows no kernel, but for:
MAY_KNOW_THE_CORE = {"common/_random.py", "data/binned_features.py"}
# The public modules beside the rooms, and the room on whose floor each stands.
HALL = {
    "exceptions": "common",
    "datasets": "selection",
    "objectives": "selection",
    "models": "path",
}
ONLY_IN = {  # package -> the modules that may import it, and whether at the top
    "sklearn": ("estimators/", "top"),
    "matplotlib": ("plot/_axes.py", "inside functions"),
    "dask": ("dask/_client.py", "top"),
    "distributed": ("dask/_client.py", "top"),
    "lightgbm": ("tree/_lightgbm.py", "inside functions"),
    "pandas": ("common/_frame.py", "inside functions"),
    "tqdm": ("common/_progress.py", "inside functions"),
    "joblib": ("selection/_trials.py", "inside functions"),
    "threadpoolctl": ("common/_blas_threads.py", "inside functions"),
}


def room_of_module(name: str) -> str | None:
    """Return the room of a module `fastpu.<name>`, None for the core and for names of the package itself."""
    first = name.partition(".")[0]
    return HALL.get(first, first if first in FLOOR else None)


def imported(tree: ast.AST, *, for_types: bool = False) -> list[tuple[str, bool]]:
    """Full names of imported modules, each with whether it happens when the file is imported.

    `for_types` adds what is imported for type checkers alone.
    """
    names: list[tuple[str, bool]] = []

    def visit(node: ast.AST, at_top: bool) -> None:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) if not for_types:
                for child in node.orelse:
                    visit(child, at_top)
                return
            case ast.Import():
                names.extend((alias.name, at_top) for alias in node.names)
            case ast.ImportFrom(module="fastpu"):
                names.extend((f"fastpu.{alias.name}", at_top) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                names.append((module, at_top))
            case ast.ImportFrom():
                names.append((f"fastpu.{node.module or node.names[0].name}", at_top))
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                names.append((module, at_top))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                at_top = False
        for child in ast.iter_child_nodes(node):
            visit(child, at_top)

    visit(tree, True)
    return names


def python_violations(file: str, text: str) -> list[str]:
    """Violations of src/fastpu/<file>."""
    found = []
    room = room_of_module(file.removesuffix(".py").replace("/", "."))
    for name, at_top in imported(ast.parse(text)):
        package, _, rest = name.partition(".")
        if package in ONLY_IN:
            home, where = ONLY_IN[package]
            if not file.startswith(home) or (at_top and where != "top"):
                found.append(f"{file} imports {name}; only {home} may, {where}")
        elif package not in EVERYWHERE and package not in sys.stdlib_module_names:
            found.append(f"{file} imports {name}, which is not a run-time package")
        elif package == "fastpu":
            if rest.split(".")[0] == "_blas":
                found.append(f"{file} imports {name}; the table is fetched by _core")
            elif rest.split(".")[0] == "_core" and room in WITHOUT_THE_CORE and file not in MAY_KNOW_THE_CORE:
                found.append(f"{file} imports {name}; what methods share knows no kernel")
            elif not rest and room != "estimators":
                found.append(f"{file} imports the whole package")
    for name, _ in imported(ast.parse(text), for_types=True):
        other = room_of_module(name.removeprefix("fastpu.")) if name.startswith("fastpu.") else None
        if room is None and other == "estimators":
            found.append(f"{file} imports {name}; estimators stand on the functions, not the reverse")
        elif room is not None and other is not None and goes_up(room, other):
            found.append(f"{file} imports {name}: {other} does not stand below {room}")
    return found


# ---- Python to C++: which binding a room of Python may use ----

#: Where a binding gives a function or a class its name in `_core`.
BOUND = re.compile(r'(?:\bmodule\.(?:def|attr)\(|\(module, )"(\w+)"')


def rooms_of_bindings() -> dict[str, str]:
    """Return the room of every name of `_core`, by the folder of the file that binds it."""
    files = sorted((ROOT / "cpp" / "bindings").glob("*/*.cpp"))
    return {name: file.parent.name for file in files for name in BOUND.findall(file.read_text())}


def names_of_the_core(tree: ast.AST) -> set[str]:
    """Return the names of `_core` that a module uses, with those of the stub file that are for type checkers alone."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="_core"), attr=name):
                found.add(name)
            case ast.ImportFrom(module="fastpu._core", names=names):
                found |= {alias.name for alias in names}
    return found


def core_violations(file: str, text: str, rooms: dict[str, str]) -> list[str]:
    """Violations of src/fastpu/<file>: a room of Python that uses C++ which stands on the same room, or above it."""
    room = room_of_module(file.removesuffix(".py").replace("/", "."))
    used = {name: rooms[name] for name in sorted(names_of_the_core(ast.parse(text))) if name in rooms}
    return [
        f"{file} uses _core.{name}: {other} does not stand below {room}"
        for name, other in used.items()
        if room is not None and goes_up(room, other)
    ]


def table_of_contents_violations(text: str) -> list[str]:
    """__init__.py names things and does nothing."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    return [
        f"__init__.py, line {node.lineno}: {type(node).__name__}"
        for node in ast.parse(text).body
        if not isinstance(node, allowed)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.FunctionDef) and node.name in {"__getattr__", "__dir__"})
    ]


# ---- The tests ----

CPP_FILES = sorted(str(p.relative_to(ROOT).as_posix()) for p in (ROOT / "cpp").rglob("*.[hc]pp"))
PYTHON = ROOT / "src" / "fastpu"
PYTHON_FILES = sorted(str(p.relative_to(PYTHON).as_posix()) for p in PYTHON.rglob("*.py"))


def test_there_is_something_to_check():
    assert "cpp/src/common/parallel.cpp" in CPP_FILES
    assert "data/_validate.py" in PYTHON_FILES


def test_cpp_includes_what_its_layer_may():
    assert [line for path in CPP_FILES for line in cpp_violations(path, (ROOT / path).read_text())] == []


def test_python_imports_what_its_layer_may():
    assert [line for file in PYTHON_FILES for line in python_violations(file, (PYTHON / file).read_text())] == []


def test_every_room_has_a_floor():
    core = {p.name for folder in ("include/fastpu", "src") for p in (ROOT / "cpp" / folder).iterdir() if p.is_dir()}
    python = {file.split("/")[0] for file in PYTHON_FILES if "/" in file}
    assert core | python == set(FLOOR)


def test_cpp_rooms_stand_on_those_below():
    core = [path for path in CPP_FILES if path.startswith(("cpp/include", "cpp/src"))]
    assert [line for path in core for line in cpp_room_violations(path, (ROOT / path).read_text())] == []


def test_python_uses_the_core_of_rooms_below():
    """With the two tests before it there is no circle of rooms, whichever of Python and C++ it passes through."""
    rooms = rooms_of_bindings()
    assert {name for name in dir(_core) if not name.startswith("_")} <= set(rooms)
    assert [line for file in PYTHON_FILES for line in core_violations(file, (PYTHON / file).read_text(), rooms)] == []


def test_no_circles_between_units_of_cpp():
    """A header and its source are one unit."""
    arrows: dict[str, set[str]] = {}
    for path in CPP_FILES:
        if path.startswith(("cpp/include", "cpp/src")):
            unit = Path(path).stem
            others = {other for _, other in includes_of_rooms(path, (ROOT / path).read_text())}
            arrows.setdefault(unit, set()).update(others - {unit})
    assert not circles(arrows)


def test_no_circles_between_python_files():
    """Imports for type checkers count as well."""
    arrows = {}
    for file in PYTHON_FILES:
        module = "fastpu." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        names = {name for name, _ in imported(ast.parse((PYTHON / file).read_text()), for_types=True)}
        arrows[module] = {name for name in names if name.startswith("fastpu.")} - {module}
    assert not circles(arrows)


def test_a_planted_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert not circles({"a": {"b", "c"}, "b": {"c"}})


def test_init_is_a_table_of_contents():
    assert not table_of_contents_violations((ROOT / "src" / "fastpu" / "__init__.py").read_text())


def test_one_cython_file_that_takes_scipy_only():
    files = list((ROOT / "src").rglob("*.pyx")) + list((ROOT / "src").rglob("*.pxd"))
    assert [file.name for file in files] == ["_blas.pyx"]
    sources = re.findall(r"^\s*from (\S+) cimport|^\s*cimport (\S+)", files[0].read_text(), re.MULTILINE)
    assert {first or second for first, second in sources} == {"cpython.pycapsule", "scipy.linalg"}


def test_folders_of_tests_are_the_rooms():
    folders = {file.parent.name for file in (ROOT / "tests").glob("*/*.py")}
    assert folders - {"methods", "oracles", "fuzz"} <= set(FLOOR)


def test_core_is_built_without_python():
    lists = (ROOT / "CMakeLists.txt").read_text()
    core = lists[lists.index("add_library(fastpu_core") : lists.index("if(FASTPU_BUILD_PYTHON)")]
    assert "pybind11" not in core
    assert "Python" not in core


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("cpp/include/fastpu/x.hpp", "#include <Python.h>"),
        ("cpp/include/fastpu/svm/x.hpp", '#include "svm/secret.hpp"'),
        ("cpp/src/x.cpp", "#include <pybind11/numpy.h>"),
        ("cpp/src/x.cpp", '  #  include "../bindings/bind_x.hpp"'),
        ("cpp/src/svm/aligned_buffer.cpp", "#include <sys/mman.h>"),
        ("cpp/src/x.cpp", "#include <thread>"),
        ("cpp/src/x.cpp", "#pragma omp parallel for"),
        ("cpp/src/x.cpp", 'const char* home = std::getenv("HOME");'),
        ("cpp/new_folder/x.cpp", "#include <vector>"),
    ],
)
def test_planted_cpp_violation_is_caught(path, line):
    assert cpp_violations(path, f"#include <vector>\n{line}\n")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("cpp/src/svm/x.cpp", '#include "fastpu/path/svm_path.hpp"'),
        ("cpp/include/fastpu/common/x.hpp", '#include "fastpu/data/binned_features.hpp"'),
        ("cpp/src/svm/x.hpp", '#include "path/svm_path.hpp"'),
    ],
)
def test_planted_arrow_between_rooms_is_caught(path, line):
    assert cpp_room_violations(path, f"{line}\n")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("svm/bsvm.py", "from fastpu import _core\n_core.svm_path()"),
        ("svm/bsvm.py", "if TYPE_CHECKING:\n    from fastpu._core import SvmPathResult"),
        ("risk/upu.py", "def f():\n    return _core.PualSolver"),
    ],
)
def test_planted_use_of_the_core_is_caught(file, text):
    rooms = {
        "svm_path": "path",
        "SvmPathResult": "path",
        "PualSolver": "pual",
        "fit_upu": "risk",
        "kernel_scores": "kernels",
    }
    assert core_violations(file, text, rooms)
    assert not core_violations(file, "_core.kernel_scores()\n_core.__version__", rooms)


@pytest.mark.parametrize("text", ["// #include <Python.h>", "/* std::thread\n#include <thread> */", "#include <cmath>"])
def test_innocent_cpp_is_left_alone(text):
    assert not cpp_violations("cpp/src/x.cpp", text)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("path/svm_path.py", "import sklearn"),
        ("path/svm_path.py", "def f():\n    from sklearn.svm import SVC"),
        ("path/svm_path.py", "import pandas as pd"),
        ("data/_frames.py", "from importlib import import_module\ndef f():\n    import_module('polars')"),
        ("common/_progress.py", "import tqdm"),
        ("path/svm_path.py", "def f():\n    import tqdm"),
        ("path/svm_path.py", "from fastpu import _blas"),
        ("data/_validate.py", "from fastpu import _core"),
        ("svm/bsvm.py", "from fastpu.path.svm_path import f"),
        ("svm/bsvm.py", "def f():\n    from fastpu.path.svm_path import f"),
        ("risk/upu.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from fastpu.knn.knn_graph import f"),
        ("path/svm_path.py", "from fastpu.estimators._svm import X"),
        ("__init__.py", "from fastpu import estimators"),
        ("path/svm_path.py", "import fastpu"),
        ("path/svm_path.py", "if True:\n    import torch"),
    ],
)
def test_planted_python_violation_is_caught(file, text):
    assert python_violations(file, text)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("path/svm_path.py", "import numpy as np\nfrom scipy import sparse\nfrom fastpu import _core\nimport math"),
        ("path/svm_path.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas"),
        ("path/svm_path.py", "from fastpu.baselines.svm import fit_svm"),
        ("common/_progress.py", "def f():\n    from tqdm.auto import tqdm"),
        ("estimators/_svm.py", "from sklearn.base import BaseEstimator\nfrom fastpu.baselines.svm import fit_svm"),
    ],
)
def test_innocent_python_is_left_alone(file, text):
    assert not python_violations(file, text)


def test_logic_planted_in_init_is_caught():
    assert table_of_contents_violations("import os\nif os.name == 'nt':\n    pass")
    assert table_of_contents_violations("def helper(): ...")
