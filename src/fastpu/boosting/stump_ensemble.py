"""The model of the boosting functions: a weighted sum of decision stumps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._types import MatrixLike
from fastpu.data._categories import ColumnCategories, category_flags, check_kept, columns_in_sets
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix
from fastpu.model._model import Model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StumpEnsemble(Model):
    """A sum of decision stumps, f(x) = sum_t alphas[t] h_t(x).

    Stump t fires (h_t = 1) where x[features[t]] > thresholds[t] if polarity[t] is +1, and where this is not so if it is
    -1. Elsewhere h_t = `low`. A stump on a column of up to 255 categories has a set of categories in place of a
    threshold, and missing entries count as a category.

    A missing entry (NaN, -inf) of a column of numbers is below every threshold if the training rows had missing entries
    in this column. If they had none, it is on the side of each threshold where more of the training rows are. A
    category that no training row had is on that side too.

    Attributes
    ----------
    features : ndarray of int32, shape (n_iter,)
        The feature of each stump.
    thresholds : ndarray of float64, shape (n_iter,)
        The threshold of each stump. On a column of up to 255 categories it is the number of a row of `category_sets`.
        On a column of more categories it is a threshold for their places in `categories`.
    polarity : ndarray of int8, shape (n_iter,)
        +1 for a stump that fires above its threshold (or in its set), -1 for one that fires elsewhere.
    alphas : ndarray of float64, shape (n_iter,)
        The weights of the stumps, all positive.
    missing_above : ndarray of int8, shape (n_iter,), or None
        1 where a missing entry of a column of numbers is above the threshold, else 0. None, in files of earlier
        versions, means 0 for all stumps.
    deltas : ndarray of float64, shape (n_iter,)
        Delta of each stump, by the weights of the rows before it was added (its edge, for `fit_pnu_adaboost`). For a
        set of categories their standard errors are subtracted.
    z : ndarray of float64, shape (n_iter,)
        The factor by which each stump changed the risk (the exponential loss, for `fit_pnu_adaboost`).
    objective : ndarray of float64, shape (n_iter,)
        log J after each round.
    category_sets : ndarray of uint64, shape (n_sets, 4)
        Sets of categories in 256 bits. Bit 0 is set if missing entries are in the set, and bit v + 1 if the category at
        place v of `categories` is.
    categories : mapping of str to tuple
        The categories of each column of categories, by the number of the column as text. More than 255 categories are
        in the order of their shares of positive rows. "levels" lists the columns with ordered categories, which are
        split like numbers.
    low : float
        The vote of a stump that does not fire: 0 for the AUC methods, -1 for `fit_pnu_adaboost`.
    status : str
        Why the fit ended. "n_rounds": all rounds were made. "no_gain": no stump improves the objective. "perfect": the
        last stump separates the groups. "early_stopping": by `eval_set` or by folds. "callback": the callback ended it.
    converged : bool
        Whether the fit ended as it was asked to: by a stopping rule, or after all rounds if there was neither early
        stopping nor a larger `stop_tol`. False if a callback ended it. True for a model without stumps (n_iter 0,
        status "no_gain").
    history : mapping
        "delta", "alpha", "z", "objective" and, with an `eval_set`, "eval_auc" have a value for every round, also for
        the rounds that early stopping dropped. If folds chose the number of rounds, "fold_auc" has the mean AUC of the
        folds after each of their rounds.

    Notes
    -----
    `decision_function`, `predict`, `with_threshold` and `staged_decision_function` also take BinnedFeatures in place
    of `X`, if the thresholds of the model are among their cuts. After a fit on ``B`` they take every ``B[rows]``. A
    frame must have categories in the columns where the training data had some, coded in any way.
    """

    features: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    polarity: NDArray[np.int8]
    alphas: NDArray[np.float64]
    deltas: NDArray[np.float64]
    z: NDArray[np.float64]
    low: float
    missing_above: NDArray[np.int8] | None = None
    category_sets: NDArray[np.uint64] = field(default_factory=lambda: np.empty((0, 4), dtype=np.uint64))
    categories: ColumnCategories = field(default_factory=dict)

    _ndim: ClassVar[Mapping[str, int]] = {"category_sets": 2}

    def _check_fields(self) -> None:
        arrays = (self.features, self.thresholds, self.polarity, self.alphas, self.deltas, self.z, self.objective)
        sizes = [array.size for array in (*arrays, self.missing_above) if array is not None]
        if any(size != self.n_iter for size in sizes):
            raise ValueError(f"a model of {self.n_iter} stumps must have as many entries in each of its arrays")
        if self.features.size and (self.features.min() < 0 or self.features.max() >= self.n_features):
            raise ValueError(f"features must be in [0, {self.n_features})")
        with np.errstate(over="ignore"):
            largest = 4 * np.abs(self.alphas).sum()  # more than any score, or any step on the way to it
        if np.isnan(self.thresholds).any() or not np.isfinite(largest):
            raise ValueError("thresholds must be numbers, and alphas finite with a finite sum")
        if not np.isin(self.polarity, (-1, 1)).all():
            raise ValueError("polarity must be +1 or -1")
        if self.low not in (0.0, -1.0):
            raise ValueError(f"low must be 0 or -1, got {self.low}")
        check_kept(self.categories, self.n_features)
        if self.category_sets.shape[1:] != (4,):
            raise ValueError("category_sets must have 4 columns")
        numbers = self.thresholds[np.isin(self.features, columns_in_sets(self.categories))]
        if not np.isin(numbers, np.arange(len(self.category_sets))).all():
            raise ValueError("thresholds of stumps on columns of categories must be rows of category_sets")

    @property
    def feature_importances(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of log J, shape (n_features,); sums to 1, or is all zero."""
        gains = np.maximum(-np.diff(self.objective, prepend=0.0), 0.0)
        shares = np.bincount(self.features, gains, minlength=self.n_features).astype(np.float64)
        total = float(shares.sum())
        return shares / total if total > 0 else shares

    def staged_decision_function(self, X: MatrixLike) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of the rows of `X` after each round, each time as a new array of shape (n,).

        `X` is what `decision_function` takes, and the last array equals its result up to rounding. Each round costs
        O(n), or O(entries) for a CSR matrix, on one thread.
        """
        return self._staged(self._check_input(X, "X"))

    def _staged(self, matrix: Matrix | BinnedFeatures) -> Iterator[NDArray[np.float64]]:
        scores: NDArray[np.float64] = np.zeros(matrix.n_rows)
        for t in range(self.n_iter):
            scores = scores + self._scores(matrix, slice(t, t + 1), 1)
            yield scores

    def _check_input(self, X: object, name: str) -> Matrix | BinnedFeatures:
        return bins_or_matrix(X, name, self)

    def _decision_function(self, matrix: Matrix | BinnedFeatures, n_threads: int) -> NDArray[np.float64]:
        return self._scores(matrix, slice(None), n_threads)

    def _scores(self, matrix: Matrix | BinnedFeatures, stumps: slice, n_threads: int) -> NDArray[np.float64]:
        return _core.stump_scores(
            matrix,
            self.features[stumps],
            self.thresholds[stumps],
            self.polarity[stumps],
            self.alphas[stumps],
            n_features=self.n_features,
            low=self.low,
            categorical=category_flags(self.categories, self.n_features),
            category_sets=self.category_sets,
            missing_above=None if self.missing_above is None else self.missing_above[stumps],
            n_threads=n_threads,
        )
