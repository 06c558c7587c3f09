"""Scores of rows by models fitted to other rows, and the share of positives that they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.baselines.ls_auc import fit_ls_auc
from fastpu.boosting.stump_boost import fit_pnu_auc_boost
from fastpu.common._functions import check_function
from fastpu.common._params import check_scores_rows
from fastpu.common._warn import silenced
from fastpu.data._categories import ColumnCategories, categorical_columns, columns_in_order
from fastpu.data._matrix import Matrix
from fastpu.data._table_rows import TableRows
from fastpu.data._validate import check_matrix, check_vector, first_bad_entry
from fastpu.data.binned_features import BinnedFeatures, bin_features
from fastpu.exceptions import CopiedRowsWarning, DegenerateModelWarning, LabelWarning
from fastpu.forest.forest import fit_forest
from fastpu.kernels._gauss_basis import draw_centers, median_distance
from fastpu.priors._likelihood import ScoreShare, score_share
from fastpu.priors._sample import Sample
from fastpu.priors._scaling import on_one_scale

# From the numbers of the rows to fit to and their labels to what gives scores to rows by their numbers.
Ranker = Callable[[NDArray[np.int64], NDArray[np.int64]], Callable[[NDArray[np.int64]], NDArray[np.float64]]]

_N_ROUNDS = 100
_N_CENTERS = 200
_N_TREES = 200
_N_PARTITIONS = 3


def share_by_scores(sample: Sample, rankers: list[Ranker], generator: np.random.Generator) -> ScoreShare:
    """Return the estimated share and what is allowed, each the median over three partitions of the rows into folds.

    A single partition gives an estimate far from the others now and then, above all where the share is large.
    """
    shares = [score_share(*held_out_scores(sample, rankers, generator), sample.per_row) for _ in range(_N_PARTITIONS)]
    return ScoreShare(*np.median(shares, axis=0).tolist())


def held_out_scores(
    sample: Sample, rankers: list[Ranker], generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of positive and of unlabelled rows, each by models of the folds that it is not in.

    The scores of a model are standardised by their mean and standard deviation on the rows that it was fitted to, and
    the scores of several rankers are added.
    """
    pos, unl, n_folds = sample.folds(generator)
    numbers, folds = np.concatenate([sample.pos, sample.unl]), np.concatenate([pos, unl])
    labels = np.repeat(np.array([1, 0]), [pos.size, unl.size])
    scores: NDArray[np.float64] = np.zeros(folds.size)
    for fold in range(n_folds):
        is_out = folds == fold
        for rank in rankers:
            scores_of = rank(numbers[~is_out], labels[~is_out])
            of_training = scores_of(numbers[~is_out])
            scores[is_out] += (scores_of(numbers[is_out]) - of_training.mean()) / (float(of_training.std()) or 1.0)
    return scores[: pos.size], scores[pos.size :]


def rankers_of_numbers(matrix: Matrix, generator: np.random.Generator, n_threads: int) -> list[Ranker]:
    """Return boosted stumps, and squared-loss AUC in Gaussian basis functions of columns on one scale.

    Stumps do not mind skewed columns, Gaussian functions see what columns say together: their sum beats either.
    """
    binned = bin_features(matrix.table(), n_threads=n_threads)
    scaled = on_one_scale(matrix)

    def boosted(training: NDArray[np.int64], labels: NDArray[np.int64]) -> Any:
        with silenced(DegenerateModelWarning):  # expected if the prior is 1
            model = fit_pnu_auc_boost(binned[training], labels, n_rounds=_N_ROUNDS, n_threads=n_threads)
        return lambda rows: model.decision_function(binned[rows], n_threads=n_threads)

    def gaussian(training: NDArray[np.int64], labels: NDArray[np.int64]) -> Any:
        rows = scaled[training]
        centers = draw_centers(rows, _N_CENTERS, None, generator)
        with silenced(DegenerateModelWarning):
            model: Any = fit_ls_auc(
                rows.table(),
                np.where(labels == 1, 1, -1),
                model="gauss",
                centers=centers.table(),
                bandwidth=median_distance(centers) or 1.0,
                n_threads=n_threads,
            )
        return lambda rows: model.decision_function(scaled[rows].table(), n_threads=n_threads)

    return [boosted, gaussian]


def rankers_of_trees(
    rows: TableRows, categories: ColumnCategories, generator: np.random.Generator, n_threads: int
) -> list[Ranker]:
    """Return boosted stumps and a forest, which take missing entries and categories as they are."""
    # The bins of a column do without labels, but many categories are put in an order by those of the rows of each fit.
    is_binned = isinstance(rows.X, BinnedFeatures) or not columns_in_order(categories)
    if is_binned and not isinstance(rows.X, BinnedFeatures):
        rows = TableRows(bin_features(rows.X, n_threads=n_threads))

    def boosted(table: Any, labels: NDArray[np.int64]) -> Any:
        return fit_pnu_auc_boost(table, labels, n_rounds=_N_ROUNDS, n_threads=n_threads)

    def grown(table: Any, labels: NDArray[np.int64]) -> Any:
        return fit_forest(table, labels, n_trees=_N_TREES, random_state=generator, n_threads=n_threads)

    def ranker(fit: Callable[[Any, NDArray[np.int64]], Any]) -> Ranker:
        def rank(training: NDArray[np.int64], labels: NDArray[np.int64]) -> Any:
            # A prior of 1 is expected to give a model without splits. Each fit would tell of copies and of columns that
            # know the labels; the estimate tells of the latter once.
            with silenced(DegenerateModelWarning, CopiedRowsWarning, LabelWarning):
                model = fit(rows.take(training), labels)
            return lambda numbers: model.decision_function(rows.take(numbers), n_threads=n_threads)

        return rank

    return [ranker(boosted), ranker(grown)]


def open_rankers(
    rows: TableRows, fit: Callable[[Any, NDArray[np.int64]], Any] | None, generator: np.random.Generator, n_threads: int
) -> list[Ranker]:
    """Return scores by a function of the user's, of the rows as they were given, or for None the default ones."""
    if fit is None:
        if isinstance(rows.X, BinnedFeatures):
            return rankers_of_trees(rows, rows.X.categories, generator, n_threads)
        matrix = check_matrix(rows.X, finite=False, takes_categories=True)
        if categorical_columns(matrix.categories) or first_bad_entry(matrix, None) is not None:
            return rankers_of_trees(rows, matrix.categories, generator, n_threads)
        return rankers_of_numbers(matrix, generator, n_threads)
    check_function("fit", fit, "a function fit(X, y) or None", arguments=("X", "y"), may_be_class=True)

    def rank(training: NDArray[np.int64], labels: NDArray[np.int64]) -> Any:
        model = fit(rows.take(training), labels)
        check_scores_rows(model)
        return lambda numbers: check_vector(
            "the scores of fit", model.decision_function(rows.take(numbers)), n=numbers.size
        )

    return [rank]
