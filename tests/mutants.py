"""Mutation testing of the Python layer: a changed sign, comparison, constant or index must fail a test.

python tests/mutants.py [--sample 150] [--seed 0] [--seconds 1e9] [MODULE ...]

Each mutant changes one place of one module. The module's own tests run against it in a process that is forked after the
libraries have been imported, from a copy of the package in a temporary folder; the source tree is not touched. What
survives is printed: a test is missing, or the change means the same. Needs the test tools and fork.
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

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "fastpu"

#: The modules that are mutated, and the tests that must notice.
MODULES = {
    "_calibration": ["test_calibration.py", "test_probabilities.py"],
    "_estimator_base": ["test_estimators.py", "test_estimators_probabilities.py"],
    "_params": ["test_validate.py"],
    "_prior": ["test_metrics_simulation.py", "test_pu_criteria.py", "test_risk_errors.py"],
    "_prior_kernel": ["test_priors.py"],
    "_prior_sampling": ["test_priors.py"],
    "_prior_sensitivity": ["test_priors.py"],
    "_prior_shares": ["test_priors.py"],
    "_prior_tree": ["test_priors.py"],
    "_pu_criteria": ["test_pu_criteria.py"],
    "_threshold": ["test_threshold.py"],
    "_validate": ["test_validate.py", "test_matrix.py", "test_frames.py"],
    "folds": ["test_pu_splits.py", "test_selection.py", "test_selection_errors.py"],
    "labels": ["test_labels.py"],
    "metrics": ["test_metrics.py", "test_metrics_simulation.py", "test_pu_criteria.py"],
    "priors": ["test_priors.py"],
    "selection": ["test_selection.py", "test_selection_errors.py", "test_selection_search.py"],
}
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
class Mutant:
    """One change: of the node of that number in the module, in the given way."""

    module: str
    number: int
    line: int
    before: str
    after: str


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that compute something: neither annotations nor texts of errors."""
    skipped: set[int] = set()
    if isinstance(node, ast.FunctionDef):
        skipped |= {id(node.returns), *(id(d) for d in node.decorator_list)}
    if isinstance(node, ast.arg | ast.AnnAssign):
        skipped.add(id(node.annotation))
    if isinstance(node, ast.JoinedStr):
        return []
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


def mutants_of(module: str) -> list[Mutant]:
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    found = []
    for number, node in enumerate(_places(tree)):
        before = _text(node)
        changed = copy.deepcopy(node)
        _mutate(changed)
        found.append(Mutant(module, number, node.lineno, before, _text(changed)))
    return found


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


def judge(folder: Path, mutant: Mutant | None, tests: list[str], seconds: float) -> int:
    """Run the tests in a forked process against the package in the folder, with the mutant in it."""
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
        arguments = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={TESTS.parent}"]
        os._exit(_SURVIVED if pytest.main([*arguments, *(str(TESTS / test) for test in tests)]) == 0 else _KILLED)
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
        shutil.copy(PACKAGE / f"{mutant.module}.py", folder / "fastpu")
    return found


def copy_package(folder: Path) -> None:
    """Copy the package, with the extension modules of the installation that this Python imports."""
    shutil.copytree(PACKAGE, folder / "fastpu")
    lines = "import fastpu._blas as b, fastpu._core as c; print(b.__file__); print(c.__file__)"
    found = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)
    for name in found.stdout.split("\n")[:2]:
        shutil.copy(name, folder / "fastpu")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=[], metavar="MODULE", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--sample", type=int, default=150, help="how many mutants, 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    options = parser.parse_args()
    chosen = options.modules or list(MODULES)
    everything = [mutant for module in chosen for mutant in mutants_of(module)]
    random.Random(options.seed).shuffle(everything)  # noqa: S311 - a sample, not a secret
    sample = everything[: options.sample or None]
    for name in ("numpy", "scipy.stats", "scipy.sparse", "pandas", "polars", "sklearn.metrics"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)  # once, before the forks
    start = time.monotonic()
    counts = [0, 0, 0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_package(folder)
        allowed = {}
        for module in sorted({mutant.module for mutant in sample}):
            began = time.monotonic()
            if judge(folder, None, MODULES[module], 600) != _SURVIVED:
                print(f"the tests of {module} fail without a mutant: {', '.join(MODULES[module])}")
                return 2
            allowed[module] = 10 + 5 * (time.monotonic() - began)
        for mutant in sample:
            if time.monotonic() - start > options.seconds:
                break
            found = judge(folder, mutant, MODULES[mutant.module], allowed[mutant.module])
            counts[found] += 1
            if found == _SURVIVED:
                print(f"{mutant.module}.py:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
    n = sum(counts)
    print(
        f"{n} of {len(everything)} mutants: {counts[1]} failed a test, {counts[2]} ran too long, {counts[0]} survived"
    )
    return int(counts[0] > 0)


if __name__ == "__main__":
    sys.exit(main())
