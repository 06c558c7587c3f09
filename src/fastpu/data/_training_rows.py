"""The rows that a fit is made of: those of the caller without the ones that do not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe
from fastpu.common._warn import warn
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels, check_sample_weight, well_scaled
from fastpu.exceptions import LabelWarning


@dataclass(frozen=True)
class TrainingRows:
    """Checked rows with their labels and weights, without rows of weight 0 and of groups that the method does not read.

    `numbers` are the numbers that these rows have among the caller's `n_given`, or None if they are all of them.
    `weights` is None if every row counts once.
    """

    matrix: Matrix
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    numbers: NDArray[np.int64] | None
    n_given: int

    def mass(self, label: int) -> float:
        chosen = self.labels == label
        return float(np.count_nonzero(chosen) if self.weights is None else self.weights[chosen].sum())


def open_training_rows(
    matrix: Matrix,
    y: object,
    sample_weight: object,
    function: str,
    *,
    groups: Sequence[int] | None = None,
    is_relative: bool = True,
) -> TrainingRows:
    """Check labels and weights of checked rows, and leave out what does not count: it does not even influence rounding.

    `groups` are the labels that the method reads; without them it is one of positive and unlabelled rows, which needs
    both. With `is_relative` only ratios of weights matter.
    """
    labels = check_labels(y, matrix.n_rows, pu_only=function if groups is None else None)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    warn_of_other_order(matrix, index=matrix.index, y=y, sample_weight=sample_weight)
    if weights is not None and is_relative:
        weights = well_scaled(weights)
    counts: NDArray[np.bool_] = np.full(labels.size, True) if groups is None else np.isin(labels, groups)
    if weights is not None:
        counts &= weights > 0
    n_given, numbers = matrix.n_rows, None
    if not counts.all():
        if groups is None:
            require_both(np.where(labels == 1, np.int8(1), np.int8(-1)), counts, function, ("positive", "unlabelled"))
        numbers = np.flatnonzero(counts).astype(np.int64)
        matrix, labels = matrix[numbers], labels[numbers]
        weights = None if weights is None else weights[numbers]
    if weights is not None and (weights == 1).all():
        weights = None
    return TrainingRows(matrix, labels, weights, numbers, n_given)


def require_both(
    labels: NDArray[np.int8], cost: NDArray[np.float64] | NDArray[np.bool_], function: str, kinds: tuple[str, str]
) -> None:
    """Raise ValueError unless there are rows of both signs whose cost is not 0; `kinds` says what they are."""
    counts = [int(np.count_nonzero((labels == sign) & (cost > 0))) for sign in (1, -1)]
    if all(counts):
        return
    dropped = " with a cost or weight that is not 0" if not (cost > 0).all() else ""
    raise ValueError(
        f"y must have {kinds[0]} and {kinds[1]} rows{dropped} for {function}, "
        f"got {counts[0]} {kinds[0]} and {counts[1]} {kinds[1]}"
    )


def warn_of_balancing(function: str, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> None:
    """Warn of weights that are one number in each group, for a method in which only their ratios within a group count.

    Weights that are one number altogether come from tools that always pass some.
    """
    if weights is None:
        return
    groups = [weights[(labels == label) & (weights > 0)] for label in (1, 0, -1)]
    ranges = [(float(group.min()), float(group.max())) for group in groups if group.size]
    if any(low != high for low, high in ranges) or len({low for low, _ in ranges}) < 2:
        return
    warn(
        f"{function}: sample_weight is constant within each kind of label, which changes nothing: each group of rows "
        f"weighs the same already, and only ratios of weights within a group count; leave it out",
        LabelWarning,
    )


def check_eval_pair(eval_set: object) -> tuple[Any, Any]:
    """Return X and y of an evaluation set."""
    if isinstance(eval_set, tuple | list) and eval_set and all(map(_is_pair_of_data, eval_set)):
        pairs = f"{len(eval_set)} pair{'s' * (len(eval_set) > 1)}"
        raise TypeError(f"eval_set must be one pair (X, y), got a {type(eval_set).__name__} of {pairs}")
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_set must be one pair (X, y), got {describe(eval_set)}")
    return eval_set[0], eval_set[1]


def _is_pair_of_data(value: object) -> bool:
    """Tell whether this is a pair (X, y), of which other libraries take a list, and not a matrix or labels."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    X = value[0]
    is_table = isinstance(X, list) and bool(X) and isinstance(X[0], list | tuple)
    return is_table or len(getattr(X, "shape", ())) == 2
