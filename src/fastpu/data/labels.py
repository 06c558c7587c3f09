"""Labels of any coding, and separate matrices, in the form that every `fit_*` takes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._text import describe, short
from fastpu.common._types import LabelsLike, MatrixLike
from fastpu.data._coding import apply_codes, is_missing, read_labels
from fastpu.data._frames import concat_frames, dtypes_of, kind_of_column, kinds_of_columns
from fastpu.data._matrix import stacked
from fastpu.data._tables import known_table, table_library, titles_of
from fastpu.data._validate import check_features, check_matrix

_FRAMES = ("pandas", "polars", "pyarrow")

#: The value or values that stand for a kind of label, None for the usual ones.
LabelCoding: TypeAlias = Hashable | Collection[Hashable] | None


@answers_unknown_keywords
def as_labels(
    y: LabelsLike,
    *,
    positive: LabelCoding = None,
    unlabeled: LabelCoding = None,
    negative: LabelCoding = None,
) -> NDArray[np.int8]:
    """Return labels as +1 (positive), 0 (unlabelled) and -1 (labelled negative).

    By default these labels are understood: booleans, {1, 0}, {1, 0, -1}, {1, missing} and {1, -1, missing}. A missing
    entry is NaN, None or NA, and stands for unlabelled. The two values {1, -1} are refused, because -1 means unlabelled
    in some programs and negative in others: pass ``unlabeled=-1`` or ``negative=-1``.

    Parameters
    ----------
    y : array-like, pandas Series or polars Series of shape (n,)
        Numbers, booleans, strings or missing entries.
    positive, unlabeled, negative : scalar, or list, tuple or set of scalars, optional
        The values that stand for each kind of label. NaN stands for a missing entry. By default, 1 and True are
        positive, 0, False and missing entries are unlabelled, and -1 is negative. A value that you pass for one kind is
        no longer a default of another.

    Returns
    -------
    ndarray of int8, shape (n,)
        A new array.

    Warns
    -----
    LabelWarning
        If `y` has the shape (n, 1), or is a frame of one column. It is then read as a vector.

    Raises
    ------
    TypeError
        If `y` holds something else than numbers, booleans, strings or missing entries.
    ValueError
        If `y` is not one-dimensional, is empty or ambiguous, or holds a value that stands for none of the three kinds.
        Also if a value is passed for two kinds.

    Notes
    -----
    O(n) time and memory.

    Examples
    --------
    >>> from fastpu import as_labels
    >>> as_labels([True, False, True])
    array([1, 0, 1], dtype=int8)
    >>> as_labels([1, -1, -1], unlabeled=-1)
    array([1, 0, 0], dtype=int8)
    >>> as_labels(["spam", "?", "ham"], positive="spam", unlabeled="?", negative="ham")
    array([ 1,  0, -1], dtype=int8)
    >>> as_labels([1, -1, -1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: y holds -1 and no unlabelled row, which is ambiguous: say what -1 means with as_labels(...
    """
    by_role = {"positive": positive, "unlabeled": unlabeled, "negative": negative}
    codes = {role: _codes(role, value) for role, value in by_role.items() if value is not None}
    labels = apply_codes(read_labels(y, "y"), "y", codes)
    # If the caller says how unlabelled or how negative rows are marked, it is clear what -1 means.
    settled = "unlabeled" in codes or "negative" in codes
    if not settled and np.any(labels == -1) and not np.any(labels == 0):
        raise ValueError(
            "y holds -1 and no unlabelled row, which is ambiguous: say what -1 means with "
            "as_labels(y, unlabeled=-1) or as_labels(y, negative=-1)"
        )
    return labels


def _codes(role: str, value: object) -> tuple[object, ...]:
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    if not values:
        raise ValueError(f"{role} must name at least one value, got an empty collection")
    for code in values:
        if not (is_missing(code) or isinstance(code, bool | int | float | str | bytes | np.generic)):
            raise TypeError(f"{role} must be a value of y or a collection of them, got {describe(code)}")
    return values


@answers_unknown_keywords
def stack(
    *, P: MatrixLike | None = None, U: MatrixLike | None = None, N: MatrixLike | None = None
) -> tuple[Any, NDArray[np.int8]]:
    """Stack separate matrices of positive, unlabelled and negative rows into one.

    Parameters
    ----------
    P, U, N : array-like, SciPy sparse matrix or DataFrame, optional
        Positive, unlabelled and labelled negative rows; pass at least two of the three. All must be of one kind (dense,
        sparse, pandas, polars or pyarrow) and have the same number of columns. Frames must have the same column names
        in the same order.

    Returns
    -------
    X : ndarray, CSR array or matrix, or DataFrame of shape (n_P + n_U + n_N, n_features)
        The rows of `P`, then `U`, then `N`. An array is float32 if all parts are, else float64. Frames stay frames of
        their library.
    y : ndarray of int8
        +1 for the rows of `P`, 0 for `U` and -1 for `N`.

    Raises
    ------
    TypeError
        If the parts are of different kinds, or do not hold real numbers.
    ValueError
        If fewer than two parts are given, one has no rows, or columns differ.

    Notes
    -----
    NaN and infinite entries are kept; the method decides whether it takes them. The data are copied once, and sparse
    parts are never made dense.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu import stack
    >>> X, y = stack(P=np.ones((2, 3)), U=np.zeros((1, 3)))
    >>> X.shape, y
    ((3, 3), array([1, 1, 0], dtype=int8))
    """
    parts = {name: part for name, part in (("P", P), ("U", U), ("N", N)) if part is not None}
    parts = {name: known_table(part, name) for name, part in parts.items()}
    if len(parts) < 2:
        raise ValueError(f"at least two of P, U and N must be given, got {list(parts) or 'none'}")
    forms = {name: table_library(part) or ("sparse" if sp.issparse(part) else "dense") for name, part in parts.items()}
    if len(set(forms.values())) > 1:
        kinds = {"dense": "an array", "sparse": "a sparse matrix"}
        listed = ", ".join(f"{name} as {kinds.get(form, f'a {form} frame')}" for name, form in forms.items())
        raise TypeError(f"P, U and N must be of one kind, got {listed}")
    form = next(iter(forms.values()))
    X, sizes = _stack_frames(parts, form) if form in _FRAMES else _stack_matrices(parts)
    roles = {"P": 1, "U": 0, "N": -1}
    y = np.repeat(np.array([roles[name] for name in parts], dtype=np.int8), sizes)
    return X, y


def _stack_matrices(parts: Mapping[str, object]) -> tuple[Any, list[int]]:
    matrices = {name: check_matrix(part, name=name, finite=False) for name, part in parts.items()}
    first = next(iter(matrices))
    for name, matrix in matrices.items():
        check_features(matrix.n_features, None, name, matrices[first].n_features, None, like=first)
    matrix, sizes = stacked(list(matrices.values())), [part.n_rows for part in matrices.values()]
    if matrix.is_sparse:
        is_spmatrix = not any(isinstance(part, sp.sparray) for part in parts.values())
        return matrix.table(is_spmatrix=is_spmatrix), sizes
    return matrix.table(), sizes


def _stack_frames(parts: dict[str, Any], library: str) -> tuple[Any, list[int]]:
    for name, part in parts.items():
        kinds_of_columns(part, library, name)
        if part.shape[0] < 1:
            raise ValueError(f"{name} must have at least 1 row, got shape {part.shape}")
    first = next(iter(parts))
    n_columns, names = parts[first].shape[1], titles_of(parts[first])
    for name, part in parts.items():
        check_features(part.shape[1], titles_of(part), name, n_columns, names, like=first)
    for name, part in parts.items():
        for column, (expected, dtype) in enumerate(
            zip(dtypes_of(parts[first], library), dtypes_of(part, library), strict=True)
        ):
            kinds = {kind_of_column(of_part, column, library) for of_part in (parts[first], part)}
            if "categories" in kinds and not kinds <= {"categories", "empty"}:
                raise TypeError(
                    f"{name} must have categories where {first} has some, and only there: column "
                    f"{short(names[column])} has dtype {dtype}, and {expected} in {first}"
                )
    return concat_frames(list(parts.values()), library), [part.shape[0] for part in parts.values()]
