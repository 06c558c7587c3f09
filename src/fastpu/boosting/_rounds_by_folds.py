"""The number of rounds of boosting, chosen by cross-validation.

search = RoundSearch(rows, most_folds, rng, n_rounds=n_rounds, patience=patience)
while not search.is_over:
    search.add([boost(train, search.n_rounds, eval_rows) for train, eval_rows in search.folds()])
search.chosen
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.common._params import MANY
from fastpu.data._folds import fold_sizes, stratified_folds
from fastpu.model._threshold import GROUP

_Rows = TypeVar("_Rows", bound=LabelledRows)


class JudgedRounds(Protocol):
    """What boosting returns: the AUC of the judged rows after each round, the best round, and why it ended."""

    @property
    def eval_auc(self) -> NDArray[np.float64]: ...
    @property
    def best_round(self) -> int: ...
    @property
    def status(self) -> str: ...


@dataclass(frozen=True)
class ChosenRounds:
    """The number of rounds that the folds choose.

    Attributes
    ----------
    n_rounds : int
        That number, for the fit to all rows.
    best_round : int
        The round after which the mean AUC is highest.
    auc : ndarray of float64
        The mean AUC over the folds after each round that was run in them.
    n_folds : int
    is_final : bool
        Whether more rounds in the folds would leave the choice as it is.
    """

    n_rounds: int
    best_round: int
    auc: NDArray[np.float64]
    n_folds: int
    is_final: bool


class RoundSearch(Generic[_Rows]):
    """Chooses the number of rounds by the mean AUC over folds, as `fastpu.fit_pnu_auc_boost` says.

    Nobody knows beforehand how many rounds the search needs. So every fold is boosted with `n_rounds` rounds, and
    again with twice as many, until `patience` rounds have brought no better mean AUC.
    """

    def __init__(self, rows: _Rows, most_folds: int, rng: np.random.Generator, *, n_rounds: int, patience: int) -> None:
        if rows.weights is not None:
            rows = rows.take(np.flatnonzero(rows.weights > 0))
        sizes = fold_sizes(rows.labels, rows.clusters)
        _check_sizes(sizes, rows)
        self.n_folds = min(most_folds, *(size for size in sizes.values() if size))
        self.n_rounds = min(n_rounds, 4 * patience)
        self.is_over = False
        self._rows, self._most_rounds, self._patience = rows, n_rounds, patience
        self._has_positive = sizes[1] > 0
        self._folds = stratified_folds(rows.labels, self.n_folds, rng, rows.clusters)

    def folds(self) -> Iterator[tuple[_Rows, _Rows]]:
        """Yield for each fold the rows to boost, and the rows held out to judge the rounds by."""
        for train, held_out in self._folds:
            yield self._rows.take(train), _rows_to_judge(self._rows.take(held_out), has_positive=self._has_positive)

    def add(self, results: Sequence[JudgedRounds]) -> None:
        """Take the results of boosting all folds with `n_rounds` rounds: the search is over, or `n_rounds` doubles."""
        aucs = [fold.eval_auc if fold.eval_auc.size else np.array([0.5]) for fold in results]
        n_made = max(auc.size for auc in aucs)  # a fold that ended before keeps its last AUC
        by_fold = np.array([np.pad(auc, (0, n_made - auc.size), mode="edge") for auc in aucs])
        best, end, is_final = _best_round(by_fold.mean(axis=0), self._patience)
        is_final = is_final or all(fold.status != "n_rounds" for fold in results)
        if not is_final and self.n_rounds < self._most_rounds:
            self.n_rounds = min(self._most_rounds, 2 * self.n_rounds)
            return
        gaps = by_fold[:, [best - 1]] - by_fold[:, :end]
        is_near = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(self.n_folds)
        chosen = int(np.flatnonzero(is_near)[-1]) + 1
        self.chosen = ChosenRounds(chosen, best, by_fold.mean(axis=0), self.n_folds, is_final)
        self.is_over = True


def best_so_far(result: JudgedRounds, chosen: ChosenRounds | None, patience: int | None) -> str:
    """Return words about the best round of a fit that ran all rounds before early stopping ended it."""
    judge, aucs, best = "eval_set", result.eval_auc, result.best_round
    if chosen is not None:
        judge, aucs, best = f"{chosen.n_folds} folds", chosen.auc, chosen.best_round
    return (
        f"the best AUC of {judge} so far, {aucs[best - 1]:.4g}, is that of round {best}, and {patience} rounds must "
        f"pass without a better one"
    )


def _check_sizes(sizes: dict[int, int], rows: LabelledRows) -> None:
    """Raise ValueError if rows of some label cannot be in two folds."""
    for code, size in sizes.items():
        if size == 1:
            has = f"y has only one {GROUP[code]} row (of positive weight)"
            if rows.clusters is not None:
                has = f"all {GROUP[code]} rows (of positive weight) are of one group"
            raise ValueError(
                f"early_stopping_rounds without an eval_set chooses the rounds by folds, and each fold holds out rows "
                f"of every kind, but {has}: pass an eval_set, or early_stopping_rounds=None"
            )


def _rows_to_judge(held_out: _Rows, *, has_positive: bool) -> _Rows:
    """Return held-out rows with the labels that the AUC compares: +1 should score above the others.

    Where y has no positive rows, the unlabelled rows should score above the negative ones, so they become +1.
    """
    labels, weights = held_out.labels, held_out.weights
    if weights is not None:  # scaled so that no product of the weights of two groups overflows
        weights = weights.copy()
        for code in np.unique(labels):
            weights[labels == code] /= weights[labels == code].max()
    if not has_positive:
        labels = np.where(labels == 0, 1, -1).astype(np.int8)
    return replace(held_out, labels=labels, weights=weights, clusters=None)


def _best_round(auc: NDArray[np.float64], patience: int) -> tuple[int, int, bool]:
    """Return the best round (from 1), the round at which the search ended, and whether `patience` ended it."""
    stopping = _core.EarlyStopping(min(patience, MANY))
    for round_, value in enumerate(auc.tolist(), start=1):
        stopping.add(value)
        if stopping.is_over:
            return stopping.best_round, round_, True
    return stopping.best_round, auc.size, False
