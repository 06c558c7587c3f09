"""The model of the boosting functions: a weighted sum of decision stumps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._categories import Kept, category_flags, check_kept, columns_in_sets
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix
from fastpu.model._model import Model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StumpEnsemble(Model):
    """A sum of decision stumps, f(x) = sum_t alphas[t] h_t(x).

    Stump t fires (h_t = 1) where x[features[t]] > thresholds[t] if polarity[t] is +1, and where not if it is
    -1; where it does not fire, h_t = `low`. NaN is above no threshold. On a column of up to 255 categories a stump has
    a set of them in place of a threshold. Missing entries count as a category there; categories without training rows
    are where missing entries are.

    Attributes
    ----------
    features : ndarray of int32, shape (n_iter,)
        Feature of each stump.
    thresholds : ndarray of float64, shape (n_iter,)
        On a column of up to 255 categories: the row of `category_sets`; of more: a threshold for their places.
    polarity : ndarray of int8, shape (n_iter,)
    alphas : ndarray of float64, shape (n_iter,)
        Weights, all positive.
    deltas : ndarray of float64, shape (n_iter,)
        Delta of each stump on the row weights that it was chosen on (for `fit_pnu_adaboost` its edge); of a set of
        categories less their standard errors.
    z : ndarray of float64, shape (n_iter,)
        Factor by which the stump changed the risk (the exponential loss, for `fit_pnu_adaboost`).
    objective : ndarray of float64, shape (n_iter,)
        log J after each round.
    category_sets : ndarray of uint64, shape (n_sets, 4)
        Sets in 256 bits: bit 0 is set if missing entries are in it, bit v + 1 if the category at place v of
        `categories` is.
    categories : mapping of str to tuple
        The categories of each categorical column, by the number of the column as text; more than 255 in the order of
        their shares of positive rows.
        "levels" lists the columns whose categories are ordered, and split like numbers.
    low : float
        0 for the AUC methods, -1 for `fit_pnu_adaboost`.
    status : str
        "n_rounds" (all rounds were made), "no_gain" (no stump is left that improves the objective),
        "perfect" (the last stump separates the groups), "early_stopping" (by `eval_set` or by folds) or "callback".
    converged : bool
        Whether the fit ended as it was asked to: by a stopping rule, or with all its rounds where neither early
        stopping nor a larger `stop_tol` was asked for. False where a callback ended it. True for an empty model (n_iter
        0, status "no_gain"), where no stump was good enough from the start.
    history : mapping
        "delta", "alpha", "z", "objective" and, with an `eval_set`, "eval_auc": a value for every round that
        was run, also for rounds that early stopping then dropped. Where folds chose the number of rounds, "fold_auc"
        is the mean AUC of the folds after each round that was run in them.

    Notes
    -----
    `decision_function`, `predict`, `with_threshold` and `staged_decision_function` also take BinnedFeatures in place
    of `X`, if the thresholds of the model are among their cuts. After a fit on ``B`` they are for every ``B[rows]``.
    A frame must have categories where the training data had some; it may code them in any way.
    """

    features: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    polarity: NDArray[np.int8]
    alphas: NDArray[np.float64]
    deltas: NDArray[np.float64]
    z: NDArray[np.float64]
    low: float
    category_sets: NDArray[np.uint64] = field(default_factory=lambda: np.empty((0, 4), dtype=np.uint64))
    categories: Kept = field(default_factory=dict)

    _ndim: ClassVar[Mapping[str, int]] = {"category_sets": 2}

    def _check_fields(self) -> None:
        arrays = (self.features, self.thresholds, self.polarity, self.alphas, self.deltas, self.z, self.objective)
        if any(array.size != self.n_iter for array in arrays):
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

    def staged_decision_function(self, X: object) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of the rows of `X` after each round, each time as a new array of shape (n,).

        `X` and the errors are as in `decision_function`; the last array equals its result up to rounding. Each round
        costs O(n), for a CSR matrix O(its entries), on one thread.
        """
        return self._staged(self._check_input(X, "X"))

    def _staged(self, matrix: Matrix | BinnedFeatures) -> Iterator[NDArray[np.float64]]:
        scores: NDArray[np.float64] = np.zeros(matrix.n_rows)
        for t in range(self.n_iter):
            scores = scores + self._scores(matrix, slice(t, t + 1), 1)
            yield scores

    def _check_input(self, X: object, name: str) -> Any:
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
            n_threads=n_threads,
        )
