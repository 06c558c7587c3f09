"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from fastpu import _core

# No deadline: a neighbour on the machine makes any single example slow now and then. A plain run draws the same ones
# every time, so that only a change can fail it; "random" and "thorough" look for examples that nobody tried.
_QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=60, derandomize=True, **_QUIET)
settings.register_profile("quick", max_examples=10, derandomize=True, **_QUIET)  # tests/mutants.py
settings.register_profile("random", max_examples=60, **_QUIET)
settings.register_profile("thorough", max_examples=2000, **_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_report_header() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"fastpu: {Path(find_spec('fastpu').origin).parent}; {packages}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


def _arrays_of(value: Any) -> list[np.ndarray]:
    """The arrays in which an input keeps its entries."""
    if isinstance(value, np.ndarray):
        return [value]
    parts = [getattr(value, name, None) for name in ("data", "indices", "indptr", "row", "col", "offsets")]
    return [part for part in parts if isinstance(part, np.ndarray)]


def _snapshot(value: Any) -> list[Any]:
    arrays = [(a.tobytes(), a.dtype, a.shape, a.strides, str(a.flags), a.ctypes.data) for a in _arrays_of(value)]
    # Whatever else the object remembers, such as the flags SciPy caches on sparse matrices; not the columns and the
    # accessor that pandas before 3 has handed out.
    kept = {k: v for k, v in getattr(value, "__dict__", {}).items() if k not in {"_item_cache", "sparse"}}
    state = {k: v for k, v in kept.items() if not isinstance(v, np.ndarray)}
    return [arrays, repr(state), repr(value) if not arrays else ""]


@pytest.fixture
def unchanged() -> Callable[..., Any]:
    """A context in which the given inputs must not change: not a byte, a flag or a cached fact."""

    @contextmanager
    def check(*inputs: Any) -> Iterator[None]:
        before = [_snapshot(value) for value in inputs]
        yield
        for old, value in zip(before, inputs, strict=True):
            assert _snapshot(value) == old

    return check


@pytest.fixture
def grids(monkeypatch):
    """How many problems the solver of grids of SVMs was called for, call by call."""
    calls = []
    solve = _core.solve_svm_grid

    def counted(*args, **options):
        calls.append(len(args[2]))
        return solve(*args, **options)

    monkeypatch.setattr(_core, "solve_svm_grid", counted)
    return calls
