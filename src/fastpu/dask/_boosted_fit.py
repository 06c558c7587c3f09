"""A fit of boosted trees on Dask: its rounds, the workers that it loses, and its checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from copy import copy, deepcopy
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._boosted_trees import FUNCTION, BoostedTreesRound, BoostingRun, make_model
from fastpu.boosting._folds import LabelledRows
from fastpu.common._warn import warn
from fastpu.dask._binning import FitData
from fastpu.dask._client import WorkerLostError
from fastpu.dask._members import Holding, Members, SpreadRows
from fastpu.data._categories import category_flags
from fastpu.data._matrix import columns_of
from fastpu.model._load import load
from fastpu.tree._fit import Start, fingerprint_of_parts, joined
from fastpu.tree.tree_ensemble import TreeEnsemble, splits_by_categories

Exchange: TypeAlias = Callable[[str, bytes], bytes]

_ROUNDS_BETWEEN_CHECKPOINTS = 10
_MOST_LOSSES = 3  # without a round saved in between: short of memory, workers would be lost and replaced for ever
_MOST_DRAWN = 2**32 - 1  # rows that can be numbered, for drawing some of them


@dataclass
class _Trees:
    """The trees so far, in the arrays of the core, and what their rounds recorded.

    The first `n_first` trees are those of `init_model`. `risk` has a value for every tree, `eval_auc` for those of the
    fit.
    """

    nodes: NDArray[Any]
    tree_start: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    tree_risk: NDArray[np.float64]
    risk: NDArray[np.float64]
    eval_auc: NDArray[np.float64]
    n_first: int
    status: str = "n_rounds"
    n_bags: int = 1
    best_round: int = 0  # how many rounds of the fit are kept

    @classmethod
    def of(cls, model: TreeEnsemble | None) -> _Trees:
        none = np.empty(0)
        if model is None:
            return cls(none, np.zeros(1, np.int64), np.empty((0, 4), np.uint64), none, none, none, 0)
        arrays = model._nodes, model.tree_starts, model.category_sets, model.objective, model.history["risk"]
        return cls(*arrays, none, model.n_trees)

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None:
        """The trees from which the core goes on, or None."""
        return (self.nodes, self.tree_start, self.category_sets) if self.n_trees else None

    def add(self, grown: _core.BoostedTreesResult) -> None:
        self.nodes = np.concatenate([self.nodes, grown.nodes]) if self.n_trees else grown.nodes
        self.tree_start = np.concatenate([self.tree_start, self.tree_start[-1] + grown.tree_start[1:]])
        for name in ("category_sets", "tree_risk", "risk", "eval_auc"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(grown, name)]))

    def keep(self, patience: int) -> None:
        """Drop the trees after the round with the best AUC, where the fit stops early."""
        n_made = self.n_trees - self.n_first
        self.best_round = int(np.argmax(self.eval_auc)) + 1 if patience and self.eval_auc.size else n_made
        n_kept = self.n_first + self.best_round
        self.tree_start = self.tree_start[: n_kept + 1]
        self.tree_risk, self.risk = self.tree_risk[:n_kept], self.risk[:n_kept]
        self.nodes = self.nodes[: self.tree_start[-1]]
        self.category_sets = self.category_sets[: np.count_nonzero(splits_by_categories(self.nodes))]


@dataclass(frozen=True)
class _Rounds:
    """The rounds that every member makes from the trees so far.

    `unlabeled` has for every partition the number of its first unlabelled row among all of them, and at the end how
    many there are in all.
    """

    training: BoostingRun
    trees: _Trees
    unlabeled: NDArray[np.int64]
    n_rounds: int
    n_at_once: int

    def of_member(self, holding: Holding, exchange: Exchange, n_threads: int) -> None:
        numbers = None
        if self.training.settings.subsample_unl < 1:
            ranges = [np.arange(*self.unlabeled[k : k + 2]) for k in holding.partitions]
            numbers = np.concatenate(ranges).astype(np.uint32)
        trees = deepcopy(self.trees)  # in a message of Dask arrays begin at any byte, but kernels need them aligned
        own = replace(self, training=replace(self.training, n_threads=n_threads), trees=trees)
        own.make(holding, numbers, exchange)

    def make(
        self,
        rows: Holding,
        numbers: NDArray[np.uint32] | None,
        exchange: Exchange,
        *,
        judged: LabelledRows | None = None,
        callback: Any = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        """Make the rounds, as a member with these rows; `after` is called after every few."""
        trees, training, form = self.trees, self.training, rows.features
        settings = training.settings
        member = _core.MemberRows(
            form._native,
            rows.labels,
            rows.weights,
            category_flags(form.categories, form.n_features),
            _core.BoostedTreesOptions(loss=settings.loss, gamma=settings.gamma, prior=training.prior),
            init=trees.arrays,
            n_unlabelled=int(self.unlabeled[-1]),
            numbers=numbers,
            exchange=exchange,
            n_threads=training.n_threads,
        )
        while trees.status == "n_rounds" and trees.n_trees < self.n_rounds:
            n = min(self.n_rounds - trees.n_trees, self.n_at_once)
            grown = training.run_member(member, form.n_features, n, judged, init=trees.arrays, callback=callback)
            trees.add(grown)
            trees.status = grown.status
            if after is not None:
                after()


class BoostedFit:
    """One fit of `n_rounds` rounds in all: its rows, the trees so far, and the `path` of its checkpoint, if any."""

    def __init__(self, data: FitData, training: BoostingRun, start: Start, n_rounds: int, path: str | None) -> None:
        self._data, self._training, self._start, self._n_rounds, self._path = data, training, start, n_rounds, path
        self._trees = _Trees.of(start.before)
        self._known_by: NDArray[np.uint64] | None = None  # of the rows, or of those of the checkpoint
        n_unlabeled = [groups[1] for groups in data.census.groups]
        self._unlabeled = np.concatenate([[0], np.cumsum(n_unlabeled)]).astype(np.int64)
        if training.settings.subsample_unl < 1 and sum(n_unlabeled) > _MOST_DRAWN:
            raise ValueError(
                f"subsample_unl must be 1 for more than {_MOST_DRAWN} unlabelled rows, got {sum(n_unlabeled)} of them"
            )

    def run(self, report: Callable[[Any], bool] | None, params: dict[str, Any]) -> TreeEnsemble:
        """Make all rounds and the model; with a checkpoint, go on from it where workers are lost."""
        n_losses = 0
        while True:
            n_made = self._trees.n_trees
            try:
                with closing(self._data.hold()) as rows:
                    self._make_rounds(rows, report)
                    return self._model(rows, params)
            except WorkerLostError as error:
                n_losses = n_losses + 1 if self._trees.n_trees == n_made else 0
                if self._path is None or n_losses > _MOST_LOSSES or (n_losses and not self._data.client.nthreads()):
                    raise
                warn(f"{error}; the fit goes on from round {self._trees.n_trees} with the workers left", RuntimeWarning)

    def _make_rounds(self, rows: SpreadRows, report: Callable[[Any], bool] | None) -> None:
        trees, data, n_rounds = self._trees, self._data, self._n_rounds
        self._check_rows(rows)
        if trees.status != "n_rounds" or trees.n_trees >= n_rounds:
            return
        n_at_once = n_rounds if self._path is None else _ROUNDS_BETWEEN_CHECKPOINTS
        rounds = _Rounds(self._training, trees, self._unlabeled, n_rounds, n_at_once)
        stopping, ending = _core.EarlyStopping(data.patience), []
        for value in trees.eval_auc.tolist():
            stopping.add(value)

        def on_round(_: int, round_: int, n_leaves: int, depth: int, risk: float, auc: float) -> bool:
            rows.where = f"after round {round_}"
            eval_auc = None if data.held is None else auc
            if eval_auc is not None:
                stopping.add(eval_auc)
                if stopping.is_over:
                    ending.append("early_stopping")
            info = BoostedTreesRound(round_, n_rounds, 1, 1, n_leaves, depth, risk, eval_auc)
            if report is not None and report(info):
                ending.append("callback")
            return bool(ending)

        def after() -> None:
            trees.status = ending[-1] if ending else trees.status
            if self._path is not None:
                self._save(self._path)

        with closing(Members(rows, rounds.of_member)) as members:
            own = Holding(data.form)
            rounds.make(own, None, members.exchange, judged=data.held, callback=on_round, after=after)

    def _check_rows(self, rows: SpreadRows) -> None:
        """Raise ValueError unless the rows are those of `init_model` and of the checkpoint."""
        hashes = rows.ask(attrgetter("fingerprint"), [()] * len(rows.holdings), "reading X")
        found = fingerprint_of_parts(hashes, self._data.form._native)
        self._start.check_rows(found)
        if self._path is not None and self._known_by is not None and (self._known_by != found).any():
            raise _of_another_fit(self._path)
        self._known_by = found

    def _model(self, rows: SpreadRows, params: dict[str, Any]) -> TreeEnsemble:
        """Return the model, with the threshold from the scores on the workers."""
        trees = copy(self._trees)
        trees.keep(self._data.patience)
        return make_model(trees, self._data.form, rows.scored(), self._training, None, params, None, self._known_by)

    # -- the checkpoint, which is a model

    def _digest(self) -> str:
        """Return a hash of the settings, which with the fingerprint of the rows and their cuts identifies this fit."""
        training, data, like = self._training, self._data, self._data.census.like
        held = None if data.held is None else data.held.labels.tolist()
        named = like.feature_names, sorted(like.categories.items())
        known = asdict(training.settings), training.prior, self._trees.n_first, data.patience, held, named
        return hashlib.sha256(repr(known).encode()).hexdigest()

    def _save(self, path: str) -> None:
        trees, form = self._trees, self._data.form
        TreeEnsemble(
            **columns_of(form),
            threshold=0.0,
            n_iter=trees.n_trees,
            converged=False,
            status=trees.status,
            objective=trees.tree_risk,
            history={"risk": trees.risk, "eval_auc": trees.eval_auc},
            params={"method": FUNCTION, "checkpoint": self._digest()},
            **joined(None, trees),
            divisor=1,
            seed=self._training.seed,
            fingerprint=self._known_by,
        ).save(path)

    def resume(self, *, has_seed: bool) -> None:
        """Take the trees of the checkpoint, if there is one."""
        if self._path is None or not Path(self._path).exists():
            return
        saved: Any = load(self._path)
        is_own = saved.params.get("checkpoint") == self._digest() and saved.n_trees <= self._n_rounds
        if not is_own or (has_seed and saved.seed != self._training.seed):
            raise _of_another_fit(self._path)
        n_first = self._trees.n_first
        self._trees, self._known_by = _Trees.of(saved), saved.fingerprint
        self._trees.n_first, self._trees.eval_auc = n_first, saved.history["eval_auc"]
        self._trees.status = "n_rounds" if saved.status == "callback" else saved.status
        self._training = replace(self._training, seed=saved.seed)


def _of_another_fit(path: str) -> ValueError:
    return ValueError(
        f"checkpoint must name a new file, or that of a fit to the same rows with the same arguments, "
        f"got {path!r}, which is of another fit"
    )
