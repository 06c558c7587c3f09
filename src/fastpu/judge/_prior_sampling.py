"""Estimates of a prior, the rows that they are made from, folds that keep repeated rows together, and the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastpu.common._params import check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.data._validate import check_labels, check_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu.data._matrix import Matrix


MOST_SAMPLES = 10**9  # most samples of a bootstrap: more than there is time for
_MOST_FOLDS = 5
_FAR_BELOW = 0.4  # an allowed share below this part of the estimate makes it only an upper bound


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
    allowed : tuple of two floats, or None
        The least and the largest share that the scores of rows by a model of other rows do not contradict, with some
        95 %. The largest follows from counts alone. The least is that of a logistic model of the scores, and can be too
        large where some negative rows look like positive ones: from labelled positive and unlabelled rows alone nobody
        can tell these apart.
    """

    value: float
    interval: tuple[float, float] | None
    samples: NDArray[np.float64]
    allowed: tuple[float, float] | None = None

    @property
    def only_upper_bound(self) -> bool:
        """Whether less than 0.4 of `value` is allowed too: classes overlap too much, or there are too few rows."""
        return self.allowed is not None and self.allowed[0] < _FAR_BELOW * self.value

    def __repr__(self) -> str:
        parts = [f"value={self.value:.4g}"]
        for name, ends in (("interval", self.interval), ("allowed", self.allowed)):
            parts += [] if ends is None else [f"{name}=({ends[0]:.4g}, {ends[1]:.4g})"]
        parts += (
            [f"only an upper bound: at most {self.allowed[1]:.2g}"] if self.allowed and self.only_upper_bound else []
        )
        return f"PriorEstimate({', '.join(parts)})"


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
    X: object, y: object, *, function: str, random_state: object, n_threads: object
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
