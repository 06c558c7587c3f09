"""What a model keeps of its training rows: a small profile, by which it says later whether other rows are like them.

Columns of numbers have their quantiles, columns of categories the share of each. Of more than `MOST_COLUMNS` columns,
and of sparse rows, the scores and a few sums are kept alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frozen import LateMapping
from fastpu.data._categories import ColumnCategories, columns_in_sets, unseen_place
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data.binned_features import BinnedFeatures

MOST_COLUMNS = 2000
_QUANTILES = 50

Profile = Mapping[str, NDArray[Any]]
"""What is kept of the training rows, by name.

"rows": how many rows it was made of; "is_out_of_bag": whether their scores are out-of-bag ones; "scores": these,
ascending; "missing_total" and "nonzero_total": shares of all entries. Of each column, if they are not too many:
"missing", the share of missing entries; "is_set", whether it has a share for each category; and "starts", where the
values of each column begin in "values" (numbers, or places of categories) and in "up_to" (the share of the present
entries that are at most the value; of a category its own share).
"""


class HasProfile(Protocol):
    """What is used of a `fastpu.Model`, which stands on this file."""

    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> tuple[Hashable, ...] | None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def profile(self) -> Profile | None: ...
    def _check_input(self, X: object, name: str) -> Any: ...
    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]: ...
    def _out_of_bag(self) -> NDArray[np.float64] | None: ...
    def _has_groups(self) -> bool: ...


def as_dense(matrix: Matrix | BinnedFeatures) -> DenseMatrix | None:
    """Return rows as an array, of bins with the largest number of each, or None where they are sparse or too wide."""
    if isinstance(matrix, DenseMatrix):
        return matrix if matrix.n_features <= MOST_COLUMNS else None
    if not isinstance(matrix, BinnedFeatures) or matrix.is_sparse or matrix.n_features > MOST_COLUMNS:
        return None
    values = np.empty(matrix.shape)
    in_sets = columns_in_sets(matrix.categories)
    for column, cuts in enumerate(matrix.cuts):
        codes = matrix.column(column).astype(np.int64)
        tops = np.append(cuts, np.inf)  # the last bin has all larger numbers, also of rows that are not binned
        of_codes = np.arange(-1.0, codes.max(initial=0)) if column in in_sets else tops
        if cuts.size and cuts[0] == -np.inf:
            of_codes[0] = np.nan
        values[:, column] = of_codes[codes]
    return DenseMatrix(values, matrix.feature_names, matrix.categories)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of numbers whether they count as missing: NaN and -inf."""
    return ~(values > -np.inf)


def totals(matrix: Matrix | BinnedFeatures) -> dict[str, NDArray[Any]]:
    """Return the shares of all entries that are missing, and that are not zero."""
    if isinstance(matrix, BinnedFeatures):
        return {}
    n = max(1, matrix.n_rows * matrix.n_features)
    return {
        "missing_total": np.array([np.count_nonzero(is_missing(matrix.entries)) / n]),
        "nonzero_total": np.array([np.count_nonzero(matrix.entries) / n]),
    }


def of_columns(matrix: DenseMatrix | None) -> dict[str, NDArray[Any]]:
    """Return what is kept of each column, nothing of rows that are no array."""
    if matrix is None:
        return {}
    in_sets = columns_in_sets(matrix.categories)
    columns = np.array(matrix.values.T, dtype=np.float64)
    columns[is_missing(columns)] = np.nan  # which come last
    columns.sort(axis=1)
    n_present = columns.shape[1] - np.count_nonzero(np.isnan(columns), axis=1)
    # Most columns of numbers have more values than quantiles, and no value twice: these need no pass of their own.
    is_plain = (n_present > _QUANTILES) & ~(columns[:, 1:] == columns[:, :-1]).any(axis=1)
    is_plain[in_sets] = False
    at = np.ceil(np.arange(1, _QUANTILES + 1) / _QUANTILES * n_present[:, None]).astype(np.int64) - 1
    quantiles = np.take_along_axis(columns, np.maximum(at, 0), axis=1)
    up_to_quantiles = (at + 1) / np.maximum(n_present, 1)[:, None]
    values, up_to = [], []
    for column, n in enumerate(n_present.tolist()):
        if is_plain[column]:
            values.append(quantiles[column])
            up_to.append(up_to_quantiles[column])
            continue
        present = columns[column, :n]
        if column in in_sets:
            n_kept = len(matrix.categories[str(column)])
            shares = np.bincount(present.astype(np.int64), minlength=n_kept + 1)[:n_kept] / max(1, n)
            values.append(np.arange(float(n_kept)))
            up_to.append(shares)
            continue
        points = _distinct(present)
        if points.size > _QUANTILES:
            points = _distinct(quantiles[column])
        values.append(points)
        up_to.append(np.searchsorted(present, points, side="right") / max(1, n))
    is_set = np.zeros(matrix.n_features, dtype=np.bool_)
    is_set[in_sets] = True
    return {
        "missing": 1.0 - n_present / max(1, columns.shape[1]),
        "is_set": is_set,
        "starts": np.cumsum([0, *(of.size for of in values)]),
        "values": np.concatenate(values),
        "up_to": np.concatenate(up_to),
    }


def _distinct(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    return ascending[np.append(True, ascending[1:] > ascending[:-1])] if ascending.size else ascending


def is_unseen(entries: NDArray[Any], categories: ColumnCategories, column: int) -> NDArray[np.bool_]:
    """Tell which entries of a column are categories that training did not have."""
    if str(column) not in categories:
        return np.zeros(entries.size, dtype=np.bool_)
    place = unseen_place(categories, str(column))  # NaN, which is equal to nothing, where they have no place
    unseen: NDArray[np.bool_] = entries == place
    return unseen


def check_profile(profile: Profile | None, n_features: int) -> None:
    """Raise ValueError unless the arrays fit each other; a damaged file may have others."""
    if isinstance(profile, LateMapping) or not profile:  # one that is made here fits
        return
    of_columns = {"missing", "is_set", "starts", "values", "up_to"}
    has_columns = bool(of_columns & profile.keys())
    if not {"rows", "scores", "is_out_of_bag"} <= profile.keys() or (has_columns and not of_columns <= profile.keys()):
        raise ValueError(f"profile must be whole, got {', '.join(sorted(profile))}")
    if any(of.ndim != 1 or of.dtype.kind not in "bif" for of in profile.values()):
        raise ValueError("profile must have arrays of numbers of one dimension")
    if profile["rows"].size != 1 or profile["is_out_of_bag"].size != 1:
        raise ValueError("profile must have one number of rows")
    if not has_columns:
        return
    starts = profile["starts"]
    is_whole = starts.dtype.kind == "i" and starts.size == n_features + 1 and starts[0] == 0
    if (
        not is_whole
        or (np.diff(starts) < 0).any()
        or any(
            profile[name].size != size
            for name, size in (
                ("missing", n_features),
                ("is_set", n_features),
                ("values", starts[-1]),
                ("up_to", starts[-1]),
            )
        )
    ):
        raise ValueError(f"profile must have arrays for {n_features} columns")
