"""A forest on Dask: the driver draws the bags, and tasks gather their rows, and grow trees on what was gathered.

Everything else is done by tasks on binned partitions, on whichever workers Dask chooses. A task depends on the results
of others alone, so Dask can repeat the tasks of a worker that is lost. For every few trees one task for each partition
takes the rows of the bags from it, one grows the trees, and one for each partition scores the rows that the bags leave
out. Rows and trees go from task to task; only the trees come to the driver.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.dask._client import Client, gather, release, results_of, wait_for
from fastpu.dask._members import Holding
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures, stacked_bins
from fastpu.forest._fit import ForestRows
from fastpu.tree.tree_ensemble import splits_by_categories

OutOfBag: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32]]

_GATHERED_BYTES = 1 << 27  # about how many bytes of rows one task gathers at most


@dataclass(frozen=True)
class Forest:
    """Trees and out-of-bag sums, in the arrays of `_core.ForestResult`; those of a task are without sums."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    oob_sum: NDArray[np.float64] | None = None
    oob_count: NDArray[np.int32] | None = None
    status: str = "n_trees"


@dataclass(frozen=True)
class Bags:
    """The rows of some trees' bags, one bag after the other, by their numbers; positive ones come first in each."""

    rows: NDArray[np.int64]
    start: NDArray[np.int64]

    def __getitem__(self, tree: int) -> NDArray[np.int64]:
        return self.rows[self.start[tree] : self.start[tree + 1]]


# ---- On a worker ----


def _take(part: Holding, rows: NDArray[np.int64]) -> BinnedFeatures:
    taken: BinnedFeatures = part.features[np.array(rows)]  # a copy is aligned, as kernels need it
    return taken


def _grow(parts: list[BinnedFeatures], bags: Bags, n_pos: int, options: dict[str, Any], n_threads: int) -> Forest:
    """Return trees that are grown on bags, whose rows are in `parts` in their order, each once."""
    rows = stacked_bins(parts)
    grown = _core.grow_on_bags(
        rows._native,
        np.searchsorted(np.unique(bags.rows), bags.rows).astype(np.uint32),
        bags.start.copy(),  # in a message an array begins at any byte
        n_pos=n_pos,
        categorical=category_flags(rows.categories, rows.n_features),
        options=_core.ForestOptions(**options),
        n_threads=n_threads,
    )
    return Forest(grown.nodes.copy(), grown.tree_start, grown.category_sets)


def _score_left_out(
    part: Holding, before: OutOfBag | None, grown: list[Forest], bags: list[Bags], kept: list[int],
    first_row: int, n_threads: int,
) -> OutOfBag:  # fmt: skip
    """Add the values of trees for the rows of a partition that their bags leave out, tree after tree."""
    n_rows = part.labels.size
    sums, counts = (np.zeros(n_rows), np.zeros(n_rows, np.int32)) if before is None else (a.copy() for a in before)
    if part.features is None:
        return sums, counts
    for trees, in_bags, n_kept in zip(grown, bags, kept, strict=True):
        # In a message of Dask arrays begin at any byte.
        nodes, category_sets = trees.nodes.copy(), trees.category_sets.copy()
        for t in range(n_kept):
            start, stop = trees.tree_start[t : t + 2]
            values = _core.tree_scores(
                part.features._native,
                nodes[start:stop],
                np.array([0, stop - start]),
                category_sets,
                n_features=part.features.n_features,
                n_threads=n_threads,
            )
            rows = in_bags[t]
            in_bag = rows[(rows >= first_row) & (rows < first_row + n_rows)] - first_row
            values[in_bag] = 0.0
            sums += values
            counts += 1
            counts[in_bag] -= 1
    return sums, counts


# ---- The driver ----


class Tasks:
    """Starts tasks on binned `parts`; releases these and the results that are left when it is closed."""

    def __init__(self, client: Client, parts: Sequence[Any]) -> None:
        self.client, self.parts = client, parts
        self._left: weakref.WeakSet[Any] = weakref.WeakSet(parts)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(function, *arguments, pure=False)
        self._left.add(future)
        return future

    def scatter(self, values: list[Any]) -> list[Any]:
        futures = list(self.client.scatter(values, hash=False))
        self._left.update(futures)
        return futures

    def close(self) -> None:
        release(list(self._left))


def grow_on_parts(
    tasks: Tasks,
    sizes: Sequence[int],
    rows: ForestRows,
    options: dict[str, Any],
    n_threads: int,
    *,
    before: Sequence[Any],
    first_set: int,
    on_tree: Callable[[int, int, int], bool] | None,
) -> Forest:
    """Grow a forest on partitions of these sizes, by tasks of `n_threads` each.

    `before` has for each partition the out-of-bag sums of earlier trees, as a future or None, which have `first_set`
    sets of categories. `on_tree` is called with the number of each tree, its leaves and its depth; True stops.
    """
    n_pos = options["repeats_pos"] * int(np.count_nonzero(rows.counted(1)))
    first_row = np.cumsum(sizes, dtype=np.int64) - np.asarray(sizes)
    out_of_bag, trees_of_tasks, is_stopped = list(before), [], False
    for batches in _waves(tasks.client, options, n_pos, rows.features.n_features):
        drawn = [_draw(rows, {**options, **batch}, n_threads) for batch in batches]
        far = tasks.scatter(drawn)
        grown = [
            tasks.submit(_grow, _gathered(tasks, first_row, bags), own, n_pos, {**options, **batch}, n_threads)
            for batch, bags, own in zip(batches, drawn, far, strict=True)
        ]
        wait_for(tasks.client, grown, "growing trees")
        kept = []
        for batch, trees in zip(batches, gather(tasks.client, grown, "growing trees"), strict=True):
            n_kept, is_stopped = (0, True) if is_stopped else _called(on_tree, trees, batch["first_tree"])
            kept.append(n_kept)
            trees_of_tasks.append(_first(trees, n_kept))
        out_of_bag = [
            tasks.submit(_score_left_out, part, sums, grown, far, kept, int(first), n_threads)
            for part, sums, first in zip(tasks.parts, out_of_bag, first_row, strict=True)
        ]
        if is_stopped:
            break
    sums = results_of(tasks.client, out_of_bag, "scoring out of bag")
    return _joined(trees_of_tasks, sums, first_set, "callback" if is_stopped else "n_trees")


def _waves(client: Client, options: dict[str, Any], n_pos: int, n_features: int) -> Iterator[list[dict[str, int]]]:
    """Yield waves of tasks, one task for each thread of the workers: the first tree of each and its number of trees."""
    slots, n_trees = max(1, sum(client.nthreads().values())), options["n_trees"]
    largest = n_pos + max(options["bag_unl"])
    most = max(1, _GATHERED_BYTES // (2 * largest * n_features))
    size = max(1, min(most, -(-n_trees // slots)))
    for wave in range(0, n_trees, slots * size):
        end = min(n_trees, wave + slots * size)
        yield [
            {"first_tree": options["first_tree"] + first, "n_trees": min(size, end - first)}
            for first in range(wave, end, size)
        ]


def _draw(rows: ForestRows, options: dict[str, Any], n_threads: int) -> Bags:
    """Return the bags of some trees."""
    of_pos, of_unl = (np.flatnonzero(rows.counted(label)) for label in (1, 0))
    weights = rows.weights
    drawn, start = _core.draw_forest_bags(
        n_pos=of_pos.size,
        n_unl=of_unl.size,
        weight_pos=None if weights is None else weights[of_pos],
        weight_unl=None if weights is None else weights[of_unl],
        options=_core.ForestOptions(**options),
        n_threads=n_threads,
    )
    place = np.arange(drawn.size) - np.repeat(start[:-1], np.diff(start))
    is_pos = place < options["repeats_pos"] * of_pos.size
    numbers = np.empty(drawn.size, dtype=np.int64)
    numbers[is_pos], numbers[~is_pos] = of_pos[drawn[is_pos]], of_unl[drawn[~is_pos]]
    return Bags(numbers, start)


def _gathered(tasks: Tasks, first_row: NDArray[np.int64], bags: Bags) -> list[Any]:
    """Return the futures of the rows in some bags, in their order, each once."""
    rows = np.unique(bags.rows)
    own = np.split(rows, np.searchsorted(rows, first_row[1:]))
    chosen = [k for k, numbers in enumerate(own) if numbers.size]
    numbers = tasks.scatter([own[k] - first_row[k] for k in chosen])
    return [tasks.submit(_take, tasks.parts[k], taken) for k, taken in zip(chosen, numbers, strict=True)]


def _called(on_tree: Callable[[int, int, int], bool] | None, trees: Forest, first: int) -> tuple[int, bool]:
    """Call `on_tree` for tree after tree; return how many trees are kept, and whether it stopped the fit."""
    n_trees = trees.tree_start.size - 1
    if on_tree is not None:
        for t in range(n_trees):
            tree = trees.nodes[trees.tree_start[t] : trees.tree_start[t + 1]]
            if on_tree(first + t, (tree.size + 1) // 2, _depth(tree)):
                return t + 1, True
    return n_trees, False


def _depth(tree: NDArray[Any]) -> int:
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while (left := tree["left"][level])[left > 0].size:
        level = np.concatenate([left[left > 0], left[left > 0] + 1])
        depth += 1
    return depth


def _first(trees: Forest, n: int) -> Forest:
    nodes = trees.nodes[: trees.tree_start[n]]
    n_sets = np.count_nonzero(splits_by_categories(nodes))
    return Forest(nodes, trees.tree_start[: n + 1], trees.category_sets[:n_sets])


def _joined(trees_of_tasks: Sequence[Forest], out_of_bag: Sequence[OutOfBag], first_set: int, status: str) -> Forest:
    nodes, starts, n_sets = [], [np.zeros(1, dtype=np.int64)], first_set
    for trees in trees_of_tasks:
        own = trees.nodes.copy()
        own["threshold"][splits_by_categories(own)] += n_sets
        nodes.append(own)
        starts.append(starts[-1][-1] + trees.tree_start[1:])
        n_sets += len(trees.category_sets)
    return Forest(
        np.concatenate(nodes),
        np.concatenate(starts),
        np.concatenate([trees.category_sets for trees in trees_of_tasks]),
        np.concatenate([sums for sums, _ in out_of_bag]),
        np.concatenate([counts for _, counts in out_of_bag]),
        status,
    )
