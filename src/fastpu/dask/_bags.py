"""A forest on Dask: bags are drawn by the numbers of the rows, gathered, and trees grown on what was gathered.

Everything is done by tasks on binned partitions, on whichever workers Dask chooses. A task depends on the results of
others alone, so Dask can repeat the tasks of a worker that is lost. For every few trees one task draws the bags, one
task for each partition takes the rows of the bags from it, one grows the trees, and one for each partition scores the
rows that the bags leave out. Rows and trees go from task to task; only the trees come to the driver.
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
from fastpu.tree._fit import counted_rows, fingerprint_of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from distributed import Client
    from numpy.typing import NDArray
    from typing_extensions import Self  # in typing from Python 3.11

    from fastpu.dask._binning import BinnedPart
    from fastpu.data.binned_features import BinnedFeatures
    from fastpu.tree.tree_ensemble import TreeEnsemble

    OutOfBag = tuple[NDArray[np.float64], NDArray[np.int32]]


_GATHERED_BYTES = 1 << 27  # about how many bytes of unlabelled rows one task gathers at most


@dataclass(frozen=True)
class Plan:
    """The settings of a forest, which all tasks get.

    Attributes
    ----------
    n_pos, n_unl : int
        Rows of the groups with positive weight, in all partitions.
    seed : int
    first_tree : int
        The number of the first tree of this fit in the forest.
    n_trees : int
    bags, trees : dict
        Arguments of `_core.draw_forest_bags` and of `_core.grow_on_bags`.
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
    """The positive and unlabelled rows of one partition, as ranges of the rows of these groups in all partitions.

    Rows of weight 0 do not count.
    """

    first_pos: int
    n_pos: int
    first_unl: int
    n_unl: int


@dataclass(frozen=True)
class _Trees:
    """Some trees, one after the other, in the arrays of `_core.ForestResult`."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]

    def first(self, n: int) -> _Trees:
        """Return the first n of them."""
        nodes = self.nodes[: self.tree_start[n]]
        n_sets = int(nodes["threshold"][splits_by_categories(nodes)].max(initial=-1)) + 1
        return _Trees(nodes, self.tree_start[: n + 1], self.category_sets[:n_sets])


def splits_by_categories(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which nodes split by a set of categories; the threshold of such a node is the number of its set."""
    by_categories: NDArray[np.bool_] = (nodes["left"] > 0) & (nodes["split"] & 2 > 0)
    return by_categories


@dataclass(frozen=True)
class Forest:
    """All trees and out-of-bag sums, in the arrays of `_core.ForestResult`."""

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    oob_sum: NDArray[np.float64]
    oob_count: NDArray[np.int32]
    status: str


# ---- On a worker ----


def labels_of(part: BinnedPart) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    """Return the labels and weights of a partition."""
    return part.labels, part.weights


def known_by(part: BinnedPart, first_row: int) -> NDArray[np.uint64]:
    """Return the fingerprint of a partition whose first row has this number among all rows."""
    if part.features is None:
        return np.zeros(3, dtype=np.uint64)
    return fingerprint_of_part(part.features, part.labels, part.weights, first_row=first_row, n_threads=1)


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
    # Dask leaves arrays in the message that they came in, where they begin at any byte; kernels need them aligned.
    of_pos, of_unl = (None, None) if weights is None else (np.require(part, requirements="A") for part in weights)
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
    """Return the distinct numbers in [first, first + n) minus `first`."""
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
    grown = _core.grow_on_bags(
        rows._native,
        places,
        n_pos=n_pos,
        categorical=category_flags(rows.categories, rows.n_features),
        first_tree=plan.first_tree + first,
        seed=plan.seed,
        n_threads=plan.n_threads,
        **plan.trees,
    )
    return _Trees(grown.nodes.copy(), grown.tree_start, grown.category_sets)


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
        nodes, category_sets = trees.nodes.copy(), trees.category_sets.copy()  # aligned, as in _draw
        for t in range(n_kept):
            start, stop = trees.tree_start[t : t + 2]
            values = _core.tree_scores(
                part.features._native,
                nodes[start:stop],
                np.array([0, stop - start]),
                category_sets,
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


# ---- The driver ----


class Tasks:
    """Starts tasks, and releases the results that are left when it is closed, so that nothing stays on the workers."""

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
        """Release these futures at the end, too."""
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
        Called with the number of each tree, how many leaves it has, and its depth; True stops.
    """
    positives = tasks.submit(_stack, [tasks.submit(_take_positives, part) for part in parts])
    out_of_bag, trees_of_tasks, is_stopped = list(before), [], False
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
            trees_of_tasks.append(trees.first(n_kept))
        out_of_bag = [
            tasks.submit(_score_left_out, part, sums, grown, bags, kept, plan, own)
            for part, sums, own in zip(parts, out_of_bag, owns, strict=True)
        ]
        if is_stopped:
            break
    sums = results_of(tasks.client, out_of_bag, "scoring out of bag")
    return _joined(trees_of_tasks, sums, first_set, "callback" if is_stopped else "n_trees")


def _waves(client: Client, plan: Plan, n_features: int) -> Iterator[list[tuple[int, int]]]:
    """Yield waves of tasks, one task for each thread of the workers: the first tree of each and its number of trees."""
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
    """Call `on_tree` for tree after tree; return how many trees are kept, and whether it stopped the fit."""
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


def _joined(trees_of_tasks: Sequence[_Trees], out_of_bag: Sequence[OutOfBag], first_set: int, status: str) -> Forest:
    """Join the trees of all tasks, and the out-of-bag sums of all partitions."""
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
