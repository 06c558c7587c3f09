"""A forest on Dask: bags are drawn by the numbers of the rows, gathered, and trees grown on what was gathered.

All of it is done by tasks on binned partitions, which go where Dask finds room; no task knows of another but by what it
returns, so Dask repeats those of a worker that is lost. For each few trees one task draws the bags, one for each
partition takes their rows from it, one grows the trees, and one for each partition scores the rows that the bags leave
out. The tasks pass rows and trees to each other; the driver sees the trees alone.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import _core
from fastpu.dask._workers import results_of, wait_for
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import stacked_bins
from fastpu.forest._arguments import counted_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self  # in typing from Python 3.11

    from fastpu.dask._binning import BinnedPart
    from fastpu.dask._client import Client
    from fastpu.data.binned_features import BinnedFeatures
    from fastpu.tree.tree_ensemble import TreeEnsemble

    OutOfBag = tuple[NDArray[np.float64], NDArray[np.int32]]

__all__ = ["Forest", "GroupsOfPart", "Plan", "Tasks", "grow_on_parts", "labels_of", "score"]

_GATHERED_BYTES = 1 << 27  # of the unlabelled rows that one task gathers, about


@dataclass(frozen=True)
class Plan:
    """What all tasks of a forest are told.

    Attributes
    ----------
    n_pos, n_unl : int
        Rows of the groups with positive weight, in all partitions.
    seed : int
    first_tree : int
        The number of the first tree of this fit in the forest.
    n_trees : int
    bags, trees : dict
        What the core is told of bags and of trees.
    n_threads : int
        Threads of a task.
    """

    n_pos: int
    n_unl: int
    seed: int
    first_tree: int
    n_trees: int
    bags: dict[str, Any]
    trees: dict[str, Any]
    n_threads: int


@dataclass(frozen=True)
class GroupsOfPart:
    """Which of the positive and unlabelled rows of positive weight, numbered over all partitions, lie in one."""

    first_pos: int
    n_pos: int
    first_unl: int
    n_unl: int


@dataclass(frozen=True)
class _Trees:
    """Some trees, one after the other, as `_core.ForestResult` has them."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]

    def first(self, n: int) -> _Trees:
        """Return the first n of them."""
        nodes = self.nodes[: self.tree_start[n]]
        n_sets = int(nodes["threshold"][_by_categories(nodes)].max(initial=-1)) + 1
        return _Trees(nodes, self.tree_start[: n + 1], self.category_sets[:n_sets])


def _by_categories(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which nodes split by a set of categories, whose number is their threshold."""
    is_split_so: NDArray[np.bool_] = (nodes["left"] > 0) & (nodes["split"] & 2 > 0)
    return is_split_so


@dataclass(frozen=True)
class Forest:
    """All trees and out-of-bag sums, as `_core.ForestResult` has them."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    oob_sum: NDArray[np.float64]
    oob_count: NDArray[np.int32]
    status: str


# ---- What is done on a worker ----


def labels_of(part: BinnedPart) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    """Return the labels and weights of a partition."""
    return part.labels, part.weights


def score(part: BinnedPart, model: TreeEnsemble) -> NDArray[np.float64]:
    """Return the scores of a partition."""
    return np.empty(0) if part.features is None else model.decision_function(part.features, n_threads=1)


def _rows_of(part: BinnedPart, label: int) -> NDArray[np.int64]:
    return np.flatnonzero(counted_rows(label, part.labels, part.weights))


def _taken(part: BinnedPart, rows: NDArray[np.int64]) -> BinnedFeatures | None:
    return part.features[rows] if part.features is not None and rows.size else None


def _take_positives(part: BinnedPart) -> BinnedFeatures | None:
    return _taken(part, _rows_of(part, 1))


def _stack(parts: list[BinnedFeatures | None]) -> BinnedFeatures:
    return stacked_bins([part for part in parts if part is not None], n_threads=1)


def _draw(plan: Plan, first: int, n_trees: int, weights: list[NDArray[np.float64]] | None) -> NDArray[np.uint32]:
    of_pos, of_unl = weights or (None, None)
    return _core.draw_forest_bags(
        n_pos=plan.n_pos,
        n_unl=plan.n_unl,
        weight_pos=of_pos,
        weight_unl=of_unl,
        seed=plan.seed,
        first_tree=plan.first_tree + first,
        n_trees=n_trees,
        n_threads=plan.n_threads,
        **plan.bags,
    )


def _within(numbers: NDArray[np.uint32], first: int, n: int) -> NDArray[np.int64]:
    """Return the different numbers from `first` to below `first + n`, counted from `first`."""
    return np.unique(numbers[(numbers >= first) & (numbers < first + n)]).astype(np.int64) - first


def _take_unlabelled(part: BinnedPart, bags: NDArray[np.uint32], plan: Plan, own: GroupsOfPart) -> Any:
    return _taken(part, _rows_of(part, 0)[_within(bags[:, plan.n_pos :], own.first_unl, own.n_unl)])


def _grow(
    positives: BinnedFeatures, unlabelled: list[BinnedFeatures | None], bags: NDArray[np.uint32], plan: Plan, first: int
) -> _Trees:
    rows = _stack([positives, *unlabelled])
    n_pos = plan.n_pos
    places = bags.copy()
    places[:, n_pos:] = n_pos + np.unique(bags[:, n_pos:], return_inverse=True)[1].reshape(bags.shape[0], -1)
    found = _core.grow_on_bags(
        rows._native,
        places,
        n_pos=n_pos,
        categorical=category_flags(rows.categories, rows.n_features),
        first_tree=plan.first_tree + first,
        seed=plan.seed,
        n_threads=plan.n_threads,
        **plan.trees,
    )
    return _Trees(found.nodes.copy(), found.tree_start, found.category_sets)


def _score_left_out(
    part: BinnedPart,
    before: OutOfBag | None,
    grown: list[_Trees],
    bags: list[NDArray[np.uint32]],
    kept: list[int],
    plan: Plan,
    own: GroupsOfPart,
) -> OutOfBag:
    """Add the values of trees for the rows of a partition that their bags leave out, tree after tree."""
    n_rows = part.labels.size
    sums, counts = (np.zeros(n_rows), np.zeros(n_rows, np.int32)) if before is None else (a.copy() for a in before)
    if part.features is None:
        return sums, counts
    of_pos, of_unl = _rows_of(part, 1), _rows_of(part, 0)
    for trees, drawn, n_kept in zip(grown, bags, kept, strict=True):
        for t in range(n_kept):
            start, stop = trees.tree_start[t : t + 2]
            values = _core.tree_scores(
                part.features._native,
                trees.nodes[start:stop],
                np.array([0, stop - start]),
                trees.category_sets,
                n_features=part.features.n_features,
                n_threads=plan.n_threads,
            )
            in_bag = np.concatenate(
                [
                    of_pos[_within(drawn[t, : plan.n_pos], own.first_pos, own.n_pos)],
                    of_unl[_within(drawn[t, plan.n_pos :], own.first_unl, own.n_unl)],
                ]
            )
            values[in_bag] = 0.0
            sums += values
            counts += 1
            counts[in_bag] -= 1
    return sums, counts


# ---- What the driver does ----


class Tasks:
    """Starts tasks, and lets go of all that are left when it is closed: whatever happens, nothing stays on a worker."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._left: weakref.WeakSet[Any] = weakref.WeakSet()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task."""
        future = self.client.submit(function, *arguments, pure=False)
        self._left.add(future)
        return future

    def scatter(self, values: list[Any]) -> list[Any]:
        """Return the futures of data that are sent to workers."""
        futures = list(self.client.scatter(values, hash=False))
        self._left.update(futures)
        return futures

    def adopt(self, futures: Sequence[Any]) -> None:
        """Let go of these, too."""
        self._left.update(futures)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for future in list(self._left):
            future.release()


def grow_on_parts(
    tasks: Tasks,
    parts: Sequence[Any],
    owns: Sequence[GroupsOfPart],
    plan: Plan,
    *,
    n_features: int,
    weights: Any,
    before: Sequence[Any],
    first_set: int,
    on_tree: Callable[[int, int, int], bool] | None,
) -> Forest:
    """Grow a forest on binned partitions.

    Parameters
    ----------
    parts : sequence of Future of BinnedPart
    owns : sequence of GroupsOfPart
        Of each partition.
    weights : list of two futures, or None
        Of the weights of the positive and of the unlabelled rows, all positive.
    before : sequence
        For each partition the out-of-bag sums of earlier trees, as a future or None.
    first_set : int
        The number of sets of categories that earlier trees have.
    on_tree : callable, optional
        Called with the number of each tree, its leaves and its depth; True stops.
    """
    positives = tasks.submit(_stack, [tasks.submit(_take_positives, part) for part in parts])
    out_of_bag, found, is_stopped = list(before), [], False
    for batches in _waves(tasks.client, plan, n_features):
        bags = [tasks.submit(_draw, plan, first, n, weights) for first, n in batches]
        grown = [
            tasks.submit(
                _grow,
                positives,
                [
                    tasks.submit(_take_unlabelled, part, drawn, plan, own)
                    for part, own in zip(parts, owns, strict=True)
                    if own.n_unl
                ],
                drawn,
                plan,
                first,
            )
            for (first, _), drawn in zip(batches, bags, strict=True)
        ]
        wait_for(tasks.client, grown, "growing trees")
        kept = []
        for (first, n), trees in zip(batches, tasks.client.gather(grown), strict=True):
            n_kept, is_stopped = (0, True) if is_stopped else _called(on_tree, trees, plan.first_tree + first, n)
            kept.append(n_kept)
            found.append(trees.first(n_kept))
        out_of_bag = [
            tasks.submit(_score_left_out, part, sums, grown, bags, kept, plan, own)
            for part, sums, own in zip(parts, out_of_bag, owns, strict=True)
        ]
        if is_stopped:
            break
    sums = results_of(tasks.client, out_of_bag, "scoring out of bag")
    return _joined(found, sums, first_set, "callback" if is_stopped else "n_trees")


def _waves(client: Client, plan: Plan, n_features: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the first tree and the number of trees of some tasks, as many as the workers have threads, time by time."""
    slots = max(1, sum(client.nthreads().values()))
    of_bag = min(plan.n_unl, plan.bags["bag_unl"])
    most = max(1, _GATHERED_BYTES // (2 * of_bag * n_features))
    size = max(1, min(most, -(-plan.n_trees // slots)))
    for wave in range(0, plan.n_trees, slots * size):
        end = min(plan.n_trees, wave + slots * size)
        yield [(first, min(size, end - first)) for first in range(wave, end, size)]


def _called(
    on_tree: Callable[[int, int, int], bool] | None, trees: _Trees, first: int, n_trees: int
) -> tuple[int, bool]:
    """Call for tree after tree; return how many are kept, and whether that was all."""
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


def _joined(found: Sequence[_Trees], out_of_bag: Sequence[OutOfBag], first_set: int, status: str) -> Forest:
    """Put the trees one after the other, and the out-of-bag sums of the partitions."""
    nodes, starts, n_sets = [], [np.zeros(1, dtype=np.int64)], first_set
    for trees in found:
        own = trees.nodes.copy()
        own["threshold"][_by_categories(own)] += n_sets
        nodes.append(own)
        starts.append(starts[-1][-1] + trees.tree_start[1:])
        n_sets += len(trees.category_sets)
    return Forest(
        np.concatenate(nodes),
        np.concatenate(starts),
        np.concatenate([trees.category_sets for trees in found]),
        np.concatenate([sums for sums, _ in out_of_bag]),
        np.concatenate([counts for _, counts in out_of_bag]),
        status,
    )
