"""A thousand fits of every method leave memory as it was: `python tests/methods/leaks.py [--fits 1000] [RECIPE ...]`.

Of ten fits, six are whole (with scores; saved, loaded and pickled now and then), and one each is refused, stopped by
its callback, ended by an error of its callback, and by Ctrl-C in it. After a fifth of them to warm up, three figures
must stay flat: what malloc has handed out (C++ and NumPy), Python's blocks, and the resident set.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import pickle
import signal
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import fastpu
import method_recipes
from fastpu.common._methods import DECLARED
from method_recipes import Recipe

#: Growth that a thousand fits may show: malloc keeps small lists of its own, and the system gives pages by the hundred.
MOST_MALLOC_BYTES = 64_000
MOST_BLOCKS = 500
MOST_RESIDENT_BYTES = 4_000_000

#: Enough for every recipe, and few enough for fits of milliseconds.
N_ROWS = 60
RECIPES = {name: recipe for name, recipe in method_recipes.RECIPES.items() if recipe.name in DECLARED}


class Malloc(ctypes.Structure):
    """The result of glibc's mallinfo2, ten counts: the fifth of bytes in pages of their own, the eighth of others."""

    _fields_ = (("counts", ctypes.c_size_t * 10),)


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
        return cls(found.counts[7] + found.counts[4], sys.getallocatedblocks(), pages * 4096)

    @property
    def is_flat(self) -> bool:
        """Whether so little has been added that it may be what caches of the interpreter and of malloc hold."""
        return self.malloc <= MOST_MALLOC_BYTES and self.blocks <= MOST_BLOCKS and self.resident <= MOST_RESIDENT_BYTES

    def __sub__(self, other: Memory) -> Memory:
        return Memory(self.malloc - other.malloc, self.blocks - other.blocks, self.resident - other.resident)


class Failed(Exception):
    """What a callback raises."""


def fail(_info: object) -> bool:
    raise Failed


def interrupt(_info: object) -> bool:
    signal.raise_signal(signal.SIGINT)
    return False


def one_fit(recipe: Recipe, number: int, path: Path) -> None:
    """The fit of that number, which decides how it ends."""
    options = {"n_threads": 1 + number % 2}
    has_callback = recipe.takes("callback")
    data = recipe.arguments(N_ROWS, form="csr" if number % 3 == 1 and "csr" in recipe.forms else "float64")
    rows = data[0]
    kind = number % 10
    if kind == 6:
        try:
            recipe.call(rows[:, :0], *data[1:], **options)
        except ValueError:
            return
        raise AssertionError("a matrix without columns was taken")
    if kind == 7 and has_callback:
        recipe.call(*data, **options, callback=lambda _info: True)
    elif kind == 8 and has_callback:
        try:
            recipe.call(*data, **options, callback=fail)
        except Failed:
            return
    elif kind == 9 and has_callback:
        try:
            recipe.call(*data, **options, callback=interrupt)
        except KeyboardInterrupt:
            return
    else:
        model = recipe.call(*data, **options)
        if isinstance(model, fastpu.models.SVMPath):
            model.scores(rows, model.lams[:2])
        else:
            model.decision_function(rows)
        if number % 20 == 0:
            model.save(path)
            fastpu.load(path)
            pickle.loads(pickle.dumps(model))


def growth(recipe: Recipe, n_fits: int, path: Path) -> Memory:
    """What the last four fifths of the fits add."""
    warm = n_fits // 5
    for number in range(warm):
        one_fit(recipe, number, path)
    before = Memory.now()
    for number in range(warm, n_fits):
        one_fit(recipe, number, path)
    return Memory.now() - before


def main() -> int:
    """Print a line for each method; 1 if any grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("methods", nargs="*", default=list(RECIPES), metavar="RECIPE")
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
            added = growth(RECIPES[name], arguments.fits, Path(folder) / "model.npz")
            if not added.is_flat:  # what is kept once is no leak
                added = growth(RECIPES[name], arguments.fits, Path(folder) / "model.npz")
            print(f"{name:36} {added.malloc:9d} {added.blocks:9d} {added.resident // 1024:9d}", flush=True)
            if not added.is_flat:
                grown.append(name)
    if grown:
        print("memory grows:", ", ".join(grown))
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
