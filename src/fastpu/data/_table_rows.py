"""Subsets of the rows of `X` in any of its forms, handed on in that form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._frames import kinds_of_columns, take_columns, take_rows
from fastpu.data._tables import known_table, table_library
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import BinnedFeatures


class TableRows:
    """The rows of an array, a sparse matrix, a frame or binned features, checked once, to take subsets of.

    With `any_columns` the columns of a frame may hold what no method of fastpu takes, such as dates: the function that
    the rows are meant for is the user's own.
    """

    def __init__(self, X: Any, *, name: str = "X", any_columns: bool = False) -> None:
        X = known_table(X, name)
        self._kind = table_library(X)
        if self._kind is None and not isinstance(X, BinnedFeatures):
            X = check_matrix(X, name=name, finite=False).table()
        elif self._kind is not None and not any_columns:
            kinds_of_columns(X, self._kind, name)
        self.X: Any = X
        self.n_rows = int(X.shape[0])

    def take(self, rows: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> Any:
        """Return some rows, and some columns of them: of a kernel matrix, whose columns stand for the rows as well."""
        if columns is None:
            return take_rows(self.X, self._kind, rows)
        if not isinstance(self.X, np.ndarray) or self.X.shape[1] != self.n_rows:
            raise ValueError(
                f"X must be a square array with kernel='precomputed', got shape {tuple(self.X.shape)} "
                f"({type(self.X).__name__})"
            )
        return self.X[np.ix_(rows, columns)]

    def only(self, rows: NDArray[np.int64]) -> TableRows:
        """Return the rows of these numbers, which ascend; all of them without a copy."""
        return self if rows.size == self.n_rows else self._like(self.take(rows))

    def without_column(self, number: int) -> TableRows:
        """Return all rows without the column of this number."""
        kept = [column for column in range(self.X.shape[1]) if column != number]
        return self._like(take_columns(self.X, self._kind, kept))

    def _like(self, X: Any) -> TableRows:
        """Return a part of these rows, which need not be checked again."""
        part: TableRows = object.__new__(TableRows)
        part.X, part.n_rows, part._kind = X, int(X.shape[0]), self._kind
        return part
