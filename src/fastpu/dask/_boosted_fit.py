"""A fit of boosted trees on Dask: its rounds, the workers that it loses, and its checkpoint."""

from __future__ import annotations

import dataclasses
from copy import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.boosting._boosted_trees import FUNCTION, BoostedTreesRound, Training, make_model, threshold_rule
from fastpu.dask._bags import splits_by_categories
from fastpu.dask._boosted_rows import known_by, place_rows
from fastpu.dask._scores import SharedScores
from fastpu.dask._shared_fit import SharedFit
from fastpu.tree._fit import check_same_rows, fingerprint_of_parts
from fastpu.tree.tree_ensemble import TreeEnsemble, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu import _core
    from fastpu.dask._shared_fit import FitData
    from fastpu.dask._workers import Workers


_ROUNDS_BETWEEN_CHECKPOINTS = 10


# ---- The trees so far ----


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
        if model is None:
            return cls(
                np.empty(0),
                np.zeros(1, dtype=np.int64),
                np.empty((0, 4), dtype=np.uint64),
                np.empty(0),
                np.empty(0),
                np.empty(0),
                0,
            )
        return cls(
            model._nodes,
            model.tree_starts,
            model.category_sets,
            model.objective,
            model.history["risk"],
            np.empty(0),
            model.n_trees,
        )

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None:
        """The trees from which the shards go on, or None."""
        return (self.nodes, self.tree_start, self.category_sets) if self.n_trees else None

    def as_model(self) -> Any:
        """Return the trees from which the core goes on, in the form of a model, or None."""
        if not self.n_trees:
            return None
        return SimpleNamespace(_nodes=self.nodes, tree_starts=self.tree_start, category_sets=self.category_sets)

    def add(self, grown: _core.BoostedTreesResult) -> None:
        if self.n_trees:
            self.nodes = np.concatenate([self.nodes, grown.nodes])
            self.tree_start = np.concatenate([self.tree_start, self.tree_start[-1] + grown.tree_start[1:]])
        else:
            self.nodes, self.tree_start = grown.nodes, grown.tree_start
        self.category_sets = np.concatenate([self.category_sets, grown.category_sets])
        self.tree_risk = np.concatenate([self.tree_risk, grown.tree_risk])
        self.risk = np.concatenate([self.risk, grown.risk])
        self.eval_auc = np.concatenate([self.eval_auc, grown.eval_auc])

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
class _Scored:
    """The scores of the rows on the workers, with the methods that `make_model` calls."""

    scores: SharedScores
    groups: Sequence[int]

    def threshold(self, model: TreeEnsemble) -> tuple[float, str]:
        n_pos, _, n_neg = self.groups
        sides = (1 if n_pos else 0, -1 if n_neg else 0)
        return self.scores.threshold(model, *sides), threshold_rule(sides, "scores of training rows")

    def span(self, model: TreeEnsemble) -> tuple[int, int, float, float]:
        return self.scores.span(model)


# ---- A fit ----


class BoostedFit(SharedFit):
    """One fit: its rows, and the trees so far."""

    def __init__(self, data: FitData, training: Training, before: TreeEnsemble | None) -> None:
        super().__init__(data)
        self._trees = _Trees.of(before)
        self._training = training
        self._before = before
        self._known_by: NDArray[np.uint64] | None = None  # of the rows, or of those of the checkpoint

    @property
    def n_made(self) -> int:
        """The trees that need not be grown again when a worker is lost."""
        return self._trees.n_trees

    # -- rounds

    def run(
        self, n_rounds: int, hook: Callable[[Any], bool] | None, path: str | None, params: dict[str, Any]
    ) -> TreeEnsemble:
        """Make all rounds up to `n_rounds` and the model; with a path, go on from its file where workers are lost."""

        def fit(workers: Workers) -> TreeEnsemble:
            self._make_rounds(workers, n_rounds, hook, path)
            return self._model(workers, params)

        return self._retried(fit, path)

    def _make_rounds(
        self, workers: Workers, n_rounds: int, hook: Callable[[Any], bool] | None, path: str | None
    ) -> None:
        trees, training, form = self._trees, self._training, self._data.form
        self._check_rows(workers, path)
        unlabeled = [groups[1] for groups in self._data.census.groups]
        rows = place_rows(workers, training.settings, training.prior, trees.arrays, unlabeled, form.n_features)
        while trees.status == "n_rounds" and trees.n_trees < n_rounds:
            ending: list[str] = []
            left = n_rounds - trees.n_trees
            grown = training.run(
                None,
                left if path is None else min(left, _ROUNDS_BETWEEN_CHECKPOINTS),
                self._data.held,
                elsewhere=rows,
                cuts=form,
                before=trees.as_model(),
                callback=self._watch(workers, n_rounds, hook, ending),
            )
            trees.add(grown)
            if grown.status != "n_rounds":
                trees.status = ending[-1] if ending else grown.status
            if path is not None:
                self._save(path)

    def _check_rows(self, workers: Workers, path: str | None) -> None:
        """Raise ValueError unless the rows are those of `init_model` and of the checkpoint."""
        sizes, form = self._data.census.sizes, self._data.form._native
        first = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        parts = workers.ask_each(known_by, [([first[k] for k in numbers],) for numbers in workers.partitions])
        found = fingerprint_of_parts(parts, form.cut_starts, form.cut_values)
        check_same_rows(self._before, found)
        if path is not None and self._known_by is not None and (self._known_by != found).any():
            raise self._of_another_fit(path)
        self._known_by = found

    def _watch(
        self, workers: Workers, n_rounds: int, hook: Callable[[Any], bool] | None, ending: list[str]
    ) -> Callable[..., bool]:
        """Return the callback of the core after every round; it adds to `ending` the reason why the fit should end."""
        aucs = self._trees.eval_auc.tolist()
        patience = self._data.patience

        def on_round(_: int, round_: int, n_leaves: int, depth: int, risk: float, auc: float) -> bool:
            workers.where = f"after round {round_}"
            eval_auc = None if self._data.held is None else auc
            if eval_auc is not None:
                aucs.append(eval_auc)
                if patience and len(aucs) - 1 - aucs.index(max(aucs)) >= patience:
                    ending.append("early_stopping")
            info = BoostedTreesRound(round_, n_rounds, 1, 1, n_leaves, depth, risk, eval_auc)
            if hook is not None and hook(info):
                ending.append("callback")
            return bool(ending)

        return on_round

    def _model(self, workers: Workers, params: dict[str, Any]) -> TreeEnsemble:
        """Return the model, with the threshold from the scores on the workers."""
        trees = copy(self._trees)
        trees.keep(self._data.patience)
        scored = _Scored(SharedScores(workers), self._data.census.all_groups)
        return make_model(trees, self._data.form, scored, self._training, None, params, None, self._known_by)

    # -- the checkpoint, which is a model

    def _own_digest(self) -> str:
        training = self._training
        return self._digest(dataclasses.asdict(training.settings), training.prior, self._trees.n_first)

    def _save(self, path: str) -> None:
        trees, form = self._trees, self._data.form
        TreeEnsemble(
            n_features=form.n_features,
            feature_names=form.feature_names,
            threshold=0.0,
            n_iter=trees.n_trees,
            converged=False,
            status=trees.status,
            objective=trees.tree_risk,
            history={"risk": trees.risk, "eval_auc": trees.eval_auc},
            params={"method": FUNCTION, "checkpoint": self._own_digest()},
            packed_nodes=packed(trees.nodes),
            tree_starts=trees.tree_start,
            category_sets=trees.category_sets,
            categories=form.categories,
            divisor=1,
            seed=self._training.seed,
            fingerprint=self._known_by,
        ).save(path)

    def resume(self, path: str, n_rounds: int, *, has_seed: bool) -> None:
        """Take the trees of the checkpoint, if there is one, for a fit of `n_rounds` rounds in all."""
        saved = self._saved(path, self._own_digest())
        if saved is None:
            return
        if (has_seed and saved.seed != self._training.seed) or saved.n_trees > n_rounds:
            raise self._of_another_fit(path)
        n_first = self._trees.n_first
        self._trees, self._known_by = _Trees.of(saved), saved.fingerprint
        self._trees.n_first, self._trees.eval_auc = n_first, saved.history["eval_auc"]
        self._trees.status = "n_rounds" if saved.status == "callback" else saved.status
        self._training = dataclasses.replace(self._training, seed=saved.seed)
