"""A fit of boosted stumps on Dask: its rounds, the workers that it loses, and its checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import _core
from fastpu.boosting._stump_boost import BoostRound, make_model, threshold_rule
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import MANY
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._scores import SharedScores
from fastpu.dask._shared_fit import SharedFit
from fastpu.dask._stump_rows import SharedStumps, place_stumps
from fastpu.data._categories import category_flags

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastpu.boosting._stump_boost import Method
    from fastpu.dask._shared_fit import FitData
    from fastpu.dask._workers import Workers


_OF_ROUND = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective")
_TYPES = (np.int32, np.float64, np.int8, np.float64, np.float64, np.float64, np.float64)


class StumpFit(SharedFit):
    """One fit: its rows, and the rounds up to the last one after which all weights were computed afresh.

    Only after such a round can a fit go on from the stumps alone, since the weights then follow from the scores.
    """

    def __init__(self, data: FitData, method: Method, n_rounds: int, tolerance: float) -> None:
        super().__init__(data)
        self._method, self._n_rounds, self._tolerance = method, n_rounds, tolerance
        # The arrays of _OF_ROUND with an entry for each round, and the sets of categories.
        self._made: tuple[Any, ...] = (*(np.empty(0, kind) for kind in _TYPES), np.empty((0, 4), np.uint64))
        self._n_reported = 0  # rounds for which the callback was called

    @property
    def n_made(self) -> int:
        """The rounds that need not be made again when a worker is lost."""
        return int(self._made[0].size)

    def run(self, hook: Callable[[Any], bool] | None, path: str | None) -> StumpEnsemble:
        """Make all rounds and the model; with a path, go on from its file where workers are lost."""
        return self._retried(lambda workers: self._fit(workers, hook, path), path)

    def _fit(self, workers: Workers, hook: Callable[[Any], bool] | None, path: str | None) -> StumpEnsemble:
        form, held, patience = self._data.form, self._data.held, self._data.patience
        rows = place_stumps(workers, self._data.census.sizes)
        options = _core.StumpBoostOptions(
            n_rounds=min(self._n_rounds, MANY),
            stop_tol=self._tolerance,
            early_stopping_rounds=min(patience, MANY),
            **self._method.options,
        )
        result = _core.stump_boost(
            form,
            None,
            None,
            category_flags(form.categories, form.n_features),
            options,
            max_bins=0,
            most_distinct=0,
            eval_set=None if held is None else (held.features, held.labels, None),
            callback=self._watch(workers, rows, hook, path),
            n_threads=resolve_n_threads(None),
            rows=rows,
            made=self._made if self.n_made else None,
        )
        model = make_model(
            self._method,
            result,
            form,
            form.max_bins,
            self._n_rounds,
            patience,
            self._tolerance,
            is_judged=held is not None,
        )
        n_pos, _, n_neg = self._data.census.all_groups
        sides = (1 if n_pos else 0, -1 if n_neg else 0)
        threshold = SharedScores(workers).threshold(model, *sides)
        return replace(model, threshold=threshold, threshold_rule=threshold_rule(*sides))

    def _watch(
        self, workers: Workers, rows: SharedStumps, hook: Callable[[Any], bool] | None, path: str | None
    ) -> Callable[..., bool]:
        """Return the callback of the core after every round."""
        recent: list[tuple[Any, ...]] = []
        sets: list[Any] = []

        def on_round(round_: int, feature: int, threshold: float, polarity: int,
                     delta: float, alpha: float, z: float, objective: float, auc: float) -> bool:  # fmt: skip
            workers.where = f"after round {round_}"
            recent.append((feature, threshold, polarity, alpha, delta, z, objective))
            if rows.codes is not None:
                sets.append(rows.codes)
            if rows.is_weighed:
                self._made = _extended(self._made, recent, sets)
                recent.clear()
                sets.clear()
                if path is not None:
                    self._save(path)
            if hook is None or round_ <= self._n_reported:
                return False
            self._n_reported = round_
            eval_auc = None if self._data.held is None else auc
            return hook(
                BoostRound(round_, self._n_rounds, feature, threshold, polarity, delta, alpha, z, objective, eval_auc)
            )

        return on_round

    # -- the checkpoint, which is a model

    def _own_digest(self) -> str:
        return self._digest(self._method.function, self._method.options, self._tolerance)

    def _save(self, path: str) -> None:
        *arrays, sets = self._made
        form = self._data.form
        StumpEnsemble(
            n_features=form.n_features,
            feature_names=form.feature_names,
            threshold=0.0,
            n_iter=self.n_made,
            converged=False,
            status="n_rounds",
            history={},
            params={"method": self._method.function, "checkpoint": self._own_digest()},
            low=0.0,
            **dict(zip(_OF_ROUND, arrays, strict=True)),
            category_sets=sets,
            categories=form.categories,
        ).save(path)

    def resume(self, path: str) -> None:
        """Take the rounds of the checkpoint, if there is one."""
        saved = self._saved(path, self._own_digest())
        if saved is None:
            return
        if saved.n_iter > self._n_rounds:
            raise self._of_another_fit(path)
        self._made = (*(getattr(saved, name) for name in _OF_ROUND), saved.category_sets)


def _extended(made: tuple[Any, ...], recent: list[tuple[Any, ...]], sets: list[Any]) -> tuple[Any, ...]:
    """Return the arrays of all rounds, and their sets of categories."""
    new = [np.array(column, kind) for column, kind in zip(zip(*recent, strict=True), _TYPES, strict=True)]
    new.append(np.array(sets, dtype=np.uint64).reshape(-1, 4))
    return tuple(map(np.concatenate, zip(made, new, strict=True)))
