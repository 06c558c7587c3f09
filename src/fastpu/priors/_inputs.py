"""What estimates of a prior are passed: rows of numbers for distances, or scores in place of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe, where_column
from fastpu.common._types import GroupsLike, LabelsLike, VectorLike
from fastpu.data._categories import categorical_columns
from fastpu.data._matrix import Matrix
from fastpu.data._missing_scores import KINDS, rows_with_scores
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels, check_matrix, first_bad_entry, read_vector
from fastpu.priors._sample import Sample, sample_of


def require_rows_or_scores(X: object, function: str) -> None:
    """Raise TypeError if there are no rows, and say how to pass scores in their place."""
    if X is None:
        raise TypeError(
            f"X must be given, got None; without rows, pass scores by a model that was not fitted to them: "
            f"{function}(None, y, scores=...)"
        )


def numbers_of(X: object, function: str) -> Matrix:
    """Return the rows for a function that measures distances; for other rows, the error says what takes them."""
    instead = (
        f"; call fastpu.priors.bbe, or pass scores by a model that was not fitted to the rows, such as those of a "
        f"forest: {function}(None, y, scores=model.oob_decision_function)"
    )
    matrix = check_matrix(X, finite=False, takes_categories=True)
    if columns := categorical_columns(matrix.categories):
        place = where_column(columns[0], matrix.feature_names)
        raise TypeError(
            f"X must hold numbers for {function}, which measures distances between rows, got categories in "
            f"{place}{instead}"
        )
    if (bad := first_bad_entry(matrix, matrix.feature_names)) is not None:
        entry, place = bad
        raise ValueError(
            f"X must not hold NaN or infinite entries for {function}, which measures distances between rows, got "
            f"{entry} at {place}{instead}"
        )
    return matrix


def scored_rows(
    X: object, y: LabelsLike, scores: VectorLike, fit: object, function: str, groups: GroupsLike | None = None
) -> tuple[Sample, NDArray[np.float64]]:
    """Return the rows of `y` and their scores, which are passed in place of rows and of a function that scores them.

    Rows without a score are left out, with a warning.
    """
    for name, value in (("X", X), ("fit", fit)):
        if value is not None:
            raise TypeError(f"{name} must be None if scores are passed, got {describe(value)}")
    values = read_vector("scores", scores)
    if (infinite := np.isinf(values)).any():
        place = int(np.argmax(infinite))
        raise ValueError(f"scores must not hold infinite entries, got {values[place]} at position {place}")
    warn_of_other_order(scores, other="scores", y=y, groups=groups)
    labels = check_labels(y, values.size)
    has_score = rows_with_scores(function, "scores", values, {KINDS[label]: labels == label for label in (1, 0)})
    counted, sample = sample_of(None, labels, values.size, function, groups, has_score)
    return sample, values[counted]
