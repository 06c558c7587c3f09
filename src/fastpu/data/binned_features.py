"""Features cut into bins once, for many boosting fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int
from fastpu.common._text import describe, short, where_column
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import MatrixLike, VectorLike
from fastpu.data._categories import (
    MOST_IN_SETS,
    ColumnCategories,
    categorical_columns,
    category_flags,
    columns_in_order,
    has_levels,
)
from fastpu.data._first_row_order import by_first_rows
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._tables import Titles
from fastpu.data._validate import check_features, check_matrix, check_sample_weight


@dataclass(frozen=True, eq=False, repr=False)
class BinnedFeatures:
    """Features cut into bins: made by `bin_features`, taken by the boosting functions in place of `X`.

    The code of a value is the number of cuts below it; NaN counts as -inf. Immutable and picklable.

    Attributes
    ----------
    feature_names : tuple of str, or None
        Names of the columns, if the data had names.
    max_bins : int
        The most cuts of a feature that were asked for.
    categories : mapping of str to tuple
        The categories of each categorical column of a frame, by the number of the column as text.
    """

    _native: _core.BinnedFeatures
    feature_names: Titles
    max_bins: int
    categories: ColumnCategories = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._native.n_rows

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._native.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and features."""
        return (self.n_rows, self.n_features)

    @property
    def is_sparse(self) -> bool:
        """Whether the bins of zeros are implied, as for CSR input."""
        return self._native.is_sparse

    @property
    def nbytes(self) -> int:
        """Bytes of codes and cuts."""
        return self._native.n_bytes

    @property
    def cuts(self) -> tuple[NDArray[np.float64], ...]:
        """The cuts of each feature, ascending."""
        starts, values = self._native.cut_starts, self._native.cut_values
        values.flags.writeable = False
        return tuple(values[a:b] for a, b in pairwise(starts))

    def codes(self) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Return the codes as a new dense array of shape (n_rows, n_features).

        Raises
        ------
        ValueError
            If the features are sparse: use `column` then.
        """
        if self.is_sparse:
            raise ValueError("sparse binned features hold no dense codes: use column")
        codes = np.empty(self.shape, np.uint8 if self.max_bins <= 255 else np.uint16)
        for feature in range(self.n_features):
            codes[:, feature] = self._native.column(feature)
        return codes

    def column(self, feature: int) -> NDArray[np.uint32]:
        """Return the codes of one feature as a new array of length n_rows."""
        return self._native.column(check_int("feature", feature, low=0, high=self.n_features - 1))

    def _check_fits(self, name: str, model: Any) -> None:
        """Raise ValueError, by the name of the argument, unless these can be rows of a model with such columns."""
        check_features(self.n_features, self.feature_names, name, model.n_features, model.feature_names)
        for column in sorted({*categorical_columns(model.categories), *categorical_columns(self.categories)}):
            known, here = (of.categories.get(str(column), "numbers") for of in (model, self))
            if known != here or has_levels(model.categories, column) != has_levels(self.categories, column):
                raise ValueError(
                    f"{name} must have in {where_column(column, model.feature_names)} what the training data have "
                    f"there, {short(known)}, got {short(here)}"
                )

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        # NumPy would go through the rows one by one instead.
        raise TypeError("BinnedFeatures only stand for X in a fit or a prediction; codes() and column() return arrays")

    def __getitem__(self, rows: object) -> BinnedFeatures:
        """Return the binned subset of rows, in the order given, with the same cuts.

        `rows` is a slice, a list or array of row numbers (negative ones count from the end) or a boolean mask, and
        chooses at least one row.
        """
        positions = _positions(rows, self.n_rows)
        if positions.size == 0:
            raise ValueError(f"rows must choose at least one of the {self.n_rows} rows, got none")
        taken = self._native.take(positions, n_threads=1)
        return BinnedFeatures(taken, self.feature_names, self.max_bins, self.categories)

    def __repr__(self) -> str:
        form = "sparse" if self.is_sparse else "dense"
        return (
            f"BinnedFeatures(n_rows={self.n_rows}, n_features={self.n_features}, {form}, "
            f"max_bins={self.max_bins}, nbytes={self.nbytes})"
        )


def bins_or_matrix(X: object, name: str, model: Any) -> Matrix | BinnedFeatures:
    """Return rows checked for a model that takes bins, NaN, infinities and categories; errors name them `name`.

    In place of the model its training rows serve as well.
    """
    if isinstance(X, BinnedFeatures):
        X._check_fits(name, model)
        return X
    return check_matrix(
        X,
        name=name,
        finite=False,
        may_be_empty=True,
        n_features=model.n_features,
        feature_names=model.feature_names,
        categories=model.categories,
    )


def require_rows(X: object, function: str) -> None:
    """Raise TypeError if X is not the rows but their bins, which this function cannot use."""
    if isinstance(X, BinnedFeatures):
        raise TypeError(
            f"X must be the rows themselves for {function}, got BinnedFeatures, which are for boosting and forests only"
        )


def _positions(rows: object, n_rows: int) -> NDArray[np.int64]:
    """Return numbers of rows; NumPy refuses those out of range, masks of another length and what is no number."""
    index: Any = rows
    if not isinstance(rows, slice):
        index = np.asarray(rows)
        if index.ndim != 1 or isinstance(rows, tuple):
            raise TypeError(
                f"rows must be a slice, a one-dimensional array of integers or a boolean mask, got {describe(rows)}"
            )
        index = index if index.size else slice(0)  # an empty list would be an array of floats
    return np.ascontiguousarray(np.arange(n_rows, dtype=np.int64)[index])


@answers_unknown_keywords
def bin_features(
    X: MatrixLike,
    *,
    max_bins: int = 255,
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
) -> BinnedFeatures:
    """Cut every feature into bins at quantiles.

    A cut lies midway between two neighbouring values. A feature with at most `max_bins` + 1 distinct values is cut
    between all of them. Any other feature is cut at quantiles: with K = `max_bins`, cut k is the lowest one that has at
    least k / (K + 1) of the n rows below it, for k = 1, ..., K, and the highest one if there is none. Equal cuts count
    once. NaN counts as -inf. A feature that has NaN or -inf is always cut just above them; if it has `max_bins` other
    cuts, the lowest of these is left out.

    A column of categories (strings, pandas' "category", polars' Categorical and Enum) is not cut. Its categories get
    the codes 1, 2, ... in the order in which the rows show them first, and missing entries get the code 0. At most 255
    categories are taken. (Fits take more, because they can put them in an order by the labels.) An ordered column of
    pandas is a column of numbers: the places of its levels among all levels of the dtype.

    Binned features can be used for any number of fits, with other labels, other parameters, or subsets ``B[rows]``.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are read without a copy. Sparse input stays sparse.
    max_bins : int, default 255
        The most cuts of a feature, from 1 to 65535. With up to 255 a code takes one byte, with more it takes two.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 for the quantiles. A weight counts as that many repetitions of the row. Rows of weight 0 get codes,
        but do not influence the cuts.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The result is the same,
        bit by bit, for any number.

    Returns
    -------
    BinnedFeatures
        The bins. `cuts` are the cuts of each feature, and `codes()` gives the number of the bin of each value.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    MemoryError
        If the codes do not fit into memory.

    Notes
    -----
    O(n d) time, for a radix sort of every feature. The codes take two bytes a value (four for ``max_bins > 255``),
    because they are stored by columns and by rows; rows are padded to 8, 16, 32 or a multiple of 64 bytes. For CSR they
    take 12 bytes for each value whose bin is not that of zero. During the call, binning needs another 64 bytes a row
    (128 for float64; for CSR about 16 for each row and each stored value), and 16 to 48 bytes a row for every thread.

    Examples
    --------
    >>> import fastpu
    >>> B = fastpu.bin_features([[1.0], [2.0], [2.0], [5.0]])
    >>> B.cuts[0]
    array([1.5, 3.5])
    >>> B.codes().ravel()
    array([0, 1, 1, 2], dtype=uint8)
    """
    max_bins = check_int("max_bins", max_bins, low=1, high=_core.MOST_CUTS)
    matrix = check_matrix(X, finite=False, takes_categories=True)
    for column in columns_in_order(matrix.categories):
        raise ValueError(
            f"X must have at most {MOST_IN_SETS} categories in {where_column(column, matrix.feature_names)} for "
            f"bin_features, got {len(matrix.categories[str(column)])}: more are put in an order by the labels, so pass "
            f"X itself to the fit"
        )
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    if isinstance(matrix, DenseMatrix):
        matrix = by_first_rows(matrix, weights)
    return binned(matrix, max_bins, weights, resolve_n_threads(n_threads))


def binned(matrix: Matrix, max_bins: int, weights: NDArray[np.float64] | None, n_threads: int) -> BinnedFeatures:
    """Return the binned features of a checked matrix."""
    flags = category_flags(matrix.categories, matrix.n_features)
    native = _core.bin_features(matrix, max_bins, weights, n_threads, flags)
    return BinnedFeatures(native, matrix.feature_names, max_bins, matrix.categories)


def bin_at(matrix: Matrix, form: BinnedFeatures) -> BinnedFeatures:
    """Return rows binned at the cuts of others by one thread; a frame must have been read with their categories."""
    arrays = (form._native.cut_starts, form._native.cut_values, form._native.bin_values)
    native = _core.bin_features(matrix, form.max_bins, None, 1, None, arrays)
    return BinnedFeatures(native, form.feature_names, form.max_bins, form.categories)


def stacked_bins(parts: Sequence[BinnedFeatures]) -> BinnedFeatures:
    """Return binned rows that have the same cuts, one below the other, copied by one thread."""
    first = parts[0]
    native = _core.stack_binned([part._native for part in parts], 1)
    return BinnedFeatures(native, first.feature_names, first.max_bins, first.categories)
