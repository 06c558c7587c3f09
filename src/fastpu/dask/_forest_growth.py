"""Growing a forest on Dask: the driver draws the bags, and tasks gather their rows and grow trees on these.

Everything else is done by tasks on binned partitions, on whichever workers Dask chooses. For every few trees one task
for each partition takes the rows of the bags from it, one task grows the trees, and one for each partition scores the
rows that the bags leave out. Rows and trees go from task to task; only the trees come to the driver. Dask repeats the
tasks of a worker that is lost. It cannot do so with bags that were sent to this worker: the driver sends them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import Report
from fastpu.dask._client import gather, wait_for
from fastpu.dask._forest_bags import GrowthTask, SomeTrees, TreeBags, Wave, draw_bags
from fastpu.dask._forest_out_of_bag import OutOfBag, OutOfBagSums
from fastpu.dask._forest_rows import ForestRowsOnWorkers
from fastpu.dask._tasks import repeated
from fastpu.dask._worker_rows import take_rows
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures, stacked_bins
from fastpu.forest._forest_growth import tree_callback
from fastpu.forest._forest_options import ForestOptions
from fastpu.tree.tree_ensemble import TreeEnsemble, splits_by_categories

_GATHERED_BYTES = 1 << 27  # about how many bytes of rows one task gathers at most


@dataclass(frozen=True)
class SpreadForest:
    """All trees, and the out-of-bag sums of all rows, with the names of `_core.ForestResult`."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    oob_sum: NDArray[np.float64]
    oob_count: NDArray[np.int32]
    status: str


# ---- On a worker ----


def _grow(parts: list[BinnedFeatures], bags: TreeBags, n_pos: int, task: GrowthTask, n_threads: int) -> SomeTrees:
    """Return trees that are grown on bags, whose rows are in `parts` in their order, each once."""
    rows = stacked_bins(parts)
    grown = _core.grow_on_bags(
        rows._native,
        np.searchsorted(np.unique(bags.rows), bags.rows).astype(np.uint32),
        bags.start.copy(),  # in a message an array begins at any byte
        n_pos=n_pos,
        categorical=category_flags(rows.categories, rows.n_features),
        options=task.core_options(rows),
        n_threads=n_threads,
    )
    return SomeTrees(grown.nodes.copy(), grown.tree_start, grown.category_sets)


# ---- The driver ----


def grow_forest(
    rows: ForestRowsOnWorkers,
    options: ForestOptions,
    seed: int,
    init_model: TreeEnsemble | None,
    n_threads: int,
    report: Report | None,
) -> SpreadForest:
    """Grow the trees by tasks of `n_threads` each; they come after those of `init_model`, if it is given."""
    tasks = rows.tasks
    n_before = 0 if init_model is None else init_model.n_trees
    first_set = 0 if init_model is None else len(init_model.category_sets)
    on_tree = tree_callback(report, n_before + options.n_trees)
    bags = options.bag_sizes(rows.labels, rows.weights)
    n_pos = bags.repeats_pos * int(np.count_nonzero(rows.counted(1)))
    all_trees = GrowthTask(options, rows.prior, bags, seed, n_before, options.n_trees)

    out_of_bag, trees_of_tasks, is_stopped = OutOfBagSums(rows, init_model, n_threads), [], False
    for growth_tasks in _waves(rows, all_trees, n_pos):
        wave = repeated(tasks, partial(_grow_wave, rows, growth_tasks, n_pos, n_threads))
        kept = []
        for task, trees in zip(growth_tasks, wave.trees, strict=True):
            n_kept, is_stopped = (0, True) if is_stopped else _called(on_tree, trees, task.first_tree)
            kept.append(trees.first(n_kept))
        trees_of_tasks += kept
        out_of_bag.add(growth_tasks, kept, wave)
        if is_stopped:
            break
    sums = repeated(tasks, out_of_bag.sums)
    return _joined(trees_of_tasks, sums, first_set, "callback" if is_stopped else "n_trees")


def _grow_wave(rows: ForestRowsOnWorkers, growth_tasks: list[GrowthTask], n_pos: int, n_threads: int) -> Wave:
    tasks = rows.tasks
    bags = [draw_bags(rows, task, n_threads) for task in growth_tasks]
    far_bags = tasks.scatter(bags)
    grown = [
        tasks.submit(_grow, _gathered(rows, drawn), far, n_pos, task, n_threads)
        for task, drawn, far in zip(growth_tasks, bags, far_bags, strict=True)
    ]
    wait_for(tasks.client, grown, "growing trees")
    return Wave(gather(tasks.client, grown, "growing trees"), grown, far_bags)


def _waves(rows: ForestRowsOnWorkers, all_trees: GrowthTask, n_pos: int) -> Iterator[list[GrowthTask]]:
    """Yield waves of tasks, one task for each thread of the workers, which grow all trees together."""
    slots, n_trees = max(1, sum(rows.tasks.client.nthreads().values())), all_trees.n_trees
    largest = n_pos + max(all_trees.bags.draws_unl)
    most = max(1, _GATHERED_BYTES // (2 * largest * rows.features.n_features))
    size = max(1, min(most, -(-n_trees // slots)))
    for wave in range(0, n_trees, slots * size):
        end = min(n_trees, wave + slots * size)
        yield [
            replace(all_trees, first_tree=all_trees.first_tree + first, n_trees=min(size, end - first))
            for first in range(wave, end, size)
        ]


def _gathered(rows: ForestRowsOnWorkers, bags: TreeBags) -> list[Any]:
    """Return the futures of the rows in some bags, in their order, each once."""
    tasks, first_row, drawn = rows.tasks, rows.first_row, np.unique(bags.rows)
    by_part = np.split(drawn, np.searchsorted(drawn, first_row[1:]))
    chosen = [k for k, numbers in enumerate(by_part) if numbers.size]
    numbers = tasks.scatter([by_part[k] - first_row[k] for k in chosen])
    return [tasks.submit(take_rows, tasks.parts[k], taken) for k, taken in zip(chosen, numbers, strict=True)]


def _called(on_tree: Callable[[int, int, int], bool] | None, trees: SomeTrees, first: int) -> tuple[int, bool]:
    """Call `on_tree` for tree after tree; return how many trees are kept, and whether it stopped the fit."""
    if on_tree is not None:
        for t in range(trees.n_trees):
            tree = trees.nodes[trees.tree_start[t] : trees.tree_start[t + 1]]
            if on_tree(first + t, (tree.size + 1) // 2, _depth(tree)):
                return t + 1, True
    return trees.n_trees, False


def _depth(tree: NDArray[Any]) -> int:
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while (left := tree["left"][level])[left > 0].size:
        level = np.concatenate([left[left > 0], left[left > 0] + 1])
        depth += 1
    return depth


def _joined(
    trees_of_tasks: Sequence[SomeTrees], out_of_bag: Sequence[OutOfBag], first_set: int, status: str
) -> SpreadForest:
    nodes, starts, n_sets = [], [np.zeros(1, dtype=np.int64)], first_set
    for trees in trees_of_tasks:
        own = trees.nodes.copy()
        own["threshold"][splits_by_categories(own)] += n_sets
        nodes.append(own)
        starts.append(starts[-1][-1] + trees.tree_start[1:])
        n_sets += len(trees.category_sets)
    return SpreadForest(
        np.concatenate(nodes),
        np.concatenate(starts),
        np.concatenate([trees.category_sets for trees in trees_of_tasks]),
        np.concatenate([sums for sums, _ in out_of_bag]),
        np.concatenate([counts for _, counts in out_of_bag]),
        status,
    )
