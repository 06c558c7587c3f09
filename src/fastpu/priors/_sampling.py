"""The rows that estimates of a prior are made from, folds that keep repeated rows together, and the bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_labels, check_matrix
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
    """Numbers of positive and of unlabelled rows, some of them repeated."""

    pos: NDArray[np.int64]
    unl: NDArray[np.int64]


def open_sample(
    X: object, y: object, function: str, random_state: object, n_threads: object
) -> tuple[Matrix, Sample, np.random.Generator, int]:
    threads, generator = resolve_n_threads(n_threads), check_random_state(random_state)
    matrix = check_matrix(X)
    labels = check_labels(y, matrix.n_rows, pu_only=function)
    sample = Sample(*(np.flatnonzero(labels == g).astype(np.int64) for g in (1, 0)))
    for name, rows in (("positive", sample.pos), ("unlabelled", sample.unl)):
        if rows.size < 2:
            raise ValueError(f"y must have at least two {name} rows for {function}, got {rows.size}")
    return matrix, sample, generator, threads


def folds_of(sample: Sample, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the folds of positive and of unlabelled rows, and how many there are; a repeated row is in one fold."""
    distinct = [np.unique(rows, return_inverse=True) for rows in (sample.pos, sample.unl)]
    n_folds = min(_MOST_FOLDS, *(rows.size for rows, _ in distinct))
    pos, unl = (generator.permutation(rows.size)[inverse] % n_folds for rows, inverse in distinct)
    return pos.astype(np.int64), unl.astype(np.int64), n_folds


def bootstrap(
    estimate: Callable[[Sample], float], sample: Sample, n_boot: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return the estimates of samples drawn from the rows of each group with replacement."""
    values: NDArray[np.float64] = np.empty(n_boot)
    for i in range(n_boot):
        values[i] = estimate(Sample(_redrawn(sample.pos, generator), _redrawn(sample.unl, generator)))
    return values


def _redrawn(rows: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    while True:
        drawn = np.sort(rows[generator.integers(0, rows.size, rows.size)])
        if drawn[0] != drawn[-1]:  # a sample of copies of a single row allows no estimate
            return drawn
