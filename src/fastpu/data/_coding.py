"""How labels of any coding become +1 (positive), 0 (unlabelled) and -1 (negative)."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe, short, variable
from fastpu.common._warn import warn
from fastpu.data._tables import is_lazy, known_table, table_library, titles_of
from fastpu.exceptions import LabelWarning

ROLES: Mapping[str, int] = {"positive": 1, "unlabeled": 0, "negative": -1}
MAX_LISTED = 10


MISSING = object()  #: the one value that None, NaN, NA and NaT are read as


def is_missing(value: object) -> bool:
    """Tell whether a single label is None, NaN, pandas.NA or NaT."""
    if value is None or value is MISSING:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def read_labels(y: object, name: str) -> NDArray[Any]:
    """Return labels as a vector of booleans, numbers, strings or objects.

    Missing entries are NaN in a float vector and `MISSING` in an object vector.
    """
    if isinstance(y, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array; mark missing labels by NaN")
    y = y if is_lazy(y) else known_table(y, name)
    source = read_series(y)
    try:
        array = np.asarray(source)
        if array.dtype.kind in "US" and not isinstance(source, np.ndarray):
            # NumPy turns [1, "unknown"] into strings; keep each label what it is.
            array = np.array(source, dtype=object)
    except TypeError as error:
        raise TypeError(f"{name} cannot be read as a list of labels: {error}") from error
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as a list of labels: {error}") from error
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    if array.ndim == 2 and array.shape[1] == 1:
        return read_labels(_only_column(y, array, name), name)
    if array.ndim != 1:
        advice = f"; use {variable(name)}.ravel()" if array.ndim == 2 and array.shape[0] == 1 else ""
        if array.ndim == 0:
            advice = "; pass the labels themselves, one for each row"
        raise ValueError(f"{name} must be one-dimensional, got {describe(y)}{advice}")
    if array.dtype.kind == "O":
        return _read_objects(array, name)
    if array.dtype.kind not in "biufUS":
        raise TypeError(f"{name} must hold numbers, booleans, strings or missing entries, got dtype {array.dtype}")
    return array


def _only_column(y: object, array: NDArray[Any], name: str) -> object:
    """Return the column of a table that has one, and warn; of a frame as a series, which knows its missing entries."""
    if table_library(y) is None:
        column, vector = array[:, 0], f"numpy.ravel({variable(name)})"
    else:
        frame: Any = y
        label = titles_of(frame)[0]
        column, vector = frame[label], f"{variable(name)}[{short(label)}]"
    warn(f"{name} is taken for a vector, got {describe(y)}; use {vector}", LabelWarning)
    return column


def read_series(y: object) -> object:
    """Unwrap a pandas or polars Series: numbers of types with gaps as floats, everything else as it is."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    series: Any = y
    library = type(y).__module__.partition(".")[0]
    if library == "narwhals" and hasattr(series, "to_native"):
        return read_series(series.to_native())
    if library == "pyarrow" and hasattr(series, "to_numpy"):
        series = series.dictionary_decode() if hasattr(series.type, "index_type") else series
        return series.to_numpy() if hasattr(series, "chunks") else series.to_numpy(zero_copy_only=False)
    kinds = (getattr(pandas, "Series", None), getattr(pandas, "Index", None))
    if any(kind is not None and isinstance(y, kind) for kind in kinds):
        if isinstance(series.dtype, np.dtype):
            return series.to_numpy()
        if series.dtype.kind in "biuf" and not hasattr(series.dtype, "categories"):
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
        return series.to_numpy(dtype=object)
    if (kind := getattr(polars, "Series", None)) is not None and isinstance(y, kind):
        if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
            gaps = series.null_count() > 0
            return series.cast(float).to_numpy() if gaps else series.to_numpy()
        objects = np.empty(len(series), dtype=object)
        objects[:] = series.to_list()
        return objects
    return y


def _read_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Mark missing entries, and narrow to numbers where all the rest are numbers."""
    items: list[Any] = [MISSING if is_missing(item) else item for item in array.tolist()]
    numeric = True
    for position, item in enumerate(items):
        if item is MISSING or isinstance(item, bool | int | float | np.bool_ | np.number):
            if isinstance(item, np.complexfloating):
                raise TypeError(f"{name} must hold real labels, got {item} at position {position}")
            continue
        if not isinstance(item, str | bytes):
            raise TypeError(
                f"{name} must hold numbers, booleans, strings or missing entries, "
                f"got {describe(item)} at position {position}"
            )
        numeric = False
    if numeric:
        try:
            numbers = [math.nan if is_missing(item) else float(item) for item in items]
            return np.array(numbers, dtype=np.float64)
        except OverflowError:
            raise ValueError(f"{name} must hold labels within the range of float64, got a larger integer") from None
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def apply_codes(
    values: NDArray[Any], name: str, codes: Mapping[str, tuple[object, ...]] = MappingProxyType({})
) -> NDArray[np.int8]:
    """Return +1, 0, -1 for `values` under the codes given for each role, as `fastpu.as_labels` describes them."""
    result = np.zeros(values.shape, dtype=np.int8)
    is_known = np.zeros(values.shape, dtype=np.bool_)
    found = set()
    for role, code in _complete(codes, name):
        mask = _holds(values, code)
        if mask.any():
            # As result[mask] = ROLES[role], in a tenth of the time.
            result = result * ~mask + mask * np.int8(ROLES[role])
            is_known |= mask
            found.add((role, code))
    if not is_known.all():
        _raise_unknown(values[~is_known] if codes else values, codes, name)
    if {("unlabeled", 0), ("unlabeled", MISSING)} <= found and "unlabeled" not in codes:
        raise ValueError(
            f"{name} holds both 0 and missing entries, and either may mean unlabelled: if both do, pass "
            f"as_labels({variable(name)}, unlabeled=[0, numpy.nan]); if 0 means negative, "
            f"as_labels({variable(name)}, unlabeled=numpy.nan, negative=0)"
        )
    return result


def _complete(codes: Mapping[str, tuple[object, ...]], name: str) -> list[tuple[str, object]]:
    """List (role, code) pairs: the given codes, then the usual ones of the roles without any."""
    pairs: list[tuple[str, object]] = []
    claimed: dict[object, str] = {}
    for role, values in codes.items():
        for value in values:
            code = MISSING if is_missing(value) else value
            if claimed.get(code, role) != role:
                raise ValueError(
                    f"{short(value)} must stand for one kind of label in {name}, got it as "
                    f"{claimed[code]} and as {role}"
                )
            if code not in claimed:
                claimed[code] = role
                pairs.append((role, code))
    usual: list[tuple[str, object]] = [*ROLES.items(), ("unlabeled", MISSING)]
    pairs += [(role, c) for role, c in usual if role not in codes and c not in claimed]
    return pairs


def _holds(values: NDArray[Any], code: object) -> NDArray[np.bool_]:
    """Return which entries hold a code; numbers and words of one kind are compared with their kind alone."""
    kind = values.dtype.kind
    kind_of_code = "U" if isinstance(code, str) else "S" if isinstance(code, bytes) else "biuf"
    holds: NDArray[np.bool_]
    if code is MISSING and kind == "f":
        holds = np.isnan(values)
    elif kind == "b" and kind_of_code == "biuf" and code in (0, 1):  # NumPy does not compare them with large integers
        holds = values if code == 1 else ~values
    elif kind == "O" or (kind != "b" and code is not MISSING and kind in kind_of_code):
        holds = np.asarray(values == code, dtype=np.bool_)
    else:
        holds = np.zeros(values.shape, dtype=np.bool_)
    return holds


def _raise_unknown(values: NDArray[Any], codes: Mapping[str, tuple[object, ...]], name: str) -> None:
    of_objects = values.dtype.kind == "O"
    distinct = list(dict.fromkeys(values.tolist())) if of_objects else np.unique(values).tolist()
    listed = ", ".join("missing" if is_missing(v) else short(v) for v in distinct[:MAX_LISTED])
    more = f" and {len(distinct) - MAX_LISTED} more" if len(distinct) > MAX_LISTED else ""
    if codes:
        listed_codes = ", ".join(f"{role}={short(list(c))}" for role, c in codes.items())
        raise ValueError(
            f"{name} holds {listed}{more}, not covered by {listed_codes}; name all values in positive, unlabeled "
            f"or negative"
        )
    advice = f"for another coding use fastpu.as_labels({variable(name)}, positive=..., unlabeled=..., negative=...)"
    if values.dtype.kind == "f" and more:
        advice = "so many numbers look like scores or probabilities: labels come before scores, as in metric(y, scores)"
    raise ValueError(
        f"{name} must hold 1 (positive), 0 or missing (unlabelled) and -1 (negative), or booleans, "
        f"got {listed}{more}; {advice}"
    )
