"""What the `fit` of a classifier was given, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._folds import Fold
from fastpu.data._table_rows import TableRows
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass(frozen=True)
class FitInput:
    """Rows with their labels, and what else `fit` takes that has an entry for each row, or holds rows.

    `y` holds +1, 0 and -1. `groups` numbers the groups of rows that belong together. What is None was not passed, or is
    no argument of the classifier.
    """

    X: Any
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None = None
    sample_cost: Any = None
    groups: NDArray[np.int32] | None = None
    eval_set: tuple[Any, Any] | None = None
    graph: Any = None
    init_model: TreeEnsemble | None = None


@dataclass(frozen=True)
class FitFold:
    """The input of a fit to some of the rows, and the rows that it leaves out."""

    input: FitInput
    held_out: NDArray[np.intp]
    X_held_out: Any


class FoldedInput:
    """Cuts the input of a fit into folds; with `is_square` the columns of `X` stand for its rows as well."""

    def __init__(self, whole: FitInput, *, is_square: bool) -> None:
        self._whole, self._is_square = whole, is_square
        self._table = TableRows(whole.X)

    def fold(self, fold: Fold) -> FitFold:
        rows, held_out = fold
        columns = rows if self._is_square else None
        whole = self._whole
        part = FitInput(
            self._table.take(rows, columns),
            whole.y[rows],
            sample_weight=None if whole.sample_weight is None else whole.sample_weight[rows],
            sample_cost=None if whole.sample_cost is None else np.asarray(whole.sample_cost)[rows],
            groups=None if whole.groups is None else whole.groups[rows],
            eval_set=whole.eval_set,
        )
        return FitFold(part, held_out, self._table.take(held_out, columns))
