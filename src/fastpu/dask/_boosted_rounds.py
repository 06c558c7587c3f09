"""The rounds of boosted trees that the members of a fit have made so far, and how each member makes the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._boosted_trees_model import BoostedRounds
from fastpu.boosting._boosted_trees_options import NO_BAGS, BoostedTreesOptions
from fastpu.boosting._boosted_trees_rounds import OnRound
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.dask._members import Exchange
from fastpu.dask._worker_rows import WorkerRows
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures
from fastpu.tree._tree_arrays import tree_arrays
from fastpu.tree.tree_ensemble import TreeEnsemble, splits_by_categories

_MOST_DRAWN = 2**32 - 1  # rows that can be numbered, for drawing some of them


def _no_numbers() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass
class RoundsSoFar:
    """All trees so far, in the arrays of the core, and what their rounds recorded.

    The first `n_first` trees are those of `init_model`. `risk` has a value for every tree, `eval_auc` for every tree of
    the fit.
    """

    nodes: NDArray[Any] = field(default_factory=_no_numbers)
    tree_start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    category_sets: NDArray[np.uint64] = field(default_factory=lambda: np.empty((0, 4), np.uint64))
    tree_risk: NDArray[np.float64] = field(default_factory=_no_numbers)
    risk: NDArray[np.float64] = field(default_factory=_no_numbers)
    eval_auc: NDArray[np.float64] = field(default_factory=_no_numbers)
    n_first: int = 0
    status: str = "n_rounds"

    @classmethod
    def of_model(cls, model: TreeEnsemble) -> RoundsSoFar:
        """Return the rounds of a model, from which a fit goes on."""
        return cls(
            nodes=model._nodes,
            tree_start=model.tree_starts,
            category_sets=model.category_sets,
            tree_risk=model.objective,
            risk=model.history["risk"],
            n_first=model.n_trees,
        )

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    @property
    def trees(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None:
        """The trees from which the core goes on, or None."""
        return (self.nodes, self.tree_start, self.category_sets) if self.n_trees else None

    def is_open(self, n_rounds: int) -> bool:
        """Return whether rounds are to be made until there are `n_rounds`."""
        return self.status == "n_rounds" and self.n_trees < n_rounds

    def add(self, grown: _core.BoostedTreesResult) -> None:
        self.nodes = np.concatenate([self.nodes, grown.nodes]) if self.n_trees else grown.nodes
        self.tree_start = np.concatenate([self.tree_start, self.tree_start[-1] + grown.tree_start[1:]])
        self.category_sets = np.concatenate([self.category_sets, grown.category_sets])
        self.tree_risk = np.concatenate([self.tree_risk, grown.tree_risk])
        self.risk = np.concatenate([self.risk, grown.risk])
        self.eval_auc = np.concatenate([self.eval_auc, grown.eval_auc])
        self.status = grown.status

    def kept(self, patience: int) -> BoostedRounds:
        """Return the rounds of the model: with early stopping those up to the best AUC, else all."""
        best_round = self.n_trees - self.n_first
        if patience and self.eval_auc.size:
            stopping = _core.EarlyStopping(patience)
            for value in self.eval_auc.tolist():
                stopping.add(value)
            best_round = stopping.best_round
        n_kept = self.n_first + best_round
        tree_start = self.tree_start[: n_kept + 1]
        nodes = self.nodes[: tree_start[-1]]
        n_sets = np.count_nonzero(splits_by_categories(nodes))
        trees = RoundsSoFar(nodes, tree_start, self.category_sets[:n_sets])
        return BoostedRounds(
            tree_arrays(None, trees),
            self.tree_risk[:n_kept],
            self.risk[:n_kept],
            self.eval_auc,
            oob_sum=None,
            oob_count=None,
            n_bags=1,
            best_round=best_round,
            status=self.status,
        )


@dataclass(frozen=True)
class MemberRounds:
    """What every member of a fit has to know to make the rounds until there are `n_rounds`.

    `first_unlabelled` has for every partition the number of its first unlabelled row among all of them, and at the end
    how many there are in all. `prior` is the one among the unlabelled rows.
    """

    options: BoostedTreesOptions
    prior: float
    seed: int
    so_far: RoundsSoFar
    first_unlabelled: NDArray[np.int64]
    n_rounds: int
    n_at_once: int

    def __call__(self, rows: WorkerRows, exchange: Exchange, n_threads: int, /) -> None:
        """Make the rounds on a worker, on its own rows."""
        numbers = None
        if self.options.subsample_unl < 1:
            ranges = [np.arange(*self.first_unlabelled[k : k + 2]) for k in rows.partitions]
            numbers = np.concatenate(ranges).astype(np.uint32)
        so_far = deepcopy(self.so_far)  # in a message of Dask arrays begin at any byte, but kernels need them aligned
        features = rows.binned()
        member = self.member(features, so_far, exchange, n_threads, rows=rows, numbers=numbers)
        while so_far.is_open(self.n_rounds):
            so_far.add(self.next_rounds(member, so_far, features.n_features, n_threads))

    def member(
        self,
        features: BinnedFeatures,
        so_far: RoundsSoFar,
        exchange: Exchange,
        n_threads: int,
        *,
        rows: WorkerRows | None = None,
        numbers: NDArray[np.uint32] | None = None,
    ) -> _core.MemberRows:
        """Return the rows of all members as this one sees them; the driver is a member without `rows`.

        `numbers` are those of its unlabelled rows among all of them, where rows are drawn.
        """
        return _core.MemberRows(
            features._native,
            None if rows is None else rows.labels,
            None if rows is None else rows.weights,
            category_flags(features.categories, features.n_features),
            _core.BoostedTreesOptions(loss=self.options.loss, gamma=self.options.gamma, prior=self.prior),
            init=so_far.trees,
            n_unlabelled=int(self.first_unlabelled[-1]),
            numbers=numbers,
            exchange=exchange,
            n_threads=n_threads,
        )

    def next_rounds(
        self,
        member: _core.MemberRows,
        so_far: RoundsSoFar,
        n_features: int,
        n_threads: int,
        *,
        eval_rows: LabelledRows | None = None,
        on_round: OnRound | None = None,
    ) -> _core.BoostedTreesResult:
        """Make `n_at_once` further rounds, or those that are left."""
        core_options = self.options.for_core(
            prior=self.prior,
            bags=NO_BAGS,
            n_features=n_features,
            seed=self.seed,
            n_rounds=min(self.n_rounds - so_far.n_trees, self.n_at_once),
        )
        return _core.boost_member_trees(
            member,
            core_options,
            init=so_far.trees,
            eval_set=None if eval_rows is None else (eval_rows.features, eval_rows.labels, eval_rows.weights),
            callback=on_round,
            n_threads=n_threads,
        )


def first_unlabelled(options: BoostedTreesOptions, n_unlabelled: Sequence[int]) -> NDArray[np.int64]:
    """Return for every partition the number of its first unlabelled row, and at the end how many there are in all."""
    if options.subsample_unl < 1 and sum(n_unlabelled) > _MOST_DRAWN:
        raise ValueError(
            f"subsample_unl must be 1 for more than {_MOST_DRAWN} unlabelled rows, got {sum(n_unlabelled)} of them"
        )
    return np.concatenate([[0], np.cumsum(n_unlabelled)]).astype(np.int64)
