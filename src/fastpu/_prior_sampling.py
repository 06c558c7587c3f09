"""Estimates of a prior, the rows that they are made from, folds that keep repeated rows together, and the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastpu._threads import resolve_n_threads
from fastpu._validate import Matrix, check_labels, check_matrix, check_random_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["MOST_SAMPLES", "PriorEstimate", "Sample", "bootstrap", "folds_of", "open_sample"]

MOST_SAMPLES = 10**9  # of a bootstrap: more than there is time for
_MOST_FOLDS = 5


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """An estimate of P(Y = 1) among the unlabelled rows.

    Attributes
    ----------
    value : float
        In (0, 1), so that it can be the `prior` of a fit.
    interval : tuple of two floats, or None
        The middle 95 % of `samples`; None without a bootstrap. It has the spread of the estimate, not its bias.
    samples : ndarray of float64, shape (n_boot,)
        Estimates from samples drawn with replacement from the positive and from the unlabelled rows.
    """

    value: float
    interval: tuple[float, float] | None
    samples: NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Numbers of positive and of unlabelled rows, some of them repeated."""

    pos: NDArray[np.int64]
    unl: NDArray[np.int64]


def open_sample(
    X: object, y: object, *, function: str, sparse: bool, random_state: object, n_threads: object
) -> tuple[Matrix, Sample, np.random.Generator, int]:
    threads, generator = resolve_n_threads(n_threads), check_random_state(random_state)
    matrix = check_matrix(X, sparse=sparse)
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
        if drawn[0] != drawn[-1]:  # of one row alone nothing can be estimated
            return drawn
