"""Arrows point one way: C++ core <- bindings <- thin Python <- scikit-learn estimators.

Read from the include and import lines.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "cpp").is_dir(), reason="needs the source tree")

# ---- C++: what the files of a folder may include ----

STD = r"<[a-z_0-9]+>"  # the standard library's headers have no dot
CORE = r'"fastpu/[a-z_0-9]+\.hpp"'
DETAIL = r'"detail/[a-z_0-9]+\.hpp"'
MACHINE = r"<(immintrin|intrin|cpuid|arm_neon|unistd)\.h>"  # intrinsics and getpid; in sources, never in public headers
PYBIND = r"<pybind11/[a-z_0-9/]+\.h>"
BINDING = r'"[a-z_0-9]+\.hpp"'

MAY_INCLUDE = {
    "cpp/include/fastpu": [STD, CORE],
    "cpp/src": [STD, CORE, DETAIL, MACHINE],
    "cpp/bindings": [STD, CORE, PYBIND, BINDING],
    "cpp/fuzz": [STD, CORE, DETAIL, BINDING],
    "cpp/tests": [STD, CORE, DETAIL, BINDING, r"<(dlfcn|pthread|unistd|sys/wait)\.h>"],
}
# One file alone may ask the system about memory: madvise, for large pages under large arrays.
MAY_INCLUDE_TOO = {"cpp/src/aligned_buffer.cpp": [r"<sys/mman\.h>"]}

# Threads start in parallel.cpp and nowhere else; the core neither prints nor looks around nor ends the process.
THREADS = re.compile(r"<(thread|future|execution|stop_token|pthread\.h|omp\.h)>|#\s*pragma\s+omp|\bstd::j?thread\b")
SIDE_EFFECTS = re.compile(
    r"<(iostream|cstdio|print|syncstream|fstream)>|\b(getenv|printf|puts|quick_exit|abort|exit)\s*\("
)
THREADS_LIVE_IN = "cpp/src/parallel.cpp"

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


# ---- Python: which package may be imported where, and which module of our own ----

EVERYWHERE = {"numpy", "scipy", "fastpu"}
# What the methods of one family share may call kernels, unlike what all methods share.
FAMILIES = {
    "_boosting.py",
    "_boosting_folds.py",
    "_gauss_basis.py",
    "_knn_graph.py",
    "_large_margin.py",
    "_least_squares.py",
    "_ls_auc.py",
    "_mapping.py",
    "_ordered_factor.py",
    "_prior_kernel.py",
    "_pu_risk.py",
    "_pual.py",
    "_pual_features.py",
    "_pual_graph.py",
    "_pual_paper.py",
    "_pual_quadratic.py",
    "_pual_rows.py",
    "_svm.py",
    "_svm_fit.py",
    "_svm_path.py",
}
# Shared by all, and knows of the core how to stop it, nothing else.
STOPS_THE_CORE = "_side_by_side.py"
# Modules of the scikit-learn estimators: they stand on the functions, and nothing stands on them.
ESTIMATORS = re.compile(r"(_estimator_\w+|estimators)(\.py)?")
ONLY_IN = {  # package -> the modules that may import it, and whether at the top
    "sklearn": ("estimators.py", "top"),
    "matplotlib": ("_plot_axes.py", "inside functions"),
    "tqdm": ("_progress.py", "inside functions"),
    "joblib": ("_trials.py", "inside functions"),
    "threadpoolctl": ("_blas_threads.py", "inside functions"),
}


def imported(tree: ast.AST) -> list[tuple[str, bool]]:
    """Full names of imported modules, each with whether it happens when the file is imported."""
    names: list[tuple[str, bool]] = []

    def visit(node: ast.AST, at_top: bool) -> None:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
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
    is_estimator = bool(ESTIMATORS.fullmatch(file))
    is_shared_by_all = file.startswith("_") and not file.startswith("__") and file not in FAMILIES and not is_estimator
    for name, at_top in imported(ast.parse(text)):
        package, *rest = name.split(".")
        if package in ONLY_IN:
            home, where = ONLY_IN[package]
            is_home = file == home or (package == "sklearn" and is_estimator)
            if not is_home or (at_top and where != "top"):
                found.append(f"{file} imports {name}; only {home} may, {where}")
        elif package not in EVERYWHERE and package not in sys.stdlib_module_names:
            found.append(f"{file} imports {name}, which is not a run-time package")
        elif package == "fastpu":
            module = rest[0] if rest else "__init__"
            if module == "_blas":
                found.append(f"{file} imports {name}; the table is fetched by _core")
            elif is_shared_by_all and ((module == "_core" and file != STOPS_THE_CORE) or not module.startswith("_")):
                found.append(f"{file} imports {name}; what methods share knows no method and no kernel")
            elif ESTIMATORS.fullmatch(module) and not is_estimator:
                found.append(f"{file} imports {name}; estimators stand on the functions, not the reverse")
            elif module == "__init__" and not is_estimator:
                found.append(f"{file} imports the whole package")
    return found


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
PYTHON_FILES = sorted(p.name for p in (ROOT / "src" / "fastpu").glob("*.py"))


def test_there_is_something_to_check():
    assert "cpp/src/parallel.cpp" in CPP_FILES
    assert "_validate.py" in PYTHON_FILES


@pytest.mark.parametrize("path", CPP_FILES)
def test_cpp_includes_what_its_layer_may(path):
    assert not cpp_violations(path, (ROOT / path).read_text())


@pytest.mark.parametrize("file", PYTHON_FILES)
def test_python_imports_what_its_layer_may(file):
    assert not python_violations(file, (ROOT / "src" / "fastpu" / file).read_text())


def test_init_is_a_table_of_contents():
    assert not table_of_contents_violations((ROOT / "src" / "fastpu" / "__init__.py").read_text())


def test_one_cython_file_that_takes_scipy_only():
    files = list((ROOT / "src").rglob("*.pyx")) + list((ROOT / "src").rglob("*.pxd"))
    assert [file.name for file in files] == ["_blas.pyx"]
    sources = re.findall(r"^\s*from (\S+) cimport|^\s*cimport (\S+)", files[0].read_text(), re.MULTILINE)
    assert {first or second for first, second in sources} == {"cpython.pycapsule", "scipy.linalg"}


def test_core_is_built_without_python():
    lists = (ROOT / "CMakeLists.txt").read_text()
    core = lists[lists.index("add_library(fastpu_core") : lists.index("if(FASTPU_BUILD_PYTHON)")]
    assert "pybind11" not in core
    assert "Python" not in core


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("cpp/include/fastpu/x.hpp", "#include <Python.h>"),
        ("cpp/include/fastpu/x.hpp", '#include "detail/secret.hpp"'),
        ("cpp/include/fastpu/x.hpp", "#include <immintrin.h>"),
        ("cpp/src/x.cpp", "#include <pybind11/numpy.h>"),
        ("cpp/src/x.cpp", "  #  include <numpy/arrayobject.h>"),
        ("cpp/src/x.cpp", '#include "../bindings/bind_x.hpp"'),
        ("cpp/src/x.cpp", "#include <sys/mman.h>"),
        ("cpp/src/detail/aligned_buffer.cpp", "#include <sys/mman.h>"),
        ("cpp/include/fastpu/aligned_buffer.hpp", "#include <sys/mman.h>"),
        ("cpp/src/aligned_buffer.cpp", "#include <sys/socket.h>"),
        ("cpp/src/x.cpp", "#include <thread>"),
        ("cpp/src/x.cpp", "#pragma omp parallel for"),
        ("cpp/src/detail/x.cpp", "#include <iostream>"),
        ("cpp/src/x.cpp", 'const char* home = std::getenv("HOME");'),
        ("cpp/bindings/bind_x.cpp", "#include <future>"),
        ("cpp/bindings/bind_x.cpp", '#include "detail/secret.hpp"'),
        ("cpp/tests/test_x.cpp", "#include <pybind11/embed.h>"),
        ("cpp/new_folder/x.cpp", "#include <vector>"),
    ],
)
def test_planted_cpp_violation_is_caught(path, line):
    assert cpp_violations(path, f"#include <vector>\n{line}\n")


@pytest.mark.parametrize("text", ["// #include <Python.h>", "/* std::thread\n#include <thread> */", "#include <cmath>"])
def test_innocent_cpp_is_left_alone(text):
    assert not cpp_violations("cpp/src/x.cpp", text)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("svm_path.py", "import sklearn"),
        ("svm_path.py", "def f():\n    from sklearn.svm import SVC"),
        ("svm_path.py", "import pandas as pd"),
        ("_frames.py", "def f():\n    import polars"),
        ("_frames.py", "from importlib import import_module\ndef f():\n    import_module('polars')"),
        ("_progress.py", "import tqdm"),
        ("svm_path.py", "def f():\n    import tqdm"),
        ("_trials.py", "import joblib"),
        ("selection.py", "def f():\n    from importlib import import_module\n    import_module('joblib')"),
        ("_plot_axes.py", "import matplotlib.pyplot as plt"),
        ("plot.py", "def f():\n    import matplotlib.figure"),
        ("svm_path.py", "from fastpu import _blas"),
        ("_validate.py", "from fastpu import _core"),
        ("_validate.py", "from fastpu._core import f"),
        ("_validate.py", "from fastpu.stump_boost import f"),
        ("_validate.py", "from .stump_boost import f"),
        ("svm_path.py", "from fastpu.estimators import X"),
        ("svm_path.py", "from fastpu._estimator_svm import X"),
        ("__init__.py", "from fastpu import estimators"),
        ("_validate.py", "from sklearn.base import BaseEstimator"),
        ("estimators.py", "import joblib"),
        ("svm_path.py", "import fastpu"),
        ("svm_path.py", "if True:\n    import torch"),
    ],
)
def test_planted_python_violation_is_caught(file, text):
    assert python_violations(file, text)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("svm_path.py", "import numpy as np\nfrom scipy import sparse\nfrom fastpu import _core\nimport math"),
        ("svm_path.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas"),
        ("_progress.py", "def f():\n    from tqdm.auto import tqdm"),
        ("_plot_axes.py", "def f():\n    import matplotlib.figure"),
        ("estimators.py", "from sklearn.base import BaseEstimator\nimport fastpu"),
        ("_estimator_svm.py", "from sklearn.base import BaseEstimator\nfrom fastpu.svm import fit_svm"),
    ],
)
def test_innocent_python_is_left_alone(file, text):
    assert not python_violations(file, text)


def test_logic_planted_in_init_is_caught():
    assert table_of_contents_violations("import os\nif os.name == 'nt':\n    pass")
    assert table_of_contents_violations("def helper(): ...")
