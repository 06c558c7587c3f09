"""A batch of rows compared with the rows that a model was fitted to."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, kolmogorov

from fastpu.common._binomial import share_interval, shares_to_expect
from fastpu.common._frame import frame_of
from fastpu.common._text import counted
from fastpu.data._matrix import DenseMatrix
from fastpu.model._profile import EntryShares, HasProfile, Profile, as_dense, entry_shares, is_missing, is_unseen

if TYPE_CHECKING:
    import pandas as pd


_LARGE_SHIFT = 0.2  # the usual rule for the population stability index
_LARGE_SHARE = 0.05  # by which the share of missing or unseen entries is larger
_SURE = 1e-3  # a shift of one of all columns by chance is rarer than this
_TAIL = 0.05  # on either side of the range of the share that is called positive
_PSI_BINS = 10
_FEWEST_EXPECTED = 5.0  # entries of a category in a test; rarer ones are put together
_LISTED = 5


@dataclass(frozen=True)
class Shift:
    """How far numbers are from those of the training rows.

    Attributes
    ----------
    psi : float
        Population stability index: sum over bins of (a - b) log(a / b), where a and b are the shares of both. The bins
        are tenths of the training rows, or categories. Below .1 hardly anything has changed, above .2 much has.
    distance : float
        Kolmogorov-Smirnov distance: the largest difference of the shares of rows up to a value. NaN for categories.
    p_value : float
        How often rows of the same population would differ by as much; of categories by a chi-square test.
    """

    psi: float
    distance: float
    p_value: float


NO_SHIFT = Shift(math.nan, math.nan, math.nan)
_NO_SHARES = EntryShares(math.nan, math.nan)


@dataclass(frozen=True)
class ColumnCheck:
    """One column of a batch beside the training rows.

    Attributes
    ----------
    title : str, number, tuple or None
        The name of the column, or its number.
    missing, missing_before : float
        The share of missing entries in the batch, and among the training rows.
    unseen : float
        The share of entries that are categories which the training rows do not have.
    shift : Shift
        How far the entries have shifted that are not missing and, in a column of categories, not unseen.
    has_lost_entries : bool
        Whether `missing` is larger by more than .05, and by more than chance explains.
    """

    title: Hashable
    missing: float
    missing_before: float
    unseen: float
    shift: Shift
    has_lost_entries: bool

    def _differences(self, n_columns: int) -> str:
        """Return in words how the column differs from the training rows, or ""; the test allows for `n_columns`."""
        parts = []
        if self.has_lost_entries:
            parts.append(f"{self.missing:.0%} missing, {self.missing_before:.0%} in training")
        if self.unseen > _LARGE_SHARE:
            parts.append(f"{self.unseen:.0%} new categories")
        if is_large(self.shift, n_columns):
            parts.append(f"shifted, PSI {self.shift.psi:.2g}")
        return ", ".join(parts)


def is_large(shift: Shift, n_columns: int = 1) -> bool:
    """Tell whether a shift is large, and no chance."""
    return shift.psi > _LARGE_SHIFT and shift.p_value * n_columns < _SURE


@dataclass(frozen=True, repr=False)
class BatchCheck:
    """A batch of rows compared with the training rows, from `model.check`. Printed, it is a few sentences.

    Attributes
    ----------
    n_rows : int
        Rows of the batch.
    n_before : int
        Training rows that they are compared with; 0 if the model has no profile of these.
    columns : tuple of ColumnCheck
        One entry for each column. Empty for sparse rows, and for more than 2,000 columns.
    scores : Shift
        How far the scores are from those of the training rows without a label (of all training rows, if all have one).
    positive, positive_before : float
        The share of rows that `predict` calls positive, in the batch and among the training rows. NaN if it is unknown.
    positive_range : tuple of float
        The range that holds `positive` in nine of ten batches of this size, if their rows come from the population of
        the training rows and are drawn one by one. It allows for chance in both. (NaN, NaN) unless `is_out_of_bag`, and
        for trees that were fitted to groups.
    missing, missing_before, nonzero, nonzero_before : float
        The shares of all entries that are missing, and that are not zero, in the batch and among the training rows.
    is_out_of_bag : bool
        Whether the training rows have out-of-bag scores. If not, their scores may be higher or lower than those of new
        rows for no other reason than that the model was fitted to them.
    """

    n_rows: int
    n_before: int
    columns: tuple[ColumnCheck, ...]
    scores: Shift
    positive: float
    positive_before: float
    positive_range: tuple[float, float]
    missing: float
    missing_before: float
    nonzero: float
    nonzero_before: float
    is_out_of_bag: bool

    @property
    def unlike(self) -> tuple[Hashable, ...]:
        """The titles of columns that are unlike those of the training rows."""
        return tuple(column.title for column in self.columns if column._differences(len(self.columns)))

    def __str__(self) -> str:
        called = f"{round(self.positive * self.n_rows)} ({self.positive:.2%}) are called positive"
        rows = counted(self.n_rows, "row")
        if not self.n_before:
            return (
                f"{rows}: {called}. The model has no profile of its training rows, so these rows cannot be "
                f"compared with them; models from files of older versions have none"
            )
        parts = [
            f"{rows} compared with {self.n_before} training rows: {called}, {self.positive_before:.2%} of "
            f"the training rows{self._range_text()}"
        ]
        if self.columns:
            found = [
                (column.title, differences)
                for column in self.columns
                if (differences := column._differences(len(self.columns)))
            ]
            listed = "; ".join(f"{title!r} ({differences})" for title, differences in found[:_LISTED])
            more = f"; and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
            verb = "differs" if len(found) == 1 else "differ"
            share = f"{len(found)} of {len(self.columns)} columns {verb}"
            parts.append(f"{share} from these: {listed}{more}" if found else "No column differs from these")
        elif self.missing - self.missing_before > _LARGE_SHARE:
            parts.append(
                f"{self.missing:.0%} of all entries are missing, {self.missing_before:.0%} in the training rows"
            )
        has_shifted = "have shifted" if is_large(self.scores) else "have not shifted much"
        parts.append(f"The scores {has_shifted} (PSI {self.scores.psi:.2g})")
        return ".\n".join(parts) + "."

    __repr__ = __str__

    def _range_text(self) -> str:
        low, high = self.positive_range
        return "" if math.isnan(low) else f" (by chance alone {low:.2%} to {high:.2%} in nine of ten batches)"

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame, one row each, with the scores as the last row.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        scores = ColumnCheck("score", 0.0, 0.0, 0.0, self.scores, has_lost_entries=False)
        rows = [*self.columns, scores]
        titles = [column.title if isinstance(column.title, str) else repr(column.title) for column in rows]
        columns = {
            "missing": [column.missing for column in rows],
            "missing_before": [column.missing_before for column in rows],
            "unseen": [column.unseen for column in rows],
            "psi": [column.shift.psi for column in rows],
            "ks_distance": [column.shift.distance for column in rows],
            "p_value": [column.shift.p_value for column in rows],
            "unlike": [*(column._differences(len(self.columns)) for column in self.columns), ""],
        }
        return frame_of(columns, index=titles, index_name="column")


def batch_check(model: HasProfile, matrix: Any, scores: NDArray[np.float64]) -> BatchCheck:
    """Return what is told of checked rows and their scores."""
    profile = model.profile
    training_scores = np.empty(0) if profile is None else profile.scores
    is_out_of_bag = profile is not None and profile.is_out_of_bag
    n_scored, called = training_scores.size, int(np.count_nonzero(training_scores > model.threshold))
    has_range = is_out_of_bag and n_scored > 0 and not model._has_groups()
    now = entry_shares(matrix)
    before = None if profile is None or now is None else profile.entries
    shares_now, shares_before = now or _NO_SHARES, before or _NO_SHARES
    return BatchCheck(
        n_rows=scores.size,
        n_before=0 if profile is None else profile.n_rows,
        columns=() if profile is None else _columns(model, profile, as_dense(matrix)),
        scores=_shift_of_scores(scores, training_scores),
        positive=float(np.mean(scores > model.threshold)),
        positive_before=called / n_scored if n_scored else math.nan,
        positive_range=shares_to_expect(called, n_scored, scores.size, _TAIL) if has_range else (math.nan, math.nan),
        missing=shares_now.missing,
        missing_before=shares_before.missing,
        nonzero=shares_now.nonzero,
        nonzero_before=shares_before.nonzero,
        is_out_of_bag=is_out_of_bag,
    )


def _columns(model: HasProfile, profile: Profile, matrix: DenseMatrix | None) -> tuple[ColumnCheck, ...]:
    """Return the checks of all columns, if both the training rows and the batch have them one by one."""
    before = profile.columns
    if before is None or matrix is None:
        return ()
    titles = model.feature_names or range(model.n_features)
    found = []
    for column, title in enumerate(titles):
        entries = matrix.values[:, column]
        gone, unseen = is_missing(entries), is_unseen(entries, matrix.categories, column)
        known = entries[~(gone | unseen)].astype(np.float64)
        missing_before = float(before.missing[column])
        here = slice(before.starts[column], before.starts[column + 1])
        values, up_to = before.values[here], before.up_to[here]
        n_then = round((1 - missing_before) * profile.n_rows)
        shift = NO_SHIFT
        if known.size and n_then and values.size:
            of = _shift_of_shares if before.is_set[column] else _shift_of_numbers
            shift = of(known, values, up_to, n_then)
        has_lost = _has_lost_entries(int(gone.sum()), gone.size, missing_before, profile.n_rows, len(titles))
        found.append(ColumnCheck(title, float(gone.mean()), missing_before, float(unseen.mean()), shift, has_lost))
    return tuple(found)


def _has_lost_entries(n_gone: int, n_now: int, missing_before: float, n_before: int, n_columns: int) -> bool:
    """Tell whether more entries of one of all columns are missing than chance explains, and more by a large share.

    Where no training row missed an entry, chance explains none. Else exact intervals for the share then and now must be
    apart, which hold in all columns but for one batch of a thousand.
    """
    if n_gone / n_now - missing_before <= _LARGE_SHARE:
        return False
    tail = _SURE / (2 * n_columns)
    most = share_interval(round(missing_before * n_before), n_before, tail)[1]
    return missing_before == 0 or share_interval(n_gone, n_now, tail)[0] > most


def _shift_of_scores(scores: NDArray[np.float64], training_scores: NDArray[np.float64]) -> Shift:
    if not training_scores.size or not scores.size:
        return NO_SHIFT
    points = np.unique(training_scores)
    up_to = np.searchsorted(training_scores, points, side="right") / training_scores.size
    shift = _shift_of_numbers(scores, points, up_to, training_scores.size)
    # No score of before lies between two points, so that the shares just below these are known as well.
    below = np.searchsorted(np.sort(scores), points, side="left") / scores.size
    distance = max(shift.distance, float(np.abs(below - np.append(0.0, up_to[:-1])).max()))
    return replace(shift, distance=distance, p_value=_chance_of(distance, scores.size, training_scores.size))


def _shift_of_numbers(
    now: NDArray[np.float64], points: NDArray[np.float64], up_to: NDArray[np.float64], n_before: int
) -> Shift:
    """Return the shift of numbers from some of which the shares up to some points are known."""
    share_now = np.searchsorted(np.sort(now), points, side="right") / now.size
    distance = max(float(np.abs(share_now - up_to).max()), 1.0 - float(share_now[-1]))
    ends = np.unique(np.searchsorted(up_to, np.arange(1, _PSI_BINS) / _PSI_BINS))
    ends = ends[ends < points.size - 1]
    shares = [np.diff(of[ends], prepend=0.0, append=1.0) for of in (share_now, up_to)]
    return Shift(_psi(shares[0], shares[1], now.size, n_before), distance, _chance_of(distance, now.size, n_before))


def _chance_of(distance: float, n_now: int, n_before: int) -> float:
    """Return how often rows of one population are as far apart, by Kolmogorov's limit for many rows."""
    return float(kolmogorov(math.sqrt(n_now * n_before / (n_now + n_before)) * distance))


def _shift_of_shares(
    now: NDArray[np.float64], places: NDArray[np.float64], shares_before: NDArray[np.float64], n_before: int
) -> Shift:
    """Return the shift of the shares of categories."""
    count_now = np.bincount(now.astype(np.int64), minlength=places.size)[: places.size].astype(np.float64)
    counts = np.array([count_now, shares_before * n_before])
    expected = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / max(1.0, counts.sum())
    is_rare = expected.min(axis=0) < _FEWEST_EXPECTED
    if is_rare.any():
        counts = np.column_stack([counts[:, ~is_rare], counts[:, is_rare].sum(axis=1)])
        expected = np.column_stack([expected[:, ~is_rare], expected[:, is_rare].sum(axis=1)])
    statistic = float(np.sum((counts - expected) ** 2 / np.maximum(expected, 1e-300)))
    p_value = float(chdtrc(counts.shape[1] - 1, statistic)) if counts.shape[1] > 1 else 1.0
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Shift(_psi(shares[0], shares[1], now.size, n_before), math.nan, p_value)


def _psi(shares_now: NDArray[np.float64], shares_before: NDArray[np.float64], n_now: int, n_before: int) -> float:
    """Return the population stability index; half a row more in each bin keeps it finite."""
    a = (shares_now * n_now + 0.5) / (n_now + 0.5 * shares_now.size)
    b = (shares_before * n_before + 0.5) / (n_before + 0.5 * shares_before.size)
    return float(np.sum((a - b) * np.log(a / b)))
