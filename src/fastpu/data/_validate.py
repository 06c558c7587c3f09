"""The one place where inputs are checked and converted.

Every error names the argument, says what was expected and shows what came. Inputs are never
written to, and an input that is already in the form the core reads is passed on without a copy.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._methods import methods_that_take, methods_with
from fastpu.common._text import describe, short, variable, where_column
from fastpu.data._categories import ColumnCategories, categorical_columns
from fastpu.data._coding import apply_codes, read_labels, read_series
from fastpu.data._frames import kinds_of_columns, read_frame
from fastpu.data._matrix import DenseMatrix, Floats, Matrix, check_whole_numbers, native_floats
from fastpu.data._sparse import read_sparse
from fastpu.data._tables import Titles, check_titles, known_table, missing_and_unexpected, table_library, titles_of

# Elements per block of the NaN/inf scan: the boolean scratch stays in the second-level cache.
_SCAN_BLOCK = 1 << 17
_FAR = 512  # weights below 2^-512 are scaled up, since products of two of them would underflow


# -------------------------------------------------------------------------------------- matrix


def check_matrix(
    X: object,
    *,
    name: str = "X",
    finite: bool = True,
    sparse: bool = True,
    takes_categories: bool = False,
    categories: ColumnCategories | None = None,
    n_features: int | None = None,
    feature_names: Titles = None,
    may_be_empty: bool = False,
) -> Matrix:
    """Check a matrix and bring it into the form the core reads.

    C-contiguous float32 and float64 arrays and canonical CSR matrices of these types pass without a copy. Else float16
    and frames of float32 alone become float32, and everything else float64, which must not round integers.

    Errors call it `name`. Categorical columns of frames are refused, unless the caller `takes_categories`, or passes
    the `categories` of a fitted model, by which the entries are then numbered. `n_features` and `feature_names` are
    what that model expects; names are compared where both have some. There must be a row unless it `may_be_empty`.
    """
    names: Titles = None
    kept: ColumnCategories = {}
    index: object = None
    source: Any = known_table(X, name)
    if (library := table_library(source)) is not None:
        names = titles_of(source)
        index = source.index if library == "pandas" else None
        _check_shape(source.shape, X, name, may_be_empty=may_be_empty)
        if not source.shape[0]:  # nothing can be said of the types of its columns
            check_features(source.shape[1], names, name, n_features, feature_names)
            return DenseMatrix(np.empty(source.shape), names, categories or {})
        if categories is not None:  # columns of a wrong type are reported before columns in a wrong order
            if n_features != source.shape[1] or names != feature_names:
                kinds_of_columns(source, library, name)
            check_features(source.shape[1], names, name, n_features, feature_names)
        kinds = kinds_of_columns(source, library, name, categories, takes_categories=takes_categories)
        source, kept = read_frame(source, library, name, kinds, categories or {})
    elif categories:
        place = where_column(categorical_columns(categories)[0], feature_names)
        raise TypeError(
            f"{name} must be a pandas or polars frame with categories in {place}, like the training "
            f"data, got {describe(X)}"
        )
    matrix: Matrix
    if sp.issparse(source):
        if not sparse:
            raise TypeError(f"{name} must be dense, got {describe(X)}; use {variable(name)}.toarray()")
        _check_shape(source.shape, source, name, may_be_empty=may_be_empty)
        matrix = replace(read_sparse(source, name), feature_names=names, index=index)
    else:
        array = as_real_array(source, name)
        _check_shape(array.shape, source, name, may_be_empty=may_be_empty)
        check_whole_numbers(array, name, lambda position: where_column(position % array.shape[1], names))
        matrix = DenseMatrix(native_floats(array), names, kept, index)  # what is beyond float64 becomes inf
    check_features(matrix.n_features, names, name, n_features, feature_names)
    if finite and (bad := first_bad_entry(matrix, names or feature_names)) is not None:
        entry, place = bad
        takers = methods_that_take("nan")
        hint = f"; fill missing entries first; {takers} take them as they are" if math.isnan(entry) else ""
        raise ValueError(f"{name} must not hold NaN or infinite entries, got {entry} at {place}{hint}")
    return matrix


def as_real_array(value: object, name: str) -> NDArray[Any]:
    """Return `value` as an ndarray of booleans, integers or floats, without a copy if it is one."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must not be a masked array; fill it first, for example with {variable(name)}.filled(numpy.nan)"
        )
    try:
        array = np.asarray(value)
    except TypeError as error:
        raise TypeError(f"{name} cannot be read as an array of numbers: {error}") from error
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as an array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        hint = ""
        if array.dtype.kind in "OSU" and array.ndim > 0:
            whose = variable(name)
            floats = f"{whose}.astype(float)" if hasattr(value, "astype") else f"numpy.asarray({whose}, dtype=float)"
            hint = f"; use {floats} if they are numbers"
            if are_texts(array):
                hint += ", or scikit-learn's TfidfVectorizer().fit_transform if they are texts"
        elif isinstance(value, (str, os.PathLike)):
            hint = "; read the table from its file first, for example by pandas.read_csv"
        elif isinstance(value, Mapping):
            hint = f"; make a frame of it: pandas.DataFrame({variable(name)})"
        raise TypeError(
            f"{name} must hold real numbers (boolean, integer or float dtype), got {describe(value)}"
            + ("" if hasattr(value, "dtype") else f", an array of dtype {array.dtype}")
            + hint
        )
    return array


def are_texts(array: NDArray[Any]) -> bool:
    """Tell whether entries that are no numbers begin with a string."""
    return array.dtype.kind in "SU" or (array.size > 0 and isinstance(array.flat[0], str))


def _check_shape(shape: tuple[int, ...], X: object, name: str, *, may_be_empty: bool = False) -> None:
    if len(shape) != 2:
        ways = f"{variable(name)}.reshape(-1, 1)", f"{variable(name)}.reshape(1, -1)"
        if hasattr(X, "to_frame"):
            ways = f"{variable(name)}.to_frame()", "a slice of the frame such as frame[:1]"
        hint = f"; use {ways[0]} if it is one feature, {ways[1]} if it is one row" if len(shape) == 1 else ""
        raise ValueError(f"{name} must be two-dimensional, got {describe(X)}{hint}")
    if shape[0] < 1 and not may_be_empty:
        raise ValueError(f"{name} must have at least 1 row, got shape {shape}")
    if shape[1] < 1:
        raise ValueError(f"{name} must have at least 1 feature (column), got shape {shape}")


def check_features(
    found: int, names: Titles, name: str, n_features: int | None, feature_names: Titles, like: str = "the training data"
) -> None:
    """Raise ValueError unless there are so many columns, of these names where both have some; `like` says of what."""
    if n_features is not None and found != n_features:
        raise ValueError(
            f"{name} must have {n_features} features (columns) like {like}, got {found}"
            f"{missing_and_unexpected(names, feature_names)}"
        )
    check_titles(names, feature_names, name, like)


def _first_bad(values: Floats, *, allow_inf: bool = False) -> int | None:
    """Return the first position of an entry that is NaN or, unless that is allowed, infinite, block by block."""
    scratch = np.empty(min(_SCAN_BLOCK, values.size), dtype=np.bool_)
    for start in range(0, values.size, _SCAN_BLOCK):
        block = values[start : start + _SCAN_BLOCK]
        flags = scratch[: block.size]
        is_good = np.equal(block, block, out=flags) if allow_inf else np.isfinite(block, out=flags)
        if not is_good.all():
            return start + int(np.argmin(is_good))
    return None


def first_bad_entry(matrix: Matrix, names: Titles) -> tuple[float, str] | None:
    """Return the first entry that is NaN or infinite, and its place in words; None if there is none."""
    if (position := _first_bad(matrix.entries)) is None:
        return None
    if matrix.is_sparse:
        row, column = int(np.searchsorted(matrix.indptr, position, side="right")) - 1, int(matrix.indices[position])
    else:
        row, column = divmod(position, matrix.n_features)
    return float(matrix.entries[position]), f"row {row}, {where_column(column, names)}"


# --------------------------------------------------------------------------- vectors and labels


def check_vector(
    name: str,
    value: object,
    *,
    n: int | None = None,
    allow_inf: bool = False,
) -> NDArray[np.float64]:
    """Return `value` as a C-contiguous float64 vector of finite numbers or, if that is allowed, infinite ones."""
    vector = read_vector(name, value, n=n)
    if (position := _first_bad(vector, allow_inf=allow_inf)) is not None:
        raise ValueError(
            f"{name} must not hold {'NaN' if allow_inf else 'NaN or infinite'} entries, "
            f"got {vector[position]} at position {position}"
        )
    return vector


def read_vector(name: str, value: object, *, n: int | None = None) -> NDArray[np.float64]:
    """Return `value` as a C-contiguous float64 vector of any numbers, NaN and infinite ones too."""
    array = as_real_array(read_series(value), name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {describe(value)}")
    if n is not None and array.size != n:
        raise ValueError(f"{name} must have {n} entries, got {array.size}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    with np.errstate(over="ignore"):
        vector: NDArray[np.float64] = np.require(array, dtype=np.float64, requirements=["C", "A"])
    return vector


def check_sample_weight(
    sample_weight: object, n_rows: int, *, name: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """Return the weights as a float64 vector, or None if there are none."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        raise TypeError(f"{name} must have one entry per row ({n_rows}), got the scalar {short(sample_weight)}")
    weights = check_vector(name, sample_weight)
    if weights.size != n_rows:
        raise ValueError(f"{name} must have one entry per row ({n_rows}), got {weights.size}")
    lowest = int(np.argmin(weights))
    if weights[lowest] < 0:
        raise ValueError(f"{name} must be >= 0, got {weights[lowest]} at position {lowest}")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total == 0:
        raise ValueError(f"{name} must have a positive entry, got zeros only")
    if math.isinf(total):
        raise ValueError(f"{name} must have a finite sum, got weights up to {weights.max()}")
    return weights


def well_scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of which only ratios matter, times a power of two where all are very small."""
    exponent = math.frexp(float(weights.max()))[1]
    return np.ldexp(weights, -exponent) if exponent < -_FAR else weights


def check_labels(y: object, n_rows: int, *, name: str = "y", pu_only: str | None = None) -> NDArray[np.int8]:
    """Return the labels +1, 0, -1 as an int8 vector with one entry per row.

    Takes what `fastpu.as_labels` takes without codings, and {1, -1} for positives and negatives. `pu_only` is the name
    of a method that needs positive and unlabelled rows and takes no others.
    """
    labels = apply_codes(read_labels(y, name), name)
    if labels.size != n_rows:
        raise ValueError(f"{name} must have one entry per row of the data ({n_rows}), got {labels.size}")
    if pu_only is None:
        return labels
    n_pos, n_unl, n_neg = label_counts(labels)
    if n_neg and not n_unl:
        raise ValueError(
            f"{name} holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass "
            f"fastpu.as_labels({variable(name)}, unlabeled=-1); if it means labelled negative, {pu_only} "
            f"does not take it, but {methods_with('N')} do"
        )
    if n_neg:
        raise ValueError(
            f"{name} must hold +1 (positive) and 0 (unlabelled) for {pu_only}, which takes no "
            f"labelled negatives, got {n_neg} of them (-1); {methods_with('N')} take them. To rank rows, give them to "
            f"fit_forest as unlabelled rows (0) with a sample_weight of 10"
        )
    if not n_pos:
        raise ValueError(f"{name} must have at least one positive row (+1) for {pu_only}, got none")
    if not n_unl:
        raise ValueError(f"{name} must have at least one unlabelled row (0) for {pu_only}, got none")
    return labels


def check_binary(y: object, *, name: str = "y_true", both: bool = True) -> NDArray[np.bool_]:
    """Return which rows are positive, from true labels: booleans, {1, -1} or {1, 0}; with `both` each must occur."""
    values = read_labels(y, name)
    labels = apply_codes(values, name)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(f"{name} must not hold missing labels")
    n_pos, n_zero, n_neg = label_counts(labels)
    if n_zero and n_neg:
        raise ValueError(
            f"{name} must hold two kinds of labels, {{1, -1}} or {{1, 0}}, got all of 1, 0 and -1; "
            f"leave out the rows without a true label"
            if n_pos
            else f"{name} must hold positive rows as 1, got 0 and -1 only"
        )
    if both and not (n_pos and n_pos < labels.size):
        raise ValueError(
            f"{name} must have at least one positive and one negative row, got {n_pos} positive "
            f"and {labels.size - n_pos} negative"
        )
    positive: NDArray[np.bool_] = labels == 1
    return positive


def label_counts(labels: NDArray[np.int8], weights: NDArray[np.float64] | None = None) -> tuple[int, int, int]:
    """Return the numbers of positive, unlabelled and negative rows, of positive weight if there are weights."""
    counted = labels if weights is None else labels[weights > 0]
    n_pos = int(np.count_nonzero(counted == 1))
    n_neg = int(np.count_nonzero(counted == -1))
    return n_pos, counted.size - n_pos - n_neg, n_neg


def is_rising(values: NDArray[Any], *, strictly: bool = False) -> bool:
    """Tell whether no value is below (or, strictly, at) the one before.

    Compared, not subtracted: the difference of large integers of both signs wraps around.
    """
    lower, upper = values[:-1], values[1:]
    return bool(np.all(lower < upper if strictly else lower <= upper))
