"""KM2, an estimate of the prior by mean embeddings of rows in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, VectorLike
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.kernels._gauss_basis import gauss_features, median_distance
from fastpu.model._prior import PriorEstimate
from fastpu.priors._finished_estimate import MOST_SAMPLES, finished_estimate
from fastpu.priors._held_out_scores import rankers_of_numbers, share_by_scores
from fastpu.priors._inputs import numbers_of, require_rows_or_scores, scored_rows
from fastpu.priors._kernel import kernel_factor, mixture_share
from fastpu.priors._likelihood import ScoreShare, score_share
from fastpu.priors._sample import Sample, sample_of
from fastpu.priors._scaling import on_one_scale, row_keys

_WIDTHS = np.logspace(-1, 1, 5)  # kernel widths, as multiples of the median distance between rows
# Positive and unlabelled rows are told apart if the squared distance of their means is at least so many times that
# expected of two samples of one distribution, and more than rounding of means of kernel values, which are at most 1.
_BY_CHANCE = 2
_ROUNDING = 1e-12
_MOST_SCORED = 5000  # rows of either kind that are scored to find the allowed shares


@answers_unknown_keywords
def km2(
    X: MatrixLike | None,
    y: LabelsLike,
    *,
    scores: VectorLike | None = None,
    max_rows: int = 1000,
    n_boot: int = 0,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior, the share of positives among the unlabelled rows, by KM2 (mean embeddings in a kernel).

    Let m_u and m_p be the means of the unlabelled and of the positive rows in the feature space of a Gaussian kernel.
    The distance d(lambda) of lambda m_u + (1 - lambda) m_p from the convex hull of all rows begins to rise at
    lambda = 1 / (1 - prior), where that point is the mean of the negative rows. The estimate is where the slope of d
    exceeds 0.8 times its first slope (up to lambda = 1.05) plus 0.2 |m_u - m_p|. `bbe` is the better first choice.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d), or None
        Rows of numbers, or None if `scores` are passed. Columns are divided by their spread, so that their units do not
        matter. Missing entries and categories are refused, because distances between such rows are not defined.
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. There must be at
        least two of each. Labelled negative rows (-1) are left out.
    scores : array-like of shape (n,), optional
        In place of `X`: one score for each row, larger for rows that are more like the positive ones, by a model that
        was not fitted to the row, such as `oob_decision_function` of a forest. Rows whose score is NaN are left out,
        with a warning.
    max_rows : int, default 1000
        The most different rows of each kind that are used, >= 2. If there are more, that many of them are drawn.
    n_boot : int, default 0
        The number of bootstrap samples for a 95 % interval, from 0 to 10^9. With 0 there is no interval.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of all that is drawn. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The result is the same
        for any number.

    Returns
    -------
    PriorEstimate
        Its `value` is at most 0.98. Its `allowed` is that of `bbe`, by at most 5,000 rows of either kind, or by all
        `scores`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Warns
    -----
    EstimateWarning
        If |m_u - m_p|^2 is less than twice its mean for two samples of one distribution, so that the estimate is made
        of noise. If the estimate is outside of what is allowed. If shares below 0.4 of the estimate are allowed, so
        that it is only an upper bound.

    Notes
    -----
    Equal rows are one row with a weight, so the order of the rows does not matter, not even to the draw. A point less
    than 1e-6 away from the hull counts as inside, where the slope of d is 0.

    O(m^2 (d + r)) time and O(m^2) memory for m <= 2 max_rows rows and a kernel matrix of rank r, of which 600 columns
    at most are kept, and O(m r^2) for each of twelve problems of non-negative least squares (`scipy.optimize.nnls`): a
    second or two for 1,000 rows, and a multiple of that with SciPy 1.12 to 1.14. The width of the kernel is the one of
    five, from 0.1 to 10 times the median distance, at which |m_u - m_p| is largest.

    References
    ----------
    Ramaswamy, Scott and Tewari, "Mixture proportion estimation via kernel embeddings of distributions", ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import km2
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(6, 1, 700), rng.normal(0, 1, 280)
    >>> X = np.concatenate([positive, negative])[:, None]
    >>> y = np.arange(980) < 500  # 200 of the 480 others are positive
    >>> round(km2(X, y, random_state=0).value, 1)
    0.4
    """
    most = check_int("max_rows", max_rows, low=2)
    threads, generator = resolve_n_threads(n_threads), check_random_state(random_state)
    n_samples = check_int("n_boot", n_boot, low=0, high=MOST_SAMPLES)
    if scores is not None:
        sample, values = scored_rows(X, y, scores, None, "km2")
        rows = _Rows.of(DenseMatrix(values[:, None]), most, threads)
    else:
        require_rows_or_scores(X, "km2")
        matrix = numbers_of(X, "km2")
        counted, sample = sample_of(X, y, matrix.n_rows, "km2")
        matrix = matrix if counted.size == matrix.n_rows else matrix[counted]
        rows = _Rows.of(matrix, most, threads)
    with one_blas_thread():
        value, trouble = rows.estimate(sample, generator)
        if scores is not None:
            share = score_share(values[sample.pos], values[sample.unl])
        else:
            share = _allowed(matrix, sample, generator, threads)
        samples = np.array([rows.estimate(sample.redrawn(generator), generator)[0] for _ in range(n_samples)])
    return finished_estimate("km2", value, share, samples, sample, trouble)


@dataclass(frozen=True)
class _Rows:
    """Rows on one scale, the keys by which equal ones are known, and how many of either kind are embedded."""

    scaled: Matrix
    keys: NDArray[np.uint64]
    most: int
    n_threads: int

    @classmethod
    def of(cls, matrix: Matrix, most: int, n_threads: int) -> _Rows:
        return cls(on_one_scale(matrix), row_keys(matrix), most, n_threads)

    def estimate(self, sample: Sample, generator: np.random.Generator) -> tuple[float, str]:
        """Return the estimate, and why it is not to be trusted, or ""."""
        # Equal rows are merged into one, with their share in each kind: the order of the rows then changes nothing.
        unl, pos = (self._at_most(rows, generator) for rows in (sample.unl, sample.pos))
        both = np.concatenate([unl, pos])
        distinct, first, number = np.unique(self.keys[both], return_index=True, return_inverse=True)
        rows = self.scaled[both[first]]
        of_unl, of_pos = (
            np.bincount(part, minlength=distinct.size) / part.size for part in np.split(number.reshape(-1), [unl.size])
        )
        apart = of_unl - of_pos
        width = median_distance(rows) or 1.0  # most rows may be equal
        kernels = (gauss_features(rows, rows, float(factor) * width, self.n_threads) for factor in _WIDTHS)
        best = next(kernels)
        furthest = float(apart @ best @ apart)
        for kernel in kernels:
            square = float(apart @ kernel @ apart)
            if square > furthest:
                best, furthest = kernel, square
        every = (unl.size * of_unl + pos.size * of_pos) / (unl.size + pos.size)
        by_chance = (1 - float(every @ best @ every)) * (1 / unl.size + 1 / pos.size)
        trouble = "" if furthest >= _BY_CHANCE * by_chance + _ROUNDING else (
            f"the estimate is made of noise, since labelled and unlabelled rows cannot be told apart: the squared "
            f"distance of their means in feature space is {furthest:.3g}, and two samples of one distribution give "
            f"{by_chance:.3g} on average"
        )  # fmt: skip
        return mixture_share(kernel_factor(best), of_unl, of_pos), trouble

    def _at_most(self, rows: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the rows, or `most` drawn from them if more than that are distinct, in the order of their keys."""
        rows = rows[np.argsort(self.keys[rows], kind="stable")]
        if np.unique(self.keys[rows]).size <= self.most:
            return rows
        return rows[np.sort(generator.choice(rows.size, self.most, replace=False))]


def _allowed(matrix: Matrix, sample: Sample, generator: np.random.Generator, threads: int) -> ScoreShare:
    """Return what scores of rows by models of other rows allow, of at most 5,000 rows of either kind."""
    pos, unl = (
        rows if rows.size <= _MOST_SCORED else np.sort(generator.choice(rows, _MOST_SCORED, replace=False))
        for rows in (sample.pos, sample.unl)
    )
    scored = matrix[np.concatenate([pos, unl])]
    renumbered = Sample(np.arange(pos.size), np.arange(pos.size, pos.size + unl.size))
    return share_by_scores(renumbered, rankers_of_numbers(scored, generator, threads), generator)
