"""The rows of boosted trees on the workers: the core asks all shards, and gets the sum of their answers."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import _core
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import stacked_bins
from fastpu.tree._fit import fingerprint_of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu.boosting._boosted_trees import Settings
    from fastpu.dask._workers import Shard, Workers


_MOST_DRAWN = 2**32 - 1  # rows that can be numbered, for drawing some of them
_CODES_AHEAD = 10_000_000  # codes that a thread adds up in about the time that a question takes


# ---- On a worker ----


def stack(shard: Shard) -> int:
    """Keep the rows of all partitions of the shard as one; return how many threads work on them."""
    parts, shard.parts = shard.parts, []
    shard.kept["features"] = stacked_bins([part.features for part in parts], shard.n_threads)
    shard.kept["labels"] = np.concatenate([part.labels for part in parts])
    has_weights = parts[0].weights is not None
    shard.kept["weights"] = np.concatenate([part.weights for part in parts]) if has_weights else None
    return shard.n_threads


def known_by(shard: Shard, first_rows: list[int]) -> NDArray[np.uint64]:
    """Return the fingerprint of the partitions of the shard, from the numbers of their first rows among all rows."""
    hashes = [
        fingerprint_of_part(part.features, part.labels, part.weights, first_row=first, n_threads=shard.n_threads)
        for part, first in zip(shard.parts, first_rows, strict=True)
    ]
    found: NDArray[np.uint64] = np.sum(hashes, axis=0, dtype=np.uint64)
    return found


def _start(
    shard: Shard,
    settings: Settings,
    prior: float,
    trees: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None,
    n_unlabeled: int,
    starts: tuple[tuple[int, int], ...] | None,
) -> None:
    """Make the shard of the core.

    `starts` has for each partition the number of its first unlabelled row among all and how many it has; None where no
    rows are drawn.
    """
    features = shard.kept["features"]
    numbers = None
    if starts is not None:
        numbers = np.concatenate([first + np.arange(n) for first, n in starts]).astype(np.uint32)
    nodes, tree_starts, sets = trees or (None, None, None)
    shard.kept["boosted"] = _core.BoostedShard(
        features._native,
        shard.kept["labels"],
        shard.kept["weights"],
        categorical=category_flags(features.categories, features.n_features),
        loss=settings.loss,
        gamma=settings.gamma,
        prior=prior,
        init_nodes=nodes,
        init_starts=tree_starts,
        init_sets=sets,
        n_unlabelled=n_unlabeled,
        numbers=numbers,
        n_threads=shard.n_threads,
    )


def answer(shard: Shard, before: Sequence[tuple[str, tuple[Any, ...]]], method: str, arguments: tuple[Any, ...]) -> Any:
    """Return the result of a method of the core's shard, after calls of other methods that were waiting."""
    boosted = shard.kept["boosted"]
    for name, given in before:
        getattr(boosted, name)(*given)
    return getattr(boosted, method)(*arguments)


# ---- The driver ----


def place_rows(
    workers: Workers,
    settings: Settings,
    prior: float,
    trees: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None,
    unlabeled: Sequence[int],
    n_features: int,
) -> SharedRows:
    """Begin boosting from these trees; `unlabeled` has the number of unlabelled rows of every partition."""
    first = np.concatenate([[0], np.cumsum(unlabeled)]).tolist()
    draws = settings.subsample_unl < 1
    if draws and first[-1] > _MOST_DRAWN:
        raise ValueError(
            f"subsample_unl must be 1 for more than {_MOST_DRAWN} unlabelled rows, got {first[-1]} of them"
        )
    n_threads = sum(workers.ask(stack))
    starts = [(tuple((first[k], unlabeled[k]) for k in numbers) if draws else None,) for numbers in workers.partitions]
    workers.ask_each(_start, [(settings, prior, trees, first[-1], *own) for own in starts])
    return SharedRows(workers, n_threads * _CODES_AHEAD // n_features)


class Shards:
    """The rows of all shards, in place of a single shard of the core: it has the methods of that, and merges answers.

    A call without an answer is sent along with the next question.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []

    def _later(self, method: str, *arguments: Any) -> None:
        self._waiting.append((method, arguments))

    def _before(self) -> list[tuple[str, tuple[Any, ...]]]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def _ask(self, merge: Callable[[Any, Any], Any], method: str, *arguments: Any) -> Any:
        return self._workers.ask_merged(merge, answer, self._before(), method, arguments)

    def __getattr__(self, method: str) -> Any:
        """Return the method whose answers are added up."""
        if method.startswith("_"):
            raise AttributeError(method)
        return partial(self._ask, add_up, method)


class SharedRows(Shards):
    """The rows of all shards, in place of a single `_core.BoostedShard`.

    Attributes
    ----------
    most_rows_ahead : int
        Nodes with at most so many rows are split before it is certain that the tree needs the split.
    """

    def __init__(self, workers: Workers, most_rows_ahead: int) -> None:
        super().__init__(workers)
        self.most_rows_ahead = most_rows_ahead

    def draw(self, seed: int, n: int) -> None:
        self._later("draw", seed, n)

    def add(self, leaves: NDArray[np.uint32], values: NDArray[np.float64]) -> None:
        self._later("add", leaves, values)

    def counts(self) -> tuple[Any, ...]:
        return merged_counts(self._workers.ask(answer, self._before(), "counts", ()))

    def tops(self, of_drawn: bool) -> Any:
        return self._ask(np.maximum, "tops", of_drawn)

    def split(self, orders: list[Any], leaves: NDArray[np.uint32]) -> Any:
        return self._ask(_merged_splits, "split", orders, leaves)


def merged_counts(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return numbers and weights added up, in the order of the shards, and the common divisor of the weights."""
    *numbers, units = zip(*answers, strict=True)
    return *map(sum, numbers), reduce(_core.common_divisor, units)


def _merged_splits(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return *add_up(left[:-1], right[:-1]), np.maximum(left[-1], right[-1])


def add_up(left: Any, right: Any) -> Any:
    """Return the sums of whole numbers, or of arrays or nested tuples of them; the order of adding does not matter."""
    if isinstance(left, tuple):
        return tuple(map(add_up, left, right))
    return left + right
