"""The trees of a model in three arrays, and how new trees are put behind those of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastpu.tree.tree_ensemble import TreeEnsemble, packed


class GrownTrees(Protocol):
    """Trees as the core returns them."""

    @property
    def nodes(self) -> NDArray[Any]: ...
    @property
    def tree_start(self) -> NDArray[np.int64]: ...
    @property
    def category_sets(self) -> NDArray[np.uint64]: ...


@dataclass(frozen=True)
class TreeArrays:
    """Trees in the arrays of `TreeEnsemble`."""

    packed_nodes: NDArray[np.uint64]
    tree_starts: NDArray[np.int64]
    category_sets: NDArray[np.uint64]

    @property
    def n_trees(self) -> int:
        return self.tree_starts.size - 1

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        leaves: NDArray[np.int64] = (np.diff(self.tree_starts) + 1) // 2
        return leaves


def tree_arrays(init_model: TreeEnsemble | None, grown: GrownTrees, n_bags: int = 1) -> TreeArrays:
    """Return the trees of the model that the fit went on from, if any, and the new ones.

    There are `n_bags` bags, with equally many trees in each. The new trees of a bag come right after its old ones.
    """
    nodes, starts = packed(grown.nodes), grown.tree_start
    if init_model is None:
        return TreeArrays(nodes, starts, grown.category_sets)
    pieces, sizes = [], []
    for bag in range(n_bags):
        for from_nodes, from_starts in ((init_model.packed_nodes, init_model.tree_starts), (nodes, starts)):
            n_each = (from_starts.size - 1) // n_bags
            own = from_starts[bag * n_each : (bag + 1) * n_each + 1]
            pieces.append(from_nodes[own[0] : own[-1]])
            sizes.append(np.diff(own))
    return TreeArrays(
        np.concatenate(pieces),
        np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
        np.concatenate([init_model.category_sets, grown.category_sets]),
    )
