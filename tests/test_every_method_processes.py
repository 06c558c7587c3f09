"""Every function that computes, in other processes: forked, spawned, of joblib, by instruction set, short of memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastpu import _core
from method_recipes import FITS, RECIPES

#: Models of different instruction-set levels agree to this, relative to the largest entry of an array.
LEVELS_TOL = 1e-10

START = f"""
import sys, warnings
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
import fastpu
import method_recipes
from method_recipes import FITS, RECIPES, bits, contents, digest, digests, result
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


def test_instruction_set_levels_agree(tmp_path):
    """One process per level does everything; the baseline judges the others."""
    code = """
found = {}
for name, recipe in RECIPES.items():
    for form in recipe.forms if name != "select" else ["float64"]:
        value = result(recipe, *recipe.arguments(form=form), n_threads=1)
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
                differing = [key for key in expected.files if not agree(found[key], expected[key])]
                assert not differing, level


def agree(found: np.ndarray, expected: np.ndarray) -> bool:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind != "f" or found.size == 0:
        return np.array_equal(found, expected)
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)
    return np.allclose(found, expected, rtol=0.0, atol=LEVELS_TOL * scale, equal_nan=True)


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


def test_spawned_children_get_the_same_bits_as_their_parent(tmp_path):
    # The children import the main module again, so it has to be a file.
    script = tmp_path / "spawning.py"
    body = """
if __name__ == "__main__":
    import multiprocessing
    before = digests(n_threads=3)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(digest, RECIPES) == list(before.values())
"""
    script.write_text(START + body)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


def test_processes_of_joblib_get_the_same_bits_as_their_parent():
    pytest.importorskip("joblib")
    code = """
import joblib
before = digests(n_threads=2)
found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(digest)(name) for name in RECIPES)
assert found == list(before.values())
"""
    run(code, PYTHONPATH=os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
