"""Out-of-bag sums of a forest on Dask: tasks add the values of trees for the rows that their bags leave out."""

from __future__ import annotations

import contextlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.dask._client import WorkerLostError, results_of
from fastpu.dask._forest_bags import GrowthTask, SomeTrees, TreeBags, Wave, draw_bags
from fastpu.dask._forest_rows import ForestRowsOnWorkers
from fastpu.dask._worker_rows import WorkerRows
from fastpu.tree.tree_ensemble import TreeEnsemble

#: Sums of out-of-bag values, and their numbers, for each row of a partition.
OutOfBag: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32]]


# ---- On a worker ----


def _score_left_out(
    part: WorkerRows, clusters: NDArray[np.int32] | None, earlier: OutOfBag | None, grown: list[SomeTrees],
    bags: list[TreeBags], kept: list[int], first_row: int, n_threads: int,
) -> OutOfBag:  # fmt: skip
    """Add the values of trees for the rows of a partition that their bags leave out, tree after tree."""
    n_rows = part.labels.size
    sums, counts = (np.zeros(n_rows), np.zeros(n_rows, np.int32)) if earlier is None else (a.copy() for a in earlier)
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


class OutOfBagSums:
    """The out-of-bag sums of the trees so far: for each partition a task, which adds to those of the trees before.

    A worker that is lost may have had some of them that Dask cannot compute again. Then all are computed anew.
    """

    def __init__(self, rows: ForestRowsOnWorkers, init_model: TreeEnsemble | None, n_threads: int) -> None:
        self._rows, self._init_model, self._n_threads = rows, init_model, n_threads
        self._added: list[tuple[list[GrowthTask], list[SomeTrees]]] = []
        self._clusters: list[Any] = []
        self._far: list[Any] | None = None  # None where they have to be computed anew
        with contextlib.suppress(WorkerLostError):
            self._begin()

    def add(self, growth_tasks: list[GrowthTask], kept: list[SomeTrees], wave: Wave) -> None:
        """Add the trees of a wave that are kept."""
        self._added.append((growth_tasks, kept))
        if self._far is not None:
            self._submit([trees.n_trees for trees in kept], wave.far_trees, wave.far_bags)

    def sums(self) -> list[OutOfBag]:
        """Return the sums of each partition, or raise WorkerLostError: the next call computes them anew."""
        rows = self._rows
        if self._far is None:
            self._begin()
            for growth_tasks, kept in self._added:
                far_trees = rows.tasks.scatter(kept)
                far_bags = rows.tasks.scatter([draw_bags(rows, task, self._n_threads) for task in growth_tasks])
                self._submit([trees.n_trees for trees in kept], far_trees, far_bags)
        far, self._far = self._far, None
        return results_of(rows.tasks.client, far or [], "scoring out of bag")

    def _begin(self) -> None:
        rows = self._rows
        self._clusters = [None] * len(rows.sizes)
        if rows.clusters is not None:
            self._clusters = rows.tasks.scatter(rows.by_part(rows.clusters))
        self._far = _out_of_bag_before(rows, self._init_model)

    def _submit(self, kept: list[int], far_trees: list[Any], far_bags: list[Any]) -> None:
        tasks = self._rows.tasks
        self._far = [
            tasks.submit(_score_left_out, part, own, sums, far_trees, far_bags, kept, int(first), self._n_threads)
            for part, own, sums, first in zip(
                tasks.parts, self._clusters, self._far or [], self._rows.first_row, strict=True
            )
        ]


def _out_of_bag_before(rows: ForestRowsOnWorkers, init_model: TreeEnsemble | None) -> list[Any]:
    """Return for each partition the out-of-bag sums of `init_model`, as futures, or None."""
    if init_model is None or init_model.oob_sum is None or init_model.oob_count is None:
        return [None] * len(rows.sizes)
    of_parts = zip(rows.by_part(init_model.oob_sum), rows.by_part(init_model.oob_count), strict=True)
    return rows.tasks.scatter(list(of_parts))
