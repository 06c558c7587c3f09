"""Binned features against what goes wrong: damaged pickles, too little memory, weights that should not matter."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastpu
from boosting_cases import to_csr
from fastpu import _core

STATE = (
    "n_rows",
    "n_features",
    "width",
    "cut_starts",
    "cut_values",
    "bin_values",
    "row_stride",
    "column_stride",
    "codes",
    "row_start",
    "row_bins",
    "zero_code",
)

FORMS = ("bytes", "pairs of bytes", "sparse")


def binned(form: str) -> _core.BinnedFeatures:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((400, 5)) < 0.2, 0.0, rng.normal(size=(400, 5)))
    X[:, 1] = rng.normal(size=400)  # more than 255 cuts where they may be
    matrix = to_csr(X) if form == "sparse" else X
    return fastpu.bin_features(matrix, max_bins=300 if form == "pairs of bytes" else 16)._native


def blank() -> _core.BinnedFeatures:
    return _core.BinnedFeatures.__new__(_core.BinnedFeatures)


class Planted:
    """Pickles as binned features with the state given."""

    def __init__(self, state: tuple) -> None:
        self.state = state

    def __reduce__(self) -> tuple:
        return blank, (), self.state


def restore(state: tuple) -> _core.BinnedFeatures:
    return pickle.loads(pickle.dumps(Planted(state)))


def damaged(form: str, **members) -> tuple:
    """The state with other members; a callable changes a copy of the array."""
    state = dict(zip(STATE, binned(form).__getstate__(), strict=True))
    for name, value in members.items():
        if callable(value):
            changed = state[name].copy()
            answer = value(changed)
            state[name] = changed if answer is None else answer
        else:
            state[name] = value
    return tuple(state.values())


@pytest.mark.parametrize("form", FORMS)
def test_a_sound_state_comes_back(form):
    b = binned(form)
    copy = restore(damaged(form))
    assert (copy.n_rows, copy.n_features, copy.is_sparse) == (b.n_rows, b.n_features, b.is_sparse)
    for e in range(b.n_features):
        np.testing.assert_array_equal(copy.column(e), b.column(e))


@pytest.mark.parametrize("name", STATE)
@pytest.mark.parametrize("value", [None, "7", 1.5, np.zeros(3, np.float32), np.zeros((2, 2)), 2**70])
@pytest.mark.parametrize("form", FORMS)
def test_a_member_of_another_type_is_refused(form, value, name):
    with pytest.raises(ValueError, match=r"not the state|1-D array|not valid"):
        restore(damaged(form, **{name: value}))


@pytest.mark.parametrize("size", [0, 1, 11, 13])
def test_a_state_of_another_length_is_refused(size):
    state = damaged("bytes")
    with pytest.raises(ValueError, match="not the state of binned features"):
        restore((state * 2)[:size])


@pytest.mark.parametrize("form", FORMS)
def test_a_number_changed_anywhere_is_refused_or_harmless(form):
    rng = np.random.default_rng(2)
    arrays = [name for name, member in zip(STATE, damaged(form), strict=True) if np.size(member) > 1]
    y = rng.choice([1, 0, -1], size=400)
    refused = 0
    for _ in range(150):
        name = rng.choice(arrays)

        def change(array):
            bits = array.view(np.uint8)
            bits[rng.integers(bits.size)] ^= np.uint8(1 << rng.integers(8))

        state = damaged(form, **{name: change})
        try:
            b = fastpu.models.BinnedFeatures(restore(state), None, 16)
        except ValueError:
            refused += 1
            continue
        assert all(b.column(e).max() <= len(b.cuts[e]) for e in range(b.n_features))
        model = fastpu.fit_pnu_auc_boost(b, y, n_rounds=2)
        assert np.isfinite(model.decision_function(b[::3])).all()
    assert refused > 10


# ---- Memory ----

LIMITED = """
import resource
from pathlib import Path
import numpy as np
from fastpu import _core

def allow(n_bytes):
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + n_bytes, resource.RLIM_INFINITY))

def lift():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

rng = np.random.default_rng(0)
n, d = 100_000, 16
X = rng.normal(size=(n, d))
_core.bin_features(X[:2000].copy(), 255, None, 1)

# The peak that the header promises, and a little: codes once, a strip of 64 bytes and 24 of scratch a row.
allow(n * d + n * (64 + 24) + (1 << 20))
_core.bin_features(X, 255, None, 1)
lift()
for megabytes in (0.25, 1, 4, 8):
    allow(int(megabytes * 2**20))
    try:
        _core.bin_features(X, 300, None, 1)
    except MemoryError as error:
        lift()
        print(error)
    lift()
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory in use is read from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer's own memory breaks the limit")
def test_binning_needs_what_it_promises_and_memory_that_is_not_there_is_named():
    run = subprocess.run(
        [sys.executable, "-c", LIMITED],
        # The allocator gives back what is freed: the limit is on what the process holds.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": str(1 << 17)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    failed = run.stdout.splitlines()
    assert failed
    assert all(re.fullmatch(r"cannot allocate \d+ bytes for [a-z ]+", line) for line in failed)
