"""What people say of checked rows: positive, negative, or that they could not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu.common._text import describe, short
from fastpu.data._coding import is_missing
from fastpu.data._validate import as_real_array

if TYPE_CHECKING:
    from numpy.typing import NDArray


_EXPECTED = "answers must be True or 1 (positive), False, 0 or -1 (negative) or NaN (could not tell)"


def check_answers(value: object, n: int) -> NDArray[np.float64]:
    """Return `n` answers as 1 (positive), 0 (negative: False, 0 or -1) and NaN (could not tell: NaN or None)."""
    given = np.asarray(value)
    if given.dtype == object:
        given = np.array([np.nan if is_missing(answer) else answer for answer in given.ravel().tolist()]).reshape(
            given.shape
        )
    if given.dtype.kind in "SU":
        raise TypeError(f"{_EXPECTED}, got words, {describe(value)}; compare them first, such as by answers == 'yes'")
    answers = as_real_array(given, "answers").astype(np.float64)
    if answers.ndim != 1 or answers.size != n:
        raise ValueError(f"answers must hold {n} answers, one for each row of the plan, got {describe(value)}")
    wrong = np.flatnonzero(~(np.isnan(answers) | np.isin(answers, (1, 0, -1))))
    if wrong.size:
        raise ValueError(f"{_EXPECTED}, got {short(answers[wrong[0]])} at position {wrong[0]}")
    return np.maximum(answers, 0.0)


def align(drawn: NDArray[np.int64], rows: object, answers: object) -> NDArray[np.float64]:
    """Return answers in the order of the drawn rows; NaN for those that are not among `rows`."""
    given = np.asarray(rows)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(f"rows must hold whole numbers, the numbers of rows, got {describe(rows)}")
    values = check_answers(answers, given.size)
    order = np.argsort(drawn)
    at = np.minimum(np.searchsorted(drawn[order], given), drawn.size - 1)
    if (wrong := np.flatnonzero(drawn[order[at]] != given)).size:
        raise ValueError(f"rows must be among those of the plan, got {given[wrong[0]]}, which was not drawn")
    seen, times = np.unique(given, return_counts=True)
    if np.any(times > 1):
        raise ValueError(f"rows must hold each row once, got row {seen[times > 1][0]} {times[times > 1][0]} times")
    found = np.full(drawn.size, np.nan)
    found[order[at]] = values
    return found
