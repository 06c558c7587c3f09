"""The labels and the scores that every metric takes: one of each for every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import NO_SCORE
from fastpu.common._types import LabelsLike, VectorLike
from fastpu.data._coding import apply_codes, read_labels
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_vector, label_counts

_KINDS = {1: "positive row (+1)", 0: "unlabelled row (0)", -1: "labelled negative row (-1)"}
_EXACT = 2.0**53  # below it float64 has every integer


def read_rows(
    function: str, y: LabelsLike, scores: VectorLike, *, needed: tuple[int, ...] = (1, 0)
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return the labels +1, 0, -1 and the scores of the same rows; of each label in `needed` there must be a row.

    `function` is the function that needs them, for messages.
    """
    warn_of_other_order(y, other="y", scores=scores)
    labels = apply_codes(read_labels(y, "y"), "y")
    values = check_scores("scores", scores, n=labels.size)
    n_pos, n_unl, n_neg = label_counts(labels)
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
    return labels, values


def check_scores(name: str, scores: VectorLike, *, n: int | None = None) -> NDArray[np.float64]:
    """Return checked scores, in the order of the ones that were passed.

    Where integers are so large that float64 may make different ones equal, their ranks are returned in their place.
    """
    values = check_vector(name, scores, n=n, allow_inf=True, of_nan=NO_SCORE)
    if max(float(values.max()), -float(values.min())) < _EXACT:
        return values
    whole = np.asarray(scores)
    if whole.dtype.kind not in "iu":
        return values
    return np.unique(whole, return_inverse=True)[1].astype(np.float64)
