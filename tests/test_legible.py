"""An editor can follow an argument: no `locals()`, no options by strings, none of any type, one class for a name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "fastpu"
FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
#: What a mapping from names to values of any kind is annotated with.
LOOSE = {f"{kind}[str, {value}]" for kind in ("dict", "Mapping") for value in ("Any", "object")}
UNTYPED = {"Any", "object"}

#: Where names are data, and not options of fastpu's own: the header of a file, and the arguments of a function of the
#: user's.
NAMES_ARE_DATA = {"model/_load.py: _from_parts", "selection/select.py: _by_row"}


def functions(tree: ast.AST) -> list[tuple[str, ast.FunctionDef]]:
    """Every function with its name, that of its class included."""
    found = []
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                found.append((owner + child.name, child))
    return found


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function without those of functions in it."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)
    return nodes


def hands_locals_on(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars")
        and not node.args
        for node in own_nodes(function)
    )  # fmt: skip


def is_loose(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in LOOSE


def options_by_string(function: ast.FunctionDef) -> set[str]:
    """The keys by which a function reads a mapping from names to values of any kind, that it was given or has made."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    loose = {each.arg for each in arguments if is_loose(each.annotation)}
    if function.args.kwarg is not None:
        loose.add(function.args.kwarg.arg)
    for node in own_nodes(function):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_loose(node.annotation):
            loose.add(node.target.id)
    keys = set()
    for node in own_nodes(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                keys |= {key} if name in loose else set()
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get" | "pop"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                keys |= {key} if name in loose else set()
    return keys


def untyped_options(tree: ast.AST) -> list[str]:
    """The fields of any type in records whose name says that they hold options."""
    return [
        f"{node.name}.{field.target.id}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Options", "Settings", "Arguments"))
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if {name.id for name in ast.walk(field.annotation) if isinstance(name, ast.Name)} & UNTYPED
    ]


def tree_of(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text(encoding="utf-8"))


def test_no_function_hands_its_locals_on():
    found = {
        f"{file}: {name}" for file in FILES for name, function in functions(tree_of(file)) if hands_locals_on(function)
    }
    assert sorted(found) == []


def test_no_option_is_read_by_its_string():
    found = {
        f"{file}: {name}"
        for file in FILES
        for name, function in functions(tree_of(file))
        if options_by_string(function)
    }
    assert sorted(found - NAMES_ARE_DATA) == []


def test_every_option_has_a_type():
    found = {f"{file}: {field}" for file in FILES for field in untyped_options(tree_of(file))}
    assert sorted(found) == []


def test_no_two_classes_share_a_name():
    files: dict[str, list[str]] = {}
    for file in FILES:
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(file)
    assert {name: where for name, where in files.items() if len(where) > 1} == {}


@pytest.mark.parametrize(
    "text",
    [
        "def fit(X, *, C=1.0):\n    return make(locals())",
        "def fit(X, *, C=1.0):\n    return make(**vars())",
    ],
)
def test_planted_locals_are_found(text):
    assert [name for name, function in functions(ast.parse(text)) if hands_locals_on(function)] == ["fit"]


@pytest.mark.parametrize(
    "text",
    [
        "def grow(given: Mapping[str, Any]):\n    return given['max_depth']",
        "def grow(**given):\n    return given.get('max_depth')",
        "class A:\n    def grow(self):\n        a: dict[str, object] = make()\n        return a.pop('max_depth')",
    ],
)
def test_planted_options_by_string_are_found(text):
    assert [options_by_string(function) for _, function in functions(ast.parse(text))] == [{"max_depth"}]


@pytest.mark.parametrize(
    "text",
    [
        "def grow(options: ForestOptions):\n    return options.max_depth",
        "def grow(scores: Mapping[str, NDArray[np.float64]]):\n    return scores['oob']",
        "def grow(params: dict[str, Any]):\n    params['max_depth'] = 1",
    ],
)
def test_typed_records_and_what_is_written_are_left_alone(text):
    assert [options_by_string(function) for _, function in functions(ast.parse(text))] == [set()]


def test_a_planted_option_without_a_type_is_found():
    text = "class Options:\n    depth: int\n    features: Any\n    labels: list[object]\n    callback: RoundCallback[R]"
    assert untyped_options(ast.parse(text)) == ["Options.features", "Options.labels"]
