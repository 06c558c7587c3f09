"""Columns that a user chooses: by their names, by their numbers, or by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe, short
from fastpu.data._tables import Titles


def chosen_columns(name: str, columns: object, n_features: int, feature_names: Titles) -> NDArray[np.intp]:
    """Return the numbers of the columns that `columns` stands for: all of them for None.

    It is a name, a number (negative ones count from the end), a slice, a list of names or of numbers, or a mask. A
    number that is the title of a column stands for that column.
    """
    numbers: NDArray[np.intp] = np.arange(n_features)
    if columns is None:
        return numbers
    if isinstance(columns, slice):
        chosen = numbers[columns]
    else:
        listed = np.atleast_1d(np.asarray(columns, dtype=object if isinstance(columns, list | tuple) else None))
        entries: list[Any] = listed.tolist()
        if listed.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {describe(columns)}")
        if entries and all(isinstance(entry, bool) for entry in entries):
            if len(entries) != n_features:
                raise ValueError(
                    f"{name} must have {n_features} entries, one per column, as a mask, got {len(entries)}"
                )
            chosen = numbers[np.array(entries, dtype=bool)]
        else:
            chosen = np.array([_number(name, entry, n_features, feature_names) for entry in entries], dtype=np.intp)
    if not chosen.size:
        raise ValueError(f"{name} must choose at least one column, got {short(columns)}")
    if np.unique(chosen).size < chosen.size:
        raise ValueError(f"{name} must choose each column once, got {short(columns)}")
    return chosen


def _number(name: str, entry: object, n_features: int, feature_names: Titles) -> int:
    if isinstance(entry, str):
        if feature_names is None:
            raise ValueError(f"{name} must hold numbers of columns where X is no frame with names, got {short(entry)}")
        if feature_names.count(entry) != 1:
            how_many = "no column" if entry not in feature_names else "several columns"
            raise ValueError(f"{name} must hold names of single columns, got {short(entry)}, which {how_many} of X has")
        return feature_names.index(entry)
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise TypeError(f"{name} must hold names or numbers of columns, got {describe(entry)}")
    if feature_names is not None and tuple(range(n_features)) != feature_names and feature_names.count(entry) == 1:
        return feature_names.index(entry)  # a title that is a number
    if not -n_features <= entry < n_features:
        raise ValueError(f"{name} must hold numbers of the {n_features} columns, got {short(entry)}")
    return entry % n_features
