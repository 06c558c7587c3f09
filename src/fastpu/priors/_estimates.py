"""KM2 and best-bin estimation, and what these estimates of the prior share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._table_rows import TableRows
from fastpu.exceptions import EstimateWarning
from fastpu.kernels._gauss_basis import gauss_features, median_distance
from fastpu.model._prior import PriorEstimate
from fastpu.priors._kernel import kernel_factor, mixture_share
from fastpu.priors._likelihood import ScoreShare, score_share
from fastpu.priors._rows import (
    MOST_SAMPLES,
    Sample,
    doubts,
    numbers_of,
    on_one_scale,
    require_given,
    row_keys,
    sample_of,
    scored_rows,
    with_clusters,
)
from fastpu.priors._scores import open_rankers, rankers_of_numbers, share_by_scores
from fastpu.tree._leaks import FEWEST_POS, FEWEST_UNL, PERFECT

_LEVEL = 0.95
_KM2_WIDTHS = np.logspace(-1, 1, 5)  # kernel widths, as multiples of the median distance between rows
# Groups are told apart if the squared distance of their means is at least so many times that expected of two samples of
# one distribution, and more than rounding of means of kernel values, which are at most 1.
_BY_CHANCE = 2
_ROUNDING = 1e-12
_REMEDY = "use a prior that you know, or see by priors.sensitivity what depends on it"
_TOLD_APART = (
    "scores of held-out rows tell labelled from unlabelled rows nearly perfectly: hardly any unlabelled row is "
    "positive, or a column knows the labels, and the estimate is far too small; fastpu.fit_forest names such a column"
)
_MOST_SCORED = 5000  # rows of a group that are scored to find the allowed shares, if the estimate made no scores
_LARGEST = 0.99  # largest share that bbe returns


@answers_unknown_keywords
def km2(
    X: object,
    y: object,
    *,
    scores: object = None,
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
    X : array-like, CSR matrix or DataFrame of shape (n, d), or None
        Columns are divided by their spread, so that their units do not matter. Without `scores` they must be numbers:
        distances between rows with missing entries or categories are not defined.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; at least two of each. Rows that are -1, labelled negative, have no part in it.
    scores : array-like of shape (n,), optional
        In place of `X`, which is None then: scores of the rows as in `bbe`, a single column of numbers.
    max_rows : int, default 1000
        >= 2. Of a group that has more different rows, so many rows are drawn.
    n_boot : int, default 0
        Number of bootstrap samples for an interval, at most 10^9.
    random_state : int >= 0, numpy.random.Generator or None
        Of what is drawn.
    n_threads : int, optional
        Most threads to use; the result is the same for all.

    Returns
    -------
    PriorEstimate
        At most 0.98; `allowed` as in `bbe`, of 5,000 rows of each group at most, or of all `scores`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Warns
    -----
    EstimateWarning
        If |m_u - m_p|^2 is less than twice what it is on average for two samples of one distribution: the estimate is
        made of noise then, while nothing speaks against a prior of 1. If the estimate is outside of what is allowed, or
        less than 0.4 of it is allowed too: it is an upper bound only.

    Notes
    -----
    Equal rows are one row with a weight, so that the order of the rows does not matter, not even to the draw. A point
    less than 1e-6 away from the hull is in it, and the slope of d is 0 there.

    O(m^2 (d + r)) time and O(m^2) memory for m <= 2 max_rows rows and a kernel matrix of rank r, of which 600 columns
    at most are kept, and O(m r^2) for each of twelve problems of non-negative least squares (`scipy.optimize.nnls`): a
    second or two for 1,000 rows, and a multiple of that with SciPy 1.12 to 1.14. The width of the kernel is that of
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
    matrix: Matrix
    if scores is None:
        require_given(X, "km2")
        matrix = numbers_of(X, "km2")
        counted, sample = sample_of(X, y, matrix.n_rows, "km2")
        matrix = matrix if counted.size == matrix.n_rows else matrix[counted]
    else:
        sample, values = scored_rows(X, y, scores, None, "km2")
        matrix = DenseMatrix(values[:, None])
    keys, scaled = row_keys(matrix), on_one_scale(matrix)

    def estimate(drawn: Sample) -> tuple[float, str]:
        # Equal rows are merged into one, with their share in each group: the order of the rows then changes nothing.
        unl, pos = (_at_most(rows, keys, most, generator) for rows in (drawn.unl, drawn.pos))
        kinds, first, kind = np.unique(keys[np.concatenate([unl, pos])], return_index=True, return_inverse=True)
        rows = scaled[np.concatenate([unl, pos])[first]]
        of_unl, of_pos = (
            np.bincount(part, minlength=kinds.size) / part.size for part in np.split(kind.reshape(-1), [unl.size])
        )
        apart = of_unl - of_pos
        width = median_distance(rows) or 1.0  # most rows may be equal
        kernels = (gauss_features(rows, rows, float(factor) * width, threads) for factor in _KM2_WIDTHS)
        best = next(kernels)
        furthest = float(apart @ best @ apart)
        for kernel in kernels:
            square = float(apart @ kernel @ apart)
            if square > furthest:
                best, furthest = kernel, square
        every = (unl.size * of_unl + pos.size * of_pos) / (unl.size + pos.size)
        by_chance = (1 - float(every @ best @ every)) * (1 / unl.size + 1 / pos.size)
        trouble = "" if furthest >= _BY_CHANCE * by_chance + _ROUNDING else (
            f"the groups cannot be told apart: the squared distance of their means in feature space is {furthest:.3g}, "
            f"and {by_chance:.3g} is expected of two samples of one distribution; the estimate is made of noise"
        )  # fmt: skip
        return mixture_share(kernel_factor(best), of_unl, of_pos), trouble

    def allowed() -> ScoreShare:
        if scores is None:
            return _allowed(matrix, sample, generator, threads)
        return score_share(values[sample.pos], values[sample.unl])

    return _finished("km2", estimate, allowed, sample, n_boot, generator)


@answers_unknown_keywords
def bbe(
    X: object,
    y: object,
    *,
    scores: object = None,
    fit: Callable[[Any, NDArray[np.int64]], Any] | None = None,
    groups: object = None,
    n_boot: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior by best-bin estimation: from a score that tells positive from unlabelled rows.

    Rows are scored by models that have not been fitted to them. Let q_u and q_p be the shares of the unlabelled and of
    the positive rows above a cut of the scores. The ratio q_u / q_p is at least the prior for every cut, and equal to
    it if all rows above are positive. The best bin is above the cut with the least upper bound of the ratio: the upper
    end of q_u over the lower end of q_p, each an exact binomial bound (Clopper and Pearson) of 98 %, which is narrow
    for small shares.

    Where no bin holds positives alone, this ratio is too large. How fast it falls towards the largest scores shows how
    much is left at the end: a logistic model of the same scores, P(negative | s) : P(positive | s) proportional to
    e^-(a s + b), has a likelihood for each share. The estimate is the ratio of the best bin, moved into the shares that
    the likelihood allows within a standard error. Errors are those of `km2`, and one if `fit` returns no such model.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d), or None
        The unit of a column does not matter to the default `fit`, and missing entries and categories are taken as they
        are. A `fit` of yours gets rows of the kind that you pass, such as frames, whatever their columns hold.
        Leave copies of rows out, such as oversampled positives: models that have seen one copy score the other, and
        the estimate comes out too small.
    scores : array-like of shape (n,), optional
        In place of `X` and `fit`, which are None then: scores of the rows, larger for what is more like the positive
        ones, each by a model that was not fitted to the row. Such are `oob_decision_function` of a forest, which costs
        one fit and not fifteen, or scores of rows that were held out. Scores of the rows that a model was fitted to
        tell labelled from unlabelled rows too well: the estimate is then far too small.
    fit : callable, optional
        ``fit(X, y) -> model`` with y in {1, 0}, whose ``model.decision_function(X)`` is larger for what is more like
        the positive rows; by default the sum of two scores of positive against unlabelled rows: 100 boosted stumps
        (`fit_pnu_auc_boost`), and squared-loss AUC in 200 Gaussian basis functions (`fit_ls_auc`) of columns that are
        divided by their spread. Where entries are missing, or infinite, or columns have categories, the second is a
        forest of 200 trees (`fit_forest`).
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. Folds hold out
        whole groups, and `n_boot` draws whole groups; without that an estimate is far too small where the rows of a
        group are alike. What is `allowed` counts rows as if each told something of its own, and is too narrow then.
    y, n_boot, random_state, n_threads
        As in `km2`.

    Returns
    -------
    PriorEstimate
        At most 0.99. `allowed` goes from the least share that the likelihood allows (95 %) to the largest of that and
        the bound of the best bin. It begins at 0 where fewer than half of the labelled rows have scores at which, by
        the likelihood, less than a fifth of the unlabelled rows are negative: the ratio has no flat part then that
        would show where it ends. All are medians over three partitions into folds, unless `scores` are given.

    Warns
    -----
    EstimateWarning
        If the estimate is 0.99, which nothing in the data speaks against. If scores tell labelled from unlabelled rows
        nearly perfectly, so that a column may know the labels (see `fit_forest`). If less than 0.4 of the estimate is
        allowed too: it is an upper bound only, as the classes overlap too much or there are too few rows.

    Notes
    -----
    Fifteen fits to four fifths of the rows (fewer where a group has fewer rows), and O(n log n). Scores of a fit are
    divided by their standard deviation on its training rows, after their mean is subtracted, before they are pooled.

    The upper end of what is allowed held in nearly all simulations and on nearly all data sets with known labels. The
    lower end is a model's, and fails without a warning where some negative rows look like positive ones in every
    column. If half of the rows of all large scores are negative, say, because the classes differ in steps of a few
    columns, then nothing in the data tells this from twice the prior without any.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan and Lipton, "Mixture proportion estimation and PU learning: a modern approach",
    NeurIPS 2021 (best bin). Jain, White, Trosset and Radivojac, "Nonparametric semi-supervised learning of class
    proportions", 2016 (estimates by the likelihood of a score, and what cannot be identified).

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import bbe
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(6, 1, 700), rng.normal(0, 1, 280)
    >>> X = np.concatenate([positive, negative])[:, None]
    >>> y = np.arange(980) < 500  # 200 of the 480 others are positive
    >>> round(bbe(X, y, random_state=0).value, 1)
    0.4

    The out-of-bag scores of a forest do as well, if its bags leave rows of both groups out:

    >>> import fastpu
    >>> model = fastpu.fit_forest(X, y, bag_ratio=0.5, random_state=0)
    >>> round(bbe(None, y, scores=model.oob_decision_function).value, 1)
    0.4
    """
    threads, generator = resolve_n_threads(n_threads), check_random_state(random_state)
    if scores is None:
        require_given(X, "bbe")
        rows = TableRows(X, any_columns=fit is not None)
        counted, sample = sample_of(X, y, rows.n_rows, "bbe")
        sample = with_clusters(sample, groups, counted, rows.n_rows)
        rankers = open_rankers(rows.only(counted), fit, generator, threads)

        def share_of(drawn: Sample) -> ScoreShare:
            return share_by_scores(drawn, rankers, generator)
    else:
        sample, values = scored_rows(X, y, scores, fit, "bbe", groups)

        def share_of(drawn: Sample) -> ScoreShare:
            return score_share(values[drawn.pos], values[drawn.unl])

    shares: list[ScoreShare] = []

    def estimate(drawn: Sample) -> tuple[float, str]:
        shares.append(share_of(drawn))
        if shares[-1].value < _LARGEST:
            return shares[-1].value, ""
        return _LARGEST, (
            f"no share is contradicted by the data, and the largest, {_LARGEST:g}, is returned: the groups are alike, "
            "or the scores of fit do not tell them apart"
        )

    return _finished("bbe", estimate, lambda: shares[0], sample, n_boot, generator, limit_blas=fit is None)


# ---------------------------------------------------------------------------------------------- what they share


def _at_most(
    rows: NDArray[np.int64], keys: NDArray[np.uint64], count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows, or `count` drawn from them if more than that are distinct, in the order of their keys."""
    rows = rows[np.argsort(keys[rows], kind="stable")]
    if np.unique(keys[rows]).size <= count:
        return rows
    return rows[np.sort(generator.choice(rows.size, count, replace=False))]


def _allowed(matrix: Matrix, sample: Sample, generator: np.random.Generator, threads: int) -> ScoreShare:
    pos, unl = (
        rows if rows.size <= _MOST_SCORED else np.sort(generator.choice(rows, _MOST_SCORED, replace=False))
        for rows in (sample.pos, sample.unl)
    )
    scored = matrix[np.concatenate([pos, unl])]
    renumbered = Sample(np.arange(pos.size), np.arange(pos.size, pos.size + unl.size))
    return share_by_scores(renumbered, rankers_of_numbers(scored, generator, threads), generator)


def _finished(
    method: str,
    estimate: Callable[[Sample], tuple[float, str]],
    allowed: Callable[[], ScoreShare],
    sample: Sample,
    n_boot: object,
    generator: np.random.Generator,
    *,
    limit_blas: bool = True,
) -> PriorEstimate:
    """Return the estimate with the allowed shares and the bootstrap, and warn where it cannot be trusted."""
    n = check_int("n_boot", n_boot, low=0, high=MOST_SAMPLES)
    # A function of the user's may use threads as it likes.
    with one_blas_thread() if limit_blas else contextlib.nullcontext():
        value, trouble = estimate(sample)
        scored = allowed()
        samples = np.array([estimate(sample.redrawn(generator))[0] for _ in range(n)])
    samples.flags.writeable = False
    interval = None
    if samples.size:
        low, high = np.quantile(samples, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        interval = float(low), float(high)
    result = PriorEstimate(float(value), interval, samples, (scored.low, scored.high))
    if not trouble and scored.auc >= PERFECT and sample.pos.size >= FEWEST_POS and sample.unl.size >= FEWEST_UNL:
        trouble = _TOLD_APART
    if trouble := trouble or doubts(result, _REMEDY):
        warn(f"{method}: {trouble}", EstimateWarning)
    return result
