"""The rows by whose AUC rounds of boosting are judged: an evaluation set, or folds that choose the number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import check_int
from fastpu.data._clusters import as_numbers
from fastpu.data._folds import fold_sizes, stratified_folds
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import check_eval_pair
from fastpu.data._validate import check_labels, label_counts
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix
from fastpu.model._threshold import GROUP

_Boosted = _core.StumpBoostResult | _core.BoostedTreesResult


@dataclass(frozen=True)
class LabelledRows:
    """Training rows, or rows of an evaluation set; `clusters` are the numbers of their groups, where these count."""

    features: Matrix | BinnedFeatures
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    clusters: NDArray[np.int32] | None = None

    def take(self, rows: NDArray[np.intp]) -> LabelledRows:
        weights = None if self.weights is None else self.weights[rows]
        clusters = None if self.clusters is None else as_numbers(self.clusters[rows])
        return LabelledRows(self.features[rows], self.labels[rows], weights, clusters)


def check_patience(early_stopping_rounds: object) -> int:
    """Return the rounds without a better AUC that end a fit, or 0 for None."""
    return 0 if early_stopping_rounds is None else check_int("early_stopping_rounds", early_stopping_rounds, low=1)


def row_counts(groups: tuple[int, int, int]) -> str:
    """Return the numbers of positive, unlabelled and negative rows in words."""
    n_pos, n_unl, n_neg = groups
    return f"{n_pos} positive (+1), {n_unl} unlabelled (0) and {n_neg} negative (-1) rows"


def check_eval_set(eval_set: object, data: Matrix | BinnedFeatures) -> LabelledRows | None:
    """Return the rows of an evaluation set, in a form that the core takes beside the training data `data`."""
    if eval_set is None:
        return None
    X, y = check_eval_pair(eval_set)
    name = "X of eval_set"
    if isinstance(X, BinnedFeatures):
        if not isinstance(data, BinnedFeatures):
            raise ValueError("eval_set may hold BinnedFeatures only where X is BinnedFeatures too")
        if X.n_features != data.n_features or not X._native.same_cuts(data._native):
            raise ValueError("eval_set must have the cuts of X: bin all rows together and take subsets B[rows]")
    checked = bins_or_matrix(X, name, data)
    labels = check_labels(y, checked.n_rows, name="y of eval_set")
    groups = label_counts(labels)
    if groups[0] in (0, labels.size):
        raise ValueError(f"y of eval_set must hold +1 and -1 (or +1 and 0) for an AUC, got {row_counts(groups)}")
    return LabelledRows(checked, labels, None)


@dataclass(frozen=True)
class Chosen:
    """The number of rounds that the folds choose.

    `n_rounds` is that number, for the fit to all rows. `auc` is the mean AUC over the `n_folds` folds after each round
    that was run in them, and `best_round` the round after which it is highest. `is_final` says whether more rounds in
    the folds would leave the choice as it is.
    """

    n_rounds: int
    best_round: int
    auc: NDArray[np.float64]
    n_folds: int
    is_final: bool


def rounds_by_folds(
    run: Callable[[LabelledRows, int, LabelledRows], _Boosted],
    rows: LabelledRows,
    most_folds: int,
    rng: np.random.Generator,
    n_rounds: int,
    patience: int,
) -> Chosen:
    """Choose the number of rounds by the mean AUC of the folds; `run(part, n_rounds, held)` fits to one part.

    `fastpu.fit_pnu_auc_boost` says which round is chosen: the standard error is that of the difference over the folds.
    """
    if rows.weights is not None:
        rows = rows.take(np.flatnonzero(rows.weights > 0))
    sizes = fold_sizes(rows.labels, rows.clusters)
    for code, size in sizes.items():
        if size == 1:
            has = f"y has only one {GROUP[code]} row (of positive weight)"
            if rows.clusters is not None:
                has = f"all {GROUP[code]} rows (of positive weight) are of one group"
            raise ValueError(
                f"early_stopping_rounds without an eval_set chooses the rounds by folds, and each fold holds out rows "
                f"of every kind, but {has}: pass an eval_set, or early_stopping_rounds=None"
            )
    n_folds = min(most_folds, *(size for size in sizes.values() if size))
    folds = stratified_folds(rows.labels, n_folds, rng, rows.clusters)

    def judge(train: NDArray[np.intp], held: NDArray[np.intp], n: int) -> _Boosted:
        return run(rows.take(train), n, _judged(rows.take(held), has_positive=sizes[1] > 0))

    # How many rounds the search needs is not known beforehand, so the folds are run again with twice as many until it
    # ends.
    n_run = min(n_rounds, 4 * patience)
    while True:
        results = [judge(*fold, n_run) for fold in folds]
        made = [fold.eval_auc if fold.eval_auc.size else np.array([0.5]) for fold in results]
        n_made = max(auc.size for auc in made)  # a fit that ended before keeps its last AUC
        aucs = np.array([np.pad(auc, (0, n_made - auc.size), mode="edge") for auc in made])
        best, end, is_final = _best_round(aucs.mean(axis=0), patience)
        is_final = is_final or all(fold.status != "n_rounds" for fold in results)
        if is_final or n_run == n_rounds:
            break
        n_run = min(n_rounds, 2 * n_run)
    gaps = aucs[:, [best - 1]] - aucs[:, :end]
    near = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(n_folds)
    return Chosen(int(np.flatnonzero(near)[-1]) + 1, best, aucs.mean(axis=0), n_folds, is_final)


def best_so_far(result: Any, chosen: Chosen | None, patience: object) -> str:
    """Return words about the best round of a fit that ran all rounds before early stopping ended it."""
    judge, aucs, best = "eval_set", result.eval_auc, result.best_round
    if chosen is not None:
        judge, aucs, best = f"{chosen.n_folds} folds", chosen.auc, chosen.best_round
    return (
        f"the best AUC of {judge} so far, {aucs[best - 1]:.4g}, is that of round {best}, and {patience} rounds must "
        f"pass without a better one"
    )


def _judged(held: LabelledRows, *, has_positive: bool) -> LabelledRows:
    """Return held-out rows with the labels that the AUC compares: +1 should score above the others.

    Where y has no positive rows, the unlabelled rows should score above the negative ones, so they become +1.
    """
    labels, weights = held.labels, held.weights
    if weights is not None:  # scaled so that no product of the weights of two groups overflows
        weights = weights.copy()
        for code in np.unique(labels):
            weights[labels == code] /= weights[labels == code].max()
    if not has_positive:
        labels = np.where(labels == 0, 1, -1).astype(np.int8)
    return LabelledRows(held.features, labels, weights)


def _best_round(auc: NDArray[np.float64], patience: int) -> tuple[int, int, bool]:
    """Return the best round (from 1), the round at which the search ended, and whether `patience` ended it."""
    stopping = _core.EarlyStopping(patience)
    for round_, value in enumerate(auc.tolist(), start=1):
        stopping.add(value)
        if stopping.is_over:
            return stopping.best_round, round_, True
    return stopping.best_round, auc.size, False
