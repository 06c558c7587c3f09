"""The bags that some trees of a forest on Dask are grown on, and these trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._bags import BagSizes
from fastpu.dask._forest_rows import ForestRowsOnWorkers
from fastpu.data.binned_features import BinnedFeatures
from fastpu.forest._forest_options import ForestOptions
from fastpu.tree.tree_ensemble import splits_by_categories


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
class TreeBags:
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


@dataclass(frozen=True)
class Wave:
    """What some tasks have grown, which the driver has, and the futures of it and of the bags it was grown on."""

    trees: list[SomeTrees]
    far_trees: list[Any]
    far_bags: list[Any]


def draw_bags(rows: ForestRowsOnWorkers, task: GrowthTask, n_threads: int) -> TreeBags:
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
    return TreeBags(numbers, start, None if clusters is None else clusters[numbers])
