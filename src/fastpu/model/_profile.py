"""A small profile of the training rows, by which a model says later whether other rows are like them.

It is made of at most `MOST_ROWS` rows, drawn by their number alone, of those without a label if there are some: later
rows come from the population that these are a sample of. They are read as later rows are, by the model itself. Columns
of numbers have their quantiles, columns of categories the share of each. Of more than `MOST_COLUMNS` columns, and of
sparse rows, the scores and a few sums are kept alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.data._categories import ColumnCategories, categorical_columns, columns_in_sets, unseen_place
from fastpu.data._frames import take_rows
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._tables import known_table, table_library
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import UnlikeRowsWarning
from fastpu.model._fields import FieldSpec, freeze

MOST_ROWS = 2000
MOST_COLUMNS = 2000
_QUANTILES = 50
_FEWEST_TO_WARN = 20  # rows of which a column is lost by chance now and then
_HALF = 0.5

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


_Fit = TypeVar("_Fit", bound="Callable[..., Any]")


def keeps_profile(fit: _Fit) -> _Fit:
    """Decorate a function that fits: its models keep a profile of the training rows."""

    @functools.wraps(fit)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = fit(*args, **kwargs)
        X = args[0] if args else kwargs["X"]
        y = args[1] if len(args) > 1 else kwargs.get("y")  # a one-class SVM has none
        for model in result if isinstance(result, list) else [result]:
            if hasattr(model, "profile"):
                keep_profile_of(model, X, y, kwargs.get("sample_weight"))
        return result

    return call  # type: ignore[return-value]  # it takes and returns what the fit does


def _keep(model: HasProfile, profile: Profile | None) -> None:
    """Give a model its profile before anybody else has it, without the checks of all fields, which may take long."""
    spec = FieldSpec("arrays", optional=True, dtypes=(np.generic,), ndim=None)
    object.__setattr__(model, "profile", freeze("profile", profile, spec))


def keep_profile_of(model: HasProfile, X: object, y: object, sample_weight: object = None) -> None:
    """Give a model, which nobody else has yet, the profile of the rows that it was fitted to."""
    _keep(model, profile_of(model, X, y, sample_weight))


def profile_of(model: HasProfile, X: object, y: object, sample_weight: object) -> Profile | None:
    """Return the profile of rows that a model was fitted to, or None where they cannot be read a second time."""
    table: Any = X if isinstance(X, BinnedFeatures) else known_table(X)
    table = table.tocsr() if sp.issparse(table) else table
    table = table if hasattr(table, "shape") else np.asarray(table)
    rows = rows_of_profile(table.shape[0], y, sample_weight)
    try:
        taken = _taken(table, rows)
    except (TypeError, ValueError):
        return None
    return _profile_of_taken(model, taken, rows)


def keep_profile(model: HasProfile, taken: BinnedFeatures, rows: NDArray[np.int64]) -> None:
    """Give a model, which nobody else has yet, the profile of the training rows with these numbers."""
    _keep(model, _profile_of_taken(model, taken, rows))


def _profile_of_taken(model: HasProfile, taken: Any, rows: NDArray[np.int64]) -> Profile | None:
    """Return the profile of the training rows with these numbers, which were taken out of all rows."""
    try:
        matrix = model._check_input(taken, "X")
        scores = model._out_of_bag()
        out_of_bag = None if scores is None else scores[rows]
        has_none = out_of_bag is None or np.isnan(out_of_bag).all()
        scored = model._decision_function(matrix, 1) if out_of_bag is None or has_none else out_of_bag
    except (TypeError, ValueError):
        return None  # a few of the rows may not look like the table that they are from; the fit is good all the same
    scored = np.sort(scored[np.isfinite(scored)])
    found = {
        "rows": np.array([rows.size]),
        "scores": scored,
        "is_out_of_bag": np.array([not has_none]),
    }
    return found | totals(matrix) | _of_columns(as_dense(matrix))


def rows_of_profile(n_rows: int, y: object, sample_weight: object) -> NDArray[np.int64]:
    """Return the numbers of the rows that a profile is made of, ascending."""
    weights = check_sample_weight(sample_weight, n_rows)
    among = np.ones(n_rows, dtype=np.bool_) if weights is None else weights > 0
    if y is not None and (is_unlabelled := (check_labels(y, n_rows) == 0) & among).any():
        among = is_unlabelled
    rows: NDArray[np.int64] = np.flatnonzero(among).astype(np.int64)
    if rows.size > MOST_ROWS:
        rows = rows[np.sort(np.random.default_rng(0).choice(rows.size, MOST_ROWS, replace=False))]
    return rows


def _taken(table: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(table, list | tuple):
        return [table[row] for row in rows]
    return take_rows(table, table_library(table), rows)


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


def _of_columns(matrix: DenseMatrix | None) -> dict[str, NDArray[Any]]:
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


def check_profile(profile: Profile | None, n_features: int) -> None:
    """Raise ValueError unless the arrays fit each other; a damaged file may have others."""
    if profile is None:
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


def is_unseen(entries: NDArray[Any], categories: ColumnCategories, column: int) -> NDArray[np.bool_]:
    """Tell which entries of a column are categories that training did not have."""
    if str(column) not in categories:
        return np.zeros(entries.size, dtype=np.bool_)
    place = unseen_place(categories, str(column))  # NaN, which is equal to nothing, where they have no place
    unseen: NDArray[np.bool_] = entries == place
    return unseen


def warn_of_unlike(model: HasProfile, matrix: Any) -> None:
    """Warn if a column of rows is missing as a whole, or most of its categories are new, unlike in training."""
    profile = model.profile
    if profile is None or "missing" not in profile or not isinstance(matrix, DenseMatrix):
        return
    if matrix.n_rows < _FEWEST_TO_WARN:
        return
    values, categories = matrix.values, matrix.categories
    lost = [
        int(column)
        for column in np.flatnonzero(is_missing(values[0]) & (profile["missing"] < _HALF))
        if is_missing(values[:, column]).all()
    ]
    new = []
    for column in categorical_columns(categories):
        few = values[:_FEWEST_TO_WARN, column]
        if is_unseen(few, categories, column).any():
            unseen = is_unseen(values[:, column], categories, column)
            if 2 * np.count_nonzero(unseen) > np.count_nonzero(~is_missing(values[:, column])):
                new.append(column)
    differences = []
    if lost:
        differences.append(f"all entries are missing in {_listed(lost, matrix)}, where the training rows have most")
    if new:
        differences.append(f"most entries in {_listed(new, matrix)} are categories that the training rows do not have")
    if differences:
        warn(f"decision_function: {'; '.join(differences)}; see model.check", UnlikeRowsWarning)


def _listed(columns: Sequence[int], matrix: DenseMatrix) -> str:
    shown = ", ".join(where_column(column, matrix.feature_names) for column in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
