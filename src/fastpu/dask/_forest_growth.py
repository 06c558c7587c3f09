"""Growing a forest on Dask: the driver draws the bags, and tasks gather their rows and grow trees on these.

Everything else is done by tasks on binned partitions, on whichever workers Dask chooses. A task depends on the results
of other tasks alone, so Dask can repeat the tasks of a worker that is lost. For every few trees one task for each
partition takes the rows of the bags from it, one task grows the trees, and one for each partition scores the rows that
the bags leave out. Rows and trees go from task to task; only the trees come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._bags import BagSizes
from fastpu.common._progress import Report
from fastpu.dask._client import gather, results_of, wait_for
from fastpu.dask._forest_rows import ForestRowsOnWorkers
from fastpu.dask._tasks import Tasks
from fastpu.dask._worker_rows import WorkerRows, take_rows
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures, stacked_bins
from fastpu.forest._forest_growth import tree_callback
from fastpu.forest._forest_options import ForestOptions
from fastpu.tree.tree_ensemble import TreeEnsemble, splits_by_categories

#: Sums of out-of-bag values, and their numbers, for each row of a partition.
OutOfBag: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32]]

_GATHERED_BYTES = 1 << 27  # about how many bytes of rows one task gathers at most


@dataclass(frozen=True)
class SomeTrees:
    """The trees of one task, in the arrays of `_core.ForestResult`."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    def first(self, n_trees: int) -> SomeTrees:
        """Return the first trees alone."""
        nodes = self.nodes[: self.tree_start[n_trees]]
        n_sets = np.count_nonzero(splits_by_categories(nodes))
        return SomeTrees(nodes, self.tree_start[: n_trees + 1], self.category_sets[:n_sets])


@dataclass(frozen=True)
class SpreadForest:
    """All trees, and the out-of-bag sums of all rows, with the names of `_core.ForestResult`."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    oob_sum: NDArray[np.float64]
    oob_count: NDArray[np.int32]
    status: str


@dataclass(frozen=True)
class Bags:
    """The rows of some trees' bags, one bag after the other, by their numbers; positive ones come first in each.

    `clusters` are the numbers of the groups that these rows belong to, if the user names some.
    """

    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    clusters: NDArray[np.int32] | None

    def holds(
        self, tree: int, first_row: int, n_rows: int, clusters: NDArray[np.int32] | None
    ) -> NDArray[np.int64] | NDArray[np.bool_]:
        """Tell which rows of a partition count as in the bag of a tree; `clusters` are theirs, as in the whole."""
        own = slice(*self.start[tree : tree + 2])
        if self.clusters is not None and clusters is not None:
            return np.isin(clusters, self.clusters[own])
        rows = self.rows[own]
        return rows[(rows >= first_row) & (rows < first_row + n_rows)] - first_row


@dataclass(frozen=True)
class GrowthTask:
    """What a task needs to grow the trees from `first_tree` on, beside the rows of their bags."""

    options: ForestOptions
    prior: float
    bags: BagSizes
    seed: int
    first_tree: int
    n_trees: int

    def core_options(self, features: BinnedFeatures) -> _core.ForestOptions:
        return self.options.for_core(
            prior=self.prior,
            bags=self.bags,
            n_features=features.n_features,
            is_sparse=features.is_sparse,
            seed=self.seed,
            first_tree=self.first_tree,
            n_trees=self.n_trees,
        )


# ---- On a worker ----


def _grow(parts: list[BinnedFeatures], bags: Bags, n_pos: int, task: GrowthTask, n_threads: int) -> SomeTrees:
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


def _score_left_out(
    part: WorkerRows, clusters: NDArray[np.int32] | None, before: OutOfBag | None, grown: list[SomeTrees],
    bags: list[Bags], kept: list[int], first_row: int, n_threads: int,
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
            in_bag = in_bags.holds(t, first_row, n_rows, clusters)
            values[in_bag] = 0.0
            sums += values
            counts += 1
            counts[in_bag] -= 1
    return sums, counts


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
    first_row = np.cumsum(rows.sizes, dtype=np.int64) - np.asarray(rows.sizes)
    n_before = 0 if init_model is None else init_model.n_trees
    first_set = 0 if init_model is None else len(init_model.category_sets)
    on_tree = tree_callback(report, n_before + options.n_trees)
    bags = options.bag_sizes(rows.labels, rows.weights)
    n_pos = bags.repeats_pos * int(np.count_nonzero(rows.counted(1)))
    all_trees = GrowthTask(options, rows.prior, bags, seed, n_before, options.n_trees)

    clusters = [None] * len(rows.sizes) if rows.clusters is None else tasks.scatter(rows.by_part(rows.clusters))
    out_of_bag, trees_of_tasks, is_stopped = _out_of_bag_before(rows, init_model), [], False
    for growth_tasks in _waves(rows, all_trees, n_pos):
        drawn = [_draw(rows, task, n_threads) for task in growth_tasks]
        far = tasks.scatter(drawn)
        grown = [
            tasks.submit(_grow, _gathered(tasks, first_row, drawn_bags), far_bags, n_pos, task, n_threads)
            for task, drawn_bags, far_bags in zip(growth_tasks, drawn, far, strict=True)
        ]
        wait_for(tasks.client, grown, "growing trees")
        kept = []
        for task, trees in zip(growth_tasks, gather(tasks.client, grown, "growing trees"), strict=True):
            n_kept, is_stopped = (0, True) if is_stopped else _called(on_tree, trees, task.first_tree)
            kept.append(n_kept)
            trees_of_tasks.append(trees.first(n_kept))
        out_of_bag = [
            tasks.submit(_score_left_out, part, own, sums, grown, far, kept, int(first), n_threads)
            for part, own, sums, first in zip(tasks.parts, clusters, out_of_bag, first_row, strict=True)
        ]
        if is_stopped:
            break
    sums = results_of(tasks.client, out_of_bag, "scoring out of bag")
    return _joined(trees_of_tasks, sums, first_set, "callback" if is_stopped else "n_trees")


def _out_of_bag_before(rows: ForestRowsOnWorkers, init_model: TreeEnsemble | None) -> list[Any]:
    """Return for each partition the out-of-bag sums of `init_model`, as futures, or None."""
    if init_model is None or init_model.oob_sum is None or init_model.oob_count is None:
        return [None] * len(rows.sizes)
    of_parts = zip(rows.by_part(init_model.oob_sum), rows.by_part(init_model.oob_count), strict=True)
    return rows.tasks.scatter(list(of_parts))


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


def _draw(rows: ForestRowsOnWorkers, task: GrowthTask, n_threads: int) -> Bags:
    """Return the bags of some trees."""
    of_pos, of_unl = (np.flatnonzero(rows.counted(label)) for label in (1, 0))
    drawn_from = np.concatenate([of_pos, of_unl])
    clusters = rows.clusters
    drawn, start = _core.draw_forest_bags(
        n_pos=of_pos.size,
        n_unl=of_unl.size,
        sample_weight=None if rows.weights is None else rows.weights[drawn_from],
        clusters=None if clusters is None else clusters[drawn_from],
        n_clusters=0 if clusters is None else int(clusters.max()) + 1,
        options=task.core_options(rows.features),
        n_threads=n_threads,
    )
    numbers = drawn_from[drawn]
    return Bags(numbers, start, None if clusters is None else clusters[numbers])


def _gathered(tasks: Tasks, first_row: NDArray[np.int64], bags: Bags) -> list[Any]:
    """Return the futures of the rows in some bags, in their order, each once."""
    rows = np.unique(bags.rows)
    by_part = np.split(rows, np.searchsorted(rows, first_row[1:]))
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
