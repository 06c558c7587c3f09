"""Mutation testing of the Python layer: a changed sign, comparison, constant or index must fail a test.

python tests/mutants.py [--sample 150] [--seed 0] [--seconds 1e9] [--limit 120] [MODULE ...]

Each mutant changes one place of one module. The module's own tests run against it in a process that is forked after the
libraries have been imported, from a copy of the package in a temporary folder; the source tree is not touched. A test
that fails runs once more without the mutant, and must pass. What survives its module's tests meets those of the
promises that all methods keep, for the methods of its room. What survives these too is printed as the changed line: a
test is missing, or the change means the same. The latter are listed with the reason in tests/equivalent_mutants.txt,
and left out. Ends with 1 if there are survivors. Needs the test tools and fork.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "fastpu"
EQUIVALENT = TESTS / "equivalent_mutants.txt"

#: The tests that must notice a change of a module where they lie in other rooms than it: files, and options of pytest.
#: Of any other module these are the files of its room that have its name in theirs, or all of the room's.
TESTS_OF = {
    "common/_methods": ["test_readme.py", "test_degenerate.py"],
    "common/_params": ["test_validate.py"],
    "common/_sharing": ["test_selection_search.py"],
    "common/_text": ["test_validate.py"],
    "common/_warn": ["test_estimators_search.py"],
    "datasets": ["test_datasets.py", "test_pu_splits.py"],
    "data/_columns": ["test_scar.py", "test_sar.py"],
    "data/_first_row_order": ["test_category_order.py", "test_categories.py"],
    "data/_clusters": ["test_groups_of_rows.py"],
    "data/_folds": ["test_groups_of_rows.py", "test_pu_splits.py", "test_selection.py", "test_selection_errors.py"],
    "data/_kept_rows": ["test_model_file_hostile.py", "test_kernel_machine.py"],
    "kernels/_expansion": ["test_kernel_machine.py", "test_model_file_hostile.py", "test_model.py"],
    "kernels/_gauss_basis": ["test_ls_auc.py", "test_ls_auc_options.py", "test_upu.py"],
    "kernels/_check_rows": ["test_svm_errors.py", "test_scales.py"],
    "kernels/_function_kernel": ["test_kernel_machine.py", "test_svm_errors.py"],
    "kernels/_kernel": ["test_kernel_machine.py", "test_svm_errors.py"],
    "kernels/_kernel_values": ["test_kernel_machine.py", "test_svm_errors.py"],
    "kernels/_shifted_rows": ["test_kernel_machine.py", "test_least_squares_scale.py"],
    "model/_lazy": ["test_model.py", "test_dask_boosted_trees.py", "-k", "lazy or lazily or large_model"],
    "model/_prior": ["test_pu_auc.py", "test_pu_criteria.py", "test_risk_errors.py"],
    "tree/_binning": ["test_forest.py", "test_boosted_trees.py", "test_forest_categories.py"],
    "tree/_init_model": ["test_forest.py", "test_boosted_trees_continued.py"],
    "tree/_loss_and_prior": ["test_forest.py", "test_boosted_trees.py"],
    "tree/_max_features": ["test_forest.py", "test_boosted_trees.py"],
    "tree/_tree_arrays": ["test_forest.py", "test_boosted_trees_continued.py"],
    "forest/_forest_options": ["test_forest.py", "test_auto_bags.py"],
    "boosting/_boosted_trees_options": ["test_boosted_trees.py", "test_boosted_bags.py"],
    "boosting/_rounds_by_folds": ["test_stump_boost_folds.py", "test_boosted_trees.py"],
    "tree/tree_ensemble": ["test_forest.py", "test_tree_ensemble.py", "test_lightgbm.py"],
}
#: What every method promises: what the tests of a module do not notice, these may.
PROMISES = (
    "test_input_parameters.py",
    "test_input_labels.py",
    "test_input_ignored.py",
    "test_every_method_rows.py",
    "test_model_file_hostile.py",
)
#: The methods whose promises are tried for a module that many methods share: one of each kind of model.
SHARED = ("fit_isvm", "fit_forest", "fit_bsvm", "fit_upu")
OF_EVERY_MODULE = "test_house.py::test_defaults_are_those_that_the_documentation_names"
_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SURVIVED, _KILLED, _TIMEOUT = 0, 1, 2


@dataclass(frozen=True)
class Verdict:
    """What tests say of a mutant, and the first test that failed, "" where the process died or nothing failed."""

    found: int
    failed: str = ""


@dataclass(frozen=True)
class Mutant:
    """One change: of the node of that number in the module, in the given way."""

    module: str
    number: int
    line: int
    text: str  # of the line as changed; of a place of several lines, before and after

    def __str__(self) -> str:
        return f"{self.module}.py: {self.text}"


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that compute something: neither annotations nor texts of errors."""
    skipped: set[int] = set()
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        skipped |= {id(getattr(node, "returns", None)), *(id(d) for d in node.decorator_list)}
    if isinstance(node, ast.arg | ast.AnnAssign):
        skipped.add(id(node.annotation))
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return []  # zip's strict=True asserts
    return [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def _is_left_out(node: ast.AST) -> bool:
    text = ast.unparse(node.test) if isinstance(node, ast.If) else ""
    targets = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
    return text == "TYPE_CHECKING" or "__all__" in targets or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _mutate(node: ast.AST) -> bool:
    """Change the node in place; False if there is nothing to change."""
    if isinstance(node, ast.Compare):
        node.ops = [_COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS:
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else _Same()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        node.value = 2 * node.value if node.value else 1.0
    else:
        return False
    return True


class _Same(ast.Not):
    """What is left of `not x` when the not goes: the truth of x."""


def _places(tree: ast.AST) -> list[ast.AST]:
    """Every node that can be mutated, in one order for all copies of a tree."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if _is_left_out(node):
            continue
        if _mutate(copy.copy(node)):
            found.append(node)
        waiting.extend(reversed(_children(node)))
    return found


def _text(node: ast.AST) -> str:
    node = copy.deepcopy(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, _Same):
        return f"bool({ast.unparse(node.operand)})"
    return ast.unparse(node)


def _changed_line(lines: list[str], node: ast.expr | ast.AugAssign) -> str:
    changed = copy.deepcopy(node)
    _mutate(changed)
    if node.end_lineno != node.lineno:
        return f"{_text(node)}  ->  {_text(changed)}"
    line = lines[node.lineno - 1].encode()  # columns are those of bytes
    return (line[: node.col_offset] + _text(changed).encode() + line[node.end_col_offset :]).decode().strip()


def mutants_of(module: str) -> list[Mutant]:
    text = (PACKAGE / f"{module}.py").read_text()
    places = enumerate(_places(ast.parse(text)))
    return [Mutant(module, number, node.lineno, _changed_line(text.splitlines(), node)) for number, node in places]


def equivalent(file: Path = EQUIVALENT) -> set[str]:
    """The mutants that are known to mean the same: lines `module.py: changed line`, each below its reason."""
    return {line for line in file.read_text().splitlines() if line and not line.startswith("#")}


def source_of(mutant: Mutant) -> str:
    """The module's text with the change."""
    tree = ast.parse((PACKAGE / f"{mutant.module}.py").read_text())
    node = _places(tree)[mutant.number]
    _mutate(node)

    class Dropped(ast.NodeTransformer):
        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            if isinstance(node.op, _Same):
                return ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
            return node

    return ast.unparse(ast.fix_missing_locations(Dropped().visit(tree)))


def tests_of(module: str) -> tuple[str, ...]:
    room, _, name = module.rpartition("/")
    files = [path.name for path in sorted((TESTS / room).rglob("test_*.py")) if "checks" not in path.name]
    named = [file for file in files if name.removeprefix("_") in file]
    return tuple(TESTS_OF.get(module) or named or (files if room else ()))


def promises_of(module: str) -> tuple[str, ...]:
    """The tests of the promises, for the methods of the module's room or, where it has none, for some of each kind."""
    room = module.partition("/")[0]
    listed = _printed_by(
        f"from fastpu.common._methods import DECLARED, function_of\n"
        f"print(*(name for name in DECLARED if function_of(name).__module__.startswith('fastpu.{room}.')), sep='\\n')"
    )
    methods = [name for name in listed if name] or SHARED
    return (*PROMISES, "-k", f"({' or '.join(methods)}) and not plot")


def _path(test: str) -> str:
    """Where a test file lies, of which `tests_of` has the name alone."""
    name, *rest = test.split("::")
    if "/" in name:  # a test that has failed, by its place below the root folder of pytest
        return str(TESTS.parent / test)
    (file,) = TESTS.rglob(name)
    return "::".join([str(file), *rest])


class _FirstFailure:
    """A plugin of pytest that writes down the first test that fails, or the file that cannot be read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed and not self.file.exists():
            self.file.write_text(report.nodeid)


def judge(folder: Path, mutant: Mutant | None, tests: tuple[str, ...], seconds: float) -> Verdict:
    """Run the tests in a forked process against the package in the folder, with the mutant in it."""
    failure = folder / "failed.txt"
    failure.unlink(missing_ok=True)
    if mutant is not None:
        (folder / "fastpu" / f"{mutant.module}.py").write_text(source_of(mutant))
    child = os.fork()
    if child == 0:
        import pytest

        with Path(os.devnull).open("w") as nothing, contextlib.suppress(OSError):
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(folder))
        # The finder of an editable installation comes before the path, and finds the package without the mutant.
        sys.meta_path = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
        os.environ |= {"PYTHONPATH": str(folder), "HYPOTHESIS_PROFILE": "quick"}
        arguments = ["-x", "-q", "-m", "not slow", "--assert=plain", "-p", "no:cacheprovider"]
        arguments.append(f"--rootdir={TESTS.parent}")
        arguments += [_path(test) if ".py" in test else test for test in tests]
        os._exit(_SURVIVED if pytest.main(arguments, plugins=[_FirstFailure(failure)]) == 0 else _KILLED)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            found = _SURVIVED if status == 0 else _KILLED
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = _TIMEOUT
    if mutant is not None:
        shutil.copy(PACKAGE / f"{mutant.module}.py", folder / "fastpu" / f"{mutant.module}.py")
    return Verdict(found, failure.read_text() if failure.exists() else "")


def judge_fairly(folder: Path, mutant: Mutant, tests: tuple[str, ...], limit: float) -> Verdict:
    """Judge a mutant by tests that pass without it, in so many seconds, or in thrice what they take without it."""
    verdict = judge(folder, mutant, tests, limit)
    if verdict.found == _TIMEOUT:
        began = time.monotonic()
        _require_pass(folder, tests)
        allowed = 10 + 3 * (time.monotonic() - began)
        if allowed > limit:
            verdict = judge(folder, mutant, tests, allowed)
    if verdict.failed:
        _require_pass(folder, (verdict.failed,))
    return verdict


def _require_pass(folder: Path, tests: tuple[str, ...]) -> None:
    if judge(folder, None, tests, 600).found != _SURVIVED:
        raise SystemExit(f"tests fail without a mutant: {' '.join(tests)}")


def copy_package(folder: Path) -> None:
    """Copy the package, with the extension modules of the installation that this Python imports."""
    shutil.copytree(PACKAGE, folder / "fastpu")
    for name in _printed_by("import fastpu._blas as b, fastpu._core as c; print(b.__file__, c.__file__, sep='\\n')"):
        shutil.copy(name, folder / "fastpu")


def import_libraries() -> None:
    """Import once, before the forks, what the package and its tests import, but for the package itself."""
    wanted = "fastpu.estimators", "matplotlib.pyplot", "pytest", "hypothesis", "pandas", "polars", "sklearn.datasets"
    code = "\n".join(
        ["import contextlib, sys", *(f"with contextlib.suppress(ImportError): import {w}" for w in wanted)]
    )
    for name in _printed_by(f"{code}\nprint(*sys.modules, sep='\\n')"):
        if name.split(".")[0] not in {"__main__", "fastpu"}:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _printed_by(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=[], metavar="MODULE", help="such as svm/bsvm")
    parser.add_argument("--sample", type=int, default=150, help="how many mutants, 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--limit", type=float, default=120, help="seconds for the tests of a mutant")
    options = parser.parse_args()
    files = [file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py")]
    # The workers of Dask are processes that import the installed package, without the mutant.
    every = sorted(file.with_suffix("").as_posix() for file in files if file.parts[0] != "dask")
    chosen = options.modules or every
    known = equivalent()
    everything = [mutant for module in chosen for mutant in mutants_of(module)]
    n_places = len(everything)
    stale = {line for line in known if ".py: " in line} - {str(mutant) for mutant in everything}
    for line in () if options.modules else sorted(stale):
        print(f"no mutant any more: {line}")
    everything = [mutant for mutant in everything if str(mutant) not in known]
    random.Random(options.seed).shuffle(everything)  # noqa: S311 - a sample, not a secret
    sample = everything[: options.sample or None]
    import_libraries()
    counts = {mutant.module: [0, 0, 0] for mutant in sample}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_package(folder)
        start = time.monotonic()
        for mutant in sample:
            if time.monotonic() - start > options.seconds:
                break
            began = time.monotonic()
            verdict = judge_fairly(folder, mutant, (*tests_of(mutant.module), OF_EVERY_MODULE), options.limit)
            if verdict.found == _SURVIVED:
                verdict = judge_fairly(folder, mutant, promises_of(mutant.module), 600)
            found = verdict.found
            words = ("SURVIVED", f"failed {verdict.failed or 'with the process'}", "ran too long")[found]
            print(f"{time.monotonic() - began:.0f} s: line {mutant.line} of {mutant}: {words}", flush=True)
            counts[mutant.module][found] += 1
    for module, (survived, failed, long) in sorted(counts.items()):
        n = survived + failed + long
        print(f"{module}: {n} mutants, {failed} failed a test, {long} ran too long, {survived} survived")
    n_survived = sum(survived for survived, _, _ in counts.values())
    print(
        f"{sum(map(sum, counts.values()))} of {n_places} mutants were tried, {n_survived} survived; "
        f"{n_places - len(everything)} that mean the same were left out"
    )
    return int(n_survived > 0)


if __name__ == "__main__":
    sys.exit(main())
