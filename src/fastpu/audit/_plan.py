"""Which rows of a ranking are to be checked, how they were drawn, and what people say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frame import frame_of
from fastpu.common._text import describe, short
from fastpu.common._types import VectorLike
from fastpu.data._coding import is_missing
from fastpu.data._validate import as_real_array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Which rows to check, and how they were drawn: the result of `plan`.

    The strata are consecutive parts of the ranking, from its top. All rows of a stratum have the same chance to be
    drawn.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        The rows to check by number, in the order in which to check them. Each part of this order has rows of all
        strata, so the check may stop early.
    probability : ndarray of float64, shape (m,)
        The probability with which each of these rows was drawn.
    stratum : ndarray of int64, shape (m,)
        The number of each row's stratum, 0 for that of the largest scores.
    place : ndarray of int64, shape (m,)
        The place of each row in the ranking of all rows, 0 for the largest score.
    score : ndarray of float64, shape (m,)
        The score of each row.
    ends : ndarray of int64, shape (n_strata,)
        The place after the last row of each stratum; the last one is `n_rows`.
    lowest : ndarray of float64, shape (n_strata,)
        The least score of each stratum.
    n_rows : int
        How many rows there are in all.
    goal : {"count", "precision", "recall", "find"}
        What the plan was made to find out.
    k : int, or None
        The number of first rows whose precision or recall is wanted.
    n_before : int
        How many of `rows`, the first ones, come from the plan that this one continues.
    seed : int
        The seed that orders rows of equal scores.
    fingerprint : str
        A short hash of the scores that the plan was made for.
    """

    rows: NDArray[np.int64]
    probability: NDArray[np.float64]
    stratum: NDArray[np.int64]
    place: NDArray[np.int64]
    score: NDArray[np.float64]
    ends: NDArray[np.int64]
    lowest: NDArray[np.float64]
    n_rows: int
    goal: str
    k: int | None
    n_before: int
    seed: int
    fingerprint: str

    def __post_init__(self) -> None:
        for array in (self.rows, self.probability, self.stratum, self.place, self.score, self.ends, self.lowest):
            array.flags.writeable = False

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each stratum has."""
        return np.diff(self.ends, prepend=0)

    @property
    def drawn(self) -> NDArray[np.int64]:
        """How many rows of each stratum are to be checked."""
        return np.bincount(self.stratum, minlength=self.ends.size)

    def align(self, rows: VectorLike, answers: VectorLike) -> NDArray[np.float64]:
        """Return answers in the order of `rows` of the plan, NaN where there is none.

        Parameters
        ----------
        rows : array-like of int, shape (m,)
            Numbers of rows of the plan, in any order, each at most once.
        answers : array-like, shape (m,)
            The answer for each of these rows: True or 1 for a positive row; False, 0 or -1 for a negative one; NaN or
            None if nobody could tell.

        Raises
        ------
        ValueError
            If a row was not drawn or is there twice.
        """
        numbers = np.asarray(rows)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise TypeError(f"rows must hold whole numbers, the numbers of rows, got {describe(rows)}")
        values = check_answers(answers, numbers.size)
        order = np.argsort(self.rows)
        at = np.minimum(np.searchsorted(self.rows[order], numbers), self.rows.size - 1)
        if (wrong := np.flatnonzero(self.rows[order[at]] != numbers)).size:
            raise ValueError(f"rows must be among those of the plan, got {numbers[wrong[0]]}, which was not drawn")
        seen, times = np.unique(numbers, return_counts=True)
        if np.any(times > 1):
            raise ValueError(f"rows must hold each row once, got row {seen[times > 1][0]} {times[times > 1][0]} times")
        found = np.full(self.rows.size, np.nan)
        found[order[at]] = values
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return the rows to check as a pandas frame, in the order in which to check them.

        Its columns are "row", "place", "score", "stratum" and "probability".

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of(
            {
                "row": self.rows,
                "place": self.place,
                "score": self.score,
                "stratum": self.stratum,
                "probability": self.probability,
            }
        )

    def __repr__(self) -> str:
        of = "" if self.k is None else f", k={self.k}"
        more = f", {self.n_before} of them from an earlier plan" if self.n_before else ""
        return f"Plan({self.rows.size} of {self.n_rows} rows, goal={self.goal!r}{of}, {self.ends.size} strata{more})"


def check_plan(name: str, value: object, mark: str | None = None, n_rows: int = 0) -> None:
    """Raise unless an argument is a plan, for the scores of this fingerprint if one is given."""
    if not isinstance(value, Plan):
        raise TypeError(f"{name} must be what fastpu.audit.plan returns, got {describe(value)}")
    if mark is not None and value.fingerprint != mark:
        raise ValueError(
            f"{name} must be a plan for these {n_rows} scores, whose fingerprint is {mark}, got one for {value.n_rows} "
            f"scores with fingerprint {value.fingerprint}"
        )


def check_answers(value: VectorLike, n: int) -> NDArray[np.float64]:
    """Return `n` answers as 1 (positive), 0 (negative: False, 0 or -1) and NaN (could not tell: NaN or None)."""
    array = np.asarray(value)
    if array.dtype == object:
        array = np.array([np.nan if is_missing(answer) else answer for answer in array.ravel().tolist()]).reshape(
            array.shape
        )
    expected = "answers must be True or 1 (positive), False, 0 or -1 (negative) or NaN (could not tell)"
    if array.dtype.kind in "SU":
        raise TypeError(f"{expected}, got words, {describe(value)}; turn them into booleans, such as answers == 'yes'")
    answers = as_real_array(array, "answers").astype(np.float64)
    if answers.ndim != 1 or answers.size != n:
        came = f"{answers.size}: " if answers.ndim == 1 else ""
        raise ValueError(f"answers must hold {n} answers, one for each row of the plan, got {came}{describe(value)}")
    wrong = np.flatnonzero(~(np.isnan(answers) | np.isin(answers, (1, 0, -1))))
    if wrong.size:
        raise ValueError(f"{expected}, got {short(answers[wrong[0]])} at position {wrong[0]}")
    return np.maximum(answers, 0.0)
