"""Best-bin estimation of the prior: from a score that tells positive from unlabelled rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RandomState, ScoresRows, VectorLike
from fastpu.data._table_rows import TableRows
from fastpu.model._prior import PriorEstimate
from fastpu.priors._finished_estimate import MOST_SAMPLES, finished_estimate
from fastpu.priors._held_out_scores import Ranker, open_rankers, share_by_scores
from fastpu.priors._inputs import require_rows_or_scores, scored_rows
from fastpu.priors._likelihood import ScoreShare, score_share
from fastpu.priors._sample import Sample, sample_of

_LARGEST = 0.99  # largest share that bbe returns
_ALIKE = (
    f"the data contradict no share, and the largest, {_LARGEST:g}, is returned: either labelled and unlabelled rows "
    f"are alike, or the scores do not tell them apart"
)


@answers_unknown_keywords
def bbe(
    X: MatrixLike | None,
    y: LabelsLike,
    *,
    scores: VectorLike | None = None,
    fit: Callable[[Any, NDArray[np.int64]], ScoresRows] | None = None,
    groups: GroupsLike | None = None,
    n_boot: int = 0,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> PriorEstimate:
    """Estimate the prior, the share of positives among the unlabelled rows, by best-bin estimation.

    Rows are scored by models that have not been fitted to them. Let q_u and q_p be the shares of the unlabelled and of
    the positive rows above a cut of the scores. The ratio q_u / q_p is at least the prior for every cut, and equal to
    it if all rows above are positive. The best bin lies above the cut with the least upper bound of the ratio. That
    bound is the upper end of q_u divided by the lower end of q_p, each an exact binomial bound (Clopper and Pearson) of
    98 %.

    If no bin holds positives alone, this ratio is too large. How fast it falls towards the largest scores shows how
    much too large: a logistic model of the same scores, in which the odds of negative against positive rows are
    proportional to e^-(a s + b), gives each share a likelihood. The estimate is the ratio of the best bin, or the
    nearest share that the likelihood allows within a standard error.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d), or None
        Rows of features, or None if `scores` are passed. The units of columns do not matter to the default `fit`.
        Missing entries and categories are taken as they are. Leave out copies of rows, such as oversampled positives:
        models that have seen one copy score the other, and the estimate becomes too small.
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. There must be at
        least two of each. Labelled negative rows (-1) are left out.
    scores : array-like of shape (n,), optional
        In place of `X` and `fit`: one score for each row, larger for rows that are more like the positive ones, by a
        model that was not fitted to the row. Take `oob_decision_function` of a forest, which costs one fit in place of
        fifteen, or scores of held-out rows. Scores of training rows make the estimate far too small. Rows whose score
        is NaN, as out-of-bag scores may be, are left out, with a warning.
    fit : callable, optional
        A function ``fit(X, y) -> model`` with `y` in {1, 0}, whose ``model.decision_function(X)`` is larger for rows
        that are more like the positive ones. It gets rows of the kind that you pass, such as frames. By default two
        models are added up: 100 boosted stumps (`fastpu.fit_pnu_auc_boost`), and squared-loss AUC in 200 Gaussian basis
        functions (`fastpu.baselines.fit_ls_auc`). If entries are missing or infinite, or columns have categories, a
        forest of 200 trees (`fastpu.fit_forest`) takes the place of the second.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Folds
        then hold out whole groups, and `n_boot` draws whole groups. `allowed` takes the rows of a group to be alike:
        it counts as many rows as there are groups, or fewer if groups differ in size. Without `groups` the estimate is
        far too small if the rows of a group are alike, and `allowed` is too narrow.
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
        The estimate. Its `value` is at most 0.99. Its `allowed` goes from the least share that the likelihood allows
        (95 %) to the largest such share or the bound of the best bin, whichever is larger. `allowed` begins at 0 if the
        ratio has no flat part that shows where it ends: that is, if fewer than half of the labelled rows have scores at
        which, by the likelihood, less than a fifth of the unlabelled rows are negative. All numbers are medians over
        three partitions into folds, unless `scores` are passed.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `fit` returns no model with scores.

    Warns
    -----
    EstimateWarning
        If the estimate is 0.99, the largest that is given: nothing in the data speaks against it. If scores separate
        labelled from unlabelled rows nearly perfectly, so that a column may know the labels (see `fit_forest`). If
        shares below 0.4 of the estimate are allowed: then it is only an upper bound, as the classes overlap too much or
        there are too few rows.

    Notes
    -----
    Fifteen fits to four fifths of the rows (fewer if there are fewer than five positive or unlabelled rows), and
    O(n log n). Scores of a fit are standardised by their mean and standard deviation on its training rows before they
    are pooled.

    The upper end of what is allowed held in nearly all simulations and on nearly all data sets with known labels. The
    lower end comes from a model, and fails without a warning if some negative rows look like positive ones in every
    column. For example, half of the rows may be negative at every large score, because the classes differ in steps of a
    few columns. Such data look the same as data with twice the prior in which no negative row has a large score.

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
    n_samples = check_int("n_boot", n_boot, low=0, high=MOST_SAMPLES)
    scored: _ByModels | _ByScores
    if scores is not None:
        sample, values = scored_rows(X, y, scores, fit, "bbe", groups)
        scored = _ByScores(values)
    else:
        require_rows_or_scores(X, "bbe")
        rows = TableRows(X, any_columns=fit is not None)
        counted, sample = sample_of(X, y, rows.n_rows, "bbe", groups)
        scored = _ByModels(open_rankers(rows.only(counted), fit, generator, threads), generator)
    # A function of the user's may use threads as it likes.
    with one_blas_thread() if fit is None else contextlib.nullcontext():
        share = scored.share(sample)
        samples = np.array([min(_LARGEST, scored.share(sample.redrawn(generator)).value) for _ in range(n_samples)])
    trouble = "" if share.value < _LARGEST else _ALIKE
    return finished_estimate("bbe", min(_LARGEST, share.value), share, samples, sample, trouble)


@dataclass(frozen=True)
class _ByScores:
    """The share by scores that the user has."""

    scores: NDArray[np.float64]

    def share(self, sample: Sample) -> ScoreShare:
        return score_share(self.scores[sample.pos], self.scores[sample.unl], sample.per_row)


@dataclass(frozen=True)
class _ByModels:
    """The share by scores of models that are fitted to other rows."""

    rankers: list[Ranker]
    generator: np.random.Generator

    def share(self, sample: Sample) -> ScoreShare:
        return share_by_scores(sample, self.rankers, self.generator)
