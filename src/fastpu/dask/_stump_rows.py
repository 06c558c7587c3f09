"""The rows of boosted stumps on the workers: the core asks all shards, and gets their merged answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import _core
from fastpu.dask._boosted_rows import Shards, add_up, stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastpu.dask._workers import Shard, Workers


# ---- On a worker ----


class StumpsOfShard:
    """A `_core.StumpShard` that numbers its rows among the rows of all shards.

    Parameters
    ----------
    shard : _core.StumpShard
    first, number : ndarray of int64
        The first row of each of its partitions, in the shard and among all rows.
    """

    def __init__(self, shard: _core.StumpShard, first: NDArray[np.int64], number: NDArray[np.int64]) -> None:
        self._shard, self._first, self._number = shard, first, number

    def __getattr__(self, method: str) -> Any:
        return getattr(self._shard, method)

    def list(self, change: Any) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return for each row to be changed its number among all rows, its kind, its codes and its weights."""
        rows, kinds, codes, weights = self._shard.list(change)
        part = np.searchsorted(self._first, rows, side="right") - 1
        numbers = self._number[part] + (rows - self._first[part])
        return numbers, kinds, codes, weights


def _start(shard: Shard, sizes: Sequence[int], numbers: Sequence[int]) -> None:
    """Make the shard of the core; of each of its partitions the size and the number of the first row are given."""
    native = _core.StumpShard(
        shard.kept["features"]._native,
        shard.kept["labels"],
        shard.kept["weights"],
        n_threads=shard.n_threads,
    )
    first = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    shard.kept["boosted"] = StumpsOfShard(native, first, np.array(numbers, dtype=np.int64))


# ---- The driver ----


def place_stumps(workers: Workers, sizes: Sequence[int]) -> SharedStumps:
    """Begin boosting rows in partitions of these sizes."""
    workers.ask(stack)
    first = np.cumsum(sizes) - sizes
    own = [([sizes[k] for k in numbers], [int(first[k]) for k in numbers]) for numbers in workers.partitions]
    workers.ask_each(_start, own)
    return SharedStumps(workers)


class SharedStumps(Shards):
    """The rows of all shards, in place of a single `_core.StumpShard`.

    Attributes
    ----------
    codes : ndarray of uint64, shape (4,), or None
        The set of categories of the last stump.
    is_weighed : bool
        Whether all weights were computed afresh after the last stump.
    """

    def __init__(self, workers: Workers) -> None:
        super().__init__(workers)
        self.codes: NDArray[np.uint64] | None = None
        self.is_weighed = False

    def tops(self) -> Any:
        return self._ask(np.maximum, "tops")

    def weigh(self, tops: NDArray[np.float64]) -> Any:
        self.is_weighed = True
        return self._ask(add_up, "weigh", tops)

    def add(self, change: Any) -> Any:
        self._note(change)
        return self._ask(add_up, "add", change)

    def list(self, change: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float64]]:
        """Return kinds, codes and weights of the rows to be changed in all shards, in the order of the rows."""
        self._note(change)
        numbers, kinds, codes, weights = self._ask(_concatenated, "list", change)
        order = np.argsort(numbers)
        return kinds[order], codes[order].ravel(), weights[order].ravel()

    def move(self, change: Any) -> None:
        self._later("move", change)

    def _note(self, change: Any) -> None:
        feature, _, by_categories, codes, _, _ = change
        if feature >= 0:
            self.codes, self.is_weighed = codes if by_categories else None, False


def _concatenated(top: Any, bottom: Any) -> Any:
    """Return two answers with the rows of one below those of the other."""
    return tuple(map(np.concatenate, zip(top, bottom, strict=True)))
