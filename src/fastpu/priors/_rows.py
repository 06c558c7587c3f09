"""The rows that estimates of a prior are made from: their draws and folds, and their columns on one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import NO_SCORE, describe, where_column
from fastpu.data._categories import categorical_columns
from fastpu.data._category_order import mixed
from fastpu.data._clusters import cluster_numbers
from fastpu.data._folds import fold_sizes, stratified_folds
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels, check_matrix, check_vector, first_bad_entry
from fastpu.model._prior import PriorEstimate

MOST_SAMPLES = 10**9  # most samples of a bootstrap: more than there is time for
_MOST_FOLDS = 5


def doubts(estimate: PriorEstimate, remedy: str) -> str:
    """Return reasons against trusting an estimate, with a remedy, or ""."""
    if estimate.allowed is None:
        return ""
    low, high = estimate.allowed
    if not low <= estimate.value <= high:
        return (
            f"the estimate {estimate.value:.2g} is outside of {low:.2g} to {high:.2g}, which the scores of rows by "
            f"models of other rows allow; {remedy}"
        )
    if estimate.only_upper_bound:
        return (
            f"the data give an upper bound of {high:.2g} rather than an estimate: {estimate.value:.2g} is only one of "
            f"the shares from {low:.2g} to {high:.2g} that the scores allow, as positive and negative rows overlap or "
            f"there are few of them; {remedy}"
        )
    return ""


@dataclass(frozen=True)
class Sample:
    """Numbers of positive and of unlabelled rows, some of them repeated.

    `clusters` has the numbers of the users' groups of all rows, if there are such: their rows are held out together.
    """

    pos: NDArray[np.int64]
    unl: NDArray[np.int64]
    clusters: NDArray[np.int32] | None = None

    def redrawn(self, generator: np.random.Generator) -> Sample:
        """Return as many rows of each group, drawn with replacement, but not copies of one, which allow no estimate.

        Where there are clusters, as many of these are drawn, with all of their rows.
        """
        if self.clusters is not None:
            return self._redrawn_clusters(self.clusters, generator)
        groups = []
        for rows in (self.pos, self.unl):
            drawn = rows[:1]
            while drawn[0] == drawn[-1]:
                drawn = np.sort(rows[generator.integers(0, rows.size, rows.size)])
            groups.append(drawn)
        return Sample(groups[0], groups[1])

    def _redrawn_clusters(self, clusters: NDArray[np.int32], generator: np.random.Generator) -> Sample:
        own = np.unique(clusters[np.concatenate([self.pos, self.unl])])
        while True:
            times = np.zeros(int(own[-1]) + 1, dtype=np.int64)
            np.add.at(times, own[generator.integers(0, own.size, own.size)], 1)
            groups = [np.repeat(rows, times[clusters[rows]]) for rows in (self.pos, self.unl)]
            if all(np.unique(clusters[rows]).size > 1 for rows in groups):
                return Sample(groups[0], groups[1], clusters)


def sample_of(X: object, y: object, n_rows: int, function: str) -> tuple[NDArray[np.int64], Sample]:
    """Return the numbers of the rows that are not labelled negative, which have no part in it, and of these the groups.

    The groups are given by numbers among those rows.
    """
    warn_of_other_order(X, y=y)
    labels = check_labels(y, n_rows)
    if (labels == -1).any() and not (labels == 0).any():
        raise ValueError(
            f"y holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass fastpu.as_labels(y, unlabeled=-1); "
            f"if it means labelled negative, {function} lacks unlabelled rows, whose share of positives it estimates"
        )
    counted = np.flatnonzero(labels >= 0).astype(np.int64)
    sample = Sample(np.flatnonzero(labels[counted] == 1), np.flatnonzero(labels[counted] == 0))
    for name, rows in (("positive", sample.pos), ("unlabelled", sample.unl)):
        if rows.size < 2:
            raise ValueError(f"y must have at least two {name} rows for {function}, got {rows.size}")
    return counted, sample


def numbers_of(X: object, function: str) -> Matrix:
    """Return the rows for a function that measures distances between them, or say what there is for other rows."""
    instead = (
        f"; pass the scores that a model gave to rows that it was not fitted to, such as {function}(None, y, "
        f"scores=model.oob_decision_function) of a forest, or take fastpu.priors.bbe"
    )
    matrix = check_matrix(X, finite=False, categories="learn")
    if columns := categorical_columns(matrix.categories):
        place = where_column(columns[0], matrix.feature_names)
        raise TypeError(
            f"X must hold numbers for {function}, which measures distances between rows, got categories in "
            f"{place}{instead}"
        )
    if (bad := first_bad_entry(matrix, matrix.feature_names)) is not None:
        entry, place = bad
        raise ValueError(
            f"X must not hold NaN or infinite entries for {function}, which measures distances between rows, got "
            f"{entry} at {place}{instead}"
        )
    return matrix


def scored_rows(
    X: object, y: object, scores: object, fit: object, function: str, groups: object = None
) -> tuple[Sample, NDArray[np.float64]]:
    """Return the rows of `y` and their scores, which are given in place of rows and of a function that scores them."""
    for name, given in (("X", X), ("fit", fit)):
        if given is not None:
            raise TypeError(f"{name} must be None where scores of the rows are given, got {describe(given)}")
    values = check_vector("scores", scores, of_nan=NO_SCORE)
    warn_of_other_order(scores, other="scores", y=y)
    counted, sample = sample_of(None, y, values.size, function)
    return with_clusters(sample, groups, counted, values.size), values[counted]


def require_given(X: object, function: str) -> None:
    if X is None:
        raise TypeError(
            f"X must be rows, got None; without rows pass their scores by a model that was not fitted to them, "
            f"{function}(None, y, scores=...)"
        )


def folds_of(sample: Sample, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the folds of positive and of unlabelled rows, and how many there are; a repeated row is in one fold."""
    if sample.clusters is not None:
        return _folds_of_clusters(sample, sample.clusters, generator)
    distinct = [np.unique(rows, return_inverse=True) for rows in (sample.pos, sample.unl)]
    n_folds = min(_MOST_FOLDS, *(rows.size for rows, _ in distinct))
    pos, unl = (generator.permutation(rows.size)[inverse] % n_folds for rows, inverse in distinct)
    return pos.astype(np.int64), unl.astype(np.int64), n_folds


def _folds_of_clusters(
    sample: Sample, clusters: NDArray[np.int32], generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    labels = np.repeat(np.array([1, 0], dtype=np.int8), [sample.pos.size, sample.unl.size])
    own = clusters[np.concatenate([sample.pos, sample.unl])]
    sizes = fold_sizes(labels, own)
    n_folds = min(_MOST_FOLDS, sizes[1], sizes[0])
    fold: NDArray[np.int64] = np.empty(labels.size, dtype=np.int64)
    for number, (_, held) in enumerate(stratified_folds(labels, n_folds, generator, own)):
        fold[held] = number
    return fold[: sample.pos.size], fold[sample.pos.size :], n_folds


def with_clusters(sample: Sample, groups: object, counted: NDArray[np.int64], n_rows: int) -> Sample:
    """Return the sample with the groups that a user gives for all n_rows rows, of which some are counted."""
    clusters = cluster_numbers(groups, n_rows)
    if clusters is None:
        return sample
    clusters = clusters[counted]
    for name, rows in (("positive", sample.pos), ("unlabelled", sample.unl)):
        if np.unique(clusters[rows]).size < 2:
            raise ValueError(f"groups must have at least two groups with {name} rows, got one")
    return replace(sample, clusters=clusters)


# ---- One scale for all columns, and hash keys that are equal for equal rows ----


def on_one_scale(matrix: Matrix) -> Matrix:
    """Return the rows with every column divided by its spread, so that its unit does not matter.

    The spread is the standard deviation over the root of the share of entries that differ from the median: for columns
    of many values the standard deviation itself, while rare words and categories do not grow with their rarity. Dense
    columns are counted from their median, as the distances between rows stay the same and lose no digits.
    """
    if matrix.is_sparse:
        columns, data, indices = matrix.table().tocsc(), matrix.data, matrix.indices
        exponents, spreads = np.zeros(matrix.n_features, dtype=np.int64), np.ones(matrix.n_features)
        for j in np.flatnonzero(np.diff(columns.indptr)):
            entries = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
            exponents[j], _, spreads[j] = _measures(entries.astype(np.float64), matrix.n_rows)
        scaled: Any = (np.ldexp(data.astype(np.float64), -exponents[indices]) / spreads[indices]).astype(data.dtype)
        return replace(matrix, data=scaled)
    result = np.empty_like(matrix.values)
    for number in range(matrix.n_features):
        column = matrix.values[:, number].astype(np.float64)
        exponent, median, spread = _measures(column, column.size)
        result[:, number] = (np.ldexp(column, -exponent) - median) / spread
    return DenseMatrix(result)


def _measures(entries: NDArray[np.float64], n: int) -> tuple[int, float, float]:
    """Return an exponent of 2, and the median and the spread of the entries and n - entries.size zeros divided by it.

    The median is the lower one of two. The spread of a constant column is 1.
    """
    exponent = math.frexp(float(np.abs(entries).max()))[1]
    values, n_zeros = np.ldexp(entries, -exponent), n - entries.size
    place, n_negative = (n - 1) // 2, int(np.count_nonzero(values < 0))
    if n_negative <= place < n_negative + n_zeros:
        median = 0.0
    else:
        place -= n_zeros if place >= n_negative else 0
        median = float(np.partition(values, place)[place])
    mean = float(values.sum()) / n
    variance = (float(((values - mean) ** 2).sum()) + n_zeros * mean * mean) / n
    n_other = int(np.count_nonzero(values != median)) + (n_zeros if median else 0)
    return exponent, median, math.sqrt(variance * n / n_other) if n_other and variance else 1.0


def row_keys(matrix: Matrix) -> NDArray[np.uint64]:
    """Return a number for each row: equal for equal rows, dense or CSR, float32 or float64, and else nearly surely not.

    It is the sum of numbers made of the bits of every entry and a number of its column; an entry of 0 adds nothing.
    """
    n_rows, n_cols = matrix.shape
    salts: Any = np.random.default_rng(0).integers(2**64, size=n_cols, dtype=np.uint64)
    keys: NDArray[np.uint64] = np.zeros(n_rows, dtype=np.uint64)
    for rows in matrix.blocks():
        part = matrix[rows]
        if part.is_sparse:
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_keys(part.data, salts[part.indices]))])
            keys[rows] = np.diff(sums[part.indptr])  # modulo 2^64, as are the sums
        else:
            keys[rows] = _keys(part.values, salts).sum(axis=1)
    return keys


def _keys(entries: NDArray[np.floating], salts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = (entries.astype(np.float64) + 0.0).view(np.uint64)  # -0 + 0 is 0
    return mixed(bits + salts) - mixed(salts)
