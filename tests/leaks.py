"""A thousand fits of every method leave memory as it was: `python tests/leaks.py [--fits 1000] [METHOD ...]`.

Of ten fits, six are whole (with scores; saved, loaded and pickled now and then), and one each is refused, stopped by
its callback, ended by an error of its callback, and by Ctrl-C in it. After a fifth of them to warm up, three figures
must stay flat: what malloc has handed out (C++ and NumPy), Python's blocks, and the resident set.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import inspect
import pickle
import signal
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu.common._capabilities import CAPABILITIES

#: Growth that a thousand fits may show: malloc keeps small lists of its own, and the system gives pages by the hundred.
MOST_MALLOC_BYTES = 64_000
MOST_BLOCKS = 500
MOST_RESIDENT_BYTES = 4_000_000

# What keeps a fit of a millisecond, and what a method must be given.
OPTIONS = {
    "fit_pnu_auc_boost": {"n_rounds": 5},
    "fit_rankboost_auc": {"n_rounds": 5},
    "fit_pnu_adaboost": {"n_rounds": 5},
    "fit_pnu_auc": {"prior": 0.5, "eta": 0.5},
    "fit_bsvm": {"C_pos": 1.0, "C_unl": 0.5},
    "fit_bagging_svm": {"n_estimators": 3, "random_state": 0},
    "fit_bpsi": {"C_pos": 1.0, "C_unl": 0.5, "max_iter": 3},
    "fit_isvm": {"max_iter": 3},
    "fit_ipsi": {"max_iter": 3},
    "fit_svmc": {"max_iter": 2},
    "fit_smc": {"max_iter": 2},
    "fit_upu": {"prior": 0.5, "loss": "logistic", "lam": 0.1},
    "fit_nnpu": {"prior": 0.5, "n_epochs": 3, "model": "mlp", "n_hidden": 4, "random_state": 0},
    "fit_ls_auc": {"basis": "gauss", "n_centers": 5, "random_state": 0},
}


class Malloc(ctypes.Structure):
    """The result of glibc's mallinfo2."""

    _fields_ = (
        ("arena", ctypes.c_size_t),
        ("ordblks", ctypes.c_size_t),
        ("smblks", ctypes.c_size_t),
        ("hblks", ctypes.c_size_t),
        ("hblkhd", ctypes.c_size_t),
        ("usmblks", ctypes.c_size_t),
        ("fsmblks", ctypes.c_size_t),
        ("uordblks", ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    )


@dataclass(frozen=True)
class Memory:
    """What is in use: bytes from malloc, blocks of Python, resident bytes."""

    malloc: int
    blocks: int
    resident: int

    @classmethod
    def now(cls) -> Memory:
        """Measure, after a collection."""
        gc.collect()
        info = ctypes.CDLL(None).mallinfo2
        info.restype = Malloc
        found = info()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(found.uordblks + found.hblkhd, sys.getallocatedblocks(), pages * 4096)

    def __sub__(self, other: Memory) -> Memory:
        return Memory(self.malloc - other.malloc, self.blocks - other.blocks, self.resident - other.resident)


class Failed(Exception):
    """What a callback raises."""


def fail(_info: object) -> bool:
    raise Failed


def interrupt(_info: object) -> bool:
    signal.raise_signal(signal.SIGINT)
    return False


def problem(groups: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two overlapping classes, with the labels that a method takes."""
    rng = np.random.default_rng(0)
    codes = [{"P": 1, "U": 0, "N": -1}[group] for group in groups]
    y = np.resize(codes, 40)
    return rng.normal(size=(40, 3)) + 0.8 * (y == 1)[:, None], y


def one_fit(name: str, number: int, path: Path) -> None:
    """The fit of that number, which decides how it ends."""
    function = getattr(fastpu, name)
    capability = CAPABILITIES[name]
    X, y = problem(capability.groups)
    options = {"n_threads": 1 + number % 2, **OPTIONS.get(name, {})}
    has_callback = "callback" in inspect.signature(function).parameters
    rows = sp.csr_array(X) if capability.csr and number % 3 == 1 else X
    data = (rows,) if name == "fit_one_class_svm" else (rows, y)
    kind = number % 10
    if kind == 6:
        try:
            function(X[:, :0], *data[1:], **options)
        except ValueError:
            return
        raise AssertionError("a matrix without columns was taken")
    if kind == 7 and has_callback:
        function(*data, **options, callback=lambda _info: True)
    elif kind == 8 and has_callback:
        try:
            function(*data, **options, callback=fail)
        except Failed:
            return
    elif kind == 9 and has_callback:
        try:
            function(*data, **options, callback=interrupt)
        except KeyboardInterrupt:
            return
    else:
        model = function(*data, **options)
        if isinstance(model, fastpu.SVMPath):
            model.scores(rows, model.lams[:2])
        else:
            model.decision_function(rows)
        if number % 20 == 0:
            model.save(path)
            fastpu.load(path)
            pickle.loads(pickle.dumps(model))


def growth(name: str, n_fits: int, path: Path) -> Memory:
    """What the last four fifths of the fits add."""
    warm = n_fits // 5
    for number in range(warm):
        one_fit(name, number, path)
    before = Memory.now()
    for number in range(warm, n_fits):
        one_fit(name, number, path)
    return Memory.now() - before


def main() -> int:
    """Print a line for each method; 1 if any grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("methods", nargs="*", default=list(CAPABILITIES), metavar="METHOD")
    arguments = parser.parse_args()
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        print("skipped: memory is measured by glibc's mallinfo2 (2.33 or later)")
        return 0
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    grown = []
    print(
        f"{'growth over the last four fifths of':36} {arguments.fits} fits: malloc bytes, Python blocks, resident KiB"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.methods:
            added = growth(name, arguments.fits, Path(folder) / "model.npz")
            print(f"{name:36} {added.malloc:9d} {added.blocks:9d} {added.resident // 1024:9d}", flush=True)
            is_flat = (
                added.malloc <= MOST_MALLOC_BYTES
                and added.blocks <= MOST_BLOCKS
                and added.resident <= MOST_RESIDENT_BYTES
            )
            if not is_flat:
                grown.append(name)
    if grown:
        print("memory grows:", ", ".join(grown))
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
