"""What a model keeps of its training rows: a small profile, by which it says later whether other rows are like them.

Columns of numbers have their quantiles, columns of categories the share of each. Of more than `MOST_COLUMNS` columns,
and of sparse rows, the scores and a few sums are kept alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastpu.data._categories import ColumnCategories, columns_in_sets, unseen_place
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data.binned_features import BinnedFeatures

MOST_COLUMNS = 2000
_QUANTILES = 50

_OF_COLUMNS = ("missing", "is_set", "starts", "values", "up_to")


@dataclass(frozen=True, eq=False)
class ColumnProfiles:
    """What is kept of each column of the training rows.

    Attributes
    ----------
    missing : ndarray of float64, shape (n_features,)
        The share of missing entries of each column.
    is_set : ndarray of bool, shape (n_features,)
        Whether a column has categories.
    starts : ndarray of int64, shape (n_features + 1,)
        Column j has the entries from ``starts[j]`` up to ``starts[j + 1]`` of `values` and `up_to`.
    values : ndarray of float64
        Rising numbers, at most 50 for a column. Of a column of categories the places of all its categories.
    up_to : ndarray of float64
        The share of the present entries that are at most the number in `values`. Of a category its own share.
    """

    missing: NDArray[np.float64]
    is_set: NDArray[np.bool_]
    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    up_to: NDArray[np.float64]


@dataclass(frozen=True)
class EntryShares:
    """The shares of all entries of rows, of every column, that are missing and that are not zero."""

    missing: float
    nonzero: float


@dataclass(frozen=True, eq=False)
class Profile:
    """What a model keeps of its training rows, for `check`.

    Attributes
    ----------
    n_rows : int
        The number of training rows that it was made of, at most 2,000.
    scores : ndarray of float64
        Their scores, in rising order.
    is_out_of_bag : bool
        Whether these are out-of-bag scores.
    entries : EntryShares, or None
        The shares of all entries that are `missing` and that are not zero (`nonzero`). None for binned rows.
    columns : ColumnProfiles, or None
        What is kept of each column. None for sparse rows, and for more than 2,000 columns.
    """

    n_rows: int
    scores: NDArray[np.float64]
    is_out_of_bag: bool
    entries: EntryShares | None
    columns: ColumnProfiles | None


def arrays_of_profile(profile: Profile) -> dict[str, NDArray[Any]]:
    """Return the arrays that a file has, by their names there."""
    arrays = {
        "rows": np.array([profile.n_rows]),
        "scores": profile.scores,
        "is_out_of_bag": np.array([profile.is_out_of_bag]),
    }
    if profile.entries is not None:
        arrays["missing_total"] = np.array([profile.entries.missing])
        arrays["nonzero_total"] = np.array([profile.entries.nonzero])
    if profile.columns is not None:
        arrays |= {name: getattr(profile.columns, name) for name in _OF_COLUMNS}
    return arrays


def profile_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> Profile:
    """Return the profile that a file has; raise ValueError if arrays are missing or do not fit each other."""
    if any(array.ndim != 1 or array.dtype.kind not in "bif" for array in arrays.values()):
        raise ValueError("profile must have arrays of numbers of one dimension")
    always, totals = {"rows", "scores", "is_out_of_bag"}, {"missing_total", "nonzero_total"}
    has_totals, has_columns = bool(totals & arrays.keys()), bool(arrays.keys() & set(_OF_COLUMNS))
    expected = always | (totals if has_totals else set()) | (set(_OF_COLUMNS) if has_columns else set())
    if arrays.keys() != expected:
        raise ValueError(f"profile must be whole, got {', '.join(sorted(arrays))}")
    if any(arrays[name].size != 1 for name in expected - {"scores", *_OF_COLUMNS}):
        raise ValueError("profile must have one number of rows, and one share of all entries of a kind")
    entries = columns = None
    if has_totals:
        entries = EntryShares(missing=float(arrays["missing_total"][0]), nonzero=float(arrays["nonzero_total"][0]))
    if has_columns:
        columns = ColumnProfiles(
            missing=arrays["missing"],
            is_set=arrays["is_set"],
            starts=arrays["starts"],
            values=arrays["values"],
            up_to=arrays["up_to"],
        )
    return Profile(
        n_rows=int(arrays["rows"][0]),
        scores=arrays["scores"],
        is_out_of_bag=bool(arrays["is_out_of_bag"][0]),
        entries=entries,
        columns=columns,
    )


def check_profile(profile: Profile, n_features: int) -> None:
    """Raise ValueError unless the profile can be of rows with so many columns; a damaged file may have others."""
    if profile.columns is None:
        return
    of = profile.columns
    is_whole = of.starts.dtype.kind == "i" and of.starts.size == n_features + 1 and of.starts[0] == 0
    is_whole = is_whole and bool((np.diff(of.starts) >= 0).all())
    if not (
        is_whole
        and of.missing.size == of.is_set.size == n_features
        and of.values.size == of.up_to.size == of.starts[-1]
    ):
        raise ValueError(f"profile must have arrays for {n_features} columns")


class LateProfile:
    """A profile that is made when it is first read, as most models are never checked, nor written to a file.

    Two threads that read it at once make it twice, and either one is kept. A pickle and a copy have what was made.
    """

    def __init__(self, make: Callable[[], Profile | None]) -> None:
        self._make: Callable[[], Profile | None] | None = make
        self._profile: Profile | None = None

    @staticmethod
    def of(profile: Profile | None) -> LateProfile:
        """Return one that is made."""
        late = LateProfile(lambda: profile)
        late.read()
        return late

    @property
    def is_made(self) -> bool:
        return self._make is None

    def read(self) -> Profile | None:
        """Return the profile, or None if the model could not read its training rows again."""
        make = self._make  # looked up once: another thread may have made the profile meanwhile
        if make is not None:
            self._profile = make()
            self._make = None  # and the rows that it was made from are free
        return self._profile

    def __reduce__(self) -> tuple[Any, ...]:
        profile = self.read()
        return _unpickled, (None if profile is None else arrays_of_profile(profile),)


def _unpickled(arrays: Mapping[str, NDArray[Any]] | None) -> LateProfile:
    if arrays is None:
        return LateProfile.of(None)
    for array in arrays.values():
        array.flags.writeable = False
    return LateProfile.of(profile_of_arrays(arrays))


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


def entry_shares(matrix: Matrix | BinnedFeatures) -> EntryShares | None:
    """Return the shares of all entries that are missing, and that are not zero; None for binned rows."""
    if isinstance(matrix, BinnedFeatures):
        return None
    n = max(1, matrix.n_rows * matrix.n_features)
    return EntryShares(
        missing=np.count_nonzero(is_missing(matrix.entries)) / n, nonzero=np.count_nonzero(matrix.entries) / n
    )


def column_profiles(matrix: DenseMatrix) -> ColumnProfiles:
    """Return what is kept of each column."""
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
    return ColumnProfiles(
        missing=1.0 - n_present / max(1, columns.shape[1]),
        is_set=is_set,
        starts=np.cumsum([0, *(of.size for of in values)]),
        values=np.concatenate(values),
        up_to=np.concatenate(up_to),
    )


def _distinct(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    return ascending[np.append(True, ascending[1:] > ascending[:-1])] if ascending.size else ascending


def is_unseen(entries: NDArray[Any], categories: ColumnCategories, column: int) -> NDArray[np.bool_]:
    """Tell which entries of a column are categories that training did not have."""
    if str(column) not in categories:
        return np.zeros(entries.size, dtype=np.bool_)
    place = unseen_place(categories, str(column))  # NaN, which is equal to nothing, where they have no place
    unseen: NDArray[np.bool_] = entries == place
    return unseen
