"""Estimates of the class prior: the share of positives among the unlabelled rows.

All of them assume that labelled rows are a random sample of the positives, and, as nothing could be estimated
otherwise, that there is a region in which nearly all rows are positive. Where classes overlap everywhere they estimate
the largest share that the data do not contradict, which is larger than the true one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu._blas_threads import one_blas_thread
from fastpu._gauss_basis import draw_centers, gauss_features, is_bandwidth, median_distance
from fastpu._kernels import take_rows, user_rows
from fastpu._keywords import answers_unknown_keywords
from fastpu._params import check_scores_rows
from fastpu._prior_kernel import kernel_factor, mixture_share
from fastpu._prior_sampling import MOST_SAMPLES, PriorEstimate, Sample, bootstrap, folds_of, open_sample
from fastpu._prior_sensitivity import Sensitivity, sensitivity
from fastpu._prior_shares import LARGEST, best_bin, penalized_l1
from fastpu._prior_tree import label_frequency, quarters
from fastpu._scales import warn_of_scales
from fastpu._text import describe
from fastpu._validate import check_int, check_matrix, check_vector
from fastpu._warnings import DegenerateModelWarning, EstimateWarning, ScaleWarning, warn
from fastpu.ls_auc import fit_ls_auc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpu._kernels import Native

__all__ = ["PriorEstimate", "Sensitivity", "bbe", "km2", "pen_l1", "sensitivity", "tice"]

_LEVEL = 0.95
_N_CENTERS = 200
_KM2_WIDTHS = np.logspace(-1, 1, 5)  # times the median distance
_BY_CHANCE = 2  # times the square that the distance of two means of one distribution has in expectation
_ROUNDING = 1e-12  # of the square of a distance between means of kernel values, which are at most 1
_MANY = 2**62  # more centres than there can be rows
_L1_WIDTHS = (0.25, 0.5, 1.0, 1.5, 2.0)


@answers_unknown_keywords
def km2(
    X: object,
    y: object,
    *,
    max_rows: int = 1000,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior by KM2, from mean embeddings of both groups in the feature space of a Gaussian kernel.

    With means m_u and m_p in feature space, the distance d(lambda) of lambda m_u + (1 - lambda) m_p from the convex
    hull of all rows begins to rise at lambda = 1 / (1 - prior), where that point is the mean of the negatives. The
    estimate is where the slope of d exceeds 0.8 times its first slope (up to lambda = 1.05) plus 0.2 |m_u - m_p|.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Features on one scale help.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; at least two of each.
    max_rows : int, default 1000
        >= 2. Of a group that has more, so many rows are drawn.
    n_boot : int, default 0
        Number of bootstrap samples for an interval, at most 10^9.
    random_state : int >= 0, numpy.random.Generator or None
        Of what is drawn.
    n_threads : int, optional
        Most threads to use; the result is the same for all.

    Returns
    -------
    PriorEstimate
        At most 0.98.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Warns
    -----
    EstimateWarning
        If |m_u - m_p|^2 is less than twice what it is on average for two samples of one distribution: the estimate is
        made of noise then, while nothing speaks against a prior of 1.

    Notes
    -----
    O(m^2 (d + r)) time and O(m^2) memory for m <= 2 max_rows rows and a kernel matrix of rank r, of which 600 columns
    at most are kept, and O(r^2) for each of some thousand steps of an active-set method that follows the nearest point
    of the hull. The width of the kernel is that of five, from 0.1 to 10 times the median distance, at which
    |m_u - m_p| is largest.

    References
    ----------
    Ramaswamy, Scott and Tewari, "Mixture proportion estimation via kernel embeddings of distributions", ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import km2
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(4, 1, 300), rng.normal(0, 1, 140)
    >>> X = np.concatenate([positive, negative])[:, None]
    >>> y = np.arange(440) < 240  # 60 of the 200 others are positive
    >>> round(km2(X, y, random_state=0).value, 1)
    0.3
    """
    most = check_int("max_rows", max_rows, low=2)
    matrix, sample, generator, threads = open_sample(
        X, y, function="km2", sparse=True, random_state=random_state, n_threads=n_threads
    )
    warn_of_scales(matrix)

    def estimate(drawn: Sample) -> float:
        unl, pos = (_at_most(rows, most, generator) for rows in (drawn.unl, drawn.pos))
        rows = take_rows(matrix.native, np.concatenate([unl, pos]))
        signs = np.concatenate([np.full(unl.size, 1 / unl.size), np.full(pos.size, -1 / pos.size)])
        median = _width(rows)
        kernels = (gauss_features(rows, rows, float(factor) * median, threads) for factor in _KM2_WIDTHS)
        best = next(kernels)
        furthest = float(signs @ best @ signs)
        for kernel in kernels:
            square = float(signs @ kernel @ signs)
            if square > furthest:
                best, furthest = kernel, square
        by_chance = (1 - float(best.mean())) * (1 / unl.size + 1 / pos.size)
        if drawn is sample and furthest < _BY_CHANCE * by_chance + _ROUNDING:
            _warn(
                f"km2: the groups cannot be told apart: the squared distance of their means in feature space is "
                f"{furthest:.3g}, and {by_chance:.3g} is expected of two samples of one distribution; the estimate is "
                f"made of noise"
            )
        return mixture_share(kernel_factor(best), unl.size, n_threads=threads)

    return _estimate(estimate, sample, n_boot, generator)


@answers_unknown_keywords
def tice(
    X: object,
    y: object,
    *,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior by TIcE: from the subset of the rows, found by a tree, that is richest in labelled rows.

    In any subset the share of labelled rows is at most c = P(labelled | positive). A tree is grown on one of five folds
    by splits of a feature's range into quarters, towards large shares of labelled rows; every subset that it makes
    gives a lower bound of c from the other folds, |labelled| / size - sqrt(c (1 - c) (1 - delta) / (delta size)). The
    largest bounds of the folds are averaged, and the prior follows from c: n_pos (1 - c) / (c n_unl).

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        Dense.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; at least two of each.
    n_boot, random_state, n_threads
        As in `km2`; there is one thread.

    Returns
    -------
    PriorEstimate
        At most 0.99; too large rather than too small, as it comes from a lower bound of c.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Warns
    -----
    EstimateWarning
        If the estimate is 0.99, which nothing in the data speaks against.

    Notes
    -----
    O(500 n d) time at most, O(n d) memory. The settings are those of the authors' program: delta = max(0.025, 1 / (1 +
    0.004 n)), at most 500 splits, subsets of 10 rows and more, and a second round with the c (1 - c) of the first.

    References
    ----------
    Bekker and Davis, "Estimating the class prior in positive and unlabeled data through decision tree induction", AAAI
    2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import tice
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(2, 3, 1500), rng.uniform(0, 1, 700)])[:, None]
    >>> y = np.arange(2200) < 1200  # 300 of the 1000 others are positive
    >>> round(tice(X, y, random_state=0).value, 1)
    0.4
    """
    matrix, sample, generator, _ = open_sample(
        X, y, function="tice", sparse=False, random_state=random_state, n_threads=n_threads
    )
    values: Any = matrix.native
    codes = quarters(values)

    def estimate(drawn: Sample) -> float:
        folds = np.concatenate(folds_of(drawn, generator)[:2])
        labeled = np.arange(folds.size) < drawn.pos.size
        frequency = label_frequency(codes[np.concatenate([drawn.pos, drawn.unl])], labeled, folds)
        share = drawn.pos.size * (1 - frequency) / (frequency * drawn.unl.size) if frequency > 0 else 1.0
        reason = "the groups are alike, or there are too few rows for a bound of the share that is labelled"
        return _at_most_largest(share, "tice", reason, tells=drawn is sample)

    return _estimate(estimate, sample, n_boot, generator)


@answers_unknown_keywords
def pen_l1(
    X: object,
    y: object,
    *,
    n_centers: int = 100,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior by a penalised L1 distance between densities, without estimating these.

    For a share t, with Gaussian basis functions phi_l,

        distance(t) = sum_l max(0, b_l)^2 / ridge - t + 1,    b_l = t mean_p phi_l - mean_u phi_l:

    where t p(x | positive) exceeds p(x | unlabelled) the penalty grows. The estimate is the t with the least distance,
    of 0.01, 0.02, ..., 0.99.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Features on one scale help.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; at least two of each.
    n_centers : int, default 100
        Most centres of the basis functions, drawn from all rows, no two of them equal.
    n_boot, random_state, n_threads
        As in `km2`.

    Returns
    -------
    PriorEstimate
        A multiple of 0.01.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Warns
    -----
    EstimateWarning
        If the estimate is 0.99, which nothing in the data speaks against.

    Notes
    -----
    O(n n_centers d) time, O(n n_centers) memory. Ridge (of 1e-5, 1e-4, ..., 1) and width (of 0.25, 0.5, 1, 1.5 and
    2 times the median distance between centres) are chosen for every t by the criterion on held-out rows of five folds.

    References
    ----------
    du Plessis, Niu and Sugiyama, "Class-prior estimation for learning from positive and unlabeled data", ACML 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import pen_l1
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(4, 1, 300), rng.normal(0, 1, 140)
    >>> X = np.concatenate([positive, negative])[:, None]
    >>> y = np.arange(440) < 240  # 60 of the 200 others are positive
    >>> round(pen_l1(X, y, random_state=0).value, 1)
    0.3
    """
    count = min(check_int("n_centers", n_centers, low=1), _MANY)
    matrix, sample, generator, threads = open_sample(
        X, y, function="pen_l1", sparse=True, random_state=random_state, n_threads=n_threads
    )
    warn_of_scales(matrix)

    def estimate(drawn: Sample) -> float:
        groups = [take_rows(matrix.native, rows) for rows in (drawn.pos, drawn.unl)]
        everything = take_rows(matrix.native, np.concatenate([drawn.pos, drawn.unl]))
        centers = draw_centers(everything, count, None, generator)
        median = _width(centers)
        features = [
            tuple(gauss_features(rows, centers, factor * median, threads) for rows in groups) for factor in _L1_WIDTHS
        ]
        pos, unl, _ = folds_of(drawn, generator)
        share = penalized_l1([(pair[0], pair[1]) for pair in features], (pos, unl))
        reason = "the groups are alike, or basis functions of so many features tell nothing apart; other estimates may"
        return _at_most_largest(share, "pen_l1", reason, tells=drawn is sample)

    return _estimate(estimate, sample, n_boot, generator)


@answers_unknown_keywords
def bbe(
    X: object,
    y: object,
    *,
    fit: Callable[[Any, NDArray[np.int64]], Any] | None = None,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior by best-bin estimation: from a score that tells positive from unlabelled rows.

    For any cut, q_u / q_p, the shares of unlabelled and of positive rows above it, is at least the prior, and equal to
    it if only positive rows are above. The estimate is the ratio at the cut with the least upper confidence bound,
    (q_u + 1.01 (e_u + e_p)) / q_p with e = sqrt(log(40) / 2 n). Scores are of rows that a model has not been fitted to.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        The default `fit` wants features on one scale: of columns in units of their own (money beside counts) it sees
        the largest alone, and the estimate may be far too large.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; at least two of each.
    fit : callable, optional
        ``fit(X, y) -> model`` with y in {1, 0}, whose ``model.decision_function(X)`` is larger for what is more like
        the positive rows; by default squared-loss AUC in 200 Gaussian basis functions (`fit_ls_auc`) of positive
        against unlabelled rows.
    n_boot, random_state, n_threads
        As in `km2`.

    Returns
    -------
    PriorEstimate
        At most 0.99.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `fit` returns no such model.

    Warns
    -----
    EstimateWarning
        If the estimate is 0.99, which nothing in the data speaks against.

    Notes
    -----
    Five fits to four fifths of the rows (fewer where a group has fewer rows), and O(n log n). Scores of a fit are
    divided by their standard deviation on its training rows, after their mean is subtracted, before they are pooled.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan and Lipton, "Mixture proportion estimation and PU learning: a modern approach",
    NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import bbe
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(4, 1, 300), rng.normal(0, 1, 140)
    >>> X = np.concatenate([positive, negative])[:, None]
    >>> y = np.arange(440) < 240  # 60 of the 200 others are positive
    >>> round(bbe(X, y, random_state=0).value, 1)
    0.3
    """
    if fit is not None and not callable(fit):
        raise TypeError(f"fit must be a function fit(X, y) or None, got {describe(fit)}")
    matrix, sample, generator, threads = open_sample(
        X, y, function="bbe", sparse=True, random_state=random_state, n_threads=n_threads
    )
    if fit is None:
        warn_of_scales(matrix)

    def default(rows: Any, labels: NDArray[np.int64]) -> Any:
        centers = draw_centers(check_matrix(rows).native, _N_CENTERS, None, generator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateModelWarning)  # groups that are alike have the prior 1
            warnings.simplefilter("ignore", ScaleWarning)  # of all rows it has been told
            return fit_ls_auc(
                rows,
                np.where(labels == 1, 1, -1),
                basis="gauss",
                centers=user_rows(centers),
                bandwidth=_width(centers),
                n_threads=threads,
            )

    def estimate(drawn: Sample) -> float:
        pos, unl, n_folds = folds_of(drawn, generator)
        numbers, folds = np.concatenate([drawn.pos, drawn.unl]), np.concatenate([pos, unl])
        labels = np.repeat(np.array([1, 0]), [pos.size, unl.size])
        scores: NDArray[np.float64] = np.empty(folds.size)
        for fold in range(n_folds):
            held = folds == fold
            seen, other = (user_rows(take_rows(matrix.native, numbers[part])) for part in (~held, held))
            model = (fit or default)(seen, labels[~held])
            check_scores_rows(model)
            at_home = check_vector("the scores of fit", model.decision_function(seen), n=int(np.count_nonzero(~held)))
            away = check_vector("the scores of fit", model.decision_function(other), n=int(np.count_nonzero(held)))
            scores[held] = (away - at_home.mean()) / (float(at_home.std()) or 1.0)
        share = best_bin(scores[labels == 1], scores[labels == 0])
        reason = "the groups are alike, or the scores of fit do not tell them apart"
        return _at_most_largest(share, "bbe", reason, tells=drawn is sample)

    return _estimate(estimate, sample, n_boot, generator, limit_blas=fit is None)


# ---------------------------------------------------------------------------------------------- what they share


def _at_most(rows: NDArray[np.int64], count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    return rows if rows.size <= count else np.sort(generator.choice(rows, count, replace=False))


def _at_most_largest(share: float, method: str, reason: str, *, tells: bool) -> float:
    """Return the share, or the largest that is ever returned; a warning tells so."""
    if share < LARGEST:
        return share
    if tells:
        _warn(f"{method}: no share is contradicted by the data, and the largest, {LARGEST:g}, is returned: {reason}")
    return LARGEST


def _warn(message: str) -> None:
    warn(message, EstimateWarning)


def _width(rows: Native) -> float:
    """Return the median distance between two rows, or 1 where most rows are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        median = median_distance(rows)
    if median == 0:
        return 1.0
    if not all(is_bandwidth(factor * median) for factor in (0.1, 1, 10)):
        raise ValueError(f"X must have distances between rows that can be squared, got the median {median:g}; scale X")
    return median


def _estimate(
    estimate: Callable[[Sample], float],
    sample: Sample,
    n_boot: object,
    generator: np.random.Generator,
    *,
    limit_blas: bool = True,
) -> PriorEstimate:
    n = check_int("n_boot", n_boot, low=0, high=MOST_SAMPLES)
    if limit_blas:
        with one_blas_thread():
            value, samples = estimate(sample), bootstrap(estimate, sample, n, generator)
    else:  # what a user's function does with its threads is its own business
        value, samples = estimate(sample), bootstrap(estimate, sample, n, generator)
    samples.flags.writeable = False
    interval = None
    if samples.size:
        low, high = np.quantile(samples, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        interval = float(low), float(high)
    return PriorEstimate(float(value), interval, samples)
