"""Writes src/fastpu/estimators/__init__.pyi: what type checkers and editors know of the classes made at import.

Run it after a change of a fit function's signature: python tests/estimators/write_stub.py
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

from fastpu import estimators
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._classes import CLASSIFIERS

STUB = Path(__file__).resolve().parents[2] / "src" / "fastpu" / "estimators" / "__init__.pyi"
HEAD = (
    '"""The types of `fastpu.estimators`, written by tests/estimators/write_stub.py from what is made at import."""\n'
)
WIDTH = 120


def stub() -> str:
    """The text of the stub."""
    classes = "".join(map(_class, CLASSIFIERS.values()))
    sources = {}
    for classifier in CLASSIFIERS.values():
        sources |= _sources(classifier._function.__module__) | _sources(classifier.__base__.__module__)
    sources |= {"FastpuClassifier": FastpuClassifier.__module__, "Self": "typing_extensions"}
    used = sorted(set(re.findall(r"\w+", classes)) & set(sources))
    imports = [f"from {sources[name]} import {name}" for name in used]
    public = [name for name in estimators.__all__ if name not in CLASSIFIERS]
    exports = [f"from {_sources('fastpu.estimators')[name]} import {name} as {name}" for name in public]
    listed = _filled("__all__ = [", [f'"{name}"' for name in sorted(estimators.__all__)], ", ", "]")
    return "\n".join([HEAD, *imports, *exports, "import numpy as np", "", listed, classes])


def _class(classifier: type[FastpuClassifier]) -> str:
    lines = [f"class {classifier.__name__}({classifier.__base__.__name__}):"]
    parameters = list(inspect.signature(classifier).parameters.values())
    _, *of_fit = inspect.signature(classifier.fit).parameters.values()
    lines.append(_filled("    def __init__(", ["self", "*", *map(_shown, parameters)], ", ", ") -> None: ..."))
    lines.append(_filled("    def fit(", ["self", *map(_shown, of_fit)], ", ", ") -> Self: ..."))
    typed_already = set(inspect.get_annotations(FastpuClassifier)) - {"random_state"}  # not every class has this one
    own = [f"{p.name}: {p.annotation}" for p in parameters if p.name not in typed_already]
    return "\n".join(["", *lines, *([_filled("    ", own, "; ")] if own else []), ""])


def _shown(parameter: inspect.Parameter) -> str:
    typed = f"{parameter.name}: {parameter.annotation}"
    return typed if parameter.default is inspect.Parameter.empty else f"{typed} = {parameter.default!r}"


def _filled(head: str, pieces: list[str], separator: str, tail: str = "") -> str:
    """Pieces in lines that are as long as may be; statements begin where the first of them does."""
    indent = "    " if separator == "; " else "        "
    lines = [head]
    for piece, end in zip(pieces, [separator] * (len(pieces) - 1) + [tail], strict=True):
        if len(lines[-1] + piece + end) > WIDTH:
            lines.append(indent)
        lines[-1] += piece + end
    return "\n".join(line.rstrip(" ;") for line in lines)


def _sources(module: str) -> dict[str, str]:
    """The names that a module imports or defines, each with the module that it is from."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name: str(node.module) for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            found[node.name] = module
    return found


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
