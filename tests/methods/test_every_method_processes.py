"""Every function that computes, in other processes: forked, spawned, of joblib, by instruction set, short of memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastpu
from fastpu import _core
from method_recipes import RECIPES, problem, result

#: Where BLAS sums, models of different instruction-set levels agree to this, relative to the largest entry of an array.
BLAS_TOL = 1e-10

START = f"""
import sys, warnings
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
import fastpu
import method_recipes
from method_recipes import RECIPES, bits, contents, digest, digests, result
warnings.simplefilter("ignore")
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(code: str, *arguments: str, **environment: str) -> str:
    """Run this in an interpreter of its own and return what it printed."""
    command = [sys.executable, "-c", START + code, *arguments]
    env = {**{k: v for k, v in os.environ.items() if k != "FASTPU_ISA"}, **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=env)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_instruction_set_level_gives_the_same_bits(tmp_path):
    """One process per level does everything; the baseline judges the others."""
    code = """
found = {}
for name, recipe in RECIPES.items():
    for form in recipe.forms if name != "select" and not name.startswith("priors") else ["float64"]:
        value = result(recipe, *recipe.arguments(min(300, recipe.rows), form=form), n_threads=1)
        found |= {f"{name}-{form}{place}": array for place, array in contents(value).items()}
np.savez(sys.argv[1], **found)
"""
    levels = _core.isa_levels()
    assert levels[0] == "baseline"
    for level in levels:
        run(code, str(tmp_path / f"{level}.npz"), FASTPU_ISA=level)
    with np.load(tmp_path / "baseline.npz") as expected:
        for level in levels[1:]:
            with np.load(tmp_path / f"{level}.npz") as found:
                assert found.files == expected.files
                differing = [key for key in expected.files if not agree(key, found[key], expected[key])]
                assert not differing, level


@pytest.mark.parametrize("name", RECIPES)
def test_every_fit_or_its_scores_ask_for_the_level_that_is_forced(name, monkeypatch):
    """Growing forests and scoring by trees did not: they took the best level, whatever the variable said."""
    arguments = RECIPES[name].arguments(min(300, RECIPES[name].rows))
    monkeypatch.setenv("FASTPU_ISA", "none")
    with pytest.raises(ValueError, match=f"FASTPU_ISA must be one of {', '.join(_core.isa_levels())} on this machine"):
        result(RECIPES[name], *arguments, n_threads=1)


@pytest.mark.parametrize("fit", [fastpu.fit_forest, fastpu.fit_boosted_trees])
def test_scores_of_trees_ask_for_the_level_that_is_forced(fit, monkeypatch):
    X, y = problem(60)
    model, bins = fit(X, y, random_state=0), fastpu.bin_features(X)
    monkeypatch.setenv("FASTPU_ISA", "")  # as if it were not there
    assert np.isfinite(model.decision_function(X)).all()
    monkeypatch.setenv("FASTPU_ISA", "none")
    for rows in (X, X[:1], bins):
        with pytest.raises(ValueError, match="FASTPU_ISA must be one of"):
            model.decision_function(rows)


def agree(key: str, found: np.ndarray, expected: np.ndarray) -> bool:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    recipe = next(recipe for name, recipe in RECIPES.items() if key.startswith((f"{name}-float", f"{name}-csr")))
    if not recipe.sums_by_blas or found.dtype.kind != "f" or found.size == 0:
        return found.tobytes() == expected.tobytes()
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)
    return np.allclose(found, expected, rtol=0.0, atol=BLAS_TOL * scale, equal_nan=True)


@needs_fork
def test_forked_children_get_the_same_bits_as_their_parent():
    code = """
import multiprocessing, os
before = digests(n_threads=3)
child = os.fork()
if child == 0:
    os._exit(0 if digests(n_threads=2) == before else 1)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(digest, RECIPES) == list(before.values())
assert digests(n_threads=3) == before
"""
    run(code)


@pytest.mark.slow
@needs_fork
@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are Linux's")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer's own memory breaks the limit")
def test_short_of_memory_a_fit_says_how_many_bytes_it_wanted_and_the_next_one_works():
    """A thread that throws for the first time takes memory for that, and the C library ends the process without it.

    So each fit has a process of its own. Nothing has called BLAS in it either, which ends the process as well, or tries
    for ever, if it finds no room at its first call.
    """
    code = """
import ctypes, os, re, resource, signal
libc = ctypes.CDLL("libc.so.6")
kept = [bytes(1 << 16) for _ in range(32)]

def fit(name, arguments, megabytes):
    signal.alarm(60)
    libc.mallopt(-1, 1 << 23)  # M_TRIM_THRESHOLD: 2 MB are kept, for NumPy's buffers crash without
    kept.clear()
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + int(megabytes * 2**20), resource.RLIM_INFINITY))
    try:
        RECIPES[name].call(*arguments, n_threads=4)
    except MemoryError as error:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        RECIPES[name].call(*arguments, n_threads=4)
        return 10 if re.search("[0-9]+ bytes|[0-9][.]? [KMGT]iB", str(error)) else 11
    return 0

found = {}
for name in RECIPES:
    if name == "select":
        continue
    arguments = RECIPES[name].arguments(RECIPES[name].rows * 2)
    for megabytes in (1, 8, 13, 20, 40):
        child = os.fork()
        if child == 0:
            os._exit(fit(name, arguments, megabytes))
        found[name, megabytes] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
bad = {call: status for call, status in found.items() if status not in (0, 10)}
assert not bad, bad
print(list(found.values()).count(10))
"""
    assert int(run(code)) > 10
