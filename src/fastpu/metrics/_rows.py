"""The labels and scores that every metric takes, checked and by group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.data._coding import apply_codes, read_labels
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import label_counts
from fastpu.metrics._ranked_rows import check_scores

_KINDS = {1: "positive row (+1)", 0: "unlabelled row (0)", -1: "labelled negative row (-1)"}


def read_rows(
    user: str, y: object, scores: object, *, needed: tuple[int, ...] = (1, 0)
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return the labels +1, 0, -1 and the scores of the same rows; of each label that is `needed` there must be a row.

    `user` is the function that needs them, for messages.
    """
    warn_of_other_order(y, other="y", scores=scores)
    labels = apply_codes(read_labels(y, "y"), "y")
    (values,) = check_scores(("scores", scores), n=labels.size)
    n_pos, n_unl, n_neg = label_counts(labels)
    if n_neg and not n_unl and 0 in needed:
        raise ValueError(
            f"y holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass fastpu.as_labels(y, unlabeled=-1); "
            f"if it means labelled negative, {user} needs unlabelled rows (0) too"
        )
    found = {1: n_pos, 0: n_unl, -1: n_neg}
    for label in needed:
        if not found[label]:
            hint = "; fastpu.metrics.auc takes true labels that are 1 and 0" if needed == (1, -1) else ""
            raise ValueError(f"y must have at least one {_KINDS[label]} for {user}, got none{hint}")
    return labels, values
