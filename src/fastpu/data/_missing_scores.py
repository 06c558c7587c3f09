"""Rows without a score: an out-of-bag score is NaN where every bag has the row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning

KINDS = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
_REMEDY = (
    "An out-of-bag score is NaN where every bag has the row: fit with more bags or trees, or with a smaller bag_ratio "
    "if they hold all unlabelled rows, or score rows that were held out"
)
_REMEDY_OF_LABELLED = (
    "An out-of-bag score is NaN where every bag has the row, and each bag of fit_bagging_svm and PUBaggingClassifier "
    "has all labelled rows: score rows that were held out, or take a forest, which scores labelled rows too"
)
_REMEDY_OF_ONE = (
    "An out-of-bag score is NaN where every bag has the row, as all bags have a single labelled row: score labelled "
    "rows that were held out"
)


def rows_with_scores(
    user: str, name: str, scores: NDArray[np.float64], kinds: Mapping[str, NDArray[np.bool_]]
) -> NDArray[np.bool_] | None:
    """Return which rows have a score, or None where all have one; warn of those that have none, and are left out.

    `kinds` are the rows that count, by what they are called. Raises ValueError if all rows of a kind lack a score.
    """
    has_score = ~np.isnan(scores)
    if has_score.all():
        return None
    left_out = []
    for kind, rows in kinds.items():
        n_all, n_scored = int(rows.sum()), int((rows & has_score).sum())
        if n_all and not n_scored:
            of_labelled = _REMEDY_OF_ONE if n_all == 1 else _REMEDY_OF_LABELLED
            remedy = of_labelled if kind.startswith("labelled") else _REMEDY
            raise ValueError(
                f"{name} must hold a number for at least one {kind} row for {user}, got NaN for all {n_all}. {remedy}"
            )
        if n_scored < n_all:
            left_out.append(f"{n_all - n_scored} of {n_all} {kind} rows")
    if left_out:
        warn(f"{user}: {' and '.join(left_out)} have no score (NaN) and are left out. {_REMEDY}", EstimateWarning)
    return has_score
