"""The rows of a fit around another classifier, clones of which are fitted to some of them."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from fastpu.common._params import check_int
from fastpu.common._text import describe
from fastpu.data._folds import Fold, fold_sizes, stratified_folds
from fastpu.estimators._inner_estimator import scores_of, weight_name
from fastpu.selection._splits import check_folds, is_splitter


@dataclasses.dataclass(frozen=True)
class CloneRows:
    """The rows of one fit, and the estimator of which clones are fitted to some of them.

    `X` are rows as the user gave them, converted only if they could not be indexed by rows. `response` is the method of
    the estimator whose values are the scores. `params` are further arguments of its fit; those with an entry for each
    row are cut like the rows. Metadata routing may make `estimator_weights` differ from the user's `weights`.
    `clusters` numbers the groups of rows that belong together, if the user has named some.
    """

    X: Any
    classes: NDArray[Any]
    codes: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    estimator: Any
    response: str
    params: Mapping[str, Any]
    estimator_weights: NDArray[np.float64] | None
    clusters: NDArray[np.int32] | None

    @property
    def mass(self) -> NDArray[np.float64]:
        """The weights of the rows, all 1 if there are none."""
        return np.ones(self.codes.size) if self.weights is None else self.weights

    def rows(self, code: int) -> NDArray[np.intp]:
        """Return the numbers of the rows of positive weight that have this code."""
        return np.flatnonzero((self.codes == code) & (self.mass > 0))

    def require_groups(self, owner: Any) -> None:
        """Raise ValueError unless there are positive and unlabelled rows of positive weight."""
        for code, kind in ((1, "positive"), (0, "unlabelled")):
            if not self.rows(code).size:
                raise ValueError(f"y must hold {kind} rows of positive weight for {type(owner).__name__}, got none")

    def fit(
        self,
        rows: NDArray[np.intp],
        positive: NDArray[np.bool_],
        share: NDArray[np.float64] | None = None,
        seed: int | None = None,
    ) -> Any:
        """Return a clone of the estimator that is fitted to rows by their numbers, which may repeat.

        Its labels are 1 for `positive` and 0 for the others. `share` multiplies the weights of the rows. `seed` is
        for the random states in the estimator, which are left as they are where it is None.
        """
        machine = clone(self.estimator)
        if seed is not None:
            names = sorted(name for name in machine.get_params() if name.rpartition("__")[2] == "random_state")
            seeds = np.random.default_rng(seed).integers(2**31 - 1, size=len(names))
            machine.set_params(**dict(zip(names, map(int, seeds), strict=True)))
        fit_arguments = _check_method_params(self.X, self.params, indices=rows)
        weights = share
        if self.estimator_weights is not None:
            weights = self.estimator_weights[rows] * (1.0 if share is None else share)
        if weights is not None:
            fit_arguments[str(weight_name(self.estimator))] = weights
        machine.fit(self._cut(rows), positive.astype(np.intp), **fit_arguments)
        return machine

    def scores(self, machine: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return scores_of(machine, self._cut(rows), self.response)

    def _cut(self, rows: NDArray[np.intp]) -> Any:
        if np.array_equal(rows, np.arange(self.codes.size)):
            return self.X  # all rows, without a copy
        return _safe_indexing(self.X, rows)


def folds_of(training: CloneRows, rows: NDArray[np.intp], cv: Any) -> list[Fold]:
    """Return (rows to fit to, rows to score) of each fold; each of `rows` is scored in one fold.

    For a number `cv` the folds are the same in every fit and have equally many positive rows; there are at most as many
    folds as positive rows, or as others. With groups the folds have whole ones, and at most as many as have such rows.
    Other `cv` divide all rows of the fit, of which those in `rows` are kept.
    """
    if isinstance(cv, numbers.Integral):
        return _numbered_folds(training, rows, check_int("cv", cv, low=2))
    pairs = cv
    if is_splitter(cv):
        positive = training.codes == 1
        grouped = () if training.clusters is None else (training.clusters,)
        pairs = cv.split(training.X, positive, *grouped)
    all_folds = check_folds(pairs, training.codes.size, others="an integer >= 2, a splitter of scikit-learn's kind,")
    folds = [(np.intersect1d(rows, kept), np.intersect1d(rows, held_out)) for kept, held_out in all_folds]
    if not np.array_equal(np.sort(np.concatenate([held_out for _, held_out in folds])), np.sort(rows)):
        raise ValueError(f"cv must hold every row out once, got {describe(cv)}")
    return folds


def _numbered_folds(training: CloneRows, rows: NDArray[np.intp], cv: int) -> list[Fold]:
    positive = (training.codes[rows] == 1).astype(np.int8)
    clusters = None if training.clusters is None else training.clusters[rows]
    sizes = fold_sizes(positive, clusters)
    n_folds = min(cv, sizes[1], sizes[0])
    if n_folds < 2:
        raise ValueError(
            f"y must have at least 2 labelled positive rows and 2 others, to be scored by fits that have not seen "
            f"them, got {sizes[1]} and {sizes[0]}"
            if clusters is None
            else f"groups must have at least 2 groups with labelled positive rows and 2 with others, to be scored by "
            f"fits that have not seen them, got {sizes[1]} and {sizes[0]}"
        )
    pairs = stratified_folds(positive, n_folds, np.random.default_rng(0), clusters)
    return [(rows[kept], rows[held_out]) for kept, held_out in pairs]
