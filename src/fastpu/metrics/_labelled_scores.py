"""The labels and the scores that every metric takes: one of each for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import LabelsLike, VectorLike
from fastpu.data._coding import apply_codes, read_labels
from fastpu.data._missing_scores import KINDS, rows_with_scores
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import label_counts, read_vector

_KINDS = {1: "positive row (+1)", 0: "unlabelled row (0)", -1: "labelled negative row (-1)"}
_EXACT = 2.0**53  # below it float64 has every integer


@dataclass(frozen=True)
class LabelledScores:
    """Labels +1, 0, -1 and scores of the rows that have one; `every` has the labels of the others, too."""

    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    every: NDArray[np.int8]
    has_score: NDArray[np.bool_] | None

    def of_rows(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Return those entries, of one for every row, whose row has a score."""
        return by_row if self.has_score is None else by_row[self.has_score]


def read_rows(
    function: str,
    y: LabelsLike,
    scores: VectorLike,
    *,
    needed: tuple[int, ...] = (1, 0),
    counted: tuple[int, ...] | None = None,
) -> LabelledScores:
    """Return the labels and the scores of the same rows; of each label in `needed` there must be a row with a score.

    Rows without a score are left out, with a warning if they have a label in `counted`, by default in `needed`.
    Messages say that `function` needs them.
    """
    warn_of_other_order(y, other="y", scores=scores)
    every = apply_codes(read_labels(y, "y"), "y")
    values = check_scores("scores", scores, n=every.size)
    n_pos, n_unl, n_neg = label_counts(every)
    if n_neg and not n_unl and 0 in needed:
        raise ValueError(
            f"y holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass fastpu.as_labels(y, unlabeled=-1); "
            f"if it means labelled negative, {function} needs unlabelled rows (0) too"
        )
    count = {1: n_pos, 0: n_unl, -1: n_neg}
    for label in needed:
        if not count[label]:
            hint = "; fastpu.metrics.auc takes true labels that are 1 and 0" if needed == (1, -1) else ""
            raise ValueError(f"y must have at least one {_KINDS[label]} for {function}, got none{hint}")
    kinds = {KINDS[label]: every == label for label in counted or needed}
    has_score = rows_with_scores(function, "scores", values, kinds)
    if has_score is None:
        return LabelledScores(every, values, every, None)
    return LabelledScores(every[has_score], values[has_score], every, has_score)


def check_scores(name: str, scores: VectorLike, *, n: int | None = None) -> NDArray[np.float64]:
    """Return checked scores, in the order of the ones that were passed; NaN is a row without a score.

    Where integers are so large that float64 may make different ones equal, their ranks are returned in their place.
    """
    if scores is None:
        raise TypeError(
            f"{name} must be given, got None: a model without bags has no out-of-bag scores, so score rows that were "
            f"held out, by its decision_function"
        )
    values = read_vector(name, scores, n=n)
    if max(float(values.max()), -float(values.min())) < _EXACT:
        return values
    whole = np.asarray(scores)
    if whole.dtype.kind not in "iu":
        return values
    return np.unique(whole, return_inverse=True)[1].astype(np.float64)
