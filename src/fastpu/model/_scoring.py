"""What every fitted model does with rows: it scores them, calls them positive or not, and checks batches of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import MatrixLike
from fastpu.data._tables import is_lazy
from fastpu.data._validate import check_matrix
from fastpu.model._check import BatchCheck, batch_check
from fastpu.model._lazy import computed, of_partitions
from fastpu.model._record import ModelRecord
from fastpu.model._unlike import warn_of_unlike

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ScoringModel(ModelRecord, is_base=True):
    """A fitted model that scores rows. A subclass implements `_decision_function`."""

    def decision_function(self, X: MatrixLike, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores of the rows of `X`; larger is more positive.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Rows. float32 and float64, in C order or CSR, are used without a copy. For a Dask array or frame the scores
            are computed when they are asked for, partition by partition. No rows give no scores.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        ndarray of shape (n,)
            For a Dask array it is a Dask array, and for a Dask frame a Dask series.

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, or has other features than the training data.
        """
        threads = resolve_n_threads(n_threads)
        if is_lazy(X):
            lazy: NDArray[np.float64] = of_partitions(
                X, partial(self.decision_function, n_threads=n_threads), np.float64, self
            )
            return lazy
        return self._checked_scores(X, "X", threads)

    def check(self, X: MatrixLike, *, n_threads: int | None = None) -> BatchCheck:
        """Compare a batch of rows with the rows that the model was fitted to.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            The batch, in memory, with at least one row.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        BatchCheck
            When printed, it says which columns have more missing entries, have new categories or have shifted, whether
            the scores have shifted, and how many rows are called positive. The batch is compared with up to 2,000
            training rows without a label. By out-of-bag scores of these it also says how many positive rows chance
            alone explains. `to_frame` gives the numbers of every column.

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, has other features than the training data, or has no rows.
        """
        matrix = self._check_input(X, "X")
        if not matrix.n_rows:
            raise ValueError("X must have at least 1 row, got none")
        scores = self._decision_function(matrix, resolve_n_threads(n_threads))
        return batch_check(self, matrix, refuse_nan_scores(scores, "X"))

    def predict(self, X: MatrixLike, *, n_threads: int | None = None) -> NDArray[np.int64]:
        """Return +1 for the rows of `X` whose score exceeds `threshold`, and -1 for the others.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Rows, as `decision_function` takes them.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        ndarray of shape (n,)
            For a Dask collection they are computed when they are asked for.

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, or has other features than the training data.
        """
        if is_lazy(X):
            lazy: NDArray[np.int64] = of_partitions(X, partial(self.predict, n_threads=n_threads), np.int64, self)
            return lazy
        scores = self.decision_function(X, n_threads=n_threads)
        signs: NDArray[np.int64] = np.where(scores > self.threshold, np.int64(1), np.int64(-1))
        return signs

    def _checked_scores(self, X: object, name: str, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of unchecked rows; those whose sums overflow in both directions have none."""
        matrix = self._check_input(X, name)
        warn_of_unlike(self, matrix)
        return refuse_nan_scores(self._decision_function(matrix, n_threads), name) if matrix.n_rows else np.empty(0)

    def _scores_in_memory(self, X: Any, name: str, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of at least one row; of a Dask collection they, not its rows, are fetched."""
        scores: NDArray[np.float64] = (
            computed(self.decision_function(X)) if is_lazy(X) else self._checked_scores(X, name, n_threads)
        )
        if not scores.size:
            raise ValueError(f"{name} must have at least 1 row, got none")
        return scores

    def _check_input(self, X: object, name: str) -> Any:
        """Return `X` in the form that `_decision_function` takes."""
        return check_matrix(
            X, name=name, n_features=self.n_features, feature_names=self.feature_names, may_be_empty=True
        )

    def _out_of_bag(self) -> NDArray[np.float64] | None:
        """Return scores of the training rows, labelled ones too, by parts that were not fitted to them, or None."""
        return None

    def _has_groups(self) -> bool:
        """Tell whether the model knows that its training rows belong together in groups."""
        return False

    @abstractmethod
    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of a checked matrix."""


def refuse_nan_scores(scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the scores of the rows called `name`, of shape (n,) or (n, m), or raise ValueError where one is NaN."""
    if (without := np.isnan(scores)).any():
        row = int(np.argmax(without.reshape(len(scores), -1).any(axis=1)))
        raise ValueError(f"{name} has entries so large that its scores overflow, first in row {row}")
    return scores
