"""Training and held-out rows of folds, of `X` in any of its forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe
from fastpu.data._folds import Fold
from fastpu.data._table_rows import TableRows


def is_splitter(cv: object) -> bool:
    """Tell whether `cv` splits rows as those of scikit-learn do; strings have a `split` of another kind."""
    return hasattr(cv, "split") and not isinstance(cv, str | bytes | type)


def check_folds(cv: object, n_rows: int, *, others: str = "an integer >= 2") -> list[Fold]:
    """Check pairs of training and held-out row numbers that a user gives; `others` says what else `cv` may be."""
    is_no_list = isinstance(cv, str | bytes | type) or (isinstance(cv, np.ndarray) and cv.ndim == 0)
    if is_no_list or not isinstance(cv, Iterable):
        hint = "; pass list(cv.split(X, y))" if is_splitter(cv) else ""
        raise TypeError(f"cv must be {others} or a list of pairs of arrays of row numbers, got {describe(cv)}{hint}")
    folds = []
    for k, pair in enumerate(cv):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"cv must hold pairs (training rows, held-out rows), got {type(pair).__name__} at {k}")
        rows = [np.asarray(numbers) for numbers in pair]
        for numbers in rows:
            if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
                raise TypeError(
                    f"cv must hold arrays of row numbers, got shape {numbers.shape} and dtype {numbers.dtype} in "
                    f"pair {k}"
                )
            if numbers.min() < 0 or numbers.max() >= n_rows:
                odd = numbers.min() if numbers.min() < 0 else numbers.max()
                raise ValueError(f"cv must hold row numbers from 0 to {n_rows - 1}, got {odd} in pair {k}")
        folds.append((rows[0].astype(np.intp), rows[1].astype(np.intp)))
    if not folds:
        raise ValueError("cv must hold at least one pair of training and held-out rows, got none")
    return folds


@dataclass(frozen=True)
class Split:
    """Rows to fit to, with the arguments that have an entry for each of them, and rows to judge by."""

    X: Any
    y: NDArray[Any]
    by_row: Mapping[str, Any]
    X_held_out: Any
    y_held_out: NDArray[Any]
    weight_held_out: NDArray[np.float64] | None


@dataclass(frozen=True)
class FoldSplits:
    """For each fold the training rows and the rows held out, one fold at a time, since they are copies of the data."""

    rows: TableRows
    labels: NDArray[np.int8]
    by_row: Mapping[str, Any]
    folds: Sequence[Fold]
    is_square: bool

    def __len__(self) -> int:
        return len(self.folds)

    def __iter__(self) -> Iterator[Split]:
        weights = self.by_row.get("sample_weight")
        for train, held_out in self.folds:
            columns = train if self.is_square else None
            yield Split(
                self.rows.take(train, columns),
                self.labels[train],
                {name: values[train] for name, values in self.by_row.items()},
                self.rows.take(held_out, columns),
                self.labels[held_out],
                None if weights is None else weights[held_out],
            )
