"""The warning that rows to be scored are not like the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.data._categories import categorical_columns
from fastpu.data._matrix import DenseMatrix
from fastpu.exceptions import UnlikeRowsWarning
from fastpu.model._profile import MOST_COLUMNS, HasProfile, is_missing, is_unseen

_FEWEST_TO_WARN = 20  # rows of which a column is lost by chance now and then
_HALF = 0.5


def warn_of_unlike(model: HasProfile, matrix: Any) -> None:
    """Warn if a column of rows is missing as a whole, or most of its categories are new, unlike in training."""
    if not isinstance(matrix, DenseMatrix) or matrix.n_features > MOST_COLUMNS or matrix.n_rows < _FEWEST_TO_WARN:
        return
    values, categories = matrix.values, matrix.categories
    lost = [
        int(column)
        for column in np.flatnonzero(is_missing(values[:_FEWEST_TO_WARN]).all(axis=0))
        if is_missing(values[:, column]).all()
    ]
    new = []
    for column in categorical_columns(categories):
        few = values[:_FEWEST_TO_WARN, column]
        if is_unseen(few, categories, column).any():
            unseen = is_unseen(values[:, column], categories, column)
            if 2 * np.count_nonzero(unseen) > np.count_nonzero(~is_missing(values[:, column])):
                new.append(column)
    # The profile may have to be made first, so that it is read only where there is something to compare with it.
    profile = model.profile if lost or new else None
    if profile is None or profile.columns is None:
        return
    lost = [column for column in lost if profile.columns.missing[column] < _HALF]
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
